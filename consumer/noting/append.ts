// Writes one note beside a preview root: the one thing that a person who looks adds, and never in a session (I6). Each
// note is a file of its own under the next free number, which one link gives to one of several writers; so nothing is
// torn, a note's number is higher than that of every note a reader could have seen, and nothing is ever rewritten.
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createFile, exists, makeDir, syncPath } from '../../src/disk.js';
import { errnoOf, PreviewError } from '../../src/errors.js';
import { HEAD_NAME, MANIFEST_NAME, TRAJECTORY_NAME } from '../../src/layout.js';
import { ID_PREFIX, noteNames, notesPath, ownNotesPath } from '../../src/notefiles.js';
import { NOTE_LIMITS, type Note } from '../../src/notes.js';

export interface Appended {
  note: Note;
  /** The note's file. */
  path: string;
  warnings: string[];
}

/** Adds a note to those of a root. @throws PreviewError `usage` where its place is a session's, a link, or full; system errors. */
export function appendNote(root: string, note: Omit<Note, 'id'>): Appended {
  const beside = notesPath(root);
  try {
    return { ...put(beside, ID_PREFIX.beside, note), warnings: [] };
  } catch (error) {
    if (!READ_ONLY.includes(errnoOf(error) ?? '')) throw error;
  }
  const own = ownNotesPath(root);
  const warning = `notes_elsewhere: ${dirname(beside)} cannot be written; the note lies in ${own}`;
  return { ...put(own, ID_PREFIX.own, note), warnings: [warning] };
}

const READ_ONLY = ['EACCES', 'EPERM', 'EROFS'];
/** What a mount says that has no links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'];
/** Writers that may come first, one after the other. */
const ATTEMPTS = 1000;
const NEW = '.new-';

function put(dir: string, prefix: string, note: Omit<Note, 'id'>): Omit<Appended, 'warnings'> {
  makePlace(dir);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const names = noteNames(dir, prefix);
    if (names.length >= NOTE_LIMITS.notes)
      throw new PreviewError(
        'usage',
        `${dir} holds ${names.length} notes, as many as it may`,
        'move the folder, or the oldest of its files, elsewhere',
      );
    const id = `${prefix}-${String((names.at(-1)?.number ?? 0) + 1).padStart(4, '0')}`;
    const path = join(dir, `${id}.json`);
    const made = { id, ...note } as Note;
    if (placed(dir, path, `${JSON.stringify(made)}\n`)) return { note: made, path };
  }
  throw new PreviewError('io', `no number was free in ${dir}`, 'run the command again');
}

/** Puts a whole file under its name; false where another writer has that name already. */
function placed(dir: string, path: string, content: string): boolean {
  const aside = join(dir, `${NEW}${process.pid}-${randomBytes(4).toString('hex')}`);
  createFile(aside, content, true);
  try {
    linkSync(aside, path);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.includes(errnoOf(error) ?? '')) throw error;
    return created(path, content);
  } finally {
    rmSync(aside, { force: true });
  }
  syncPath(dir);
  return true;
}

function created(path: string, content: string): boolean {
  try {
    createFile(path, content, true);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The folder, private, with a .gitignore of its own: what it tells of lies in a root that git ignores too. */
function makePlace(dir: string): void {
  refuseSession(dir);
  if (!exists(dir)) {
    makeDir(dir);
    created(join(dir, '.gitignore'), '*\n');
  }
  if (!lstatSync(dir).isDirectory())
    throw new PreviewError('usage', `${dir} is no folder of its own`, 'move it away: the notes lie there');
  sweep(dir);
}

/** I6: not even where a root was named that lies in a session, or by a link that leads into one. */
function refuseSession(dir: string): void {
  let here = realOf(dir);
  for (; ; here = dirname(here)) {
    const owned = [HEAD_NAME, MANIFEST_NAME, TRAJECTORY_NAME].find((name) => exists(join(here, name)));
    if (owned !== undefined)
      throw new PreviewError(
        'usage',
        `notes would lie in ${here}, which is part of a recording`,
        'name the root that the session lies in',
      );
    if (dirname(here) === here) return;
  }
}

/** The real path of what need not be there yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return join(realOf(dirname(path)), basename(path));
  }
}

const HOUR_MS = 3_600_000;

/** Removes what writers left behind that were ended in between. */
function sweep(dir: string): void {
  for (const name of readdirSync(dir).filter((each) => each.startsWith(NEW))) {
    const path = join(dir, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > HOUR_MS) rmSync(path, { force: true });
  }
}
