// The state of files on disk, asked and read row by row into the columns of statcache.ts. Nothing here
// follows a symlink or waits for a fifo, and a file that changes or goes meanwhile is a problem to report,
// never a fault.
import { createHash, hash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { turn } from './clock.js';
import { errnoOf } from './errors.js';
import { FIELDS, HASH_BYTES, KIND, modeAt, setContent, setStat, type Table } from './statcache.js';
import { neutralise } from './text.js';

/** Larger files are read in pieces, between which others get their turn. */
const WHOLE_READ_BYTES = 4 * 1024 * 1024;
/** So many files at a stretch; then git's output is drained from its pipe, which would else make it wait. */
export const FILES_A_TURN = 512;

/** `lstat` of every path, as rows of `Table.stats`; rows that `known` has are taken from there. */
export async function statAll(
  projectDir: string,
  paths: readonly string[],
  signal?: AbortSignal,
  known?: { paths: readonly string[]; states: Float64Array },
): Promise<Float64Array> {
  const states = new Float64Array(paths.length * FIELDS);
  const rows = known && new Map(known.paths.map((path, row) => [path, row]));
  for (let from = 0; from < paths.length; from += FILES_A_TURN) {
    if (from > 0) await turn();
    signal?.throwIfAborted();
    const end = Math.min(from + FILES_A_TURN, paths.length);
    for (let row = from; row < end; row++) {
      const have = rows?.get(paths[row]!);
      if (known === undefined || have === undefined) statInto(states, row, `${projectDir}/${paths[row]}`);
      else states.set(known.states.subarray(have * FIELDS, (have + 1) * FIELDS), row * FIELDS);
    }
  }
  return states;
}

const NO_THROW = { throwIfNoEntry: false } as const;

function statInto(states: Float64Array, row: number, full: string): void {
  try {
    const stat = lstatSync(full, NO_THROW);
    if (stat) setStat(states, row, stat);
  } catch (error) {
    // ENOTDIR: a folder on the way became a file. Anything else (EACCES) means that it cannot be known.
    if (errnoOf(error) !== 'ENOTDIR') states[row * FIELDS] = Number.NaN;
  }
}

/** What kind of source a row is; `unreadable` where even `lstat` failed. */
export function kindAt(states: Float64Array, row: number): number {
  if (Number.isNaN(states[row * FIELDS])) return KIND.unreadable;
  return kindOf(modeAt(states, row));
}

function kindOf(mode: number): number {
  const type = mode & constants.S_IFMT;
  if (type === constants.S_IFLNK) return KIND.link;
  if (type !== constants.S_IFREG) return KIND.absent;
  // As git sees it: the owner's bit alone, so that a umask makes no other fingerprint.
  return mode & constants.S_IXUSR ? KIND.exec : KIND.file;
}

/** In place: what lies behind a symlink, as git's index may still have it, is not there for a walk. Makes both alike. */
export function hideBehindLinks(paths: readonly string[], states: Float64Array): void {
  for (let row = 0; row < paths.length; row++) {
    if (kindAt(states, row) !== KIND.link) continue;
    const below = `${paths[row]}/`;
    let low = row + 1;
    let high = paths.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (paths[middle]! < below) low = middle + 1;
      else high = middle;
    }
    for (; paths[low]?.startsWith(below); low++) states.fill(0, low * FIELDS, (low + 1) * FIELDS);
  }
}

/** Hashes a file or a link's text into `row`. Returns what went wrong: it vanished, or cannot be read. */
export async function readRow(
  projectDir: string,
  table: Table,
  row: number,
  isLink: boolean,
  states: Float64Array,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const path = table.paths[row]!;
  const full = `${projectDir}/${path}`;
  try {
    if (isLink) {
      const target = readlinkSync(full, 'buffer');
      table.stats.set(states.subarray(row * FIELDS, (row + 1) * FIELDS), row * FIELDS);
      setContent(table, row, KIND.link, target.length, hash('sha256', target, 'buffer'));
      return undefined;
    }
    // Since lstat a link or a fifo may have come in its place: neither is followed, nor waited for.
    const fd = openSync(full, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      // Before reading: a change meanwhile makes the next lstat differ from this.
      const stat = fstatSync(fd);
      if (!stat.isFile()) {
        setContent(table, row, KIND.absent, 0, Buffer.alloc(HASH_BYTES));
        return `${neutralise(path)} is no file any more and was left out`;
      }
      setStat(table.stats, row, stat);
      const { bytes, sha256 } = await readContent(fd, stat, signal);
      setContent(table, row, kindOf(stat.mode), bytes, sha256);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    const code = errnoOf(error);
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    setContent(table, row, isGone ? KIND.absent : KIND.unreadable, 0, Buffer.alloc(HASH_BYTES));
    if (isGone) return `${neutralise(path)} vanished before it was read and was left out`;
    return `${neutralise(path)} cannot be read (${code ?? String(error)})`;
  }
}

async function readContent(
  fd: number,
  stat: Stats,
  signal?: AbortSignal,
): Promise<{ bytes: number; sha256: Buffer }> {
  if (stat.size <= WHOLE_READ_BYTES) {
    const content = readFileSync(fd);
    return { bytes: content.length, sha256: hash('sha256', content, 'buffer') };
  }
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream('', { fd, autoClose: false, highWaterMark: 1 << 20, signal })) {
    bytes += (chunk as Buffer).length;
    digest.update(chunk as Buffer);
  }
  return { bytes, sha256: digest.digest() };
}
