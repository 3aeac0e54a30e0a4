// The exclusive lock of a session directory (and of a preview root): proper-lockfile with a file-system
// of our own under it, in which a lock is a directory with one entry whose name is its owner.
// Held for file operations only (I5). guides/session-locking.md tells why each step is as it is.

import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import lockfile from 'proper-lockfile';
import { monotonicMs, sleep } from './clock.js';
import { exists, makeDir, removeNow } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { WORK_NAME } from './layout.js';
import { currentOwner, judge, type Owner, ownerName, parseOwner } from './owner.js';

export const LOCK_TIMEOUT_MS = 10_000;
/** An owner that cannot be judged from here is evicted after this long without a change of its entry. */
const UNKNOWN_MS = 5000;
/** A waiter makes a full attempt at least this often, whatever it believes about the owner. */
const ATTEMPT_MS = 250;

export interface Lock {
  /** The owner's own entry in the lock. What is renamed from inside it commits only while the lock is ours. */
  entry: string;
  owner: string;
  /** False once somebody has evicted us. */
  held(): boolean;
  /** Gives the lock back; never touches a lock that somebody else has taken since. */
  release(): Promise<void>;
}

export interface LockOptions {
  timeout_ms?: number | undefined;
  /** Called once when the lock is not free at once. */
  onWait?: ((owner: string) => void) | undefined;
}

/**
 * Takes the lock of `dir`, which must exist. A dead owner is taken over at once, a living one never.
 * @throws PreviewError `lock_timeout` naming the owner and its age; system errors as they are.
 */
export async function acquireLock(
  dir: string,
  { timeout_ms = LOCK_TIMEOUT_MS, onWait }: LockOptions = {},
): Promise<Lock> {
  const self = currentOwner();
  const own = ownerName(self);
  const work = join(dir, WORK_NAME);
  const path = join(work, 'lock');
  const entry = join(path, own);
  const prepared = join(work, `new-${own}`);
  const began = monotonicMs();
  const seen = new Map<string, { stamp: string; since: number }>();
  let graves = 0;
  let told = false;
  let tries = 0;

  /** Moves an entry of the lock out of it. Its name is unique, so one evictor wins and a newer lock is not hit. */
  const evict = (name: string) => {
    const grave = join(work, `grave-${own}-${graves++}`);
    try {
      renameSync(join(path, name), grave);
    } catch (error) {
      // ENOENT: another waiter was first, or the owner has released it.
      if (errnoOf(error) !== 'ENOENT') throw error;
      return;
    }
    removeNow(grave);
  };

  /** True when `stamp` of the thing called `name` has stood unchanged for UNKNOWN_MS on our own monotonic clock. */
  const unchanged = (name: string, stamp: string) => {
    const before = seen.get(name);
    if (before?.stamp === stamp) return monotonicMs() - before.since >= UNKNOWN_MS;
    seen.set(name, { stamp, since: monotonicMs() });
    return false;
  };

  /** Judges what stands in the lock's place; returns the name of what must be waited for, or null to try again at once. */
  const look = (): string | null => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isDirectory()) {
      // Something else was put here, by a sync tool for one. It is no owner, so it only has its time.
      if (!unchanged('', `${stat.ino} ${stat.mtimeMs}`)) return 'lock';
      unlinkSync(path);
      return null;
    }
    let waitFor: string | null = null;
    for (const name of readdirSync(path)) {
      const owner = parseOwner(name);
      const life = owner ? judge(owner, self) : 'unknown';
      if (life === 'dead') {
        evict(name);
        continue;
      }
      const found = lstatSync(join(path, name), { throwIfNoEntry: false });
      if (found === undefined) continue;
      if (life === 'unknown' && unchanged(name, `${found.ino} ${found.mtimeMs}`)) evict(name);
      else waitFor = name;
    }
    return waitFor;
  };

  const discard = () => removeNow(prepared);
  for (;;) {
    try {
      makeDir(join(prepared, own));
      const release = await lockfile.lock(dir, {
        lockfilePath: path,
        realpath: false,
        retries: 0,
        fs: lockFs({ prepared, path, entry, work }) as never,
        // The default throws in a timer and ends the process; a lost lock shows at the commit instead.
        onCompromised: () => {},
      });
      return { entry, owner: own, held: () => exists(entry), release };
    } catch (error) {
      const errno = errnoOf(error);
      // ENOENT: `.work` or our prepared folder was removed under us; both are made anew.
      if (errno !== 'ELOCKED' && errno !== 'ENOENT') {
        discard();
        throw error;
      }
    }
    const waitFor = orNull(look);
    if (waitFor === null) {
      // Free, or about to be: tried again at once, but not for ever, should the folder itself be the trouble.
      if (monotonicMs() - began < timeout_ms) {
        await sleep(tries++ < 16 ? 0 : 5);
        continue;
      }
      discard();
      throw new PreviewError(
        'lock_timeout',
        `${dir} could not be locked within ${seconds(timeout_ms)}, although nobody holds it`,
        'see whether its .work folder can be written, or wait longer with --lock-timeout SECONDS',
      );
    }
    if (!told) onWait?.(describe(waitFor, path, self));
    told = true;
    await waitForChange(join(path, waitFor), began, timeout_ms);
    if (monotonicMs() - began < timeout_ms) continue;
    const last = orNull(look);
    if (last === null) continue;
    discard();
    throw new PreviewError(
      'lock_timeout',
      `${dir} stayed locked for ${seconds(timeout_ms)}: ${describe(last, path, self)}`,
      'let that process finish or end it, or wait longer with --lock-timeout SECONDS',
    );
  }
}

/** Something vanished while we looked (ENOENT): look again from the start. */
function orNull(look: () => string | null): string | null {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Sleeps until the entry is gone, an attempt is due, or the time is up; the longer we wait, the closer we look. */
async function waitForChange(entry: string, began: number, timeout_ms: number): Promise<void> {
  const until = monotonicMs() + ATTEMPT_MS;
  for (;;) {
    const now = monotonicMs();
    const left = Math.min(until, began + timeout_ms) - now;
    if (left <= 0) return;
    const pause = Math.max(3, 15 - (now - began) / 100) * (0.6 + 0.4 * Math.random());
    await sleep(Math.min(pause, left));
    if (!exists(entry)) return;
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** `process 4711 has held it for 12.3 s`, as far as it can be seen. */
function describe(name: string, path: string, self: Owner): string {
  const owner = parseOwner(name);
  const stat = lstatSync(owner ? join(path, name) : path, { throwIfNoEntry: false });
  const age = stat ? ` for ${seconds(Math.max(0, Date.now() - stat.mtimeMs))}` : '';
  if (!owner)
    return `something that is not ours (${basename(path)}/${name}) has stood in the lock's place${age}`;
  const where =
    owner.host === self.host && owner.namespace === self.namespace
      ? ''
      : ' on another machine or in another container';
  return `process ${owner.pid}${where} has held it${age}`;
}

interface Paths {
  prepared: string;
  path: string;
  entry: string;
  work: string;
}

type Callback<T = void> = (error: NodeJS.ErrnoException | null, value?: T) => void;

/** What proper-lockfile calls on the lock's path, turned into operations on the owner's own entry. Fresh for each lock. */
function lockFs({ prepared, path, entry, work }: Paths) {
  let ours = false;
  let probed = false;

  const take = () => {
    try {
      // Onto an empty directory this succeeds too: that is a lock released or emptied an instant ago.
      renameSync(prepared, path);
      ours = true;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOTDIR' || errno === 'EPERM') {
        throw Object.assign(new Error('held'), { code: 'EEXIST' });
      }
      throw error;
    }
  };
  const give = () => {
    const done = join(work, `done-${basename(entry)}`);
    try {
      renameSync(entry, done);
      removeNow(done);
      rmdirSync(path);
    } catch (error) {
      // ENOENT: we were evicted, or the next owner came and went. ENOTEMPTY, EEXIST: it is here already.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
    }
  };
  const stat = () => {
    // Another's lock always looks fresh: whether it is stale is judged by `look`, never by its age.
    if (!ours) return { mtime: new Date(Date.now() + 60_000) };
    return { mtime: lstatSync(entry).mtime };
  };
  const utimes = (atime: Date, mtime: Date) => {
    // The first call probes the clock with a stamp in the future, which would make our entry look odd.
    if (probed) utimesSync(entry, atime, mtime);
    probed = true;
  };
  const later =
    <A extends unknown[], T>(act: (...args: A) => T) =>
    (_path: string, ...rest: [...A, Callback<T>]) => {
      const callback = rest.pop() as Callback<T>;
      let value: T;
      try {
        value = act(...(rest as unknown as A));
      } catch (error) {
        callback(error as NodeJS.ErrnoException);
        return;
      }
      callback(null, value);
    };
  return {
    mkdir: later(take),
    rmdir: later(give),
    rmdirSync: give,
    stat: later(stat),
    utimes: later(utimes),
  };
}

/** Makes the `.work` folder of a session or a root, with its parents. */
export function makeWork(dir: string): string {
  const work = join(dir, WORK_NAME);
  if (!exists(work)) {
    makeDir(work);
  }
  return work;
}
