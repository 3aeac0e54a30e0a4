// Walking a project's folder for the files that globs name, or for all. Symlinks are listed and never
// followed, so no loop can hang a walk and nothing outside the project is listed.
import { isUtf8 } from 'node:buffer';
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { posix } from 'node:path';
import picomatch from 'picomatch';
import { errnoOf } from './errors.js';
import { neutralise } from './text.js';

/** Folders that only a glob with their very name leads into. */
const UNLESS_NAMED = ['.git', 'node_modules'];

// In a name a line end is a character like any other; without `s` picomatch's `**` stops at it.
export const MATCH = { flags: 's', nonegate: true } as const;

/** A walk under way: what limits it, and what it found. */
export interface Walk {
  projectDir: string;
  isSource: (path: string) => boolean;
  limit: number;
  found: Set<string>;
  problems: string[];
  complete: boolean;
  /** Entries of folders that may still be looked at, whether they match or not. */
  left: number;
}

/** Whatever matches, a walk ends after so many entries, and says so (I10): a second or two of reading folders. */
export const MAX_LOOKED = 1_000_000;

/** What to look for below one folder. Matchers get the path below `base`. */
interface Search {
  base: string;
  /** How many folders deep the globs can match. */
  depth: number;
  /** Whether a glob names a dot, and so may lead into folders that begin with one. */
  dots: boolean;
  /** Which of UNLESS_NAMED the globs name. */
  enters: string[];
  matchers: ((below: string) => boolean)[];
}

/** Finds what the globs name, and notes those that name nothing. */
export function walkGlobs(walk: Walk, globs: readonly string[]): void {
  const searches = new Map<string, { search: Search; globs: string[] }>();
  for (const glob of globs) {
    const search = searchFor(walk, glob);
    if (!search) continue;
    // Globs with one base are looked for in one walk.
    const key = JSON.stringify([search.base, search.enters, search.dots]);
    const same = searches.get(key);
    if (!same) {
      searches.set(key, { search, globs: [glob] });
      continue;
    }
    same.globs.push(glob);
    same.search.matchers.push(...search.matchers);
    same.search.depth = Math.max(same.search.depth, search.depth);
  }
  for (const { search, globs } of searches.values()) {
    const hits = walkFolder(walk, search);
    globs.forEach((glob, i) => {
      if (hits[i] === 0) walk.problems.push(`no file matches the source ${neutralise(glob)}`);
    });
  }
}

/** The search for one glob; undefined where it named one file (which is noted as found) or nothing that can be walked. */
function searchFor(walk: Walk, glob: string): Search | undefined {
  const shown = neutralise(glob);
  const scanned = picomatch.scan(glob, { unescape: true }) as { base: string; glob: string };
  // A name is a name even if it could be read as a glob (`part[1].scad`).
  const isName = scanned.glob === '' || lstatKind(walk.projectDir, glob) !== 'none';
  const named = posix.normalize(isName && scanned.glob !== '' ? glob : scanned.base || '.');
  if (
    glob === '' ||
    posix.isAbsolute(named) ||
    named === '..' ||
    named.startsWith('../') ||
    glob.includes('\0')
  ) {
    walk.problems.push(`the source "${shown}" is not inside the project and was left out`);
    return undefined;
  }
  const base = named === '.' ? '' : named.replace(/\/$/, '');
  const kind = base === '' ? 'folder' : lstatKind(walk.projectDir, base);
  if (kind === 'behind-link' || (kind === 'link' && !isName))
    walk.problems.push(`the source ${shown} leads through a symlink, which is not followed`);
  else if (kind === 'special')
    walk.problems.push(`the source ${shown} is neither a file nor a folder and was not read`);
  else if ((kind === 'file' || kind === 'link') && isName && !glob.endsWith('/')) {
    if (walk.isSource(base)) walk.found.add(base);
    else walk.problems.push(`the source ${shown} is excluded`);
  } else if (kind === 'folder' && (base === '' || walk.isSource(base))) {
    // A folder stands for everything in it.
    const pattern = isName ? '**' : scanned.glob;
    const flat = !/\*\*|[{(]/.test(pattern);
    return {
      base,
      depth: flat ? pattern.split('/').length - 1 : Infinity,
      dots: /(^|[/{(,|!])\\?\./.test(pattern),
      enters: UNLESS_NAMED.filter((name) => pattern.split('/').includes(name)),
      matchers: [pattern === '**' ? isVisible : picomatch(pattern, MATCH)],
    };
  } else walk.problems.push(`no file matches the source ${shown}`);
  return undefined;
}

// What picomatch says of `**`, at a tenth of the cost.
const isVisible = (below: string): boolean => !below.startsWith('.') && !below.includes('/.');

/** What a name leads to, following no symlink. */
function lstatKind(
  projectDir: string,
  name: string,
): 'file' | 'link' | 'folder' | 'special' | 'behind-link' | 'none' {
  const parts = name.split('/').filter((part) => part !== '');
  let at = '';
  for (const [i, part] of parts.entries()) {
    at = at === '' ? part : `${at}/${part}`;
    const stat = statOf(projectDir, at);
    if (!stat) return 'none';
    const last = i === parts.length - 1;
    if (stat.isSymbolicLink()) return last ? 'link' : 'behind-link';
    if (last) return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'special';
  }
  return 'none';
}

/** Finds every file below the project. */
export function walkAll(walk: Walk): void {
  walkFolder(walk, { base: '', depth: Infinity, dots: true, enters: [], matchers: [() => true] });
}

/** Adds what `search` matches to `walk.found`; returns how many files each of its matchers took. */
function walkFolder(walk: Walk, search: Search): number[] {
  const hits = search.matchers.map(() => 0);
  const folders = [{ path: search.base, below: '', depth: 0 }];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    const entries = readFolder(walk, folder.path);
    walk.left -= entries.length;
    if (walk.left < 0) {
      walk.problems.push(
        "so many files and folders lie here that not all were looked at; name the folders in the recipe's sources",
      );
      walk.complete = false;
      return hits;
    }
    for (const entry of entries) {
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      const below = folder.below === '' ? entry.name : `${folder.below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (folder.depth >= search.depth) continue;
        if (UNLESS_NAMED.includes(entry.name) && !search.enters.includes(entry.name)) continue;
        if (entry.name.startsWith('.') && !search.dots) continue;
        if (walk.isSource(path)) folders.push({ path, below, depth: folder.depth + 1 });
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        // A linked worktree's or submodule's `.git` is a file.
        if (entry.name === '.git' && !search.enters.includes('.git')) continue;
        let matched = false;
        search.matchers.forEach((matches, i) => {
          if (!matches(below)) return;
          hits[i]!++;
          matched = true;
        });
        if (!matched || !walk.isSource(path)) continue;
        if (walk.found.size >= walk.limit && !walk.found.has(path)) {
          walk.problems.push(tooMany(walk.limit));
          walk.complete = false;
          return hits;
        }
        walk.found.add(path);
      }
    }
  }
  return hits;
}

function readFolder(walk: Walk, path: string): Dirent[] {
  const full = path === '' ? walk.projectDir : `${walk.projectDir}/${path}`;
  try {
    const entries = readdirSync(full, { withFileTypes: true });
    if (!entries.some((entry) => entry.name.includes('\ufffd'))) return entries;
    // U+FFFD may stand for bytes that are no UTF-8: such a name could not be opened again, nor written in JSON.
    const names = readdirSync(full, { encoding: 'buffer' });
    const good = new Set(names.filter((name) => isUtf8(name)).map(String));
    if (good.size < names.length) {
      walk.complete = false;
      walk.problems.push(
        `${names.length - good.size} file name(s) in ${neutralise(path || '.')} are not UTF-8 and were left out`,
      );
    }
    return entries.filter((entry) => good.has(entry.name));
  } catch (error) {
    // Gone since its parent was read: as if it had never been there.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    walk.complete = false;
    walk.problems.push(
      `the folder ${neutralise(path || '.')} cannot be read (${errnoOf(error) ?? String(error)})`,
    );
    return [];
  }
}

export const tooMany = (limit: number): string =>
  `more than ${limit} files: the rest was left out; name the recipe's sources`;

/** `lstat` that answers undefined where nothing is there or nothing may be asked. */
export function statOf(projectDir: string, name: string): Stats | undefined {
  try {
    return lstatSync(name === '.' ? `${projectDir}/.` : `${projectDir}/${name}`, { throwIfNoEntry: false });
  } catch {
    // EACCES, ENOTDIR, ELOOP or ENAMETOOLONG: not there for us.
    return undefined;
  }
}
