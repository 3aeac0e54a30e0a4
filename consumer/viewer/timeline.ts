// Where steps lie on the strip: evenly, or by time. Time without a step is cut to a few seconds, once, for all that
// shows or plays time.
import type { Bucket } from '../../src/stream.js';

/** The longest time without a step that is shown and played as such, in ms. */
export const IDLE_MS = 3000;

export interface Timeline {
  /** Of a step's beginning, 0 to 1. */
  x(index: number): number;
  /** The step at a place. */
  at(share: number): number;
}

/** Every step as wide as any other. */
export function bySteps(first: number, total: number): Timeline {
  const span = Math.max(1, total - first + 1);
  return {
    x: (index) => (index - first) / span,
    at: (share) => Math.min(total, first + Math.floor(share * span)),
  };
}

/** Every step as wide as it took until the next, at most `IDLE_MS`. Within a bucket all are equal. */
export function byTime(first: number, total: number, buckets: readonly Bucket[]): Timeline {
  if (buckets.length === 0) return bySteps(first, total);
  const starts: number[] = [];
  let sum = 0;
  for (const [n, { at, count }] of buckets.entries()) {
    starts.push(sum);
    const next = buckets[n + 1]?.at;
    const took = at && next ? Date.parse(next) - Date.parse(at) : Number.NaN;
    // A bucket of many steps may rest once after each.
    sum += Number.isFinite(took) ? Math.min(Math.max(took, 50), IDLE_MS * count) : IDLE_MS;
  }
  const whole = sum;
  const end = (n: number) => starts[n + 1] ?? whole;
  return {
    x(index) {
      let n = buckets.findIndex(({ from, count }) => index < from + count);
      if (n === -1) n = buckets.length - 1;
      const { from, count } = buckets[n]!;
      const within = Math.min(1, Math.max(0, (index - from) / count));
      return (starts[n]! + within * (end(n) - starts[n]!)) / whole;
    },
    at(share) {
      const place = share * whole;
      let n = starts.findLastIndex((start) => start <= place);
      if (n === -1) n = 0;
      const { from, count } = buckets[n]!;
      const within = (place - starts[n]!) / Math.max(1, end(n) - starts[n]!);
      return Math.min(total, Math.max(first, from + Math.min(count - 1, Math.floor(within * count))));
    },
  };
}

/** How long a step is shown while playing by time, before speed. */
export function restOf(at: string | null, next: string | null): number {
  const took = at && next ? Date.parse(next) - Date.parse(at) : Number.NaN;
  return Number.isFinite(took) ? Math.min(Math.max(took, 50), IDLE_MS) : 1000;
}
