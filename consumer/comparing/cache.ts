// The user's cache: files that save time and that nothing depends on. Several programs may read and write one at once.
// It is bounded, and what cannot be read or written is done without.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { openRegular } from '../../src/disk.js';
import { errnoOf } from '../../src/errors.js';

/** All files together, and how many; the ones that were written longest ago go first. */
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 100;

/** `preview-recorder` in `$XDG_CACHE_HOME` or `~/.cache`; null where neither is named by a whole path. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string | null {
  const named = env['XDG_CACHE_HOME'];
  const home = env['HOME'] ?? homedir();
  const base = named && isAbsolute(named) ? named : isAbsolute(home) ? join(home, '.cache') : null;
  return base === null ? null : join(base, 'preview-recorder');
}

/** A file's bytes, or null where there is none, where it is another user's, or larger than `most` bytes. */
export function readCached(folder: string | null, name: string, most: number): Buffer | null {
  if (folder === null) return null;
  return unlessRefused(() => {
    const fd = openRegular(join(folder, name));
    try {
      const { uid, size } = fstatSync(fd);
      return uid === (process.getuid?.() ?? uid) && size <= most ? readFileSync(fd) : null;
    } finally {
      closeSync(fd);
    }
  });
}

/** Writes a file aside and puts it in place by one rename, so that whoever reads meets a whole one. */
export function writeCached(folder: string | null, name: string, content: Buffer): void {
  if (folder === null) return;
  unlessRefused(() => {
    // Not recursively: where the home itself is missing, nothing is begun.
    for (const dir of [dirname(folder), folder]) makePrivate(dir);
    const aside = join(folder, `.${process.pid}-${randomBytes(6).toString('hex')}`);
    try {
      writeFileSync(aside, content, { flag: 'wx', mode: 0o600 });
      renameSync(aside, join(folder, name));
    } catch (error) {
      unlessRefused(() => unlinkSync(aside));
      throw error;
    }
    trim(folder, name);
  });
}

function makePrivate(dir: string): void {
  try {
    mkdirSync(dir, 0o700);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** A file that was begun so long ago belongs to nobody who still writes. */
const ABANDONED_MS = 3_600_000;

function trim(folder: string, fresh: string): void {
  const files = readdirSync(folder).flatMap((name) => {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    return stat?.isFile() ? [{ name, bytes: stat.size, at: stat.mtimeMs }] : [];
  });
  files.sort((a, b) => Number(b.name === fresh) - Number(a.name === fresh) || b.at - a.at);
  let bytes = 0;
  for (const [place, file] of files.entries()) {
    const aside = file.name.startsWith('.');
    if (!aside) bytes += file.bytes;
    const old = aside ? Date.now() - file.at > ABANDONED_MS : place >= MOST_FILES || bytes > MOST_BYTES;
    if (old) unlessRefused(() => unlinkSync(join(folder, file.name)));
  }
}

/** The result, or null where the system refuses: a cache is a help, and no reason to fail. */
function unlessRefused<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }
}
