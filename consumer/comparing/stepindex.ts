// The index of a session's steps: a file in the user's cache, never in the session. It is believed only where it is
// whole, the user's own, and about these very steps; else it is made anew.
import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import type { Recording } from '../../src/formats/seen.js';
import { sha256 } from '../../src/hash.js';
import { isObject } from '../../src/json.js';
import { ROOT_NAME } from '../../src/layout.js';
import { cacheFolder, readCached, writeCached } from './cache.js';
import type { Aspect } from './looking.js';
import { type Packed, readPacked } from './packed.js';

/** Raised with every change of what an index holds. */
const VERSION = 2;
/** The newest steps that fit are kept: some ten thousand pictures of the largest size, all different. */
const MAX_BYTES = 32 * 1024 * 1024;

export function loadIndex<T>(recording: Recording, aspect: Aspect<T>): Packed<T> | null {
  const name = nameOf(recording, aspect.name);
  const bytes = name === null ? null : readCached(cacheFolder(), name, 2 * MAX_BYTES);
  if (bytes === null) return null;
  const end = bytes.indexOf(10);
  const head = bytes.toString('utf8', 0, Math.max(0, end));
  const body = bytes.subarray(end + 1);
  const last = lastIn(head);
  if (last === null || head !== JSON.stringify(aboutOf(recording, last, body))) return null;
  const found = readPacked(body, aspect);
  return found?.last === last ? found : null;
}

export function saveIndex<T>(recording: Recording, aspect: Aspect<T>, steps: Packed<T>): void {
  const name = nameOf(recording, aspect.name);
  // A recording without hashes, such as a neighbour's, gives nothing that an index could be held to.
  if (name === null || anchorOf(recording, steps.last) === null) return;
  const body = steps.write(MAX_BYTES);
  writeCached(
    cacheFolder(),
    name,
    Buffer.concat([Buffer.from(`${JSON.stringify(aboutOf(recording, steps.last, body))}\n`), body]),
  );
}

/** What an index is about, and what it must be to be believed. */
const aboutOf = (recording: Recording, last: number, body: Buffer) => ({
  preview_recorder: VERSION,
  session: recording.dir,
  session_id: recording.head?.['session_id'] ?? null,
  last,
  anchor: anchorOf(recording, last),
  body: digest(body),
});

/** The hash of a step's line, which the next line and the head name: the whole history up to it hangs on that. */
function anchorOf(recording: Recording, last: number): string | null {
  const count = recording.head?.trajectory_step_count ?? 0;
  if (last < 1 || last > count) return null;
  const hash =
    last === count
      ? recording.head?.['trajectory_sha256']
      : recording.steps(last + 1, last + 1).value[0]?.['prev_sha256'];
  return typeof hash === 'string' ? hash : null;
}

/** The file's name, or null where a cache would lie in a recording. */
function nameOf({ dir, head }: Recording, aspect: string): string | null {
  const folder = cacheFolder();
  if (
    folder === null ||
    `${folder}${sep}`.startsWith(`${dir}${sep}`) ||
    folder.split(sep).includes(ROOT_NAME)
  )
    return null;
  const key = sha256(JSON.stringify([dir, head?.['session_id'] ?? null])).slice('sha256:'.length);
  return `${aspect}-${key.slice(0, 32)}.json`;
}

function lastIn(head: string): number | null {
  try {
    const about: unknown = JSON.parse(head);
    return isObject(about) && Number.isSafeInteger(about['last']) ? Number(about['last']) : null;
  } catch {
    // SyntaxError: damaged.
    return null;
  }
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
