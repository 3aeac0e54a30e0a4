// `previews compare`: two sessions read, set side by side, and told.
import { isChanged } from '../../src/compare/facts.js';
import { type ComparedRow, type ComparedStep, comparePairs } from '../../src/compare/pairs.js';
import { type Tiled, tiledOf } from '../../src/compare/tiles.js';
import { PreviewError } from '../../src/errors.js';
import type { Recording, SeenStep } from '../../src/formats/seen.js';
import { isObject } from '../../src/object.js';
import { folderOf } from './looking.js';

/** Sums over a session. */
export interface Totals {
  session_dir: string;
  steps: number;
  /** Steps that the head counts and that cannot be read. */
  unread: number;
  /** Steps whose outcome is not `ok`. */
  not_ok: number;
  duration_ms: number;
  /** Numbers of the steps' `usage`, added up: tokens, cost. */
  usage: Record<string, number>;
}

export interface ToldRow {
  /** Step ids; null where one session has nothing that belongs to the other's step. */
  a: string | null;
  b: string | null;
  command: string | null;
  label: string | null;
  differs: ComparedRow['differs'];
  /** The other command, where they differ. */
  command_b?: string | null;
  outcome: [string | null, string | null];
  /** The share of the picture whose tiles differ; null where that is not known. */
  changed: number | null;
  facts: ComparedRow['facts'];
  duration_ms: [number | null, number | null];
  usage: [Record<string, number>, Record<string, number>];
}

export interface CompareResult {
  a: Totals;
  b: Totals;
  /** How many rows have a step of both, of one alone, and how many differ. */
  pairs: number;
  only_a: number;
  only_b: number;
  differing: number;
  first_divergence: ToldRow | null;
  rows: ToldRow[];
}

/** Compares two sessions; `rows` has only those that differ unless `all` are asked for. @throws PreviewError `session_damaged`. */
export function compareSessions(
  [a, b]: readonly [Recording, Recording],
  { all, onProgress }: { all: boolean; onProgress?: (step: number) => void },
): CompareResult {
  const [one, two] = [stepsOf(a, onProgress), stepsOf(b, onProgress)];
  const { rows, first } = comparePairs(one.steps, two.steps);
  const differing = rows.filter(({ differs }) => differs.length > 0);
  return {
    a: totalsOf(a, one),
    b: totalsOf(b, two),
    pairs: rows.filter((row) => row.a && row.b).length,
    only_a: rows.filter((row) => row.b === null).length,
    only_b: rows.filter((row) => row.a === null).length,
    differing: differing.length,
    first_divergence: first === null ? null : toldRow(rows[first]!),
    rows: (all ? rows : differing).map(toldRow),
  };
}

function toldRow({ a, b, differs, changed, facts }: ComparedRow): ToldRow {
  const one = (a ?? b)!;
  return {
    a: a?.step_id ?? null,
    b: b?.step_id ?? null,
    command: one.command,
    label: one.label,
    differs,
    ...(a && b && a.command !== b.command ? { command_b: b.command } : {}),
    outcome: [a?.outcome ?? null, b?.outcome ?? null],
    changed: changed === null ? null : Math.round(changed * 1e4) / 1e4,
    facts: facts.filter(isChanged),
    duration_ms: [a?.duration_ms ?? null, b?.duration_ms ?? null],
    usage: [a?.usage ?? {}, b?.usage ?? {}],
  };
}

function totalsOf({ dir }: Recording, { steps, unread }: Read): Totals {
  const usage: Record<string, number> = {};
  for (const step of steps)
    for (const [name, value] of Object.entries(step.usage)) usage[name] = (usage[name] ?? 0) + value;
  return {
    session_dir: dir,
    steps: steps.length,
    unread,
    not_ok: steps.filter(({ outcome }) => outcome !== 'ok').length,
    duration_ms: steps.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0),
    usage,
  };
}

/** Steps that are read at a time. */
const PIECE = 500;

interface Read {
  steps: ComparedStep[];
  unread: number;
}

interface Shown {
  bundle: string | null;
  tiled: Tiled | null;
  picture: string | null;
  has_picture: boolean;
  facts: Record<string, unknown>;
}

/** Every step but comparisons, which say nothing of what was done. A lost one has no more than its number. */
function stepsOf(recording: Recording, onProgress: (step: number) => void = () => {}): Read {
  if (recording.head === null)
    throw new PreviewError(
      'session_damaged',
      `${recording.dir}: session.json: ${recording.problems[0]?.detail ?? 'it cannot be read'}`,
      'see `previews verify`; `preview repair` mends it',
    );
  const count = recording.head.trajectory_step_count;
  const steps: ComparedStep[] = [];
  let unread = count;
  let last: Shown | null = null;
  for (let from = 1; from <= count; from += PIECE) {
    onProgress(from);
    for (const step of recording.steps(from, Math.min(count, from + PIECE - 1)).value) {
      unread--;
      if (step.publish_reason === 'diff') continue;
      // A reused bundle is mostly the one before.
      if (last === null || step.bundle_dir === null || last.bundle !== step.bundle_dir)
        last = shownBy(recording, step);
      const { bundle: _, ...shown } = last;
      steps.push({ ...wordsOf(step), ...shown });
    }
  }
  return { steps, unread };
}

function shownBy(recording: Recording, step: SeenStep): Shown {
  const dir = step['lost'] ? null : folderOf(recording, step);
  const { manifest, summary } =
    dir === null ? { manifest: null, summary: null } : recording.readBundle(dir).value;
  const hero = manifest?.artifacts.find(({ role, kind }) => role === 'hero' && kind === 'image');
  return {
    bundle: step.bundle_dir,
    tiled: hero ? tiledOf(manifest?.metrics) : null,
    picture: hero?.sha256 ?? null,
    has_picture: hero !== undefined,
    facts: summary?.facts ?? {},
  };
}

function wordsOf(step: SeenStep) {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const duration = step['duration_ms'];
  return {
    index: step.step_index,
    step_id: step.step_id,
    label: text(step['stage_label']),
    command: step.command,
    source: text(step['source_fingerprint']),
    outcome: outcomeOf(step),
    duration_ms: typeof duration === 'number' && Number.isFinite(duration) ? duration : null,
    usage: numbersIn(step['usage']),
  };
}

function outcomeOf({ status, exit_code, signal, lost }: SeenStep): string {
  if (lost) return 'lost';
  const how = signal ? `, ${signal}` : exit_code ? `, exit ${exit_code}` : '';
  return status + how;
}

/** Numbers within numbers, at most so deep and so many: `usage` is given by other programs. */
const [DEEP, MANY] = [4, 50];

function numbersIn(
  value: unknown,
  prefix = '',
  into: Record<string, number> = {},
  depth = 0,
): Record<string, number> {
  if (!isObject(value) || depth > DEEP) return into;
  for (const [key, inner] of Object.entries(value)) {
    if (Object.keys(into).length >= MANY) break;
    if (typeof inner === 'number' && Number.isFinite(inner)) into[prefix + key] = inner;
    else numbersIn(inner, `${prefix}${key}.`, into, depth + 1);
  }
  return into;
}
