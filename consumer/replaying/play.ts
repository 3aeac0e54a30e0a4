// The replay on a terminal: one step after the other at its time, and the keys that change that.
import { constants } from 'node:os';
import { after, monotonicMs } from '../../src/clock.js';
import type { Frame } from './frame.js';
import { type Images, imagesOf } from './images.js';
import type { Key } from './keys.js';
import { openScreen } from './screen.js';
import { teller } from './tell.js';

export interface Range {
  /** Steps to show, both included. */
  from: number;
  to: number;
  /** How many there are. */
  count: number;
}

export interface Pace {
  speed: number;
  idleLimit_s: number;
}

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
/** Between steps of which nobody recorded when they were. */
const UNKNOWN_GAP_MS = 1000;
const HELP = `space    pauses, and goes on
→ enter  the next step
←        the one before, and pauses
+ -      faster, slower
q        quits
`;

/** How long to wait before a frame. */
const waitOf = ({ gap_ms }: Frame, { speed, idleLimit_s }: Pace): number =>
  Math.min((gap_ms ?? UNKNOWN_GAP_MS) / speed, idleLimit_s * 1000);

/**
 * Plays steps until the last was shown while playing, or a key or a signal ends it. Resolves to the exit code. Without
 * `images` the environment tells, or the terminal is asked. `ending` is what is said behind the last step.
 */
export function play(
  frame: (index: number) => Frame,
  range: Range,
  { speed, idleLimit_s }: Pace,
  images: Images | null,
  ending: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const tell = teller(range.count);
    const known = images ?? imagesOf(process.env);
    let protocol = known ?? 'none';
    let playing = true;
    let at = 0;
    /** Since when the next step is waited for. */
    let since = monotonicMs();
    let callOff = () => {};
    let over = false;

    const finish = (code: number) => {
      if (over) return;
      over = true;
      callOff();
      screen.close();
      resolve(code);
    };
    const guarded = (act: () => void) => {
      try {
        if (!over) act();
      } catch (error) {
        finish(1);
        reject(error);
      }
    };
    const status = () => {
      const word = playing ? 'playing' : at === range.to ? 'end' : 'paused';
      const can = playing ? 'space pauses' : at === range.to ? 'q quits' : 'space plays';
      screen.status(`${word} ${at}/${range.count}  ${speed}x  ${can}, ? helps`);
    };
    /** Waits for the next step, where it plays. */
    const goOn = () => {
      callOff();
      status();
      if (!playing) return;
      if (at === range.to) {
        screen.print(`${ending}\n`);
        finish(0);
        return;
      }
      const wait = waitOf(frame(at + 1), { speed, idleLimit_s });
      callOff = after(Math.max(0, since + wait - monotonicMs()), () => guarded(() => show(at + 1, wait)));
    };
    const show = (index: number, waited: number | null) => {
      if (index >= range.from && index <= range.to) {
        at = index;
        screen.print(tell(frame(index), protocol, screen, waited));
        since = monotonicMs();
      }
      goOn();
    };
    const keys: Record<Key, () => void> = {
      pause() {
        playing = !playing;
        since = monotonicMs();
        goOn();
      },
      next: () => show(at + 1, null),
      previous() {
        playing = false;
        show(at - 1, null);
      },
      faster() {
        speed = SPEEDS.find((each) => each > speed) ?? speed;
        goOn();
      },
      slower() {
        speed = [...SPEEDS].reverse().find((each) => each < speed) ?? speed;
        goOn();
      },
      help: () => screen.print(HELP),
      quit: () => finish(0),
    };
    const screen = openScreen({
      key: (key) => guarded(() => (at > 0 || key === 'quit') && keys[key]()),
      end: (signal) => finish(128 + constants.signals[signal]),
    });
    const begin = () => guarded(() => show(range.from, null));
    if (known !== null) begin();
    else
      screen.asksImages().then((can) => {
        if (can) protocol = 'kitty';
        begin();
      });
  });
}
