// The stat cache: content hashes remembered by what `lstat` says, so that an unchanged tree is not read
// again. Derived only: a cache that is missing, damaged, foreign or from the future is no cache, and one
// that cannot be written is not missed. What it remembers is used only where it cannot be wrong (I7).

import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { exists, makeDir } from './disk.js';

/**
 * A file whose times are not this much older than the moment it was hashed could be written again within
 * the same tick of its file system's clock (FAT: 2 s) and look the same: git's "racily clean".
 */
export const RACY_MS = 2_000;

const MAGIC = 'preview-stat-cache 1\n';
const MAX_CACHE_BYTES = 256 * 1024 * 1024;
const CHECKSUM_BYTES = 32;
export const HASH_BYTES = 32;

/**
 * What identifies a file's state, one row a file: dev, ino, size, mode, mtime_ms, ctime_ms. Doubles keep
 * times to 244 ns, which is finer than needed: a change made after hashing has a ctime at least RACY_MS
 * later, or the row is not trusted at all.
 */
export const FIELDS = 6;
const SIZE = 2;
const MODE = 3;
const MTIME = 4;
const CTIME = 5;

/** `kinds` of a table. `absent` is a name without a file to read: deleted, a folder, a socket. */
export const KIND = { absent: 0, file: 1, exec: 2, link: 3, unreadable: 4 } as const;

/** Files in columns: row i of each belongs to `paths[i]`. Ten thousand objects would cost more than all the rest. */
export interface Table {
  paths: string[];
  kinds: Uint8Array;
  /** FIELDS a row; all zero where nothing was there. */
  stats: Float64Array;
  /** HASH_BYTES a row: SHA-256 of the contents. */
  hashes: Buffer;
}

export interface CachedTable extends Table {
  /** The fingerprint of the whole table. */
  fingerprint: string;
  /** The witness of git's listing (gitwitness.ts) that `paths` is; undefined where it had none. */
  listing?: string | undefined;
}

export function emptyTable(paths: string[]): Table {
  const rows = paths.length;
  return {
    paths,
    kinds: new Uint8Array(rows),
    stats: new Float64Array(rows * FIELDS),
    hashes: Buffer.alloc(rows * HASH_BYTES),
  };
}

export function setStat(stats: Float64Array, row: number, stat: Stats): void {
  const at = row * FIELDS;
  stats[at] = stat.dev;
  stats[at + 1] = stat.ino;
  stats[at + SIZE] = stat.size;
  stats[at + MODE] = stat.mode;
  stats[at + MTIME] = stat.mtimeMs;
  stats[at + CTIME] = stat.ctimeMs;
}

/** Whether two rows are the same state of the same file. A distrusted row (NaN) is like no other. */
export function sameStat(a: Float64Array, rowA: number, b: Float64Array, rowB: number): boolean {
  const atA = rowA * FIELDS;
  const atB = rowB * FIELDS;
  for (let i = 0; i < FIELDS; i++) if (a[atA + i] !== b[atB + i]) return false;
  return true;
}

export function copyRow(from: Table, rowFrom: number, to: Table, rowTo: number): void {
  to.kinds[rowTo] = from.kinds[rowFrom]!;
  to.stats.set(from.stats.subarray(rowFrom * FIELDS, (rowFrom + 1) * FIELDS), rowTo * FIELDS);
  from.hashes.copy(to.hashes, rowTo * HASH_BYTES, rowFrom * HASH_BYTES, (rowFrom + 1) * HASH_BYTES);
}

/** The mode `setStat` kept; 0 where nothing was there. */
export const modeAt = (stats: Float64Array, row: number): number => stats[row * FIELDS + MODE]!;

/** How many bytes the row's hash covers. */
export const bytesAt = (table: Table, row: number): number => table.stats[row * FIELDS + SIZE]!;

/** Puts what was read into a row whose stat is set. A size that promised otherwise (procfs) proves nothing later. */
export function setContent(table: Table, row: number, kind: number, bytes: number, sha256: Buffer): void {
  const isAsPromised = bytesAt(table, row) === bytes && kind !== KIND.unreadable;
  table.kinds[row] = kind;
  table.stats[row * FIELDS + SIZE] = bytes;
  sha256.copy(table.hashes, row * HASH_BYTES);
  if (!isAsPromised) distrust(table, row);
}

/** Makes `row` unlike any other, so that the file is read again next time. */
function distrust(table: Table, row: number): void {
  table.stats[row * FIELDS + CTIME] = Number.NaN;
}

/**
 * Distrusts `row` where the file could have been changed without a trace since `hashedAt` (ms): its times
 * are too close to then, or in the future.
 */
function distrustRacy(table: Table, row: number, hashedAt: number): void {
  const settled = hashedAt - RACY_MS;
  const at = row * FIELDS;
  if (!(table.stats[at + MTIME]! < settled && table.stats[at + CTIME]! < settled)) distrust(table, row);
}

/** The table at `cachePath`, or undefined where there is none to be trusted at `now` (ms). Never throws. */
export function readCache(cachePath: string, now: number): CachedTable | undefined {
  let whole: Buffer;
  try {
    const fd = openSync(
      cachePath,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile() || stat.size > MAX_CACHE_BYTES) return undefined;
      whole = readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Mostly ENOENT, the first time; whatever else it is, there is no cache then.
    return undefined;
  }
  const end = whole.length - CHECKSUM_BYTES;
  if (end < MAGIC.length || whole.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  if (!checksum(whole.subarray(0, end)).equals(whole.subarray(end))) return undefined;
  const headEnd = whole.indexOf('\n', MAGIC.length);
  try {
    const head = JSON.parse(whole.toString('utf8', MAGIC.length, headEnd)) as CacheHead;
    // The clock went back since: no time in the table can be compared with it.
    if (head.saved_at > now) return undefined;
    return unpack(whole.subarray(headEnd + 1, end), head);
  } catch {
    // A SyntaxError or RangeError: not a file of ours, though its checksum is right.
    return undefined;
  }
}

interface CacheHead {
  saved_at: number;
  rows: number;
  fingerprint: string;
  listing?: string | undefined;
}

/**
 * Writes the table for the next time, 0600, whole or not at all. `fresh[row]` is 1 where the row was hashed
 * in this run, which began at `startedAt` (ms); the rest keeps the trust it had. The rows are changed. A
 * failure is ignored: nothing depends on a cache.
 */
export function writeCache(
  cachePath: string,
  table: CachedTable,
  fresh: Uint8Array,
  startedAt: number,
): void {
  const temp = `${cachePath}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    // Only the folder itself: a preview root is made by those who give it its .gitignore.
    // Never the preview root itself: a fingerprint alone records nothing.
    if (exists(dirname(dirname(cachePath)))) makeDir(dirname(cachePath));
  } catch {
    // EEXIST, all but the first time; any other error shows again on opening the file.
  }
  try {
    const fd = openSync(temp, 'wx', 0o600);
    try {
      // A file server's clock may be behind ours; what it stamps now tells by how much.
      const behind = Math.max(0, Date.now() - fstatSync(fd).mtimeMs);
      fresh.forEach((isFresh, row) => {
        if (isFresh && table.kinds[row] !== KIND.absent) distrustRacy(table, row, startedAt - behind);
      });
      const whole = pack(table, startedAt);
      for (let at = 0; at < whole.length; ) at += writeSync(fd, whole, at);
    } finally {
      closeSync(fd);
    }
    // No fsync: a cache torn by a power cut fails its checksum.
    renameSync(temp, cachePath);
  } catch {
    // ENOENT (no preview root yet), EACCES, EROFS, ENOSPC: the next run reads the files again.
    try {
      unlinkSync(temp);
    } catch {
      // ENOENT: it was never made.
    }
  }
}

const checksum = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

/** Head line, then the columns, numbers first: stats, hashes, kinds, NUL-joined paths; last the checksum. */
function pack(table: CachedTable, savedAt: number): Buffer {
  const head: CacheHead = {
    saved_at: savedAt,
    rows: table.paths.length,
    fingerprint: table.fingerprint,
    listing: table.listing,
  };
  const line = MAGIC + JSON.stringify(head);
  const body = Buffer.concat([
    // Filled up with blanks, so that the numbers can be used where they lie.
    Buffer.from(`${line.padEnd(line.length + 7 - (line.length % 8))}\n`),
    Buffer.from(table.stats.buffer, table.stats.byteOffset, table.stats.byteLength),
    table.hashes,
    table.kinds,
    Buffer.from(table.paths.join('\0')),
  ]);
  return Buffer.concat([body, checksum(body)]);
}

function unpack(body: Buffer, head: CacheHead): CachedTable | undefined {
  let at = 0;
  const take = (bytes: number): Buffer => {
    at += bytes;
    return body.subarray(at - bytes, at);
  };
  const numbers = take(head.rows * FIELDS * 8);
  const isAligned = numbers.byteOffset % 8 === 0;
  const stats = isAligned
    ? new Float64Array(numbers.buffer, numbers.byteOffset, head.rows * FIELDS)
    : new Float64Array(new Uint8Array(numbers).buffer);
  const hashes = take(head.rows * HASH_BYTES);
  const kinds = take(head.rows);
  const names = body.toString('utf8', at);
  const paths = head.rows === 0 ? [] : names.split('\0');
  if (paths.length !== head.rows || typeof head.fingerprint !== 'string') return undefined;
  return { paths, stats, hashes, kinds, fingerprint: head.fingerprint, listing: head.listing };
}
