// The one commit point (protocol, section 4): number, rename, head, append, under the session's lock.
// Rendering happens before and outside; session.ts decides which session this is done to.
import { closeSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Sealed } from './bundle.js';
import type { Moment } from './clock.js';
import { createFile, pointLink, readPointer, syncPath, writeAll } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { nextHead, recovery } from './head.js';
import { CURRENT_NAME, HEAD_NAME, stepId, TRAJECTORY_NAME, WORK_NAME } from './layout.js';
import { acquireLock, type Lock, type LockOptions } from './lock.js';
import { placeBundle, type Reuse, reuseBundle } from './place.js';
import { readHead, refuseNewer } from './read.js';
import { maskedWarning } from './redact.js';
import { check, type Head, headSchema, type Step } from './schema.js';
import { keepText, makeStep, maskStep, type StepInput } from './step.js';
import { removableOrphans, removeOrphan, sweepWork } from './sweep.js';
import { appendRecord, healTail, openTrajectory } from './trajectory.js';
import { LIMITS } from './version.js';

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
  /** Asked under the lock: true where the step is not wanted after all; then `already_recorded` is thrown. */
  unless?: ((head: Head, input: StepInput) => boolean) | undefined;
  /** False where nobody looked at the work: what was current stays so. */
  looked?: boolean | undefined;
  /** False keeps secrets in the step's texts as they are. */
  redact?: boolean | undefined;
}

/** How often a lock that was lost to an evictor is taken again before giving up. */
const TRIES = 5;

/**
 * Records one step. Before the head's rename nothing has happened; after it the step is recorded, whatever fails then.
 * @throws PreviewError `session_damaged`, `version_newer`, `session_not_active`, `already_recorded`, `bundle_gone`, `lock_timeout`; system errors.
 */
export async function commitStep(
  dir: string,
  source: Source,
  given: StepInput,
  options: CommitOptions,
): Promise<Committed> {
  const { input, masked } = options.redact === false ? { input: given, masked: 0 } : maskStep(given);
  // What a new bundle holds of the same texts was counted there.
  const told = source.kind === 'reuse' ? maskedWarning(masked, 'the command; --no-redact keeps them') : [];
  // Before the lock, which would already be a write.
  refuseNewer(dir, readHead(dir));
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
    if (outcome !== 'lost') return { ...outcome, warnings: [...told, ...outcome.warnings, ...warnings] };
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
      `${dir} is ${head.status}, not live`,
      'begin a live one with `preview live start`',
    );
  }
  if (options.unless?.(head, input))
    throw new PreviewError('already_recorded', `${dir}: its last step shows this state already`);
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
    closeQuietly(fd);
  }
}

/** By now the file is synced, or its append is pending: what closing could say is known already. */
function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // EIO: the next publication heals what the disk lost.
  }
}

/** The head, fit to be written to. Damage is concluded only while the lock is proved ours. */
function writableHead(dir: string, lock: Lock): Head | 'lost' {
  const reading = readHead(dir);
  refuseNewer(dir, reading);
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

/**
 * Step 3, the commit (I3). The new head is written inside our entry of the lock and renamed from there, so that a
 * holder that was evicted gets ENOENT instead of committing: then false.
 */
export function replaceHead(dir: string, lock: Lock, head: Head): boolean {
  const { problems } = check(headSchema, head, HEAD_NAME);
  // A head that readers could not read must never come to be.
  if (problems.length > 0)
    throw new PreviewError('internal', `the new head would not be valid: ${problems[0]!.detail}`);
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
  // By what the link says, not by what the last head said: a crash may have come between the two.
  attempt('link_not_moved', () => {
    // A holder that was evicted since would move it back to the past.
    if (readPointer(join(dir, CURRENT_NAME)) === head.current_bundle_id || !lock.held()) return;
    pointLink(join(dir, CURRENT_NAME), head.current_bundle_id!, join(dir, WORK_NAME, `link-${lock.owner}`));
  });
  attempt('orphan_left', () => {
    for (const name of removableOrphans(dir, head, before.bundle_last))
      attempt('orphan_left', () => removeOrphan(dir, name));
  });
  attempt('work_not_swept', () => sweepWork(dir));
  return warnings;
}

/** Changes the head without a step (status, title …), under the lock; not at all where `change` returns null. */
export async function changeHead(
  dir: string,
  change: (head: Head) => Partial<Head> | null,
  options: LockOptions = {},
): Promise<Head> {
  refuseNewer(dir, readHead(dir));
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const lock = await acquireLock(dir, options);
    try {
      const head = writableHead(dir, lock);
      if (head === 'lost') continue;
      const changes = change(head);
      if (changes === null) return head;
      const next = { ...head, updated_at: new Date().toISOString(), ...changes };
      if (!replaceHead(dir, lock, next)) continue;
      try {
        syncPath(dir);
      } catch {
        // Changed all the same; at worst a power failure undoes it.
      }
      return next;
    } finally {
      await releaseQuietly(lock, []);
    }
  }
  throw new PreviewError('lock_lost', `${dir}: the lock was taken from this process ${TRIES} times`);
}
