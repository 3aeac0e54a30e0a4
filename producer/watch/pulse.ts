// When the watcher looks: once it has been quiet for a while after a hint, and every few seconds anyhow (I7).
import { monotonicMs } from '../../src/clock.js';

/** A file that never stops changing is recorded this long after its first change all the same. */
export const MAX_WAIT_MS = 10_000;
/** How often the watcher sees whether it is still wanted. */
export const TICK_MS = 5_000;
/** The same where the system tells of no changes. */
export const POLL_MS = 1_000;

export type Beat = 'quiet' | 'tick' | 'end';

export interface Pulse {
  /** Something may have changed. */
  hint(): void;
  /** Nothing more is wanted. */
  end(): void;
  ended(): boolean;
  /** Resolves when it is time to look, and says why. The first one is due at once. */
  next(): Promise<Beat>;
  /** Sleeps, but not beyond the end. */
  pause(ms: number): Promise<void>;
  /** How long after a tick the next one is due. */
  tickEvery(ms: number): void;
}

export function makePulse(quiet_ms: number): Pulse {
  let pending: { first: number; last: number } | null = null;
  let ended = false;
  let tick_ms = TICK_MS;
  let nextTick = monotonicMs();
  let wake = () => {};
  // Woken, it leaves no timer behind, which would keep the process alive.
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    hint() {
      const now = monotonicMs();
      const isFirst = pending === null;
      pending = { first: pending?.first ?? now, last: now };
      if (isFirst) wake();
    },
    end() {
      ended = true;
      wake();
    },
    ended: () => ended,
    async next() {
      for (;;) {
        if (ended) return 'end';
        const now = monotonicMs();
        const due = pending ? Math.min(pending.last + quiet_ms, pending.first + MAX_WAIT_MS) : nextTick;
        if (due <= now) {
          const why = pending ? 'quiet' : 'tick';
          pending = null;
          nextTick = now + tick_ms;
          return why;
        }
        await pause(due - now);
      }
    },
    async pause(ms) {
      const until = monotonicMs() + ms;
      for (let left = ms; left > 0 && !ended; left = until - monotonicMs()) await pause(left);
    },
    tickEvery(ms) {
      tick_ms = ms;
      nextTick = Math.min(nextTick, monotonicMs() + ms);
    },
  };
}
