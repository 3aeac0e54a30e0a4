// What the commands of a recipe are done for: once for the project, or (`each`) once for every source file.
import { basename, dirname, extname } from 'node:path';
import picomatch from 'picomatch';
import { portableName } from '../src/artifact.js';
import type { Recipe } from '../src/config.js';
import { LIMITS } from '../src/version.js';

export interface Unit {
  /** The file that `{source}` stands for; empty where the recipe has none. */
  source: string;
  /** `01-wheel`: what `{name}` stands for, by which what was made from this file is known again. */
  name: string;
  /** Before the names of facts, where several files have facts of one name. */
  prefix: string;
}

export interface Units {
  units: Unit[];
  /** How many source files `each` leaves out. */
  left: number;
}

/** The units of a recipe: with `each` at most eight, files that changed first; else one. */
export function unitsOf(
  recipe: Recipe,
  project: string,
  all: readonly string[],
  changed: ReadonlySet<string>,
): Units {
  const drawn = recipe.draws ? picomatch(recipe.draws) : () => true;
  const sources = all.filter((path) => drawn(path));
  const stated = recipe.with?.['source'];
  if (!recipe.each || stated) {
    const source = stated ? String(stated) : mainSource(project, sources, recipe.sources);
    return { units: [{ source, name: nameFor(1, source), prefix: '' }], left: 0 };
  }
  const order = [
    ...sources.filter((path) => changed.has(path)),
    ...sources.filter((path) => !changed.has(path)),
  ];
  const kept = order.slice(0, LIMITS.galleryImages);
  return {
    units: kept.map((source, at) => ({
      source,
      name: nameFor(at + 1, source),
      prefix: kept.length === 1 ? '' : `${shortName(source, kept)}.`,
    })),
    left: order.length - kept.length,
  };
}

/** `wheel`, unless another of them is called so too: then `wheel.stl`. */
const shortName = (path: string, all: readonly string[]) => {
  const stem = (each: string) => basename(each, extname(each));
  return all.filter((each) => stem(each) === stem(path)).length > 1 ? basename(path) : stem(path);
};

const nameFor = (at: number, source: string) =>
  `${String(at).padStart(2, '0')}-${portableName(source || 'file')}`;

const MAIN_NAMES = ['main', 'index', 'model', 'scene', 'assembly'];

/**
 * The source that a person would open first: of those that the first of the recipe's globs names the least deep, of
 * these one that is named for it, then by name.
 */
export function mainSource(
  project: string,
  sources: readonly string[],
  globs: readonly string[] = [],
): string {
  if (sources.length < 2) return sources[0] ?? '';
  const named = globs.map((glob) => picomatch([glob, `${glob.replace(/\/+$/, '')}/**`]));
  const first = named
    .map((matches) => sources.filter((path) => matches(path)))
    .find((hits) => hits.length > 0);
  const names = [...MAIN_NAMES, basename(project).toLowerCase()];
  const depth = (path: string) => (dirname(path) === '.' ? 0 : dirname(path).split('/').length);
  const rank = (path: string) => (names.includes(basename(path, extname(path)).toLowerCase()) ? 0 : 1);
  const order = [...(first ?? sources)].sort(
    (a, b) => depth(a) - depth(b) || rank(a) - rank(b) || (a < b ? -1 : 1),
  );
  return order[0] ?? '';
}
