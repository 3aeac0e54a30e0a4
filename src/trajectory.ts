// trajectory.json: an append-only JSON array, one step a line (protocol, section 3). Appending costs the
// same at any length, and a byte that is before the closing bracket never changes (I4).
import { closeSync, fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import { openRegular, writeAll } from './disk.js';

export const EMPTY = '[\n]\n';
const CLOSE = '\n]\n';

/** The part of the head that says how the trajectory must end. */
export interface Tail {
  trajectory_step_count: number;
  /** Where the last entry ends, before the closing `\n]\n`; 1 for an empty trajectory. */
  trajectory_bytes: number;
  trajectory_sha256: string | null;
  latest_step: object | null;
}

/** The tail of a trajectory without steps. */
export const EMPTY_TAIL: Tail = {
  trajectory_step_count: 0,
  trajectory_bytes: 1,
  trajectory_sha256: null,
  latest_step: null,
};

/** The bytes one append writes, and the offset it writes them at: over the old closing bracket. */
export function appendRecord(line: string, count_before: number, bytes_before: number) {
  const lead = count_before === 0 ? '\n' : ',\n';
  const bytes = Buffer.from(lead + line + CLOSE);
  return { offset: bytes_before, bytes, end: bytes_before + bytes.length - CLOSE.length };
}

/** The append that made the tail what it is. */
function lastRecord(tail: Tail) {
  const line = JSON.stringify(tail.latest_step);
  const count = tail.trajectory_step_count - 1;
  const before = tail.trajectory_bytes - Buffer.byteLength(line) - (count === 0 ? 1 : 2);
  return { line, ...appendRecord(line, count, before) };
}

/** Up to `length` bytes from `position`, fewer at the end of the file. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, length));
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(fd, bytes, done, bytes.length - done, position + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

export type TailState =
  | { state: 'whole' }
  | { state: 'pending'; kind: 'append' | 'overtaken' | 'surplus' }
  | { state: 'damaged'; detail: string };

/**
 * Whether the file ends as the head says. `pending` is what a crash or an overtaken writer leaves, and what
 * `healTail` mends; anything else is damage.
 */
export function inspectTail(fd: number, tail: Tail): TailState {
  const size = fstatSync(fd).size;
  if (tail.trajectory_step_count === 0) return inspectEmpty(readAt(fd, 0, Math.min(size, 64)), size);
  const record = lastRecord(tail);
  if (record.offset < 1)
    return { state: 'damaged', detail: 'the head names fewer bytes than its latest step takes' };
  if (size < record.offset)
    return {
      state: 'damaged',
      detail: `the file ends at byte ${size}, before its last entry at ${record.offset}`,
    };
  const found = readAt(fd, record.offset, record.bytes.length);
  if (found.equals(record.bytes)) {
    return size > record.offset + record.bytes.length
      ? { state: 'pending', kind: 'surplus' }
      : { state: 'whole' };
  }
  const turned = Buffer.concat([Buffer.from(CLOSE), record.bytes.subarray(3)]);
  if (found.equals(turned)) return { state: 'pending', kind: 'overtaken' };
  const same = commonPrefix(found, record.bytes);
  const rest = found.subarray(same);
  const oldClose = Buffer.from(CLOSE).subarray(same);
  const zeros = (bytes: Buffer) => bytes.every((byte) => byte === 0);
  const cut = rest.length === 0 || (zeros(rest) && onlyZerosAfter(fd, record.offset + found.length, size));
  const old =
    same < CLOSE.length &&
    rest.subarray(0, oldClose.length).equals(oldClose) &&
    zeros(rest.subarray(oldClose.length));
  if (cut || (old && onlyZerosAfter(fd, record.offset + found.length, size)))
    return { state: 'pending', kind: 'append' };
  return {
    state: 'damaged',
    detail: `the last entry, at byte ${record.offset}, is not the head's latest step`,
  };
}

function inspectEmpty(found: Buffer, size: number): TailState {
  const empty = Buffer.from(EMPTY);
  if (found.equals(empty)) return { state: 'whole' };
  if (found.subarray(0, empty.length).equals(empty)) return { state: 'pending', kind: 'surplus' };
  if (size <= empty.length && found.equals(empty.subarray(0, size)))
    return { state: 'pending', kind: 'append' };
  return { state: 'damaged', detail: 'the head has no step, the trajectory is not empty' };
}

function commonPrefix(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  return at;
}

/** A power failure may leave a file longer than what was written to it, filled with zero bytes. */
function onlyZerosAfter(fd: number, position: number, size: number): boolean {
  for (let at = position; at < size; at += 65_536) {
    if (readAt(fd, at, Math.min(65_536, size - at)).some((byte) => byte !== 0)) return false;
  }
  return true;
}

/** Opens trajectory.json for healing and appending. Throws ENOENT: a missing one is never made anew here. */
export const openTrajectory = (path: string): number => openRegular(path, true);

/**
 * Makes the file end as the head says (redoing the last append where it is pending) and durable.
 * Writes nothing when it is damaged.
 */
export function healTail(fd: number, tail: Tail): TailState {
  const state = inspectTail(fd, tail);
  if (state.state === 'damaged') return state;
  if (state.state === 'pending') {
    const record =
      tail.trajectory_step_count === 0 ? { offset: 0, bytes: Buffer.from(EMPTY) } : lastRecord(tail);
    if (state.kind !== 'surplus') writeAll(fd, record.bytes, record.offset);
    ftruncateSync(fd, record.offset + record.bytes.length);
  }
  fsyncSync(fd);
  return state;
}

/**
 * The lines of steps `from` to `to` (1-based, inclusive), oldest first, by the reader's rule of section 3. Where the
 * file does not end as the head says, so that its offsets mean nothing, they are counted from the start.
 */
export function readLines(path: string, tail: Tail, from: number, to: number): string[] {
  const count = tail.trajectory_step_count;
  const first = Math.max(1, from);
  const last = Math.min(count, to);
  if (first > last) return [];
  const record = lastRecord(tail);
  const lines: string[] = [];
  if (first < count) {
    const fd = openRegular(path);
    try {
      if (!endsAsSaid(fd, tail, record.line))
        return countedLines(fd, record.line, count).slice(first - 1, last);
      // The nearer end is the shorter way: the newest steps are read backwards, others are searched for.
      const near = count - first < 64;
      const start = near ? lineFromEnd(fd, record.offset, count - first) : seekStep(fd, record.offset, first);
      const wanted = Math.min(last, count - 1) - first + 1;
      for (const line of eachLine(fd, start, record.offset)) {
        if (!near && lines.length === 0 && (stepIndexOf(line) ?? first) < first) continue;
        lines.push(line);
        if (lines.length === wanted) break;
      }
    } finally {
      closeSync(fd);
    }
  }
  if (last === count) lines.push(record.line);
  return lines;
}

/** True where the head's last line stands at its place (others may have come since), or is only still to be written. */
function endsAsSaid(fd: number, tail: Tail, line: string): boolean {
  const bytes = Buffer.from(line);
  if (readAt(fd, tail.trajectory_bytes - bytes.length, bytes.length).equals(bytes)) return true;
  return inspectTail(fd, tail).state !== 'damaged';
}

/** True where a trajectory ends as its head says, or only still has to: one look at its end. */
export function isWhole(path: string, tail: Tail): boolean {
  const fd = openRegular(path);
  try {
    if (tail.trajectory_step_count === 0) return inspectTail(fd, tail).state !== 'damaged';
    return endsAsSaid(fd, tail, lastRecord(tail).line);
  } finally {
    closeSync(fd);
  }
}

/** All lines of a damaged file by their place in it, the head's own at the end. */
function countedLines(fd: number, latest: string, count: number): string[] {
  const all = [...eachLine(fd, 0, fstatSync(fd).size)].filter((line) => line !== ']').slice(0, count);
  if (all.length === count) all.pop();
  return [...all, latest];
}

/** Where the last entry's append began: what is before this byte never changes (I4). */
export const lastOffset = (tail: Tail): number =>
  tail.trajectory_step_count === 0 ? 1 : lastRecord(tail).offset;

/** Each entry's line (without comma and newline) from the byte `start` up to the byte `end`, in bounded memory; `odd` hears of lines not divided as they must be. */
export function* eachLine(
  fd: number,
  start: number,
  end: number,
  odd?: (line: string) => void,
): Generator<string> {
  let held: Buffer[] = [];
  let first = start === 0;
  for (let at = start; at < end; ) {
    const piece = readAt(fd, at, Math.min(65_536, end - at));
    if (piece.length === 0) break;
    at += piece.length;
    let from = 0;
    for (let newline = piece.indexOf(10); newline !== -1; newline = piece.indexOf(10, from)) {
      held.push(piece.subarray(from, newline));
      from = newline + 1;
      const raw = Buffer.concat(held);
      const line = withoutComma(raw);
      held = [];
      if (first ? line !== '[' : raw.at(-1) !== COMMA) odd?.(line);
      first = false;
      if (line !== '' && line !== '[') yield line;
    }
    if (from < piece.length) held.push(piece.subarray(from));
  }
  const raw = Buffer.concat(held);
  const line = withoutComma(raw);
  if (raw.at(-1) === COMMA) odd?.(line);
  if (line !== '' && line !== '[') yield line;
}

const COMMA = 44;
const withoutComma = (line: Buffer) =>
  line.toString('utf8', 0, line.at(-1) === COMMA ? line.length - 1 : line.length);

/** The byte at which the line that is `back` lines before `end` begins. */
function lineFromEnd(fd: number, end: number, back: number): number {
  let newlines = 0;
  for (let high = end; high > 0; ) {
    const low = Math.max(0, high - 65_536);
    const piece = readAt(fd, low, high - low);
    for (let at = piece.length - 1; at >= 0; at--) {
      if (piece[at] === 10 && ++newlines === back) return low + at + 1;
    }
    high = low;
  }
  return 0;
}

/** A line start at most 64 KB before step `wanted`, by binary search over the bytes: step_index only grows. */
function seekStep(fd: number, end: number, wanted: number): number {
  let low = 0;
  let high = end;
  while (high - low > 65_536) {
    const middle = Math.floor((low + high) / 2);
    const start = lineStart(fd, middle, high);
    const index =
      start < high ? stepIndexOf(readAt(fd, start, 200).toString('latin1')) : Number.POSITIVE_INFINITY;
    // A damaged line has no index: from here on, line by line.
    if (index === null) return low;
    if (index <= wanted) low = start;
    else high = middle;
  }
  return low;
}

/** The first line start after `position`, or `end`. */
function lineStart(fd: number, position: number, end: number): number {
  for (let at = position; at < end; ) {
    const piece = readAt(fd, at, Math.min(32_768, end - at));
    const newline = piece.indexOf(10);
    if (newline !== -1) return at + newline + 1;
    if (piece.length === 0) break;
    at += piece.length;
  }
  return end;
}

/** The step_index that a line names near its start, or null. */
export function stepIndexOf(line: string): number | null {
  const match = /"step_index":(\d+)/.exec(line.slice(0, 200));
  return match ? Number(match[1]) : null;
}
