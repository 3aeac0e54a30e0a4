// The one commit point (protocol, section 4): number, rename, head, append, under the session's lock.
// Rendering happens before and outside; session.ts decides which session this is done to.
import { closeSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Sealed, writeManifest } from './bundle.js';
import { isBefore, type Moment } from './clock.js';
import { createFile, exists, pointLink, syncPath, writeAll } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { sha256 } from './hash.js';
import {
  bundleName,
  CURRENT_NAME,
  HEAD_NAME,
  numberOf,
  stepId,
  TRAJECTORY_NAME,
  WORK_NAME,
} from './layout.js';
import { acquireLock, type Lock, type LockOptions } from './lock.js';
import { currentOwner, judge, parseOwner } from './owner.js';
import { inside, readBundle, readHead } from './read.js';
import type { Head, Step } from './schema.js';
import { historyEntry, keepText, makeStep, type StepInput } from './step.js';
import { appendRecord, healTail, openTrajectory } from './trajectory.js';
import { HEAD_VERSION, LIMITS } from './version.js';

/** A good bundle of this session that is used again: what its manifest's bytes must still hash to. */
export interface Reuse {
  bundle_id: string;
  manifest_sha256: string;
}

export type Source = { kind: 'new'; sealed: Sealed } | { kind: 'reuse'; reuse: Reuse };

export interface Committed {
  head: Head;
  step: Step;
  /** What failed after the commit: the step is recorded all the same. */
  warnings: string[];
}

export interface CommitOptions extends LockOptions {
  /** When the sources were first looked at: an older look than the current bundle's does not move `current`. */
  begun: Moment;
  /** Head statuses that may be published into; any other throws `session_not_active`. */
  allowed: readonly string[];
}

/** How often a lock that was lost to an evictor is taken again before giving up. */
const TRIES = 5;

/**
 * Records one step. Before the head's rename nothing has happened; after it the step is recorded, whatever fails then.
 * @throws PreviewError `session_damaged`, `version_newer`, `session_not_active`, `bundle_gone`, `lock_timeout`; system errors.
 */
export async function commitStep(
  dir: string,
  source: Source,
  input: StepInput,
  options: CommitOptions,
): Promise<Committed> {
  const texts = {
    command_path: keepText(dir, input.command, LIMITS.command),
    note_path: keepText(dir, input.note, LIMITS.note),
  };
  const claimed: { bundle: string | null } = { bundle: null };
  for (let attempt = 1; ; attempt++) {
    const lock = await acquireLock(dir, options);
    let outcome: Committed | 'lost';
    try {
      outcome = underLock(dir, lock, source, input, texts, options, claimed);
    } catch (error) {
      await releaseQuietly(lock, []);
      throw error;
    }
    const warnings: string[] = [];
    await releaseQuietly(lock, warnings);
    if (outcome !== 'lost') return { ...outcome, warnings: [...outcome.warnings, ...warnings] };
    if (attempt === TRIES)
      throw new PreviewError(
        'lock_lost',
        `${dir}: the lock was taken from this process ${TRIES} times`,
        'another machine thinks this one is dead: see whether their clocks and disks answer',
      );
  }
}

/** Gives the lock back; what fails is added to `warnings`. */
export async function releaseQuietly(lock: Lock, warnings: string[]): Promise<void> {
  try {
    await lock.release();
  } catch (error) {
    // Whoever comes next takes the lock over from a dead owner.
    warnings.push(`lock_left: the lock could not be given back: ${(error as Error).message}`);
  }
}

/** What is done between taking and giving back the lock; `lost` when somebody has evicted us before the commit. */
function underLock(
  dir: string,
  lock: Lock,
  source: Source,
  input: StepInput,
  texts: { command_path: string | null; note_path: string | null },
  options: CommitOptions,
  claimed: { bundle: string | null },
): Committed | 'lost' {
  const head = writableHead(dir, lock);
  if (head === 'lost') return head;
  if (!options.allowed.includes(head.status)) {
    throw new PreviewError(
      'session_not_active',
      `${dir} is ${head.status}`,
      'start a new one with `preview live start`',
    );
  }
  const recoveries: Head['recoveries'] = [];
  const fd = openForHealing(dir, head, lock, recoveries);
  if (fd === 'lost') return fd;
  try {
    const place =
      source.kind === 'new'
        ? placeBundle(dir, head, source.sealed, claimed, lock)
        : reuseBundle(dir, head, source.reuse);
    if (place === 'lost') return place;
    const count = head.trajectory_step_count + 1;
    const step = makeStep(input, {
      step_id: stepId(count),
      step_index: count,
      published_at: new Date().toISOString(),
      prev_sha256: head.trajectory_sha256,
      cached: source.kind === 'reuse',
      ...place,
      ...texts,
    });
    const line = JSON.stringify(step);
    const record = appendRecord(line, head.trajectory_step_count, head.trajectory_bytes);
    const next = nextHead(dir, head, step, {
      ...place,
      trajectory_bytes: record.end,
      line,
      recoveries,
      ...options,
    });
    if (!replaceHead(dir, lock, next)) return 'lost';
    return { head: next, step, warnings: afterCommit(dir, head, next, fd, record, lock) };
  } finally {
    closeSync(fd);
  }
}

/** The head, fit to be written to. Damage is concluded only while the lock is proved ours. */
function writableHead(dir: string, lock: Lock): Head | 'lost' {
  const reading = readHead(dir);
  if (reading.version !== null && reading.version > HEAD_VERSION) {
    throw new PreviewError(
      'version_newer',
      `${join(dir, HEAD_NAME)} is of version ${reading.version}; this program writes version ${HEAD_VERSION}`,
      'publish with a newer preview-recorder, or into a new session',
    );
  }
  if (reading.value !== null) return reading.value;
  if (!lock.held()) return 'lost';
  throw damaged(dir, reading.problems[0]?.detail ?? 'its head cannot be read');
}

const damaged = (dir: string, detail: string) =>
  new PreviewError(
    'session_damaged',
    `${dir} is damaged: ${detail}`,
    'see `previews verify`; `preview repair` mends it and keeps its bytes',
  );

/** Step 1 of the protocol: redo the last append where it is missing, make the file durable. */
function openForHealing(
  dir: string,
  head: Head,
  lock: Lock,
  recoveries: Head['recoveries'],
): number | 'lost' {
  let fd: number;
  try {
    fd = openTrajectory(join(dir, TRAJECTORY_NAME));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    if (!lock.held()) return 'lost';
    throw damaged(dir, `${TRAJECTORY_NAME} is not there`);
  }
  try {
    const state = healTail(fd, head);
    if (state.state === 'damaged') {
      closeSync(fd);
      if (!lock.held()) return 'lost';
      throw damaged(dir, state.detail);
    }
    if (state.state === 'pending')
      recoveries.push(
        recovery(state.kind, head.current_step_id ?? '', 'the last append was redone from the head'),
      );
    return fd;
  } catch (error) {
    if (!(error instanceof PreviewError)) closeSync(fd);
    throw error;
  }
}

const recovery = (kind: string, key: string, detail: string) => ({
  at: new Date().toISOString(),
  key,
  kind,
  detail,
});

interface Place {
  bundle_id: string;
  render: string | null;
  manifest_sha256: string;
  status: Step['status'];
  /** Numbers passed over because a folder of that name exists, and the last number given out. */
  strays: string[];
  bundle_last: number;
}

/** Step 2: the number (I2), the manifest, and the one rename that makes the bundle appear (I1). */
function placeBundle(
  dir: string,
  head: Head,
  sealed: Sealed,
  claimed: { bundle: string | null },
  lock: Lock,
): Place | 'lost' {
  reclaim(dir, head, sealed, claimed);
  const strays: string[] = [];
  let number = head.bundle_last + 1;
  for (; ; number++) {
    const name = bundleName(number);
    if (exists(join(dir, name))) {
      strays.push(name);
      continue;
    }
    const manifest_sha256 = writeManifest(sealed, name);
    try {
      renameSync(sealed.stage.bundle, join(dir, name));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTEMPTY' || errno === 'EEXIST') {
        strays.push(name);
        continue;
      }
      if (errno === 'ENOENT' && !lock.held()) return 'lost';
      throw error;
    }
    claimed.bundle = name;
    return {
      bundle_id: name,
      render: sealed.render,
      manifest_sha256,
      status: sealed.fields.status,
      strays,
      bundle_last: number,
    };
  }
}

/** After an eviction our bundle may stand under a number already: it is taken back, and that number is not used again. */
function reclaim(dir: string, head: Head, sealed: Sealed, claimed: { bundle: string | null }): void {
  if (claimed.bundle === null) return;
  const name = claimed.bundle;
  claimed.bundle = null;
  if (!head.orphans.includes(name)) {
    try {
      renameSync(join(dir, name), sealed.stage.bundle);
      head.bundle_last = Math.max(head.bundle_last, Number(/\d+$/.exec(name)?.[0]));
      return;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw new PreviewError(
    'bundle_gone',
    `${name} was removed while this process was suspended`,
    'the capture renders again',
  );
}

/** The bundle to use again, looked at once more under the lock. */
function reuseBundle(dir: string, head: Head, { bundle_id, manifest_sha256 }: Reuse): Place {
  const bundle = join(dir, bundle_id);
  const { manifest } = readBundle(bundle).value;
  const whole = manifest?.artifacts.every((artifact) => {
    const path = inside(bundle, artifact.path);
    return path !== null && lstatSync(path, { throwIfNoEntry: false })?.size === artifact.bytes;
  });
  if (!manifest || !whole)
    throw new PreviewError('bundle_gone', `${bundle} is no longer whole`, 'the capture renders again');
  const render = manifest.artifacts.find((artifact) => artifact.role === 'hero')?.path ?? null;
  return {
    bundle_id,
    render,
    manifest_sha256,
    status: manifest.status as Step['status'],
    strays: [],
    bundle_last: head.bundle_last,
  };
}

interface Change extends Place {
  begun: Moment;
  trajectory_bytes: number;
  line: string;
  recoveries: Head['recoveries'];
}

/** The head after this step. Keys that this version does not know are kept. */
function nextHead(dir: string, head: Head, step: Step, change: Change): Head {
  const moves = !(head.current_begun && isBefore(change.begun, head.current_begun as Moment));
  // I9: a head is untrusted too, and what it calls an orphan will be removed.
  const known = head.orphans.filter((name) => numberOf(name, 'bundle') !== null && exists(join(dir, name)));
  const orphans = [...known, ...change.strays].slice(-LIMITS.orphans);
  const recoveries = [...head.recoveries, ...change.recoveries];
  if (change.strays.length > 0)
    recoveries.push(
      recovery(
        'orphans',
        change.strays[0]!,
        `${change.strays.length} bundles that no step names are removed`,
      ),
    );
  return {
    ...head,
    updated_at: step.published_at,
    ...(moves
      ? {
          current_bundle_id: step.bundle_id,
          current_bundle_dir: step.bundle_dir,
          current_manifest_path: step.manifest_path,
          current_summary_path: step.summary_path ?? null,
          current_render_path: step.render_path ?? null,
          current_cached: step.cached,
          current_step_id: step.step_id,
          current_begun: { ...change.begun },
        }
      : {}),
    recipe: step.recipe ?? head.recipe ?? null,
    bundle_count: head.bundle_count + (step.cached ? 0 : 1),
    bundle_last: change.bundle_last,
    orphans,
    trajectory_step_count: step.step_index,
    trajectory_bytes: change.trajectory_bytes,
    trajectory_sha256: sha256(change.line),
    latest_command: step.command,
    latest_publish_reason: step.publish_reason,
    latest_step: step,
    history: [historyEntry(step), ...head.history].slice(0, LIMITS.historySteps),
    recoveries: recoveries.slice(-LIMITS.recoveries),
  };
}

/**
 * Step 3, the commit (I3). The new head is written inside our entry of the lock and renamed from there, so that a
 * holder that was evicted gets ENOENT instead of committing: then false.
 */
export function replaceHead(dir: string, lock: Lock, head: Head): boolean {
  const staged = join(lock.entry, HEAD_NAME);
  try {
    createFile(staged, `${JSON.stringify(head, null, 1)}\n`, true);
    renameSync(staged, join(dir, HEAD_NAME));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && !lock.held()) return false;
    throw error;
  }
  return true;
}

/** Step 4 and what else may fail without harm: each failure is a warning, for the step is recorded. */
function afterCommit(
  dir: string,
  before: Head,
  head: Head,
  fd: number,
  record: { offset: number; bytes: Buffer },
  lock: Lock,
): string[] {
  const warnings: string[] = [];
  const attempt = (code: string, act: () => void) => {
    try {
      act();
    } catch (error) {
      warnings.push(`${code}: ${(error as Error).message}`);
    }
  };
  attempt('head_not_synced', () => syncPath(dir));
  attempt('append_pending', () => writeAll(fd, record.bytes, record.offset));
  if (head.current_bundle_id !== before.current_bundle_id || before.trajectory_step_count === 0) {
    attempt('link_not_moved', () =>
      pointLink(join(dir, CURRENT_NAME), head.current_bundle_id!, join(dir, WORK_NAME, `link-${lock.owner}`)),
    );
  }
  for (const name of head.orphans)
    attempt('orphan_left', () => rmSync(join(dir, name), { recursive: true, force: true }));
  attempt('work_not_swept', () => sweepWork(dir));
  return warnings;
}

/** Removes from `.work` what dead owners left: stages, graves, prepared locks, links. A living owner's things stay. */
export function sweepWork(dir: string): void {
  const self = currentOwner();
  const work = join(dir, WORK_NAME);
  for (const name of readdirSync(work)) {
    const owner = parseOwner(/^(?:stage|new|grave|done|link|session)-([^-]+)/.exec(name)?.[1] ?? '');
    if (owner && judge(owner, self) === 'dead') rmSync(join(work, name), { recursive: true, force: true });
  }
}

/** Changes the head without a step (status, title …), under the lock. */
export async function changeHead(
  dir: string,
  change: (head: Head) => Partial<Head>,
  options: LockOptions = {},
): Promise<Head> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const lock = await acquireLock(dir, options);
    try {
      const head = writableHead(dir, lock);
      if (head === 'lost') continue;
      const next = { ...head, ...change(head), updated_at: new Date().toISOString() };
      if (!replaceHead(dir, lock, next)) continue;
      syncPath(dir);
      return next;
    } finally {
      await releaseQuietly(lock, []);
    }
  }
  throw new PreviewError('lock_lost', `${dir}: the lock was taken from this process ${TRIES} times`);
}
