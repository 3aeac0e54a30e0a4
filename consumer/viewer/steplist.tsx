// The list of steps, newest on top: only the rows that can be seen are in the page.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownStep } from '../../src/stream.js';
import { shownAs } from './shownas.js';
import type { State } from './state.js';
import { clock, counted, duration, moment, number4, outcome, percent, titleOf, visible } from './words.js';

const ROW = 72;

export function StepList({ state }: { state: State }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const virtual = useRef<Virtualizer<HTMLDivElement, HTMLElement> | null>(null);
  const hits = state.hits.value;
  const [total, first, selected] = [state.total.value, state.first.value, state.selected.value];
  const count = hits
    ? hits.ranges.reduce((sum, [low, high]) => sum + high - low + 1, 0)
    : Math.max(0, total - first + 1);
  // Rows are counted from the newest.
  const indexOf = (row: number): number => {
    if (!hits) return total - row;
    let left = row;
    for (const [low, high] of hits.ranges.toReversed()) {
      if (left <= high - low) return high - left;
      left -= high - low + 1;
    }
    return 0;
  };
  const rowOf = (index: number): number => {
    if (!hits) return total - index;
    let before = 0;
    for (const [low, high] of hits.ranges.toReversed()) {
      if (index >= low && index <= high) return before + high - index;
      before += high - low + 1;
    }
    return -1;
  };
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 6,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((old) => old + 1),
  };
  virtual.current ??= new Virtualizer(options);
  virtual.current.setOptions(options);
  useEffect(() => virtual.current!._didMount(), []);
  useEffect(() => virtual.current!._willUpdate());
  const seen = useRef({ selected: 0, total: 0 });
  useEffect(() => {
    const list = virtual.current!;
    const row = rowOf(selected);
    const grown = total - seen.current.total;
    if (selected !== seen.current.selected && row >= 0) list.scrollToIndex(row, { align: 'auto' });
    // New rows come on top: what the person looks at stays where it is.
    else if (grown > 0 && seen.current.total > 0 && !state.following.value && !hits)
      scroller.current!.scrollTop += grown * ROW;
    seen.current = { selected, total };
  }, [selected, total, hits]);

  // Reading it subscribes to windows that arrive.
  state.steps.version.value;
  const rows = virtual.current.getVirtualItems();
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: -1, ArrowUp: 1 }[event.key];
    if (!by || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    state.select(state.neighbour(by as 1 | -1));
  };
  return (
    <nav class="steps" aria-label="Steps">
      <div class="steps-head">
        <span>
          {hits
            ? `${counted(hits.count, 'hit')}${hits.more ? ', the first are listed' : ''}`
            : counted(total, 'step')}
        </span>
        {state.fresh.value > 0 ? (
          <button type="button" class="fresh" onClick={() => state.follow()}>
            {state.fresh.value} new ↑
          </button>
        ) : null}
      </div>
      <div
        ref={scroller}
        class="steps-scroll"
        role="listbox"
        aria-label="Steps, newest first"
        aria-activedescendant={`step-${selected}`}
        tabIndex={0}
        data-arrows
        onKeyDown={onKey}
      >
        <div
          class="steps-rows"
          ref={(element) => {
            if (element) element.style.height = `${virtual.current!.getTotalSize()}px`;
          }}
        >
          {rows.map(({ index: row, start }) => {
            const index = indexOf(row);
            return (
              <Row
                key={index}
                index={index}
                step={state.steps.at(index)}
                top={start}
                selected={index === selected}
                state={state}
                place={row + 1}
                count={count}
              />
            );
          })}
        </div>
        {count === 0 ? <p class="empty">{hits ? 'Nothing is found.' : 'No step yet.'}</p> : null}
      </div>
    </nav>
  );
}

interface RowProps {
  index: number;
  step: ShownStep | null;
  top: number;
  selected: boolean;
  state: State;
  place: number;
  count: number;
}

function Row({ index, step, top, selected, state, place, count }: RowProps) {
  const ended = step && outcome(step);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
    <div
      class={`step-row${selected ? ' selected' : ''}${ended ? ` ${ended.tone}` : ''}`}
      id={`step-${index}`}
      role="option"
      aria-selected={selected}
      aria-posinset={place}
      aria-setsize={count}
      tabIndex={-1}
      ref={(element) => {
        if (element) element.style.transform = `translateY(${top}px)`;
      }}
      onClick={() => {
        state.select(index);
        state.pane.value = 'stage';
      }}
    >
      <Thumb step={step} state={state} />
      <span class="row-text">
        <span class="row-title" title={step ? titleOf(step) : ''}>
          {step ? titleOf(step) : ' '}
        </span>
        <span class="row-facts">
          <span class="mono">{number4(index)}</span>
          {step ? (
            <>
              <span title={moment(step.published_at)}>{clock(step.published_at)}</span>
              {step.duration_ms !== null && !ended ? <span>{duration(step.duration_ms)}</span> : null}
              {ended ? <span class={`badge ${ended.tone}`}>{ended.word}</span> : null}
              <Change step={step} quiet={ended !== null} />
            </>
          ) : (
            <span>…</span>
          )}
        </span>
      </span>
    </div>
  );
}

const KINDS = {
  clip: 'clip',
  frame: 'page',
  model: '3D',
  cast: 'terminal',
  text: 'text',
  patch: 'patch',
  json: 'JSON',
} as const;

export function Thumb({ step, state }: { step: ShownStep | null; state: State }) {
  const url = step?.thumb ? state.source.url(step.thumb) : null;
  if (url) return <img class="thumb" src={url} alt="" loading="lazy" decoding="async" draggable={false} />;
  const bad = step && outcome(step)?.tone === 'bad';
  // What has no small picture says what it is: a clip, a page, a text.
  const kind = step?.hero ? shownAs(step.hero) : 'none';
  const sign = bad ? '!' : kind !== 'none' && kind !== 'image' ? KINDS[kind] : step && !step.hero ? '–' : '';
  return (
    <span class={`thumb none${bad ? ' bad' : ''}`} aria-hidden="true">
      {sign}
    </span>
  );
}

/** How much of the picture changed, as far as its tiles tell. */
function Change({ step, quiet }: { step: ShownStep; quiet: boolean }) {
  if (step.cached) return <span class="badge">shown before</span>;
  if (step.changed === null)
    return quiet || step.reason === 'mutation' ? null : <span class="badge">{visible(step.reason)}</span>;
  if (step.changed === 0) return <span class="badge">unchanged</span>;
  return (
    <span class="change" title="share of the picture whose tiles changed">
      {percent(step.changed)}
      <span class="meter">
        <span
          ref={(element) => {
            if (element) element.style.width = `${Math.max(4, Math.min(100, step.changed! * 100))}%`;
          }}
        />
      </span>
    </span>
  );
}
