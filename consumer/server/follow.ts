// When to read the disk again. The file system's events are hints only (I7): a reading follows each at once, and one
// more when it has been quiet, for the last event of a burst may be lost. A slow look comes without any event, and a
// faster one where events cannot be had.
import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs';
import { basename } from 'node:path';
import { watch as watchTree } from 'chokidar';
import { asPreviewError, errnoOf } from '../../src/errors.js';
import { HEAD_NAME, isSessionName, TRAJECTORY_NAME } from '../../src/layout.js';
import type { ServerLimits } from './limits.js';

export interface Follower {
  /** Something else told that there may be news. */
  hint(): void;
  close(): Promise<void>;
}

export interface FollowOptions {
  limits: ServerLimits;
  /** Reads the disk; never rejects. */
  look: () => Promise<void>;
  /** Events cannot be had: why. Called once. */
  onPolling: (why: string) => void;
}

/** Turns hints into looks: at once, then at most every `spacingMs`, and once more after `quietMs` of quiet. */
function pace({ limits, look }: FollowOptions) {
  let last = Number.NEGATIVE_INFINITY;
  let soon: NodeJS.Timeout | null = null;
  let trailing: NodeJS.Timeout | null = null;
  const lookNow = () => {
    soon = null;
    last = performance.now();
    void look();
  };
  return {
    hint(): void {
      const wait = limits.spacingMs - (performance.now() - last);
      if (wait <= 0) lookNow();
      else soon ??= setTimeout(lookNow, wait);
      clearTimeout(trailing ?? undefined);
      trailing = setTimeout(lookNow, limits.quietMs);
    },
    close(): void {
      clearTimeout(soon ?? undefined);
      clearTimeout(trailing ?? undefined);
    },
  };
}

/**
 * Follows a session's folder. The folder is watched and no file in it, since one that is replaced by a rename falls
 * silent. By the system's own watch: chokidar lists a folder anew at each event, which costs more the longer a session
 * is.
 */
export function followSession(dir: string, options: FollowOptions): Follower {
  const { limits } = options;
  const paced = pace(options);
  let watcher: FSWatcher | null = null;
  /** The folder that is watched: another of the same name needs a new watch. */
  let watched: string | null = null;
  let polling = false;
  let timer: NodeJS.Timeout | null = null;

  const unwatch = () => {
    watcher?.close();
    watcher = null;
    watched = null;
  };
  const poll = (error: unknown) => {
    unwatch();
    // The folder is gone: that is no refusal.
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') || polling) return;
    polling = true;
    options.onPolling(asPreviewError(error).message);
  };
  const rewatch = () => {
    if (polling) return;
    const now = folderMark(dir);
    if (now === watched) return;
    unwatch();
    if (now === null) return;
    try {
      watcher = watchFolder(dir, { persistent: false }, (_event, name) => {
        if (name === null || name === HEAD_NAME || name === TRAJECTORY_NAME) paced.hint();
      });
      watcher.on('error', poll);
      watched = now;
    } catch (error) {
      poll(error);
    }
  };
  const tick = () => {
    rewatch();
    void options.look();
    // A folder that is not there has nobody to tell that it is back.
    timer = setTimeout(tick, polling || watched === null ? limits.pollMs : limits.safetyMs);
  };
  tick();
  return {
    hint() {
      rewatch();
      paced.hint();
    },
    async close() {
      clearTimeout(timer ?? undefined);
      paced.close();
      unwatch();
    },
  };
}

/** Tells one folder from another that has its name; null where there is none. */
function folderMark(dir: string): string | null {
  try {
    const { dev, ino, birthtimeNs } = statSync(dir, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(errnoOf(error) ?? '')) throw error;
    return null;
  }
}

/** Follows a preview root: sessions that begin, vanish and come back. */
export function followRoot(root: string, options: FollowOptions): Follower {
  const { limits } = options;
  const paced = pace(options);
  let polling = false;
  let timer: NodeJS.Timeout | null = null;
  const watcher = watchTree(root, {
    depth: 0,
    followSymlinks: false,
    ignoreInitial: true,
    ignored: (path) => path !== root && !isSessionName(basename(path)),
  });
  watcher.on('all', () => paced.hint());
  watcher.on('error', (error) => {
    if (polling) return;
    polling = true;
    void watcher.close();
    options.onPolling(asPreviewError(error).message);
    clearTimeout(timer ?? undefined);
    tick();
  });
  const tick = () => {
    void options.look();
    timer = setTimeout(tick, polling || folderMark(root) === null ? limits.pollMs : limits.safetyMs);
  };
  timer = setTimeout(tick, folderMark(root) === null ? limits.pollMs : limits.safetyMs);
  return {
    hint: paced.hint,
    async close() {
      clearTimeout(timer ?? undefined);
      paced.close();
      await watcher.close();
    },
  };
}
