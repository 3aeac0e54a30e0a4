// The file system's events as hints. Folders are watched and no single file: a folder tells of its files too, a file
// that is replaced by a rename would fall silent, and ten thousand files would cost ten thousand watches.
import { realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import type { Reach } from './reach.js';

/** Beyond this many folders the rest is left to the slow look (I10). */
export const MAX_FOLDERS = 4096;

export interface Events {
  /** Lets folders that were passed over be watched as well. */
  include(folders: Iterable<string>): void;
  close(): Promise<void>;
}

export interface EventOptions {
  reach: Reach;
  /** The folders of a listing, where one says which hold sources; those that come later are watched anyhow. */
  only: ReadonlySet<string> | null;
  /** A path, relative to the project, that may have changed. */
  onHint: (path: string) => void;
  /** Watches that the system refused. */
  onRefused: (error: Error) => void;
}

/** Watches a project; resolves when its folders are being watched, or were refused. */
export async function watchFolders(project: string, options: EventOptions): Promise<Events> {
  const { reach, onHint, onRefused } = options;
  const top = realpathSync(project);
  const within = (path: string) => relative(top, path).split(sep).join('/');
  const passedOver = new Set<string>();
  const wanted = options.only && new Set(options.only);
  let count = 0;
  let isReady = false;
  const watcher = watch(top, {
    ignored: (path, stats) => {
      if (stats === undefined) return false;
      if (!stats.isDirectory()) return true;
      const folder = within(path);
      if (!reach.folder(folder)) return true;
      if (wanted && !isReady && folder !== '' && !wanted.has(folder)) {
        passedOver.add(folder);
        return true;
      }
      return count >= MAX_FOLDERS;
    },
    ignoreInitial: false,
    followSymlinks: false,
    ignorePermissionErrors: true,
  });
  const ready = new Promise<void>((resolve) => {
    watcher.on('ready', resolve);
  });
  watcher.on('addDir', (path) => {
    count++;
    if (isReady) onHint(within(path));
  });
  watcher.on('unlinkDir', (path) => {
    count--;
    onHint(within(path));
  });
  // Of the files in a folder only the folder's own watch tells, and only as a raw event.
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { watchedPath?: string };
    if (!isReady || !watchedPath) return;
    const path = within(typeof name === 'string' ? join(watchedPath, name) : watchedPath);
    if (reach.file(path)) onHint(path);
  });
  watcher.on('error', (error) => onRefused(error as Error));
  await ready;
  isReady = true;
  return {
    include(folders) {
      for (const folder of folders) {
        wanted?.add(folder);
        if (passedOver.delete(folder)) watcher.add(join(top, folder));
      }
    },
    close: () => watcher.close(),
  };
}
