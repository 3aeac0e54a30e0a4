// What a REF names (protocol, section 7): a root, a session, a step or a bundle, given as a path or as a name.
import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { statOf } from './disk.js';
import { PreviewError } from './errors.js';
import { cliAnythingSessions, holdsCliAnything } from './formats/clianything/find.js';
import { isBundleFolder, LIVE_NAME, locateLink } from './formats/clianything/places.js';
import { isCliAnythingSession } from './formats/clianything/shape.js';
import {
  byNumber,
  CURRENT_NAME,
  findRoot,
  findSession,
  HEAD_NAME,
  isSessionName,
  MANIFEST_NAME,
  numberOf,
  type Place,
  ROOT_NAME,
  TRAJECTORY_NAME,
} from './layout.js';

export type Ref =
  | { kind: 'root'; root: string }
  | { kind: 'session'; session: string }
  | { kind: 'step'; session: string; index: number }
  /** `session` is null for a bundle that lies in none. */
  | { kind: 'bundle'; session: string | null; bundle: string };

const isFile = (path: string) => statOf(path)?.isFile() ?? false;
const isDir = (path: string) => statOf(path)?.isDirectory() ?? false;

/** Finds what `ref` names; without one, the current session. @throws PreviewError `not_found` where there is nothing. */
export function resolveRef(ref: string | undefined, place: Place): Ref {
  if (ref === undefined) {
    const session = currentSession(place);
    if (session !== null) return { kind: 'session', session };
    throw nothing(`no session is recorded in ${findRoot(place)}`, '`preview capture` begins one');
  }
  return byName(ref, place) ?? byPath(resolve(place.cwd, ref)) ?? notFound(ref, place);
}

function currentSession(place: Place): string | null {
  const session = findSession(place);
  return session !== null && isDir(session) ? session : null;
}

/** `session_003`, `step-0042` or just 42, `bundle_002`, and the latter two behind a session's name. */
function byName(ref: string, place: Place): Ref | null {
  const parts = ref.split('/');
  if (parts.length > 2 || parts.length === 0) return null;
  const named = isSessionName(parts[0]!);
  if (parts.length === 2 && !named) return null;
  const session = named ? join(findRoot(place), parts[0]!) : currentSession(place);
  const rest = named ? parts[1] : parts[0];
  if (session === null || !isDir(session)) return null;
  if (rest === undefined || rest === '') return { kind: 'session', session };
  const step = /^\d{1,15}$/.test(rest) ? Number(rest) : numberOf(rest, 'step');
  if (step !== null) return { kind: 'step', session, index: step };
  if (numberOf(rest, 'bundle') !== null && isDir(join(session, rest)))
    return { kind: 'bundle', session, bundle: join(session, rest) };
  return null;
}

/** A folder or file, known by what it holds or is called. */
function byPath(path: string): Ref | null {
  const session = dirname(path);
  if (basename(path) === CURRENT_NAME && isFile(join(session, HEAD_NAME)) && isCliAnythingSession(session)) {
    const bundle = locateLink(session);
    return bundle === null ? null : { kind: 'bundle', session, bundle };
  }
  if (isFile(path)) {
    const name = basename(path);
    return name === HEAD_NAME || name === TRAJECTORY_NAME || name === MANIFEST_NAME
      ? byPath(dirname(path))
      : null;
  }
  const step = numberOf(basename(path), 'step');
  if (step !== null && isFile(join(dirname(path), HEAD_NAME)))
    return { kind: 'step', session: dirname(path), index: step };
  if (!isDir(path)) return null;
  if (isFile(join(path, HEAD_NAME)) || isFile(join(path, TRAJECTORY_NAME)))
    return { kind: 'session', session: path };
  if (isFile(join(path, MANIFEST_NAME))) {
    return {
      kind: 'bundle',
      session: isFile(join(dirname(path), HEAD_NAME)) ? dirname(path) : null,
      bundle: path,
    };
  }
  if (isOwnRoot(path)) return { kind: 'root', root: path };
  if (isDir(join(path, ROOT_NAME))) return { kind: 'root', root: join(path, ROOT_NAME) };
  // A bundle whose capture failed has no manifest.
  if (isBundleFolder(path) && isDir(join(dirname(dirname(path)), LIVE_NAME)))
    return { kind: 'bundle', session: null, bundle: path };
  return holdsCliAnything(path) ? { kind: 'root', root: path } : null;
}

/** True for a preview root of ours, and false for a folder that holds what CLI-Anything recorded. */
export const isOwnRoot = (path: string): boolean =>
  basename(path) === ROOT_NAME || numberedSessions(path).length > 0;

function notFound(ref: string, place: Place): never {
  if (statOf(resolve(place.cwd, ref)))
    throw nothing(
      `${JSON.stringify(ref)} holds no recording`,
      'name a preview root, a session, a bundle or a step; `previews list` shows them',
    );
  throw nothing(
    `there is no ${JSON.stringify(ref)} here`,
    'see `previews list`; a step is named step-0042 or session_003/step-0042',
  );
}

const nothing = (message: string, hint: string) => new PreviewError('not_found', message, hint);

/** The sessions in a root, as paths from it: ours by number, CLI-Anything's by when they were last written. */
export const sessionsOf = (root: string): string[] =>
  isOwnRoot(root) ? numberedSessions(root) : cliAnythingSessions(root);

function numberedSessions(root: string): string[] {
  if (!isDir(root)) return [];
  return readdirSync(root)
    .filter((name) => isSessionName(name) && isDir(join(root, name)))
    .sort(byNumber);
}
