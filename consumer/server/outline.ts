// What the filmstrip needs of every step, kept small: read once, in slices, and then only what is new.
import { endOf, gatherBuckets } from '../../src/search.js';
import type { Bucket, ShownStep } from '../../src/stream.js';
import { inSlices } from './slices.js';

export interface Outline {
  /** The steps 1 to `total` in at most `limit` buckets; null where `stop` said so. */
  buckets(total: number, limit: number, stop: () => boolean): Promise<Bucket[] | null>;
}

type Kept = Pick<ShownStep, 'index' | 'status' | 'changed' | 'published_at'>;

/** `steps` reads steps, `from` to `to` inclusive. */
export function outlineOf(steps: (from: number, to: number) => ShownStep[]): Outline {
  const status: ShownStep['status'][] = [];
  const changed: (number | null)[] = [];
  const times: number[] = [];
  let reading: Promise<unknown> = Promise.resolve();

  const keep = (from: number, to: number) => {
    for (const step of steps(from, to)) {
      status.push(endOf(step));
      changed.push(step.changed);
      times.push(step.published_at === null ? Number.NaN : Date.parse(step.published_at));
    }
  };
  const kept = (at: number): Kept => ({
    index: at + 1,
    status: status[at]!,
    changed: changed[at]!,
    published_at: Number.isNaN(times[at]!) ? null : new Date(times[at]!).toISOString(),
  });

  return {
    async buckets(total, limit, stop) {
      // One reads at a time; what one page has begun serves the next.
      const mine = reading.then(() => inSlices(status.length + 1, total, keep, stop));
      reading = mine.catch(() => {
        // Whoever asked is told.
      });
      if (!(await mine)) return null;
      const gathered = gatherBuckets(total, limit);
      await inSlices(1, total, (from, to) => {
        for (let at = from; at <= to; at++) gathered.add(kept(at - 1));
      });
      return gathered.buckets;
    },
  };
}
