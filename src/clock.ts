// When something began, in a form that two processes of one machine can compare although the wall clock
// may be set back in between.
import { bootId } from './processes.js';

export interface Moment {
  at: string;
  boot_id: string | null;
  /** The system's monotonic clock in nanoseconds, as a decimal; comparable within one boot. */
  monotonic_ns: string | null;
}

export const now = (): Moment => ({
  at: new Date().toISOString(),
  boot_id: bootId(),
  monotonic_ns: process.hrtime.bigint().toString(),
});

/** True when `a` is known to be before `b`: by the monotonic clock of one boot, never by the wall clock. */
export function isBefore(a: Moment, b: Moment): boolean {
  if (a.boot_id === null || a.boot_id !== b.boot_id || !a.monotonic_ns || !b.monotonic_ns) return false;
  return BigInt(a.monotonic_ns) < BigInt(b.monotonic_ns);
}

/** Milliseconds of a clock that never goes back. Unlike `performance.now()` it loads nothing: a status is asked often. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Resolves after `ms`; `node:timers/promises` would take longer to load than most waits last. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Node takes no timer of more milliseconds, and calls at once what was to wait for longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls `act` after `ms`, however many. What is returned calls that off. */
export function after(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (left: number) => {
    const now = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => (left > now ? wait(left - now) : act()), now);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

/** Lets timers and events have their turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
