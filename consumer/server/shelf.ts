// The sessions that can be shown, each under the key that links and requests call it by.
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { turn } from '../../src/clock.js';
import { statOf } from '../../src/disk.js';
import { errnoOf } from '../../src/errors.js';
import { HEAD_NAME, isSessionName } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import { sessionsOf } from '../../src/ref.js';
import { showSession } from '../../src/shown.js';
import { type ShownSession, STREAM_LIMITS } from '../../src/stream.js';
import { fitting } from './fit.js';
import { oneAtATime } from './slices.js';

export interface Shelf {
  /** The JSON list of the newest sessions, the newest first. */
  text(): string;
  /** The session to show where none was asked for. */
  front(): string | null;
  /** The folder of a session, or null where there is none of that key. */
  dirOf(key: string): string | null;
  /** Reads the disk. Never rejects. */
  look(): Promise<void>;
}

export interface ShelfOptions {
  root: string | null;
  /** The session in front, where one was named; the newest otherwise. */
  session: string | null;
  /** Bytes that a listing may take. */
  bytes: number;
  /** A session began, ended, came or went. */
  onChange: () => void;
}

interface Kept {
  /** The head as it lay there when it was read. */
  mark: string;
  shown: ShownSession;
}

/** What of a session is worth telling every page of, whatever it shows. */
const newsOf = ({ key, status, title, continues }: ShownSession) => [key, status, title, continues];

export function openShelf({ root, session, bytes, onChange }: ShelfOptions): Shelf {
  /** Keys stay what they are, even where folders of the same name turn up later. */
  const keys = new Map<string, string>();
  const dirs = new Map<string, string>();
  const kept = new Map<string, Kept>();
  let listed: ShownSession[] = [];
  let news = '';

  const keyOf = (dir: string): string => {
    const known = keys.get(dir);
    if (known !== undefined) return known;
    let key = basename(dir);
    for (let above = dirname(dir); dirs.has(key); above = dirname(above)) {
      const more = basename(above);
      key = more === '' ? `${key}~` : `${more}~${key}`;
    }
    keys.set(dir, key);
    dirs.set(key, dir);
    return key;
  };

  const folders = (): string[] => {
    const found = root === null ? [] : sessionsOf(root).map((name) => join(root, name));
    if (session !== null && !found.includes(session)) found.push(session);
    return found.reverse();
  };

  const showAt = (dir: string): ShownSession => {
    const mark = markOf(join(dir, HEAD_NAME));
    const known = kept.get(dir);
    if (known !== undefined && mark !== '' && known.mark === mark) return known.shown;
    const shown = { ...showSession(openRecording(dir)), key: keyOf(dir) };
    kept.set(dir, { mark, shown });
    return shown;
  };

  const read = async () => {
    try {
      const newest = folders().slice(0, STREAM_LIMITS.sessions);
      const shown: ShownSession[] = [];
      for (const [n, dir] of newest.entries()) {
        shown.push(showAt(dir));
        if (n % 10 === 9) await turn();
      }
      listed = shown;
      for (const dir of kept.keys()) if (!newest.includes(dir)) kept.delete(dir);
    } catch {
      // The disk fails, or a folder goes while it is read: the last good listing stays, and the next look comes.
      return;
    }
    const now = JSON.stringify(listed.map(newsOf));
    if (now === news) return;
    news = now;
    onChange();
  };

  return {
    text: () =>
      `[${fitting(
        listed.map((each) => JSON.stringify(each)),
        bytes,
      ).join(',')}]`,
    front: () => (session === null ? (listed[0]?.key ?? null) : keyOf(session)),
    dirOf(key) {
      const known = dirs.get(key);
      if (known !== undefined) return known;
      // One that is too old for the listing.
      if (root === null || !isSessionName(key) || !statOf(join(root, key))?.isDirectory()) return null;
      keyOf(join(root, key));
      return dirs.get(key) ?? null;
    },
    look: oneAtATime(read),
  };
}

/** Changes with every head that is put there; empty where there is none. */
function markOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(errnoOf(error) ?? '')) throw error;
    return '';
  }
}
