// The bottom of the page: all steps as a strip that is scrubbed, thumbnails around the selected one, and play.
import { useEffect, useRef } from 'preact/hooks';
import type { State } from './state.js';
import { Thumb } from './steplist.js';
import { bySteps, byTime, restOf } from './timeline.js';
import { number4, outcome, titleOf } from './words.js';

/** Between two steps while playing at 1×, in ms. */
const BEAT = 1000;
const SPEEDS = [0.5, 1, 2, 4, 8];
const AROUND = 4;

export function Filmstrip({ state }: { state: State }) {
  usePlaying(state);
  const [total, first, selected] = [state.total.value, state.first.value, state.selected.value];
  state.steps.version.value;
  if (total === 0) return <footer class="film" />;
  const begin = Math.max(first, Math.min(selected - AROUND, total - 2 * AROUND));
  const shown = Array.from({ length: Math.min(2 * AROUND + 1, total - begin + 1) }, (_, at) => begin + at);
  return (
    <footer class="film">
      <div class="film-controls">
        <button
          type="button"
          class="play"
          aria-label={state.playing.value ? 'Stop' : 'Play'}
          aria-pressed={state.playing.value}
          onClick={() => {
            if (!state.playing.value && selected === total) state.select(first);
            state.playing.value = !state.playing.value;
          }}
        >
          {state.playing.value ? '❚❚' : '▶'}
        </button>
        <select
          aria-label="Speed"
          value={String(state.speed.value)}
          onChange={({ currentTarget }) => {
            state.speed.value = Number(currentTarget.value);
          }}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed}×
            </option>
          ))}
        </select>
        <button
          type="button"
          class="plain dim"
          title="by step, or by time with pauses cut short"
          onClick={() => {
            state.by.value = state.by.value === 'step' ? 'time' : 'step';
          }}
        >
          by {state.by.value}
        </button>
      </div>
      <div class="film-body">
        <div
          class="film-thumbs"
          role="group"
          aria-label="Steps around the selected one"
          ref={(element) => {
            // Few steps fill the width too, so that each stands over its bar.
            if (element) element.style.gridTemplateColumns = `repeat(${shown.length}, minmax(0, 1fr))`;
          }}
        >
          {shown.map((index) => {
            const step = state.steps.at(index);
            const ended = step && outcome(step);
            return (
              <button
                key={index}
                type="button"
                class={`film-thumb${ended ? ` ${ended.tone}` : ''}`}
                aria-pressed={index === selected}
                title={step ? `${number4(index)} ${titleOf(step)}` : ''}
                onClick={() => state.select(index)}
              >
                <span class="hidden">
                  step {index}
                  {step ? `: ${titleOf(step)}` : ''}
                  {ended ? `, ${ended.word}` : ''}
                </span>
                <Thumb step={step} state={state} />
              </button>
            );
          })}
        </div>
        <Strip state={state} />
      </div>
    </footer>
  );
}

function usePlaying(state: State): void {
  const [playing, speed, selected] = [state.playing.value, state.speed.value, state.selected.value];
  useEffect(() => {
    if (!playing) return;
    const next = state.neighbour(1);
    if (next > state.total.peek() || next === selected) {
      state.playing.value = false;
      return;
    }
    const rest =
      state.by.peek() === 'time'
        ? restOf(state.steps.at(selected)?.published_at ?? null, state.steps.at(next)?.published_at ?? null)
        : BEAT;
    // The next picture is there before it is shown: a frame that flashes white is no film.
    const timer = window.setTimeout(() => {
      const go = () => {
        if (state.playing.peek() && state.selected.peek() === selected) state.select(next);
      };
      state.steps.wait(next).then((step) => {
        const url = step?.hero?.media_type.startsWith('image/') ? state.source.url(step.hero) : null;
        if (!url) return go();
        const image = new Image();
        image.src = url;
        image.decode().then(go, go);
      }, go);
    }, rest / speed);
    return () => clearTimeout(timer);
  }, [playing, speed, selected]);
}

/** One bar for each bucket of steps: its height is what changed, its colour how it ended; hits are marked beneath. */
function Strip({ state }: { state: State }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [total, first, selected] = [state.total.value, state.first.value, state.selected.value];
  const buckets = state.outline.value;
  const hits = state.hits.value;
  const line = state.by.value === 'time' ? byTime(first, total, buckets) : bySteps(first, total);
  const theme = document.documentElement.dataset['theme'];
  const draw = () => {
    const element = canvas.current;
    if (!element) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (width === 0) return;
    element.width = width * ratio;
    element.height = height * ratio;
    const pen = element.getContext('2d')!;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const x = (index: number) => line.x(index) * width;
    const base = height - 5;
    for (const { from, count, status, changed } of buckets) {
      const [left, right] = [x(from), x(from + count)];
      const tall = 2 + (changed ?? 0) ** 0.5 * (base - 4);
      pen.fillStyle = colour(status === 'error' ? '--bad' : status === 'partial' ? '--warn' : '--bar');
      // What failed is seen even where nothing changed.
      const high = status === 'error' ? Math.max(tall, 7) : tall;
      pen.fillRect(left, base - high, Math.max(1, right - left - (right - left > 3 ? 1 : 0)), high);
    }
    pen.fillStyle = colour('--accent');
    for (const [low, high] of hits?.ranges ?? [])
      pen.fillRect(x(low), base + 2, Math.max(2, x(high + 1) - x(low)), 3);
    const at = x(selected);
    pen.fillRect(at - 1 + (x(selected + 1) - at) / 2, 0, 2, base);
  };
  const latest = useRef(draw);
  latest.current = draw;
  useEffect(draw);
  useEffect(() => {
    const watch = new ResizeObserver(() => latest.current());
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, []);
  const wanted = useRef(0);
  const to = ({ clientX }: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (clientX - box.left) / box.width));
    // One selection a frame, however many events there are.
    if (!wanted.current)
      requestAnimationFrame(() => {
        const index = wanted.current;
        wanted.current = 0;
        state.select(index);
      });
    wanted.current = line.at(share);
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[
      event.key
    ];
    if (!by || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    state.select(selected + by);
  };
  return (
    <div
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label="Step"
      aria-valuemin={first}
      aria-valuemax={total}
      aria-valuenow={selected}
      aria-valuetext={`step ${selected} of ${total}`}
      data-arrows
      data-theme-drawn={theme}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        to(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) to(event);
      }}
    >
      <canvas ref={canvas} />
    </div>
  );
}
