// Mending a damaged session: its steps are gathered from the lines that can still be read, from the head and from the
// bundles' manifests; the damaged files are kept byte for byte. The one place that rewrites a trajectory (I4), because
// what it replaces is not one any more. What a bundle lost is not made up: `verify` goes on naming it.
import { closeSync, copyFileSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { releaseQuietly, replaceHead } from './commit.js';
import { createFile, exists, makeDir, openRegular, syncPath } from './disk.js';
import { PreviewError } from './errors.js';
import { type Gathered, gather } from './gather.js';
import { hashFile, sha256 } from './hash.js';
import { emptyHead } from './head.js';
import { DAMAGED_NAME, HEAD_NAME, numberOf, stepId, TRAJECTORY_NAME } from './layout.js';
import { acquireLock, type LockOptions, makeWork } from './lock.js';
import { readHead, refuseNewer } from './read.js';
import type { Head, Problem, Step } from './schema.js';
import { historyEntry } from './step.js';
import { appendRecord, EMPTY, healTail } from './trajectory.js';
import { type Verdict, verify } from './verify.js';
import { LIMITS } from './version.js';

export interface Repair {
  /** False when there was nothing to mend. */
  repaired: boolean;
  /** What was done, a sentence each. */
  actions: string[];
  /** Paths in the session of the damaged files' copies. */
  kept: string[];
  /** The session as it verifies now. */
  verdict: Verdict;
}

/** Problems of the head or the trajectory, which can be mended; a bundle's own cannot. */
const MENDABLE = [
  'missing',
  'invalid',
  'chain_broken',
  'step_order',
  'step_missing',
  'step_altered',
  'trajectory_altered',
  'trajectory_cut',
  'head_disagrees',
];
const isMendable = ({ kind, where }: Problem) => MENDABLE.includes(kind) && !where.startsWith('bundle_');

/** Mends a session under its lock. @throws PreviewError `version_newer`, `lock_timeout`, `lock_lost`; system errors. */
export async function repairSession(dir: string, options: LockOptions = {}): Promise<Repair> {
  refuseNewer(dir, readHead(dir));
  makeWork(dir);
  const lock = await acquireLock(dir, options);
  try {
    const reading = readHead(dir);
    const before = verify(dir);
    if (!before.problems.some(isMendable))
      return {
        repaired: before.pending > 0,
        actions: heal(dir, reading.value, before),
        kept: [],
        verdict: verify(dir),
      };
    const gathered = gather(dir, reading.value);
    const kept = [keep(dir, HEAD_NAME), keep(dir, TRAJECTORY_NAME)].filter((path) => path !== null);
    const { bytes, steps } = relink(gathered.steps);
    const staged = join(lock.entry, TRAJECTORY_NAME);
    createFile(staged, bytes, true);
    // The trajectory goes first: killed here, the session is as damaged as before, and repairing again mends it.
    renameSync(staged, join(dir, TRAJECTORY_NAME));
    const actions = describe(gathered, kept);
    if (!replaceHead(dir, lock, rebuiltHead(dir, reading.value, steps, bytes, actions)))
      throw new PreviewError(
        'lock_lost',
        `${dir}: the lock was taken from this process`,
        'run the repair again',
      );
    syncPath(dir);
    return { repaired: true, actions, kept, verdict: verify(dir) };
  } finally {
    await releaseQuietly(lock, []);
  }
}

/** What a crash left is no damage, but it can be redone here as well as by the next publication. */
function heal(dir: string, head: Head | null, { pending }: Verdict): string[] {
  if (head === null || pending === 0) return [];
  const fd = openRegular(join(dir, TRAJECTORY_NAME), true);
  try {
    healTail(fd, head);
  } finally {
    closeSync(fd);
  }
  return ['the last append, which a crash had cut off, was redone'];
}

/** Copies a damaged file aside, once for each content. */
function keep(dir: string, name: string): string | null {
  const path = join(dir, name);
  if (!exists(path)) return null;
  if (!lstatSync(path).isFile()) {
    // A folder, a link or a pipe in its place is kept as it is.
    const aside = `${DAMAGED_NAME}/${Date.now().toString(36)}-${name}`;
    makeDir(join(dir, DAMAGED_NAME));
    renameSync(path, join(dir, aside));
    return aside;
  }
  const copy = `${DAMAGED_NAME}/${hashFile(path).sha256.slice('sha256:'.length, 'sha256:'.length + 16)}-${name}`;
  if (exists(join(dir, copy))) return copy;
  makeDir(join(dir, DAMAGED_NAME));
  const temporary = join(dir, DAMAGED_NAME, `.${basename(copy)}`);
  copyFileSync(path, temporary);
  syncPath(temporary);
  renameSync(temporary, join(dir, copy));
  syncPath(join(dir, DAMAGED_NAME));
  return copy;
}

/** Numbers the steps without gaps and chains them anew. Lines that were whole come out as they were. */
function relink(steps: Step[]): { bytes: Buffer; steps: Step[] } {
  const pieces: Buffer[] = [Buffer.from(EMPTY.slice(0, 1))];
  const linked: Step[] = [];
  let previous: string | null = null;
  for (const [at, step] of steps.entries()) {
    const index = at + 1;
    const moved =
      step.step_index === index
        ? {}
        : { step_id: stepId(index), step_index: index, recovered_from: step.step_id };
    const next: Step = { ...step, ...moved, prev_sha256: previous };
    const line = JSON.stringify(next);
    const { bytes } = appendRecord(line, at, 0);
    pieces.push(bytes.subarray(0, bytes.length - 3));
    previous = sha256(line);
    linked.push(next);
  }
  pieces.push(Buffer.from(EMPTY.slice(1)));
  return { bytes: Buffer.concat(pieces), steps: linked };
}

function describe(
  { steps, bad, fromHead, fromBundles, lost, restored, unproved }: Gathered,
  kept: string[],
): string[] {
  const lines = [`${steps.length} steps were put together again`];
  if (bad > 0) lines.push(`${bad} lines could not be read`);
  if (fromHead > 0) lines.push(`${fromHead} steps were taken from the head`);
  if (fromBundles > 0) lines.push(`${fromBundles} steps were rebuilt from their bundles' manifests`);
  if (lost > 0) lines.push(`${lost} steps are lost; a placeholder keeps the number of each`);
  if (restored > 0)
    lines.push(
      `${restored} altered steps were given back their recorded command, which the next line's hash proves`,
    );
  if (unproved > 0)
    lines.push(
      `${unproved} steps were altered and cannot be proved; they are marked, and verify goes on naming them`,
    );
  const moved = steps.filter((step, at) => step.step_index !== at + 1).length;
  if (moved > 0) lines.push(`${moved} steps have another number now; recovered_from tells which they had`);
  if (kept.length > 0) lines.push(`the damaged files are kept as ${kept.join(' and ')}`);
  return lines;
}

function rebuiltHead(dir: string, old: Head | null, steps: Step[], bytes: Buffer, actions: string[]): Head {
  const at = new Date().toISOString();
  const last = steps.at(-1) ?? null;
  // A session whose head is lost is not recorded into any more; another one may continue it already.
  const base: Head = old ?? {
    ...emptyHead(basename(dir), {}, steps[0]?.published_at ?? at),
    status: 'stopped',
    stop_kind: 'repaired',
    stopped_at: at,
  };
  const current =
    steps.find((step) => step.step_id === base.current_step_id) ??
    steps.findLast((step) => step.publish_reason !== 'diff') ??
    last;
  const numbers = steps.map((step) => numberOf(step.bundle_id, 'bundle') ?? 0);
  const unnamed = readdirSync(dir).map((name) => numberOf(name, 'bundle') ?? 0);
  const last_number = numbers.concat(unnamed).reduce((a, b) => Math.max(a, b), base.bundle_last);
  return {
    ...base,
    updated_at: at,
    current_bundle_id: current?.bundle_id ?? null,
    current_bundle_dir: current?.bundle_dir ?? null,
    current_manifest_path: current?.manifest_path ?? null,
    current_summary_path: current?.summary_path ?? null,
    current_render_path: current?.render_path ?? null,
    current_cached: current?.cached ?? null,
    current_step_id: current?.step_id ?? null,
    current_begun: null,
    bundle_count: new Set(numbers).size,
    bundle_last: last_number,
    // What no step names any more may be all that is left of one: it stays, and verify goes on naming it.
    orphans: base.orphans,
    trajectory_step_count: steps.length,
    trajectory_bytes: bytes.length - 3,
    trajectory_sha256: last ? sha256(JSON.stringify(last)) : null,
    latest_command: last?.command ?? null,
    latest_publish_reason: last?.publish_reason ?? null,
    latest_step: last,
    history: steps.slice(-LIMITS.historySteps).reverse().map(historyEntry),
    recoveries: [
      ...base.recoveries,
      { at, key: last?.step_id ?? '', kind: 'repaired', detail: actions.join('; ') },
    ].slice(-LIMITS.recoveries),
  };
}
