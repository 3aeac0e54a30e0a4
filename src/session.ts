// Sessions in a preview root: finding, beginning and changing them, and publishing a step into the right one.
// Session numbers and the root's `current` are given out under the root's lock (I2).
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { now } from './clock.js';
import {
  type CommitOptions,
  type Committed,
  changeHead,
  commitStep,
  releaseQuietly,
  type Source,
} from './commit.js';
import { createFile, exists, makeDir, pointLink, readPointer, syncPath } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { emptyHead, type SessionFields } from './head.js';
import {
  CURRENT_NAME,
  findRoot,
  findSession,
  HEAD_NAME,
  isSessionName,
  numberOf,
  type Place,
  sessionName,
  TRAJECTORY_NAME,
  WORK_NAME,
  workingDirectory,
} from './layout.js';
import { acquireLock, type LockOptions, makeWork } from './lock.js';
import { currentOwner, ownerName } from './owner.js';
import { readHead, refuseNewer } from './read.js';
import type { Head } from './schema.js';
import type { StepInput } from './step.js';
import { sweepWork } from './sweep.js';
import { EMPTY } from './trajectory.js';
import { LIMITS } from './version.js';

/** Makes the preview root with its own .gitignore, so that nothing of it shows in `git status`. */
export function makeRoot(root: string): void {
  makeDir(root);
  try {
    createFile(join(root, '.gitignore'), '*\n', false);
  } catch (error) {
    // Made before, by us or by another process an instant ago.
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Begins a session in `root` and makes it the current one. `unless` is asked again under the root's lock: a session
 * it returns is taken instead, so that several that begin at once get one.
 */
async function beginSession(
  root: string,
  fields: SessionFields,
  lockOptions: LockOptions,
  unless: () => string | null,
): Promise<{ dir: string; created: boolean }> {
  makeRoot(root);
  makeWork(root);
  const lock = await acquireLock(root, lockOptions);
  try {
    const other = unless();
    if (other !== null) return { dir: other, created: false };
    const work = join(root, WORK_NAME);
    const owner = ownerName(currentOwner());
    const unlinked = unlinkedSession(root, fields);
    if (unlinked !== null) {
      pointLink(join(root, CURRENT_NAME), unlinked, join(work, `link-${owner}`));
      return { dir: join(root, unlinked), created: true };
    }
    const staged = join(work, `session-${owner}`);
    for (let number = lastSession(root) + 1; ; number++) {
      const name = sessionName(number);
      const dir = join(root, name);
      if (exists(dir)) continue;
      makeDir(staged);
      createFile(join(staged, TRAJECTORY_NAME), EMPTY, true);
      createFile(
        join(staged, HEAD_NAME),
        `${JSON.stringify(emptyHead(name, fields, new Date().toISOString()), null, 1)}\n`,
        true,
      );
      makeWork(staged);
      syncPath(staged);
      try {
        renameSync(staged, dir);
      } catch (error) {
        if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
        rmSync(staged, { recursive: true, force: true });
        continue;
      }
      pointLink(join(root, CURRENT_NAME), name, join(work, `link-${owner}`));
      syncPath(root);
      sweepWork(root);
      return { dir, created: true };
    }
  } finally {
    await releaseQuietly(lock, []);
  }
}

/** A session whose beginner was killed before it became the current one: without steps, it is taken over. */
function unlinkedSession(root: string, fields: SessionFields): string | null {
  const name = sessionName(lastSession(root));
  if (readPointer(join(root, CURRENT_NAME)) === name) return null;
  const head = readHead(join(root, name)).value;
  const fits =
    head?.trajectory_step_count === 0 &&
    head.status === (fields.status ?? 'open') &&
    (head.continues ?? null) === (fields.continues ?? null);
  return fits ? name : null;
}

/** The highest session number that is, or that `current` remembers. */
function lastSession(root: string): number {
  const names = [...readdirSync(root), readPointer(join(root, CURRENT_NAME)) ?? ''];
  return Math.max(0, ...names.map((name) => numberOf(name, 'session') ?? 0));
}

export interface OpenOptions extends Partial<Place>, LockOptions, SessionFields {}

export interface OpenSession {
  dir: string;
  root: string;
  name: string;
  /** True when this call began it. */
  created: boolean;
  warnings: string[];
  /** What a follow-up session is told, should this one be found stopped, full or damaged. */
  fields: SessionFields;
  lock: LockOptions;
}

/** Statuses that any capture may publish into. */
const OPEN = ['open', 'active', 'waiting'] as const;

type Closed = 'damaged' | 'stopped' | 'full';

/** Why a session cannot be published into, or null. @throws PreviewError `version_newer`, before any write. */
function closedReason(dir: string): Closed | null {
  const reading = readHead(dir);
  refuseNewer(dir, reading);
  const { value } = reading;
  if (value === null) return 'damaged';
  if (!(OPEN as readonly string[]).includes(value.status)) return 'stopped';
  return value.trajectory_step_count >= LIMITS.sessionSteps ? 'full' : null;
}

/**
 * The session to publish into: the one named, else the root's current; a new one where there is none, or where that
 * one is stopped, damaged or full. Nothing is rendered and no step recorded.
 * @throws PreviewError `session_name`, `not_found` (a named session that is not there), `lock_timeout`; system errors.
 */
export async function openSession(options: OpenOptions = {}): Promise<OpenSession> {
  const place: Place = {
    cwd: options.cwd ?? workingDirectory(),
    env: options.env ?? process.env,
    root: options.root,
    session: options.session,
  };
  const { status, title, continues, software, recipe, project_name, project_path } = options;
  const fields = { status, title, continues, software, recipe, project_name, project_path };
  const lock = { timeout_ms: options.timeout_ms, onWait: options.onWait };
  const placed = findRoot(place);
  const named = findSession(place, placed);
  const explicit = (place.session ?? place.env['PREVIEW_SESSION']) !== undefined;
  if (explicit && named !== null && !exists(named)) {
    throw new PreviewError(
      'not_found',
      `there is no session ${basename(named)} in ${dirname(named)}`,
      'see `previews list` for the sessions there are',
    );
  }
  const root = explicit && named !== null ? dirname(named) : placed;
  const opened = { root, warnings: [] as string[], fields, lock };
  const there = named !== null && exists(named);
  const reason = there ? closedReason(named) : null;
  if (there && reason === null) return { ...opened, dir: named, name: basename(named), created: false };
  return succeed({ ...opened, dir: named ?? '', name: '', created: false }, reason);
}

/** Begins the session that follows one that cannot be published into, or takes the one that another process just began. */
async function succeed(session: OpenSession, reason: Closed | null): Promise<OpenSession> {
  const { root, dir: old } = session;
  const linked = reason === 'damaged' || reason === 'full';
  const fields = linked ? { ...session.fields, continues: basename(old) } : session.fields;
  const { dir, created } = await beginSession(root, fields, session.lock, () => {
    const current = readPointer(join(root, CURRENT_NAME));
    if (current === null || !isSessionName(current) || join(root, current) === old) return null;
    return exists(join(root, current)) && closedReason(join(root, current)) === null
      ? join(root, current)
      : null;
  });
  const warnings = [...session.warnings];
  if (reason === 'damaged')
    warnings.push(
      `session_damaged: ${basename(old)} is damaged, so recording goes on in ${basename(dir)}; \`preview repair ${basename(old)}\` mends it`,
    );
  if (reason === 'full')
    warnings.push(
      `session_full: ${basename(old)} holds ${LIMITS.sessionSteps} steps, so recording goes on in ${basename(dir)}`,
    );
  return { ...session, dir, name: basename(dir), created, warnings };
}

/** The root's current session where it is `active` (or `waiting`), else null. */
export function activeSession(root: string): string | null {
  const current = readPointer(join(root, CURRENT_NAME));
  if (current === null || !isSessionName(current)) return null;
  const status = readHead(join(root, current)).value?.status;
  return status === 'active' || status === 'waiting' ? join(root, current) : null;
}

/** The active session of the root, or a new one made active (protocol, section 1: only `live start` does this). */
export async function startSession(options: OpenOptions = {}): Promise<OpenSession> {
  const place: Place = {
    cwd: options.cwd ?? workingDirectory(),
    env: options.env ?? process.env,
    root: options.root,
  };
  const root = findRoot(place);
  const { title, software, recipe, project_name, project_path } = options;
  const fields: SessionFields = { status: 'active', title, software, recipe, project_name, project_path };
  const lock = { timeout_ms: options.timeout_ms, onWait: options.onWait };
  const { dir, created } = await beginSession(root, fields, lock, () => activeSession(root));
  return { dir, root, name: basename(dir), created, warnings: [], fields, lock };
}

/** Ends a session: nothing is published into it any more. A stopped one stays as it is. */
export function stopSession(
  dir: string,
  {
    reason,
    outcome,
    ...lock
  }: { reason?: string | undefined; outcome?: string | undefined } & LockOptions = {},
): Promise<Head> {
  return changeHead(
    dir,
    (head) =>
      head.status === 'stopped' || head.status === 'failed'
        ? null
        : {
            status: 'stopped',
            stop_kind: 'user',
            stop_reason: reason ?? null,
            outcome: outcome ?? null,
            stopped_at: new Date().toISOString(),
          },
    lock,
  );
}

export interface Recorded extends Committed {
  session: OpenSession;
}

/**
 * Records a step in the session, or in the one that follows it where it turns out stopped, damaged or full in the
 * meantime. What is staged stays usable: both lie in one root.
 */
export async function record(
  session: OpenSession,
  source: Source,
  input: StepInput,
  options: Partial<CommitOptions> = {},
): Promise<Recorded> {
  const commit: CommitOptions = { begun: now(), allowed: OPEN, ...session.lock, ...options };
  let into = session;
  for (let tries = 0; ; tries++) {
    try {
      return { ...(await commitStep(into.dir, source, input, commit)), session: into };
    } catch (error) {
      const code = error instanceof PreviewError ? error.code : null;
      const reason =
        code === 'session_damaged'
          ? 'damaged'
          : code === 'session_not_active' && commit.allowed === OPEN
            ? 'stopped'
            : null;
      if (reason === null || tries === 3 || source.kind === 'reuse') throw error;
      into = await succeed(into, reason);
    }
  }
}
