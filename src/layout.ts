// Where things lie: names, numbering, and finding the preview root and the session from a folder.
// No git process and no schema is needed here, for `live status` runs through this file.
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readPointer, statOf } from './disk.js';
import { PreviewError } from './errors.js';

export const ROOT_NAME = '.preview';
/** Behind a root's name: the folder beside it that holds what people noted of its sessions. */
export const NOTES_SUFFIX = '-notes';
export const CONFIG_NAME = 'preview.config.json';
export const HEAD_NAME = 'session.json';
export const TRAJECTORY_NAME = 'trajectory.json';
export const MANIFEST_NAME = 'manifest.json';
export const SUMMARY_NAME = 'summary.json';
export const CURRENT_NAME = 'current';
export const WORK_NAME = '.work';
export const CACHE_NAME = '.cache';
/** Where a session keeps what was damaged or not its own; never read again. */
export const DAMAGED_NAME = 'damaged';

const padded = (number: number, digits: number) => String(number).padStart(digits, '0');

export const bundleName = (number: number): string => `bundle_${padded(number, 3)}`;
export const sessionName = (number: number): string => `session_${padded(number, 3)}`;
export const stepId = (index: number): string => `step-${padded(index, 4)}`;

/** The number in `bundle_012`, `session_003` or `step-0042` (any width from the padded one up), else null. */
export function numberOf(name: string, kind: 'bundle' | 'session' | 'step'): number | null {
  const pattern = { bundle: /^bundle_(\d{3,})$/, session: /^session_(\d{3,})$/, step: /^step-(\d{4,})$/ }[
    kind
  ];
  const match = pattern.exec(name);
  return match ? Number(match[1]) : null;
}

/** Numeric order for numbered names: `bundle_1000` comes after `bundle_999`. Works for all three kinds. */
export const byNumber = (a: string, b: string): number => trailing(a) - trailing(b);
const trailing = (name: string) => Number(/(\d+)$/.exec(name)?.[1] ?? 0);

const _isDir = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const isThere = (path: string) => statOf(path) !== undefined;

/** `start` and each folder above it. */
function* upwards(start: string): Generator<string> {
  for (let here = start; ; here = dirname(here)) {
    yield here;
    if (dirname(here) === here) return;
  }
}

/** The top of the git work tree that `from` lies in, or null; found by its `.git`, without git. */
export function gitTop(from: string): string | null {
  for (const here of upwards(from)) if (isThere(join(here, '.git'))) return here;
  return null;
}

/**
 * The same place in the main work tree where `from` lies in a linked one, so that recordings outlive
 * the worktree; else `from` itself. A submodule's `.git` file has no `commondir` and is left alone.
 */
export function inMainWorkTree(from: string): string {
  const top = gitTop(from);
  if (top === null) return from;
  const git = join(top, '.git');
  if (!statSync(git).isFile()) return from;
  try {
    const gitDir = resolve(top, /^gitdir: (.*)$/m.exec(readFileSync(git, 'utf8'))?.[1] ?? '');
    const common = resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim());
    if (basename(common) !== '.git') return from;
    return join(dirname(common), relative(top, from));
  } catch {
    // No `commondir`: not a linked worktree.
    return from;
  }
}

/** Whether a folder is a project's; a config or root that a stranger put above ours does not count. */
function isMarked(folder: string, owners: ReadonlySet<number>): boolean {
  const root = statOf(join(folder, ROOT_NAME));
  const config = statOf(join(folder, CONFIG_NAME));
  return (root?.isDirectory() && owners.has(root.uid)) || (config !== undefined && owners.has(config.uid));
}

/** Whose markers count for `cwd`: ours, root's, and those of whoever owns `cwd` itself. */
function trustedOwners(cwd: string): ReadonlySet<number> {
  const owner = statOf(cwd)?.uid;
  return new Set([0, process.getuid?.() ?? 0, owner ?? 0]);
}

/** The folder whose work is recorded: the nearest marked ancestor, else the git top, else `cwd`. */
export function findProject(cwd: string): string {
  const owners = trustedOwners(cwd);
  for (const here of upwards(cwd)) if (isMarked(here, owners)) return here;
  return gitTop(cwd) ?? cwd;
}

/** The working directory. @throws PreviewError `io` where it has been deleted. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new PreviewError('io', 'the working directory no longer exists', 'change to a folder that does', {
      cause: error,
    });
  }
}

export interface Place {
  cwd: string;
  env: Record<string, string | undefined>;
  root?: string | undefined;
  session?: string | undefined;
}

/** The preview root (it need not exist): `--root`, `$PREVIEW_ROOT`, or `.preview` where protocol section 1 says. */
export function findRoot({ cwd, env, root }: Place): string {
  const named = root ?? env['PREVIEW_ROOT'];
  if (named === '')
    throw new PreviewError('usage', 'the preview root is an empty path', 'give --root a folder');
  if (named !== undefined) return resolve(cwd, named);
  return join(findProject(inMainWorkTree(cwd)), ROOT_NAME);
}

/** True for the name of a session in a root; anything that could be a path elsewhere is not. */
export const isSessionName = (name: string): boolean => numberOf(name, 'session') !== null;

/**
 * The session folder that `--session`, `$PREVIEW_SESSION` or the root's `current` names, or null where
 * nothing is named. A name that is neither `session_NNN` nor an existing session folder throws `session_name`.
 */
export function findSession(place: Place, root: string = findRoot(place)): string | null {
  const named = place.session ?? place.env['PREVIEW_SESSION'];
  if (named === undefined) {
    const current = readPointer(join(root, CURRENT_NAME));
    return current !== null && isSessionName(current) ? join(root, current) : null;
  }
  if (isSessionName(named)) return join(root, named);
  const folder = resolve(place.cwd, named);
  if (named !== '' && isThere(join(folder, HEAD_NAME))) return folder;
  throw new PreviewError(
    'session_name',
    `${JSON.stringify(named)} is no session: neither a name such as session_003 nor a session's folder`,
    'see `previews list` for the sessions there are',
  );
}
