// The few file operations that publication is made of: private, whole and durable writes. A short
// write is continued, and what the kernel refuses is thrown as it is.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './errors.js';

/** Files and folders of a recording are for their owner alone, whatever the umask. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIR = 0o700;

/** Makes a folder and its missing parents, each private, whatever the umask. */
export function makeDir(path: string): void {
  try {
    mkdirSync(path, PRIVATE_DIR);
  } catch (error) {
    // Step by step, for Node's own `recursive` says ENOENT where the truth is a read-only file system.
    if (errnoOf(error) === 'ENOENT' && dirname(path) !== path) {
      makeDir(dirname(path));
      makeDir(path);
      return;
    }
    if (errnoOf(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    throw error;
  }
  if ((statSync(path).mode & 0o777) !== PRIVATE_DIR) setMode(path, PRIVATE_DIR);
}

/** A mount that has no modes only loses the protection, not the record. */
export function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!NO_MODES.includes(errnoOf(error) ?? '')) throw error;
  }
}

/** What a mount without modes says. */
const NO_MODES = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Writes all of `content` at the file's position, or at `position`; continues after a short write. */
export function writeAll(fd: number, content: Uint8Array, position: number | null = null): void {
  let done = 0;
  while (done < content.length) {
    done += writeSync(fd, content, done, content.length - done, position === null ? null : position + done);
  }
}

/** Creates a file that must not exist yet; `durable` fsyncs it. */
export function createFile(path: string, content: string | Uint8Array, durable: boolean): void {
  const fd = openSync(path, 'wx', PRIVATE_FILE);
  try {
    if (!isPrivate(fd)) setMode(path, PRIVATE_FILE);
    writeAll(fd, typeof content === 'string' ? Buffer.from(content) : content);
    if (durable) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** False where the umask took the owner's own rights away. */
const isPrivate = (fd: number) => (fstatSync(fd).mode & 0o777) === PRIVATE_FILE;

/** Fills a file that exists and is empty, and makes its content durable. */
export function fillFile(path: string, content: string): void {
  const fd = openSync(path, 'r+');
  try {
    writeAll(fd, Buffer.from(content));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a regular file for reading (or for `write` too). A pipe or a device in its place, on which opening or reading
 * could wait for ever, is thrown as ENOENT: what should be here is not.
 */
export function openRegular(path: string, write = false): number {
  let fd: number | null = null;
  try {
    fd = openSync(path, (write ? constants.O_RDWR : constants.O_RDONLY) | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
  } catch (error) {
    if (errnoOf(error) !== 'EISDIR' && errnoOf(error) !== 'ENXIO') throw error;
  }
  if (fd !== null) closeSync(fd);
  throw Object.assign(new Error(`${path} is no regular file`), { code: 'ENOENT', path });
}

/** The bytes of a regular file; throws as `openRegular` does. */
export function readRegular(path: string): Buffer {
  const fd = openRegular(path);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes a file's content, or a folder's entries, durable. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The state of what a path leads to, or undefined where there is none: for names that no file can have too. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENAMETOOLONG' || code === 'ELOOP' || code === 'ERR_INVALID_ARG_VALUE') return undefined;
    throw error;
  }
}

/** True when something, even a dangling link, has this name. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // Something above it is a file.
    if (errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** Copies a file's bytes; also to a mount that refuses the mode which the system's own copy would set. */
export function copyBytes(from: string, to: string): void {
  try {
    copyFileSync(from, to);
    return;
  } catch (error) {
    if (!NO_MODES.includes(errnoOf(error) ?? '')) throw error;
  }
  removeNow(to);
  const source = openRegular(from);
  const target = openSync(to, 'wx', PRIVATE_FILE);
  const piece = Buffer.allocUnsafe(256 * 1024);
  try {
    for (let read = readSync(source, piece); read > 0; read = readSync(source, piece))
      writeAll(target, piece.subarray(0, read));
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/** Removes a file or an empty folder if it is there, anything else with all it holds; loads `rm` only for the latter. */
export function removeNow(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  try {
    if (stat.isDirectory()) rmdirSync(path);
    else unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
    rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Points `link` at `target` (a name beside it) by one rename, so that readers never find it missing.
 * Where symlinks need rights that we lack, a plain file holding the name takes its place.
 */
export function pointLink(link: string, target: string, temporary: string): void {
  removeNow(temporary);
  try {
    symlinkSync(target, temporary);
  } catch (error) {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '')) throw error;
    createFile(temporary, target, false);
  }
  renameSync(temporary, link);
}

/** What a link made by `pointLink` names, or null where there is none or it is something else. */
export function readPointer(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    if (errnoOf(error) !== 'EINVAL') throw error;
  }
  const stat = lstatSync(link);
  return stat.isFile() && stat.size < 1024 ? readFileSync(link, 'utf8').trim() : null;
}

/** Takes the write bits of what is published. */
export const withoutWriteBits = (path: string): void => setMode(path, 0o400);
