// Long work in slices, so that a server with one thread answers everybody meanwhile.
import { monotonicMs, turn } from '../../src/clock.js';

/** About so long one slice takes. */
const SLICE_MS = 12;
const MOST = 1024;

/**
 * Calls `work` for `from` to `to` (inclusive) a slice at a time, each about as long as a few milliseconds allow, until
 * all is done or `stop` says so. Resolves to false where it was stopped.
 */
export async function inSlices(
  from: number,
  to: number,
  work: (from: number, to: number) => void,
  stop: () => boolean = () => false,
): Promise<boolean> {
  let size = 8;
  for (let at = from; at <= to; ) {
    if (stop()) return false;
    const end = Math.min(to, at + size - 1);
    const began = monotonicMs();
    work(at, end);
    const took = monotonicMs() - began;
    if (took < SLICE_MS / 2) size = Math.min(MOST, size * 2);
    else if (took > SLICE_MS) size = Math.max(1, Math.floor(size / 2));
    at = end + 1;
    if (at <= to) await turn();
  }
  return true;
}

/**
 * Runs `work`, which never rejects, one at a time. Resolves when a run is over that began after it was asked for: those
 * who ask during one share the next.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = () => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (running === null && next === null) return run();
    next ??= running!.then(run);
    return next;
  };
}
