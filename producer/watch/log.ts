// What the watcher did and what befell it, one line each, in a file of bounded size.
import { closeSync, fstatSync, ftruncateSync, openSync, symlinkSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { makeDir, PRIVATE_FILE } from '../../src/disk.js';
import { neutralise } from '../../src/text.js';
import { watcherLog } from '../../src/watcher.js';

/** Beyond this the log begins anew (I10). */
export const LOG_BYTES = 256 * 1024;

/** Opens the log for appending. The watcher's stdout and stderr go there too, for what Node itself has to say. */
export function openLog(path: string): number {
  makeDir(dirname(path));
  return openSync(path, 'a', PRIVATE_FILE);
}

/** Writes one line to the watcher's standard output, which is the log. A full disk costs the line and nothing else. */
export function note(line: string): void {
  try {
    if (fstatSync(1).size > LOG_BYTES) ftruncateSync(1);
    writeSync(1, `${new Date().toISOString()} ${neutralise(line).slice(0, 2000)}\n`);
  } catch {
    // ENOSPC, or EINVAL where somebody began the watcher by hand with a pipe for its output.
  }
}

export const closeLog = (fd: number): void => closeSync(fd);

/** Lets the log of one session be found as that of the next, in which its watcher goes on. */
export function shareLog(from: string, to: string): void {
  try {
    symlinkSync(basename(watcherLog(from)), watcherLog(to));
  } catch {
    // EEXIST: that session had a watcher before. The log stays where it is.
  }
}
