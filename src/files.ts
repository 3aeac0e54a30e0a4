// Which files are a recipe's sources: what its globs name, else the git work tree, else the folder. Only
// names are found here; what is in the files is read by fingerprint.ts.
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { statOf as stateOf } from './disk.js';
import { PreviewError } from './errors.js';
import { MATCH, MAX_LOOKED, statOf, tooMany, type Walk, walkAll, walkGlobs } from './filewalk.js';
import { gitTop, NOTES_SUFFIX, ROOT_NAME } from './layout.js';

/** A listing stops here, and says so (I10). */
export const MAX_FILES = 200_000;
const MAX_PROBLEMS = 20;
/** Recordings, and what is noted beside them: a note changes nothing that was drawn. */
const OWN = new Set([ROOT_NAME, ROOT_NAME + NOTES_SUFFIX]);

export interface SourceOptions {
  /** Globs relative to the project; `!glob` takes away again. Undefined: the git work tree. */
  sources?: readonly string[] | undefined;
  /** Globs of files and folders that are no sources. */
  exclude?: readonly string[] | undefined;
  /** The preview root, absolute, where it is not called `.preview`. */
  previewRoot?: string | undefined;
  /** At most this many files (`MAX_FILES`). */
  limit?: number | undefined;
  /** At most so many files and folders are looked at to find them (`MAX_LOOKED`). */
  look?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface SourceList {
  /** Relative to the project, `/`-separated, sorted by code unit. */
  files: string[];
  from: 'git' | 'walk';
  problems: string[];
  /** False where sources exist that could not be listed: a result made from the rest must not be reused. */
  complete: boolean;
}

/** The sources that exist now: regular files and symlinks. Throws `not_found` where the project is no folder. */
export async function listSources(projectDir: string, options: SourceOptions = {}): Promise<SourceList> {
  const list = await listNames(projectDir, options);
  if (list.from === 'walk') return list;
  const exists = (name: string): boolean => {
    const stat = statOf(projectDir, name);
    return stat !== undefined && (stat.isFile() || stat.isSymbolicLink());
  };
  return { ...list, files: list.files.filter(exists) };
}

/**
 * As `listSources`, but names that git tracks and that are deleted, or are submodule folders, are still
 * among them: whoever asks the file system about every name anyway need not have it asked twice.
 */
export async function listNames(projectDir: string, options: SourceOptions = {}): Promise<SourceList> {
  if (!stateOf(projectDir)?.isDirectory()) {
    throw new PreviewError(
      'not_found',
      `the project's folder ${projectDir} is not there`,
      'run the command inside the project',
    );
  }
  const limit = options.limit ?? MAX_FILES;
  const globs = options.sources?.filter((glob) => !isNegated(glob));
  const taken = options.sources?.filter(isNegated).map((glob) => glob.slice(1)) ?? [];
  const isSource = sourceFilter(projectDir, [...(options.exclude ?? []), ...taken], options.previewRoot);
  const problems: string[] = [];
  if (!globs) {
    // What starts git is not loaded where globs say what the sources are.
    const { gitFiles } = await import('./gitfiles.js');
    const git = await gitFiles(projectDir, options.signal);
    if (git.listed && git.files.length > 0) {
      const files = git.files.filter(isSource);
      const complete = git.complete && files.length <= limit;
      if (files.length > limit) git.problems.push(tooMany(limit));
      return { files: files.slice(0, limit), from: 'git', problems: fewProblems(git.problems), complete };
    }
    // A repository that ignores this whole folder (a home folder under git, say) lists nothing; a
    // fingerprint of nothing would never change.
    // Where there simply is no repository, a walk is what the user expects and no news.
    const why = git.listed ? 'git knows no file in it' : git.reason;
    if (gitTop(projectDir) !== null) problems.push(`the folder itself is listed: ${why}`);
  }
  const left = options.look ?? MAX_LOOKED;
  const walk: Walk = { projectDir, isSource, limit, found: new Set(), problems, complete: true, left };
  if (globs) walkGlobs(walk, globs);
  else walkAll(walk);
  return {
    files: [...walk.found].sort(),
    from: 'walk',
    problems: fewProblems(problems),
    complete: walk.complete,
  };
}

/** The first of `problems`, and how many more there were. */
export function fewProblems(problems: string[]): string[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  return [
    ...problems.slice(0, MAX_PROBLEMS),
    `and ${problems.length - MAX_PROBLEMS} more problems of this kind`,
  ];
}

// `!(a|b)` is an extended glob; any other leading `!` takes away.
const isNegated = (glob: string): boolean => /^!(?!\()/.test(glob);

/** Whether a path can be a source: not in a preview root (ours or a nested project's) or its notes, and not excluded. */
export function sourceFilter(
  projectDir: string,
  exclude: readonly string[],
  previewRoot?: string,
): (path: string) => boolean {
  // Whatever is below an excluded folder is excluded too, as .gitignore does it.
  const excluded = exclude.map((glob) =>
    picomatch(`${glob.replace(/\/+$/, '')}/**`, { ...MATCH, dot: true }),
  );
  const root = previewRoot === undefined ? '' : insideOf(projectDir, previewRoot);
  const roots = root === '' ? [] : [root, root + NOTES_SUFFIX];
  return (path) => {
    if (path.includes(ROOT_NAME) && path.split('/').some((part) => OWN.has(part))) return false;
    if (roots.some((own) => path === own || path.startsWith(`${own}/`))) return false;
    return !excluded.some((matches) => matches(path));
  };
}

/** `path` relative to `folder` with slashes; empty where it is not inside. */
export function insideOf(folder: string, path: string): string {
  const inside = relative(realPath(folder), realPath(path)).split(sep).join('/');
  return inside === '..' || inside.startsWith('../') || resolve(inside) === inside ? '' : inside;
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // ENOENT: a preview root that does not exist yet has no other spelling.
    return resolve(path);
  }
}
