// Searching and outlining steps: pure, so that the server and an exported page find the same.
import { isObject } from './object.js';
import type { Bucket, Hits, Query, Series, ShownStep } from './stream.js';

/** Whether a step is asked for. `more` is what else is known of it as text: its facts and its output. */
export function matches(step: ShownStep, query: Query, more = ''): boolean {
  if (query.status && step.status !== query.status) return false;
  if (query.reason && step.reason !== query.reason) return false;
  if (query.recipe && step.recipe !== query.recipe) return false;
  if (query.changed_only && step.changed === 0) return false;
  const words = wordsOf(query.words);
  if (words.length === 0) return true;
  const text = [
    step.step_id,
    step.command,
    step.label,
    step.note,
    step.headline,
    step.reason,
    step.recipe,
    more,
  ]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What is searched of a bundle besides its step's own words: facts, warnings, and the excerpts of the output. */
export function searchedText(
  manifest: Record<string, unknown> | null,
  summary: Record<string, unknown> | null,
): string {
  const isText = (value: unknown): value is string => typeof value === 'string';
  const { context, warnings } = manifest ?? {};
  const run = isObject(context) ? context['run'] : null;
  const facts = summary?.['facts'];
  return [
    ...Object.entries(isObject(facts) ? facts : {}).map(
      ([name, value]) => `${name} ${isText(value) ? value : JSON.stringify(value)}`,
    ),
    ...(Array.isArray(warnings) ? warnings.filter(isText) : []),
    ...(isObject(run) ? [run['head'], run['tail']].filter(isText) : []),
  ].join('\n');
}

/** The words of a query, in lower case. */
export const wordsOf = (words: string): string[] => words.toLowerCase().split(/\s+/).filter(Boolean);

/** True for a query that every step answers. */
export const isEmpty = ({ words, status, reason, recipe, changed_only }: Query): boolean =>
  !words.trim() && !status && !reason && !recipe && !changed_only;

/** Gathers found indexes, given in ascending order, into at most `limit` ranges. */
export function gatherHits(limit: number) {
  const hits: Hits = { count: 0, ranges: [], more: false };
  return {
    hits,
    add(index: number): void {
      hits.count++;
      const last = hits.ranges.at(-1);
      if (last && last[1] === index - 1) last[1] = index;
      else if (hits.ranges.length < limit) hits.ranges.push([index, index]);
      else hits.more = true;
    },
  };
}

const WORSE = { ok: 0, partial: 1, error: 2 } as const;

/** How a step ended: a command that failed is an error, whatever its picture is. */
export const endOf = ({ status, exit_code, signal, lost }: ShownStep): ShownStep['status'] =>
  lost || exit_code || signal ? 'error' : status;

/** Gathers the steps of 1 to `total`, given in order, into at most `limit` buckets of equal length. */
export function gatherBuckets(total: number, limit: number) {
  const size = Math.max(1, Math.ceil(total / Math.max(1, limit)));
  const buckets: Bucket[] = [];
  return {
    buckets,
    add(step: Pick<ShownStep, 'index' | 'status' | 'changed' | 'published_at'>): void {
      const at = Math.floor((step.index - 1) / size);
      const bucket = buckets.at(-1);
      if (!bucket || bucket.from !== at * size + 1) {
        const { status, changed, published_at } = step;
        buckets.push({ from: at * size + 1, count: 1, status, changed, at: published_at });
        return;
      }
      bucket.count++;
      if (WORSE[step.status] > WORSE[bucket.status]) bucket.status = step.status;
      if (step.changed !== null) bucket.changed = Math.max(bucket.changed ?? 0, step.changed);
    },
  };
}

/** Gathers a fact's values at the steps of 1 to `total`, given in order, into at most `limit` points: the last of each stretch. */
export function gatherSeries(total: number, limit: number) {
  const size = Math.max(1, Math.ceil(total / Math.max(1, limit)));
  const points: Series = [];
  return {
    points,
    add(index: number, value: unknown): void {
      if (typeof value !== 'number' || !Number.isFinite(value)) return;
      const last = points.at(-1);
      if (last && Math.floor((last[0] - 1) / size) === Math.floor((index - 1) / size)) points.pop();
      points.push([index, value]);
    },
  };
}
