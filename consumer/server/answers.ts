// Answers to what a page asks: older steps, one step whole, a search, an outline, a verification. Each is cut to what a
// message may hold, and long work is done in slices.
import { PreviewError } from '../../src/errors.js';
import { gatherHits, gatherSeries, isEmpty, matches } from '../../src/search.js';
import { type Hits, type PageMessage, type ShownDetail, STREAM_LIMITS } from '../../src/stream.js';
import { takeNote, userName } from '../noting/take.js';
import { blameIn } from './blame.js';
import { fitting } from './fit.js';
import type { Hub } from './hub.js';
import { inSlices } from './slices.js';
import type { Verifier } from './verify.js';

export type Request = Exclude<PageMessage, { type: 'hello' }>;

/** The JSON of an answer: its type, and its body without `id`. Null where nobody waits for it any more. */
export type Answer = { type: string; body: string } | null;

/** Room for an answer's other fields. */
const REST_BYTES = 512;
const ROOM = STREAM_LIMITS.messageBytes - REST_BYTES;

export async function answer(
  request: Request,
  hub: Hub,
  { verifier, stop }: { verifier: Verifier; stop: () => boolean },
): Promise<Answer> {
  switch (request.type) {
    case 'range':
      return rangeOf(request, hub, stop);
    case 'detail':
      return { type: 'detail', body: `"detail":${detailText(hub.shower().detail(request.index))}` };
    case 'search': {
      const hits = await search(request.query, hub, stop);
      return hits && { type: 'hits', body: `"hits":${JSON.stringify(hits)}` };
    }
    case 'outline': {
      const limit = Math.min(STREAM_LIMITS.buckets, Math.max(1, request.buckets));
      const buckets = await hub.outline().buckets(hub.count(), limit, stop);
      return buckets && { type: 'outline', body: `"buckets":${JSON.stringify(buckets)}` };
    }
    case 'series': {
      const points = await series(request.fact, hub, stop);
      return points && { type: 'series', body: `"points":${JSON.stringify(points)}` };
    }
    case 'blame': {
      const blame = await blameIn(hub, request, stop);
      return blame && { type: 'blame', body: `"blame":${JSON.stringify(blame)}` };
    }
    case 'verify':
      return {
        type: 'verdict',
        body: `"verdict":${JSON.stringify(await verifier.verdict(hub.dir, request.index))}`,
      };
    case 'note': {
      const { note } = takeNote(hub.recording(), request.note, userName());
      hub.lookAtNotes();
      return { type: 'noted', body: `"note":${JSON.stringify(note)}` };
    }
    default:
      return request satisfies never;
  }
}

async function rangeOf(
  { from, to }: Extract<Request, { type: 'range' }>,
  hub: Hub,
  stop: () => boolean,
): Promise<Answer> {
  const first = Math.max(1, from);
  const last = Math.min(to, hub.count(), first + STREAM_LIMITS.window - 1);
  const shower = hub.shower();
  const steps: string[] = [];
  let bytes = 0;
  const go = await inSlices(
    first,
    last,
    (low, high) => {
      for (const step of shower.steps(low, high)) {
        const text = JSON.stringify(step);
        bytes += Buffer.byteLength(text) + 1;
        steps.push(text);
      }
    },
    () => bytes > ROOM || stop(),
  );
  if (!go && stop()) return null;
  return { type: 'range', body: `"from":${first},"steps":[${fitting(steps, ROOM).join(',')}]` };
}

async function search(
  query: Extract<Request, { type: 'search' }>['query'],
  hub: Hub,
  stop: () => boolean,
): Promise<Hits | null> {
  const total = hub.count();
  if (isEmpty(query)) return { count: total, ranges: total === 0 ? [] : [[1, total]], more: false };
  const shower = hub.shower();
  const gathered = gatherHits(STREAM_LIMITS.hits);
  const whole = await inSlices(
    1,
    total,
    (from, to) => {
      for (const { step, text } of shower.searched(from, to))
        if (matches(step, query, text)) gathered.add(step.index);
    },
    stop,
  );
  return whole ? gathered.hits : null;
}

async function series(fact: string, hub: Hub, stop: () => boolean) {
  const [total, shower] = [hub.count(), hub.shower()];
  const { points, add } = gatherSeries(total, STREAM_LIMITS.points);
  const read = (from: number, to: number) => {
    for (const { step, facts } of shower.searched(from, to))
      if (Object.hasOwn(facts, fact)) add(step.index, facts[fact]);
  };
  return (await inSlices(1, total, read, stop)) ? points : null;
}

/** Parts of a detail that are left out of one that is too large, the least missed first. */
const LEFT_OUT: ((detail: ShownDetail) => ShownDetail)[] = [
  (detail) => ({ ...detail, before: null }),
  (detail) => ({ ...detail, manifest: detail.manifest && without(detail.manifest, ['context', 'metrics']) }),
  (detail) => ({ ...detail, summary: null }),
  (detail) => ({ ...detail, manifest: null }),
  (detail) => ({ ...detail, problems: detail.problems.slice(0, 5) }),
  (detail) => ({ ...detail, step: {} }),
];

const without = (object: Record<string, unknown>, names: string[]) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

/** The JSON of a detail; of one that is too large parts are left out, and that is said among its problems. */
export function detailText(detail: ShownDetail | null): string {
  const text = JSON.stringify(detail);
  if (detail === null || Buffer.byteLength(text) <= ROOM) return text;
  const problem = {
    kind: 'too_large',
    where: `step ${detail.index}`,
    detail: 'it is larger than a message may be, so parts are left out here; its files have them',
  };
  let short: ShownDetail = { ...detail, problems: [problem, ...detail.problems] };
  for (const cut of LEFT_OUT) {
    short = cut(short);
    const shorter = JSON.stringify(short);
    if (Buffer.byteLength(shorter) <= ROOM) return shorter;
  }
  throw new PreviewError('internal', `the detail of step ${detail.index} cannot be made small enough`);
}
