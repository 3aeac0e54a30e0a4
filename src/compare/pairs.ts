// What differs between two steps that belong together, of two sessions. Pure, and runs in a browser too.
import { type AlignedRow, align, type Keyed } from './align.js';
import { compareFacts, type FactChange, isChanged } from './facts.js';
import { changedTiles, type Tiled } from './tiles.js';

/** A step, as far as two sessions are compared. */
export interface ComparedStep extends Keyed {
  index: number;
  step_id: string;
  /** `ok`, `partial`, `error`, with its exit code or signal: `error, exit 3`. */
  outcome: string;
  tiled: Tiled | null;
  /** The hash of its picture's file; null where there is none, or none was recorded. */
  picture: string | null;
  has_picture: boolean;
  facts: Record<string, unknown>;
  duration_ms: number | null;
  /** Numbers of its `usage` (tokens, cost) by name, those within others with dots. */
  usage: Record<string, number>;
}

export type Difference = 'only_a' | 'only_b' | 'command' | 'source' | 'outcome' | 'picture' | 'facts';

export interface ComparedRow {
  a: ComparedStep | null;
  b: ComparedStep | null;
  /** Empty where both did the same. Time and cost are told apart: they never make two steps differ. */
  differs: Difference[];
  /** The share of the picture whose tiles differ; null where that is not known. */
  changed: number | null;
  /** Those that changed. */
  facts: FactChange[];
}

export interface ComparedSessions {
  rows: ComparedRow[];
  /** The place in `rows` of the first that differs, or null. */
  first: number | null;
}

/** Sets two sessions side by side and names where they part. */
export function comparePairs(a: readonly ComparedStep[], b: readonly ComparedStep[]): ComparedSessions {
  const rows = align(a, b).map((row) => compareRow(row, a, b));
  const first = rows.findIndex(({ differs }) => differs.length > 0);
  return { rows, first: first < 0 ? null : first };
}

function compareRow(
  row: AlignedRow,
  all: readonly ComparedStep[],
  others: readonly ComparedStep[],
): ComparedRow {
  const a = row.a === null ? null : all[row.a]!;
  const b = row.b === null ? null : others[row.b]!;
  if (a === null || b === null)
    return { a, b, differs: [a === null ? 'only_b' : 'only_a'], changed: null, facts: [] };
  const changed = a.tiled && b.tiled ? shareOf(a.tiled, b.tiled) : null;
  const facts = compareFacts(a.facts, b.facts).filter(isChanged);
  const differs: Difference[] = [];
  if (a.command !== b.command || a.label !== b.label) differs.push('command');
  if (a.source !== null && b.source !== null && a.source !== b.source) differs.push('source');
  if (a.outcome !== b.outcome) differs.push('outcome');
  if (hasOtherPicture(a, b, changed)) differs.push('picture');
  if (facts.length > 0) differs.push('facts');
  return { a, b, differs, changed, facts };
}

/** By tiles where both have them, else by the files' hashes; where nothing is known of one, they are not told apart. */
function hasOtherPicture(a: ComparedStep, b: ComparedStep, changed: number | null): boolean {
  if (changed !== null) return changed > 0;
  if (a.has_picture !== b.has_picture) return true;
  return a.picture !== null && b.picture !== null && a.picture !== b.picture;
}

function shareOf(a: Tiled, b: Tiled): number {
  const area = Math.max(a.width, b.width) * Math.max(a.height, b.height);
  return changedTiles(a, b).reduce((sum, { width, height }) => sum + width * height, 0) / area;
}
