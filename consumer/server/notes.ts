// The notes of one session for the pages that show it: read once, and after that only what is new. They lie beside the
// root, so this is not the recording's own history: whoever writes one tells nobody, and the folder is looked at again.
import { relative } from 'node:path';
import { type Behind, FROM_START, notesBehind, rootOfSession } from '../../src/notefiles.js';
import type { Note } from '../../src/notes.js';
import { STREAM_LIMITS } from '../../src/stream.js';

export interface NoteFeed {
  /** The newest, as JSON, in the order they were written. */
  all(): string[];
  /** Those that nobody was told yet. */
  fresh(): string[];
}

/** `id` gives the session's id, by which its notes are known when its folder got another name. */
export function openNoteFeed(dir: string, id: () => unknown): NoteFeed {
  const root = rootOfSession(dir);
  const name = relative(root, dir);
  let behind: Behind = FROM_START;
  let kept: string[] = [];
  const isOurs = ({ session, session_id }: Note) =>
    session_id === null || typeof id() !== 'string' ? session === name : session_id === id();
  const fresh = () => {
    const read = notesBehind(root, behind);
    behind = read.behind;
    const found = read.notes.filter(isOurs).map((note) => JSON.stringify(note));
    kept = [...kept, ...found].slice(-STREAM_LIMITS.notes);
    return found.slice(-STREAM_LIMITS.notes);
  };
  return { all: () => kept, fresh };
}
