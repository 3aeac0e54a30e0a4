// The steps that the page holds: windows of them, loaded when they are looked at, the least used let go.
import { signal } from '@preact/signals';
import { type ShownStep, STREAM_LIMITS } from '../../src/stream.js';
import type { Source } from './source.js';

const SIZE = STREAM_LIMITS.window;
/** Windows that are held: 6,000 steps. */
const HELD = 30;
/** Windows that are loaded at a time, and that wait for it: of more, those looked at longest ago are not looked at any more. */
const [AT_ONCE, WAITING] = [2, 4];
/** A server that answers with less than a window is asked again for the rest so often. */
const PIECES = 50;

export interface Steps {
  /** Grows with each change of what is held; reading it subscribes. */
  version: { value: number };
  /** The step, or null while it is being loaded. */
  at(index: number): ShownStep | null;
  /** As `at`, waited for; null where there is none. */
  wait(index: number): Promise<ShownStep | null>;
  /** Forgets everything, and takes the newest steps. */
  reset(steps: readonly ShownStep[]): void;
  add(steps: readonly ShownStep[]): void;
}

export function holdSteps(source: Source): Steps {
  const windows = new Map<number, (ShownStep | undefined)[]>();
  const loading = new Map<number, Promise<void>>();
  const version = signal(0);
  const numberOf = (index: number) => Math.floor((index - 1) / SIZE);
  let run = 0;

  const add = (steps: readonly ShownStep[]) => {
    for (const step of steps) {
      const number = numberOf(step.index);
      const held = windows.get(number) ?? [];
      held[(step.index - 1) % SIZE] = step;
      windows.set(number, held);
    }
    version.value++;
  };
  const load = (number: number): Promise<void> => {
    const known = loading.get(number);
    if (known) return known;
    const mine = run;
    const fetched = (async () => {
      const [first, last] = [number * SIZE + 1, (number + 1) * SIZE];
      for (let from = first, pieces = 0; from <= last && pieces < PIECES; pieces++) {
        const steps = await source.steps(from, last);
        if (mine !== run || steps.length === 0) return;
        add(steps);
        from = steps.at(-1)!.index + 1;
      }
    })();
    loading.set(number, fetched);
    const done = () => {
      if (loading.get(number) === fetched) loading.delete(number);
      for (const old of windows.keys()) {
        if (windows.size <= HELD) break;
        if (old !== number) windows.delete(old);
      }
    };
    fetched.then(done, done);
    return fetched;
  };
  const held = (index: number): ShownStep | null => {
    const number = numberOf(index);
    const window = windows.get(number);
    const step = window?.[(index - 1) % SIZE] ?? null;
    if (window && step) {
      // Used last, let go last.
      windows.delete(number);
      windows.set(number, window);
    }
    return step;
  };
  let wanted: number[] = [];
  const pump = () => {
    while (loading.size < AT_ONCE && wanted.length > 0) {
      const number = wanted.pop()!;
      load(number).then(pump, pump);
    }
  };
  return {
    version,
    at(index) {
      const step = held(index);
      const number = numberOf(index);
      if (step === null && index > 0 && !loading.has(number)) {
        wanted = [...wanted.filter((other) => other !== number), number].slice(-WAITING);
        queueMicrotask(pump);
      }
      return step;
    },
    async wait(index) {
      const step = held(index);
      if (step) return step;
      await load(numberOf(index));
      return held(index);
    },
    reset(steps) {
      run++;
      windows.clear();
      loading.clear();
      wanted = [];
      add(steps);
    },
    add,
  };
}
