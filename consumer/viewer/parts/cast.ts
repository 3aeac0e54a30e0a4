// Plays what a terminal showed. It begins at the end: what the command left on the screen.
import { registerPart } from '../parts.js';
import { CAST_BYTES, type Cast, IDLE_S, readCast } from '../show/castfile.js';
import { button, el, scroller } from '../show/dom.js';
import { emulator } from '../show/emulator.js';
import { decoded, partOf, type Scene } from '../show/part.js';
import { screen } from '../show/screen.js';
import { clock, count, size } from '../show/words.js';

const SPEEDS = [0.5, 1, 2, 4, 8];
/** Arrow keys go so many seconds. */
const LEAP_S = 5;
/** A frame that took longer, for the page was hidden, counts as so many seconds. */
const FRAME_S = 0.25;

registerPart(
  'cast',
  partOf('cast', 200e6, (scene) => {
    const { bytes } = scene;
    const to = Math.min(bytes.byteLength, CAST_BYTES);
    return show(scene, readCast(decoded(bytes, 0, to)), bytes.byteLength - to);
  }),
);

async function show({ root, signal }: Scene, cast: Cast, leftOut: number): Promise<void> {
  const terminal = emulator(cast);
  signal.addEventListener('abort', () => terminal.close(), { once: true });
  const view = screen(terminal);
  const scroll = scroller('Terminal', signal, ['Home', 'End', ' ']);
  scroll.classList.add('term-scroll');
  scroll.append(view.element);

  let now = cast.length;
  let frame = 0;
  let before = 0;
  let isDrawn = '';

  const play = button('Play', signal, () => (frame ? pause() : start()));
  play.classList.add('cast-play');
  const slider = el('input', {
    type: 'range',
    class: 'cast-slider',
    min: 0,
    max: Math.max(0.001, cast.length),
    step: 'any',
    'aria-label': 'Moment',
  });
  const speed = el(
    'select',
    { 'aria-label': 'Speed', class: 'part-button' },
    ...SPEEDS.map((times) =>
      el('option', { value: times, ...(times === 1 ? { selected: true } : {}) }, `${times}×`),
    ),
  );
  const time = el('span', { class: 'part-said cast-time' });

  /** How many events have happened at a moment. */
  function eventsAt(moment: number): number {
    let low = 0;
    let high = cast.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cast.events[middle]!.at <= moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async function go(moment: number): Promise<void> {
    now = Math.min(cast.length, Math.max(0, moment));
    tell();
    const events = eventsAt(now);
    if (events !== terminal.fed()) await terminal.to(events);
    if (signal.aborted) return;
    // What is above the screen is drawn while nothing plays only.
    const drawn = `${terminal.fed()} ${frame === 0}`;
    if (drawn === isDrawn) return;
    isDrawn = drawn;
    view.draw(frame === 0);
    scroll.scrollTop = scroll.scrollHeight;
  }

  function tell(): void {
    slider.value = String(now);
    slider.setAttribute('aria-valuetext', `${clock(now)} of ${clock(cast.length)}`);
    time.textContent = `${clock(now)} / ${clock(cast.length)}`;
  }

  function tick(at: number): void {
    const passed = Math.min(FRAME_S, (at - before) / 1000) * Number(speed.value);
    before = at;
    const isOver = now + passed >= cast.length;
    frame = isOver ? 0 : requestAnimationFrame(tick);
    if (isOver) pause();
    void go(now + passed);
  }

  function start(): void {
    if (now >= cast.length) now = 0;
    before = performance.now();
    frame = requestAnimationFrame(tick);
    play.textContent = 'Pause';
    void go(now);
  }

  function pause(): void {
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = 'Play';
    void go(now);
  }
  signal.addEventListener('abort', () => cancelAnimationFrame(frame), { once: true });

  slider.addEventListener('input', () => void go(Number(slider.value)), { signal });
  root.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      const keys: Record<string, () => void> = {
        ' ': () => (frame ? pause() : start()),
        ArrowLeft: () => void go(now - LEAP_S),
        ArrowRight: () => void go(now + LEAP_S),
        Home: () => void go(0),
        End: () => void go(cast.length),
        '.': () => void go(cast.events[eventsAt(now)]?.at ?? cast.length),
        ',': () => void go(cast.events[eventsAt(now) - 2]?.at ?? 0),
        '<': () => shift(-1),
        '>': () => shift(1),
      };
      const act = keys[event.key];
      if (!act || target instanceof HTMLSelectElement) return;
      event.stopPropagation();
      // A button is pressed by space already.
      if (event.key === ' ' && target instanceof HTMLButtonElement) return;
      event.preventDefault();
      act();
    },
    { signal },
  );
  function shift(by: number): void {
    speed.selectedIndex = Math.min(SPEEDS.length - 1, Math.max(0, speed.selectedIndex + by));
  }

  const notes = [
    ...(leftOut > 0 ? [`the last ${size(leftOut)} are left out`] : []),
    ...(cast.damaged > 0 ? [`${count(cast.damaged, 'line')} could not be read`] : []),
    ...(cast.skipped > 0.5
      ? [`${count(Math.round(cast.skipped), 'second')} of silence skipped (each beyond ${IDLE_S} s)`]
      : []),
    ...cast.markers.slice(0, 5).map(({ at, text }) => `at ${clock(at)}: ${text.slice(0, 200)}`),
  ];
  root.append(
    scroll,
    // What came all at once is not played.
    ...(cast.length > 0.05 ? [el('div', { class: 'part-bar' }, play, slider, time, speed)] : []),
    ...(notes.length > 0 ? [el('div', { class: 'part-foot' }, notes.join(' · '))] : []),
  );
  await go(cast.length);
}
