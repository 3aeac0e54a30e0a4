// Two pictures on one another or side by side, with one zoom, their changed pixels counted and marked.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Comparison } from '../../src/compare/pixels.js';
import { BlameAnswer, BlameArea, BlameButton, useBlame } from './blame.js';
import { Box, Mask, type Side, Tag } from './layers.js';
import { comparePictures } from './pixels.js';
import type { Mode, State } from './state.js';
import { Swipe } from './swipe.js';
import { counted, percent } from './words.js';
import { type Size, useZoom } from './zoom.js';

interface Props {
  state: State;
  before: Side;
  after: Side;
  mode: Mode;
  /** Redraws what has a colour of the theme. */
  accent: string;
  /** Whether these are what the steps show first, and so may be asked about. */
  isFirst: boolean;
}

const BLINK_MS = 700;
const NONE: Size = { width: 0, height: 0 };

export function ComparePictures({ state, before, after, mode, accent, isFirst }: Props) {
  const wrapper = useRef<HTMLDivElement>(null);
  const [sizes, setSizes] = useState<{ before: Size; after: Size }>({ before: NONE, after: NONE });
  const size = {
    width: Math.max(sizes.before.width, sizes.after.width),
    height: Math.max(sizes.before.height, sizes.after.height),
  };
  const zoom = useZoom(wrapper, size, { whole: false });
  const result = useComparison(before.url, after.url);
  const comparison = typeof result === 'object' ? result : null;
  const asking = useBlame(state, `${before.url} ${after.url} ${mode}`);
  const [region, showRegion] = useState(-1);
  /** Keys come faster than the page is drawn. */
  const current = useRef(-1);
  const [split, setSplit] = useState(0.5);
  const [blend, setBlend] = useState(0.5);
  const [flipped, setFlipped] = useState(false);
  const [ghost, setGhost] = useState<{ x: number; y: number; in: string } | null>(null);

  const boxes = comparison?.boxes ?? [];
  const go = (by: 1 | -1) => {
    if (boxes.length === 0) return;
    const from = current.current === -1 && by === -1 ? 0 : current.current;
    const next = (from + by + boxes.length) % boxes.length;
    current.current = next;
    showRegion(next);
    zoom.show(boxes[next]!);
    state.said.value = `region ${next + 1} of ${boxes.length}`;
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      if (event.key === 'n') go(1);
      else if (event.key === 'p') go(-1);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  // Who wants no motion flips by hand: the pictures are a button's.
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  useEffect(() => {
    if (mode !== 'blink' || still) return;
    const timer = setInterval(() => setFlipped((old) => !old), BLINK_MS);
    return () => clearInterval(timer);
  }, [mode]);

  const picture = (which: 'before' | 'after', effect: Partial<CSSStyleDeclaration> = {}) => {
    const side = which === 'before' ? before : after;
    return (
      <img
        key={which}
        ref={(element) => {
          zoom.place(element, sizes[which]);
          if (element)
            Object.assign(element.style, { clipPath: '', opacity: '', visibility: '', filter: '' }, effect);
        }}
        src={side.url}
        alt={`step ${side.step.index}`}
        draggable={false}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
          setSizes((old) => ({ ...old, [which]: { width, height } }))
        }
      />
    );
  };
  const frame = (name: string, content: preact.ComponentChildren) => (
    <div
      class={`zoom-frame layers${zoom.isFit ? '' : ' zoomed'}`}
      {...zoom.pointer}
      onPointerMove={(event) => {
        zoom.pointer.onPointerMove(event);
        if (mode === 'side')
          setGhost({ ...zoom.pointAt(event.clientX, event.clientY, event.currentTarget), in: name });
      }}
      onPointerLeave={() => setGhost(null)}
    >
      {content}
      {ghost && ghost.in !== name ? (
        <span
          class="ghost"
          ref={(element) => {
            if (!element) return;
            const [x, y] = [
              (ghost.x - size.width / 2) * zoom.scale + zoom.x,
              (ghost.y - size.height / 2) * zoom.scale + zoom.y,
            ];
            element.style.transform = `translate(${x}px, ${y}px)`;
          }}
        />
      ) : null}
      {isFirst ? (
        <BlameArea
          state={state}
          zoom={zoom}
          index={(name === 'before' ? before : after).step.index}
          asking={asking}
        />
      ) : null}
      {region >= 0 && boxes[region] ? <Box box={boxes[region]} zoom={zoom} size={size} /> : null}
    </div>
  );
  return (
    <div class={`picture compare-${mode}`} ref={wrapper}>
      <div class="frames">
        {mode === 'side' ? (
          <>
            {frame(
              'before',
              <>
                {picture('before')}
                <Tag side={before} />
              </>,
            )}
            {frame(
              'after',
              <>
                {picture('after')}
                <Tag side={after} right />
              </>,
            )}
          </>
        ) : (
          frame(
            'both',
            <>
              {mode === 'swipe' ? (
                <Swipe split={split} setSplit={setSplit} zoom={zoom} size={size}>
                  {(cut) => (
                    <>
                      {picture('after')}
                      {picture('before', {
                        clipPath: `inset(0 ${Math.max(0, sizes.before.width - cut) * zoom.scale}px 0 0)`,
                      })}
                    </>
                  )}
                </Swipe>
              ) : mode === 'onion' ? (
                <>
                  {picture('before')}
                  {picture('after', { opacity: String(blend) })}
                </>
              ) : mode === 'difference' ? (
                <>
                  {picture('before', { visibility: 'hidden' })}
                  {picture('after', { opacity: '0.35', filter: 'grayscale(1)' })}
                  {comparison ? <Mask comparison={comparison} place={zoom.place} accent={accent} /> : null}
                </>
              ) : (
                <>
                  {picture('before', { visibility: flipped ? 'hidden' : '' })}
                  {picture('after', { visibility: flipped ? '' : 'hidden' })}
                </>
              )}
              {mode === 'blink' ? (
                <Tag side={flipped ? after : before} right={flipped} />
              ) : (
                <>
                  <Tag side={before} />
                  <Tag side={after} right />
                </>
              )}
            </>,
          )
        )}
      </div>
      {isFirst ? <BlameAnswer state={state} asking={asking} /> : null}
      <div class="picture-bar">
        <span class="spread" role="status">
          {typeof result === 'string' ? result : sentence(result)}
          {sizes.before.width > 0 &&
          sizes.after.width > 0 &&
          (sizes.before.width !== sizes.after.width || sizes.before.height !== sizes.after.height)
            ? `; the sizes differ: ${sizes.before.width} × ${sizes.before.height} and ${sizes.after.width} × ${sizes.after.height}`
            : ''}
        </span>
        {mode === 'onion' ? (
          <label>
            blend{' '}
            <input
              type="range"
              min="0"
              max="1"
              step="0.02"
              value={blend}
              onInput={({ currentTarget }) => setBlend(Number(currentTarget.value))}
            />
          </label>
        ) : null}
        {mode === 'blink' && still ? (
          <button type="button" class="plain" onClick={() => setFlipped(!flipped)}>
            flip
          </button>
        ) : null}
        {boxes.length > 0 ? (
          <span>
            <button
              type="button"
              class="plain"
              onClick={() => go(-1)}
              title="region before (p)"
              aria-label="region before"
            >
              ‹
            </button>
            {region < 0 ? counted(boxes.length, 'region') : `region ${region + 1} of ${boxes.length}`}
            <button
              type="button"
              class="plain"
              onClick={() => go(1)}
              title="next region (n)"
              aria-label="next region"
            >
              ›
            </button>
          </span>
        ) : null}
        {isFirst ? <BlameButton state={state} /> : null}
        <button type="button" class="plain" onClick={zoom.toggle} title="fit (0) or 100%">
          {Math.round(zoom.scale * 100)}%
        </button>
      </div>
    </div>
  );
}

const sentence = ({ count, ratio }: Comparison): string =>
  count === 0 ? 'No pixel changed' : `${counted(count, 'pixel')} changed, ${percent(ratio)}`;

/** The comparison, or what is said meanwhile or instead of it. */
function useComparison(before: string, after: string): Comparison | string {
  const [result, setResult] = useState<Comparison | string>('comparing …');
  useEffect(() => {
    const stop = new AbortController();
    setResult('comparing …');
    comparePictures(before, after, stop.signal).then(setResult, (error: Error) => {
      if (stop.signal.aborted) return;
      setResult(
        error.name === 'SecurityError'
          ? 'the browser does not let a page read pictures beside it on a disk: put the folder on a web server to count pixels'
          : 'the pixels cannot be read',
      );
    });
    return () => stop.abort();
  }, [before, after]);
  return result;
}
