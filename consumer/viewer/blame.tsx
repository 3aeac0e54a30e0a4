// "Who changed this?": a click on a place of the picture, or a dragged box, asks which step last changed it.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Rect } from '../../src/compare/boxes.js';
import { type ShownBlame, type ShownStep, STREAM_LIMITS } from '../../src/stream.js';
import type { State } from './state.js';
import { counted, titleOf } from './words.js';
import type { Zoom } from './zoom.js';

/** A box that is smaller than this on the screen is a click. */
const CLICK = 4;

type Point = { x: number; y: number };

export interface Asking {
  /** Asks about a place of the picture of a step. */
  ask(index: number, place: Rect): void;
  /** The place that was asked about, and of which step's picture. */
  asked: { index: number; place: Rect } | null;
  /** What is known of it: words meanwhile, or instead. */
  answer: { blame: ShownBlame; by: ShownStep | null } | string | null;
}

/** What is asked of the pictures shown; forgotten when others are, and when the mode ends. */
export function useBlame(state: State, shown: string): Asking {
  const [asked, setAsked] = useState<Asking['asked']>(null);
  const [answer, setAnswer] = useState<Asking['answer']>(null);
  const turn = useRef(0);
  const on = state.blaming.value;
  useEffect(() => {
    turn.current++;
    setAsked(null);
    setAnswer(null);
    // The picture that is pointed at stays.
    if (on) state.follow(false);
  }, [on, shown]);
  const ask = (index: number, place: Rect) => {
    const mine = ++turn.current;
    setAsked({ index, place });
    setAnswer('asking …');
    const find = async () => {
      const blame = await state.source.blame(index, place);
      return { blame, by: await state.steps.wait(blame.changed_by) };
    };
    find().then(
      (found) => {
        if (turn.current === mine) setAnswer(found);
      },
      (error: Error) => {
        if (turn.current === mine) setAnswer(error.message);
      },
    );
  };
  return { ask, asked, answer };
}

interface AreaProps {
  state: State;
  zoom: Zoom;
  index: number;
  asking: Asking;
}

/** Lies over a picture while it is asked about; by keyboard, Enter asks about the middle of what is in sight. */
export function BlameArea({ state, zoom, index, asking }: AreaProps) {
  const area = useRef<HTMLButtonElement>(null);
  const [drag, setDrag] = useState<{ from: Point; to: Point } | null>(null);
  useEffect(() => area.current?.focus({ preventScroll: true }), [state.blaming.value]);
  if (!state.blaming.value) return null;
  const pointOf = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => ({
    x: clientX,
    y: clientY,
  });
  const ask = (from: Point, to: Point) => {
    const frame = area.current!.closest('.zoom-frame')!;
    const [a, b] = [from, to].map(({ x, y }) => zoom.pointAt(x, y, frame)) as [Point, Point];
    const [x, y] = [Math.floor(Math.min(a.x, b.x)), Math.floor(Math.min(a.y, b.y))];
    const isBox = Math.hypot(to.x - from.x, to.y - from.y) >= CLICK;
    const [right, bottom] = isBox
      ? [Math.ceil(Math.max(a.x, b.x)), Math.ceil(Math.max(a.y, b.y))]
      : [x + 1, y + 1];
    const [left, top] = isBox ? [Math.max(0, x), Math.max(0, y)] : [x, y];
    if (left < 0 || top < 0 || right <= left || bottom <= top) {
      state.said.value = 'that is beside the picture';
      return;
    }
    asking.ask(index, { x: left, y: top, width: right - left, height: bottom - top });
  };
  const box = asking.asked?.index === index ? asking.asked.place : null;
  return (
    <>
      <button
        ref={area}
        type="button"
        class="blame-area"
        aria-label="Place of the picture: click it or drag a box; Enter asks about its middle"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.stopPropagation();
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: pointOf(event), to: pointOf(event) });
        }}
        onPointerMove={(event) => {
          if (drag) setDrag({ from: drag.from, to: pointOf(event) });
        }}
        onPointerUp={(event) => {
          if (drag) ask(drag.from, pointOf(event));
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
        onDblClick={(event) => event.stopPropagation()}
        onClick={(event) => {
          // By keyboard: a click that no pointer made.
          if (event.detail !== 0) return;
          const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
          const middle = { x: left + width / 2, y: top + height / 2 };
          ask(middle, middle);
        }}
      />
      {drag ? <Dragged area={area.current!} {...drag} /> : null}
      {box ? <Marked place={box} zoom={zoom} area={area.current!} /> : null}
    </>
  );
}

function Dragged({ area, from, to }: { area: HTMLElement; from: Point; to: Point }) {
  const frame = area.getBoundingClientRect();
  return (
    <span
      class="blame-box"
      ref={(element) => {
        if (!element) return;
        element.style.left = `${Math.min(from.x, to.x) - frame.left}px`;
        element.style.top = `${Math.min(from.y, to.y) - frame.top}px`;
        element.style.width = `${Math.abs(to.x - from.x)}px`;
        element.style.height = `${Math.abs(to.y - from.y)}px`;
      }}
    />
  );
}

/** The place that was asked about, wherever the picture is moved. */
function Marked({ place, zoom, area }: { place: Rect; zoom: Zoom; area: HTMLElement }) {
  return (
    <span
      class="blame-box"
      ref={(element) => {
        if (!element) return;
        const frame = area.getBoundingClientRect();
        const origin = zoom.pointAt(frame.left, frame.top, area.closest('.zoom-frame')!);
        element.style.left = `${(place.x - origin.x) * zoom.scale - 4}px`;
        element.style.top = `${(place.y - origin.y) * zoom.scale - 4}px`;
        element.style.width = `${place.width * zoom.scale + 8}px`;
        element.style.height = `${place.height * zoom.scale + 8}px`;
      }}
    />
  );
}

export function BlameButton({ state }: { state: State }) {
  const on = state.blaming.value;
  return (
    <button
      type="button"
      class="plain"
      aria-pressed={on}
      title="key b; Escape ends it"
      onClick={() => {
        state.blaming.value = !on;
      }}
    >
      Who changed this?
    </button>
  );
}

const OVER: Record<keyof ShownBlame['passed_over'], string> = {
  failed: 'failed',
  nothing: 'without a picture',
  lost: 'lost',
  diff: 'comparisons',
  other_recipe: 'of another recipe',
};

/** What was answered, under the picture. A click goes to the step. */
export function BlameAnswer({ state, asking }: { state: State; asking: Asking }) {
  if (!state.blaming.value) return null;
  const { answer, asked } = asking;
  if (answer === null || typeof answer === 'string')
    return (
      <p class="blame-answer dim" role="status">
        {answer ?? 'Click a place of the picture, or drag a box. Escape ends this.'}
      </p>
    );
  const { blame, by } = answer;
  const thumb = by?.thumb ? state.source.url(by.thumb) : null;
  const go = () => {
    if (state.tab.value === 'compare') state.versus.value = blame.before;
    state.blaming.value = false;
    state.select(blame.changed_by, { follow: false });
  };
  return (
    <div class="blame-answer" role="status">
      <button type="button" class="blame-step" onClick={go}>
        {thumb ? <img src={thumb} alt="" class="thumb" /> : null}
        <span class="strong mono">{by?.step_id ?? `step ${blame.changed_by}`}</span>
        <span class="mono blame-command">{by ? titleOf(by) : ''}</span>
      </button>
      <span class="dim">{sentences(blame, asked!.index)}</span>
    </div>
  );
}

function sentences(blame: ShownBlame, index: number): string {
  const { kind, before, between, passed_over, region, looked_at, tile, picture_of, changed_by, recipe } =
    blame;
  const over = Object.entries(passed_over).flatMap(([why, count]) =>
    count > 0 ? [`${count} ${OVER[why as keyof typeof OVER]}`] : [],
  );
  const first = `It is as it was in the first picture${recipe ? ` of ${recipe.slice(0, STREAM_LIMITS.text)}` : ''}.`;
  return [
    ...(picture_of === index
      ? []
      : [`Step ${index} has no picture whose tiles are known; that of step ${picture_of} was taken.`]),
    kind === 'first'
      ? first
      : kind === 'resized'
        ? `Its size changed, from step ${before}; so every place counts as changed.`
        : `Changed from step ${before}${changed_by === index ? ', by this very step' : ''}.`,
    ...(between > 0
      ? [
          `${counted(between, 'step')} between the two can not be compared; it may have come with one of them.`,
        ]
      : []),
    ...(over.length > 0 ? [`Passed over: ${over.join(', ')}.`] : []),
    `${region.width} × ${region.height} px at ${region.x}, ${region.y}; a change anywhere in the ${looked_at.width} × ${looked_at.height} px of its tiles of ${tile} px counts.`,
  ].join(' ');
}
