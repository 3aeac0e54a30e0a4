// The folder or file that a user named for an export. It is filled aside and appears under its name whole, or not at all;
// an existing one that holds something else, or a place in a session, is refused.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { exists, statOf } from '../../src/disk.js';
import { errnoOf, PreviewError } from '../../src/errors.js';
import { ROOT_NAME } from '../../src/layout.js';
import { wellFormedJson } from '../../src/text.js';

export interface Output {
  /** Where it will be: the name the user gave, with its links resolved. */
  dir: string;
  writeJson(path: string, value: unknown): void;
  write(path: string, content: string | Uint8Array): void;
  copy(from: string, path: string): void;
  link(path: string, target: string): void;
  /** Puts it under its name. */
  finish(): void;
  /** Removes what was written, unless it was finished. */
  close(): void;
}

/** @throws PreviewError `usage` where `named` holds something, is no folder, or lies in `session`; system errors. */
export function openOutput(named: string, session: string): Output {
  const dir = outside(named, session);
  if (exists(dir)) {
    if (!statOf(dir)?.isDirectory()) throw refused(named, 'is no folder', 'name a new one');
    if (readdirSync(dir).length > 0)
      throw refused(named, 'is not empty', 'name a new folder, or empty this one');
  }
  refuseRoot(named, dir);
  mkdirSync(dirname(dir), { recursive: true });
  const staged = join(dirname(dir), `.${basename(dir)}-${process.pid}`);
  mkdirSync(staged);
  let open = true;
  const inStage = (path: string) => {
    const full = join(staged, path);
    // I9: what is exported is untrusted, and so are names that come from it.
    if (relative(staged, full).split(sep)[0] === '..') throw new Error(`${path} leaves the export`);
    mkdirSync(dirname(full), { recursive: true });
    return full;
  };
  return {
    dir,
    writeJson: (path, value) =>
      writeFileSync(inStage(path), `${JSON.stringify(wellFormedJson(value), null, 2)}\n`, { flag: 'wx' }),
    write: (path, content) => writeFileSync(inStage(path), content, { flag: 'wx' }),
    copy: (from, path) => {
      const to = inStage(path);
      copyFileSync(from, to);
      // What is published has no write bits; a copy is its owner's.
      chmodSync(to, 0o666 & ~process.umask());
    },
    link: (path, target) => symlinkSync(target, inStage(path)),
    finish: () => {
      renameSync(staged, dir);
      open = false;
    },
    close: () => {
      if (open) rmSync(staged, { recursive: true, force: true });
    },
  };
}

/** A file that appears under its name whole, or not at all. */
export interface OutputFile {
  /** Where it will be. */
  file: string;
  /** Where it is filled, by another program too: there, empty, and beside `file`. */
  staged: string;
  /** Puts it under its name, with `mark` behind what it holds. */
  finish(mark?: Uint8Array): void;
  /** Removes what was written, unless it was finished. */
  close(): void;
}

/**
 * An existing file is replaced only where `isOurs` says by its first and last bytes that it is an earlier export: a name
 * that was mistyped costs nobody a file.
 * @throws PreviewError `usage` where `named` is something else, or lies in `session` or a preview root; system errors.
 */
export function openOutputFile(
  named: string,
  session: string,
  isOurs: (start: Buffer, end: Buffer) => boolean,
): OutputFile {
  const file = outside(named, session);
  const stat = statOf(file);
  if (stat && !stat.isFile()) throw refused(named, 'is no file', 'name a new one');
  if (stat && stat.size > 0 && !isOurs(bytesAt(file, 0), bytesAt(file, stat.size - PEEK)))
    throw refused(named, 'holds something else', 'name a new file, or remove this one');
  refuseRoot(named, file);
  mkdirSync(dirname(file), { recursive: true });
  const staged = join(dirname(file), `.${basename(file)}-${process.pid}`);
  writeFileSync(staged, '', { flag: 'wx' });
  let open = true;
  return {
    file,
    staged,
    finish: (mark) => {
      if (mark) appendFileSync(staged, mark);
      renameSync(staged, file);
      open = false;
    },
    close: () => {
      if (open) rmSync(staged, { force: true });
    },
  };
}

/** Writes one file as `openOutputFile` does; `isOurs` is given its start as text. Returns its path. */
export function writeOutput(
  named: string,
  session: string,
  content: string,
  isOurs: (start: string) => boolean,
): string {
  const output = openOutputFile(named, session, (start) => isOurs(start.toString('utf8')));
  try {
    writeFileSync(output.staged, content);
    output.finish();
  } finally {
    output.close();
  }
  return output.file;
}

/** Bytes of a file's start and end that tell whose it is. */
const PEEK = 256;

function bytesAt(file: string, position: number): Buffer {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(PEEK);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, Math.max(0, position)));
  } finally {
    closeSync(fd);
  }
}

/** The real path that `named` means, which may not lie in the session. */
function outside(named: string, session: string): string {
  const path = resolved(named);
  const way = relative(realpathSync(session), path);
  if (way !== '..' && !way.startsWith(`..${sep}`))
    throw refused(named, 'lies in the session that is exported', 'name a place outside it');
  return path;
}

function refuseRoot(named: string, path: string): void {
  if (path.split(sep).includes(ROOT_NAME))
    throw refused(named, 'lies in a preview root', 'name a place outside it');
}

const refused = (named: string, what: string, hint: string) =>
  new PreviewError('usage', `${JSON.stringify(named)} ${what}`, hint);

/** The real path of a folder that need not be there yet. */
function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return join(resolved(dirname(path)), basename(path));
  }
}
