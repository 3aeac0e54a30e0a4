// Changes a recorded session behind its program's back: edits, drops, swaps, adds, cuts. What must be found
// afterwards is the tests' business.
import { chmodSync, cpSync, existsSync, lstatSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/hash.js';
import { temporary, thaw } from './project.js';

export const headFile = (dir: string): string => join(dir, 'session.json');
export const trajectoryFile = (dir: string): string => join(dir, 'trajectory.json');

type Json = Record<string, any>;

/** A copy of a session (or any folder) in a temporary directory, writable throughout. */
export function copySession(dir: string): string {
  const copy = join(temporary(), 'session_001');
  cpSync(dir, copy, { recursive: true, verbatimSymlinks: true });
  thaw(copy);
  return copy;
}

/** Overwrites a file whatever its mode. */
export function overwrite(file: string, content: string | Uint8Array): void {
  if (existsSync(file) && lstatSync(file).isFile()) chmodSync(file, 0o600);
  writeFileSync(file, content);
}

/** Replaces one byte: `change` gets the old one. */
export function changeByte(file: string, offset: number, change: (byte: number) => number): void {
  const bytes = readFileSync(file);
  bytes[offset] = change(bytes[offset]!);
  overwrite(file, bytes);
}

export function editText(file: string, edit: (text: string) => string): void {
  const before = readFileSync(file, 'utf8');
  const after = edit(before);
  if (before === after) throw new Error(`the edit of ${file} changed nothing`);
  overwrite(file, after);
}

export function editJson(file: string, edit: (value: Json) => void): void {
  const value = JSON.parse(readFileSync(file, 'utf8')) as Json;
  edit(value);
  overwrite(file, `${JSON.stringify(value, null, 1)}\n`);
}

export const readJson = (file: string): Json => JSON.parse(readFileSync(file, 'utf8')) as Json;

/** The lines of a trajectory, one a step. */
export function linesOf(dir: string): string[] {
  return (JSON.parse(readFileSync(trajectoryFile(dir), 'utf8')) as unknown[]).map((step) =>
    JSON.stringify(step),
  );
}

/** Writes a trajectory with these lines. The head stays as it is, unless `follow` lets it name the new end. */
export function writeLines(dir: string, lines: string[], { follow = false } = {}): void {
  const text = lines.length === 0 ? '[\n]\n' : `[\n${lines.join(',\n')}\n]\n`;
  overwrite(trajectoryFile(dir), text);
  if (!follow) return;
  const last = lines.at(-1);
  editJson(headFile(dir), (head) => {
    head.trajectory_step_count = lines.length;
    head.trajectory_bytes = Buffer.byteLength(text) - 3;
    head.trajectory_sha256 = last === undefined ? null : sha256(last);
    head.latest_step = last === undefined ? null : JSON.parse(last);
  });
}

/** Edits the lines; see `writeLines`. */
export function editLines(
  dir: string,
  edit: (lines: string[]) => string[],
  how: { follow?: boolean } = {},
): void {
  writeLines(dir, edit(linesOf(dir)), how);
}

/** Edits one step (1-based) in place of its line. */
export function editStep(
  dir: string,
  index: number,
  edit: (step: Json) => void,
  how: { follow?: boolean } = {},
): void {
  editLines(
    dir,
    (lines) => {
      const step = JSON.parse(lines[index - 1]!) as Json;
      edit(step);
      return lines.map((line, n) => (n === index - 1 ? JSON.stringify(step) : line));
    },
    how,
  );
}

/** Recomputes the chain over these steps, as somebody would who knows the format, and lets the head follow. */
export function forgeChain(dir: string, steps: Json[]): void {
  let previous: string | null = null;
  const lines = steps.map((step) => {
    const line: string = JSON.stringify({ ...step, prev_sha256: previous });
    previous = sha256(line);
    return line;
  });
  writeLines(dir, lines, { follow: true });
}

/** Cuts `bytes` from the end of a file. */
export const cutTail = (file: string, bytes: number): void =>
  truncateSync(file, lstatSync(file).size - bytes);

/** Leaves the last append undone: what a crash between commit and append leaves. */
export function undoAppend(dir: string, written = 0): void {
  const head = readJson(headFile(dir));
  const line = JSON.stringify(head.latest_step);
  const first = head.trajectory_step_count === 1;
  const offset = head.trajectory_bytes - Buffer.byteLength(line) - (first ? 1 : 2);
  const record = Buffer.from(`${first ? '\n' : ',\n'}${line}\n]\n`);
  const before = readFileSync(trajectoryFile(dir)).subarray(0, offset);
  const old = Buffer.concat([before, Buffer.from('\n]\n')]);
  const piece = record.subarray(0, written);
  const after = Buffer.concat([before, piece, old.subarray(offset + written)]);
  overwrite(trajectoryFile(dir), after);
}
