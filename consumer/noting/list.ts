// Notes as an agent reads them: the newest first, few, and each with the file that it is about.
import { join } from 'node:path';
import { statOf } from '../../src/disk.js';
import { PreviewError } from '../../src/errors.js';
import { inside } from '../../src/inside.js';
import { ID_PREFIX, noteNumber } from '../../src/notefiles.js';
import type { Note, NoteBox, StandingNote, Verdict } from '../../src/notes.js';

/** The most that a list holds, in bytes of its JSON; the newest note is always in it. */
export const LIST_BYTES = 32 * 1024;

export interface ListedNote {
  id: string;
  at: string;
  author: string;
  session: string;
  step_id: string;
  text: string;
  verdict: Verdict | null;
  artifact: string | null;
  /** In pixels of `picture`. */
  box: NoteBox | null;
  /** The file that is meant, absolute; null where none is, or where it is no longer there. */
  picture: string | null;
  replies_to: string | null;
  open: boolean;
}

export interface Listed {
  notes: ListedNote[];
  /** How many older ones there are. */
  left: number;
}

/** The newest of `notes`, which are in the order they were written. */
export function listNotes(root: string, notes: readonly StandingNote[], limit: number): Listed {
  const listed: ListedNote[] = [];
  let bytes = 0;
  for (const note of notes.toReversed()) {
    if (listed.length >= Math.max(0, limit)) break;
    const shown = showNote(root, note);
    bytes += Buffer.byteLength(JSON.stringify(shown));
    if (bytes > LIST_BYTES && listed.length > 0) break;
    listed.push(shown);
  }
  return { notes: listed, left: notes.length - listed.length };
}

function showNote(root: string, note: StandingNote): ListedNote {
  const { id, at, author, session, step_id, text, verdict, artifact, box, replies_to, open } = note;
  return {
    id,
    at,
    author,
    session,
    step_id,
    text,
    verdict,
    artifact,
    box,
    picture: pictureOf(root, note),
    replies_to,
    open,
  };
}

/** I9: what a note names is opened by nobody unless it lies in the root. */
function pictureOf(root: string, { session, bundle_id, artifact }: StandingNote): string | null {
  if (artifact === null || bundle_id === null) return null;
  const path = inside(root, join(session, bundle_id, artifact));
  return path !== null && statOf(path)?.isFile() ? path : null;
}

/** Which notes lie behind `text`, an id or a time. @throws PreviewError `usage` where it is neither. */
export function since(text: string, notes: readonly Note[]): (note: Note) => boolean {
  const known = notes.find(({ id }) => id === text);
  for (const prefix of Object.values(ID_PREFIX)) {
    const number = noteNumber(text, prefix);
    if (number === null) continue;
    return ({ id, at }) => {
      const other = noteNumber(id, prefix);
      // In its own folder the number says it, whatever the clock did; between the two only the clock does.
      return other === null ? known !== undefined && at > known.at : other > number;
    };
  }
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new PreviewError(
      'usage',
      `--since ${JSON.stringify(text)} is neither a note nor a time`,
      'such as note-0042 or 2026-05-31T10:45:00Z',
    );
  const iso = at.toISOString();
  return (note) => note.at > iso;
}
