// Where notes lie, and reading them: a folder beside the preview root, one file a note, and for a root whose place
// cannot be written a folder in the user's data. Whatever is damaged there is told and left out.
import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { readRegular } from './disk.js';
import { errnoOf } from './errors.js';
import { LIVE_NAME } from './formats/clianything/places.js';
import { sha256 } from './hash.js';
import { NOTES_SUFFIX } from './layout.js';
import { NOTE_LIMITS, type Note, noteSchema } from './notes.js';
import { check, type Problem, type Reading } from './schema.js';

/** The folder beside `root` that holds its notes: it moves with the project, and no session or root is touched. */
export const notesPath = (root: string): string => `${real(root)}${NOTES_SUFFIX}`;

/** One root has one place for notes, by whatever links it is reached. */
function real(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    // ENOENT: there is no root yet, and so no note.
    return resolve(root);
  }
}

/** Where the notes of a root are kept that lies where the user cannot write. */
export function ownNotesPath(root: string, env: NodeJS.ProcessEnv = process.env): string {
  const data = env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local', 'share');
  return join(data, 'preview-recorder', 'notes', sha256(real(root)).slice('sha256:'.length, 32));
}

/** The root that a session's notes belong to: the folder it lies in, for CLI-Anything's the one above SOFTWARE/live. */
export function rootOfSession(session: string): string {
  const parent = dirname(resolve(session));
  return basename(parent) === LIVE_NAME ? dirname(dirname(parent)) : parent;
}

/** Notes in the folder beside the root, and in the user's own: the prefix of their ids. */
export const ID_PREFIX = { beside: 'note', own: 'own' } as const;

/** The number in `note-0042` or `own-0042`, else null. */
export function noteNumber(id: string, prefix: string): number | null {
  const match = /^([a-z]+)-(\d{4,9})$/.exec(id);
  return match?.[1] === prefix ? Number(match[2]) : null;
}

/** Names of notes in a folder, by number. */
export function noteNames(dir: string, prefix: string): { id: string; number: number }[] {
  return entriesOf(dir)
    .flatMap(({ name }) => {
      const id = name.endsWith('.json') ? name.slice(0, -'.json'.length) : '';
      const number = noteNumber(id, prefix);
      return number === null ? [] : [{ id, number }];
    })
    .sort((a, b) => a.number - b.number);
}

function entriesOf(dir: string): Dirent[] {
  try {
    // A link here could lead anywhere.
    return lstatSync(dir).isDirectory() ? readdirSync(dir, { withFileTypes: true }) : [];
  } catch (error) {
    if (!UNREACHABLE.includes(errnoOf(error) ?? '')) throw error;
    return [];
  }
}

const UNREACHABLE = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP'];

/** All notes of a root in the order they were written, the newest of too many. Never throws for what a note holds. */
export function readNotes(root: string): Reading<Note[]> {
  const beside = readFolder(notesPath(root), ID_PREFIX.beside);
  const own = readFolder(ownNotesPath(root), ID_PREFIX.own);
  const problems = [...beside.problems, ...own.problems];
  if (own.value.length === 0) return { value: beside.value, problems };
  // Each folder has an order of its own; between the two only the clock tells.
  const value = [...beside.value, ...own.value].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { value, problems };
}

/** Numbers of the newest notes that somebody has read, by prefix. */
export type Behind = Record<(typeof ID_PREFIX)[keyof typeof ID_PREFIX], number>;
export const FROM_START: Behind = { note: 0, own: 0 };

/** Notes of a root that are newer than those, and where that leaves the reader: for one that follows. */
export function notesBehind(root: string, behind: Behind): { notes: Note[]; behind: Behind } {
  const places = [
    [notesPath(root), ID_PREFIX.beside],
    [ownNotesPath(root), ID_PREFIX.own],
  ] as const;
  const reached = { ...behind };
  const notes = places.flatMap(([dir, prefix]) => {
    const last = noteNames(dir, prefix).at(-1)?.number ?? 0;
    if (last <= behind[prefix]) return [];
    reached[prefix] = last;
    return readFolder(dir, prefix, behind[prefix]).value;
  });
  return { notes, behind: reached };
}

function readFolder(dir: string, prefix: string, behind = 0): Reading<Note[]> {
  const names = noteNames(dir, prefix).filter(({ number }) => number > behind);
  const problems: Problem[] = [];
  const left = names.length - NOTE_LIMITS.notes;
  if (left > 0)
    problems.push({ kind: 'left_out', where: dir, detail: `the ${left} oldest of ${names.length} notes` });
  const value = names.slice(-NOTE_LIMITS.notes).flatMap(({ id }) => {
    const { value, problems: bad } = readNote(dir, id);
    problems.push(...bad);
    return value === null ? [] : [value];
  });
  return { value, problems };
}

/** One note of a folder. Its name says its id, whatever stands in it. */
export function readNote(dir: string, id: string): Reading<Note | null> {
  const where = `${basename(dir)}/${id}.json`;
  const bad = (kind: string, detail: string) => ({ value: null, problems: [{ kind, where, detail }] });
  const path = join(dir, `${id}.json`);
  try {
    const stat = lstatSync(path);
    if (!stat.isFile()) return bad('invalid', 'it is no regular file');
    if (stat.size > NOTE_LIMITS.file) return bad('too_large', `it has ${stat.size} bytes`);
    const { value, problems } = check(noteSchema, JSON.parse(readRegular(path).toString('utf8')), where);
    return { value: value && { ...value, id }, problems };
  } catch (error) {
    if (error instanceof SyntaxError) return bad('invalid', 'it is not JSON');
    if (!UNREACHABLE.includes(errnoOf(error) ?? '')) throw error;
    return bad('missing', 'it cannot be read');
  }
}
