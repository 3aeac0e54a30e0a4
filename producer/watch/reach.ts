// Where sources can lie: the folders that are worth a watch, and the files whose change is worth a look. It may say yes
// too often, for events are hints; where it says no, the slow look at the fingerprint finds the change all the same.
import { posix } from 'node:path';
import picomatch from 'picomatch';
import { sourceFilter } from '../../src/files.js';
import { MATCH } from '../../src/filewalk.js';
import { CONFIG_NAME } from '../../src/layout.js';

export interface Reach {
  /** Whether sources can lie in this folder (relative to the project; '' is the project). */
  folder(path: string): boolean;
  /** Whether this path can be a source. */
  file(path: string): boolean;
}

interface Glob {
  base: string;
  /** How many folders below `base` it leads. */
  depth: number;
  dots: boolean;
  matches: (path: string) => boolean;
}

const HEAVY = ['.git', 'node_modules'];

/** The reach of a recipe's globs; without globs everything but what no recipe takes for a source. */
export function reachOf(
  project: string,
  sources: readonly string[] | undefined,
  exclude: readonly string[] | undefined,
  previewRoot: string,
): Reach {
  const isSource = sourceFilter(project, exclude ?? [], previewRoot);
  const globs = sources?.filter((glob) => !/^!(?!\()/.test(glob)).map(readGlob);
  return {
    folder(path) {
      if (path === '') return true;
      if (!isSource(path)) return false;
      const parts = path.split('/');
      if (!globs) return !parts.some((part) => HEAVY.includes(part));
      return globs.some((glob) => leadsTo(glob, path));
    },
    file(path) {
      if (path === CONFIG_NAME) return true;
      if (!isSource(path)) return false;
      return globs?.some((glob) => glob.base === path || glob.matches(path)) ?? true;
    },
  };
}

/** What a glob reaches. One without wildcards may name a file, or a folder that stands for all it holds. */
function readGlob(glob: string): Glob {
  const { base, glob: pattern } = picomatch.scan(glob, { unescape: true }) as { base: string; glob: string };
  const named = posix.normalize((pattern === '' ? glob : base) || '.').replace(/\/$/, '');
  const folder = named === '.' ? '' : named;
  const inside = folder === '' ? '' : `${folder}/`;
  const below = picomatch(pattern === '' ? '**' : pattern, { ...MATCH, dot: true });
  return {
    base: folder,
    depth: pattern === '' || /\*\*|[{(]/.test(pattern) ? Infinity : pattern.split('/').length - 1,
    dots: /(^|[/{(,|!])\\?\./.test(pattern),
    matches: (path) => path.startsWith(inside) && below(path.slice(inside.length)),
  };
}

/** Whether a folder lies on the way to a glob's files, or among them. */
function leadsTo({ base, depth, dots }: Glob, folder: string): boolean {
  if (base === folder || base.startsWith(`${folder}/`)) return true;
  if (base !== '' && !folder.startsWith(`${base}/`)) return false;
  const below = (base === '' ? folder : folder.slice(base.length + 1)).split('/');
  if (below.length > depth || below.some((part) => HEAVY.includes(part))) return false;
  return dots || !below.some((part) => part.startsWith('.'));
}
