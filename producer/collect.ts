// What a renderer left, as artifacts: the recipe's rules matched against `{out}` and the project.
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import picomatch from 'picomatch';
import { type ArtifactInput, addArtifact } from '../src/artifact.js';
import type { ArtifactRule, Recipe } from '../src/config.js';
import { detectMedia } from '../src/media.js';
import type { Stage } from '../src/stage.js';
import { LIMITS } from '../src/version.js';
import { isPlainFile, type Learned, learn, type Said } from './facts.js';

const IN_PROJECT = '{project}/';
/** Names itself and nothing else. To make an expression of the first glob takes as long as all else here. */
const PLAIN_PATH = /^[\w-]+(?:[./][\w-]+)*$/;
/** Rules of a recipe that states none. */
export const DEFAULT_RULES: ArtifactRule[] = [
  { path: 'render.*', role: 'hero' },
  { path: 'thumb.*', role: 'thumb' },
  { path: 'views/*', role: 'gallery' },
];

export interface Collected extends Omit<Learned, 'labels'> {
  /** Rules naming one file that is not there although the commands ended well. */
  absent: string[];
}

export interface Produced {
  project: string;
  /** The recipe's source files, and those of them that are new or changed since the step before. */
  sources: string[];
  changed: ReadonlySet<string>;
  said: Said[];
  /** True for the second and later of several recipes in one capture: its picture is one more of the gallery. */
  later: boolean;
}

/** Moves what the rules name into the bundle and reads facts and report. Throws system errors. */
export function collect(stage: Stage, recipe: Recipe, produced: Produced): Collected {
  // Before the files are moved: a fact may come from one that is an artifact too.
  const { labels, ...learned } = learn(recipe, stage.out, produced.said);
  const taken = new Set<string>();
  const warnings = [...learned.warnings];
  const absent: string[] = [];
  const found: ArtifactInput[] = [];
  const made = filesIn(stage.out);
  for (const rule of recipe.artifacts ?? (recipe.run ? DEFAULT_RULES : [])) {
    const inProject = rule.path.startsWith(IN_PROJECT);
    const glob = inProject ? rule.path.slice(IN_PROJECT.length) : rule.path.replaceAll('{name}', '*');
    const matches = PLAIN_PATH.test(glob)
      ? (path: string) => path === glob
      : picomatch(glob, { dot: glob.includes('/.') || glob.startsWith('.') });
    const pool = inProject
      ? produced.sources.filter((path) => !rule.changed || produced.changed.has(path))
      : made;
    const base = inProject ? produced.project : stage.out;
    const named = pool.filter((path) => matches(path));
    const plain = named.filter((path) => isPlainFile(base, path));
    // What an earlier rule took is not taken twice.
    const hits = plain.filter((path) => !taken.has(join(base, path)));
    if (plain.length < named.length)
      warnings.push(
        `not_a_file: ${named.length - plain.length} of what ${rule.path} names are links or no files, and were left out`,
      );
    const wanted = picomatch.scan(glob).isGlob === false || (recipe.each && rule.role === 'hero');
    if (plain.length === 0 && !inProject && wanted) absent.push(rule.path);
    const limit = rule.limit ?? LIMITS.galleryImages;
    if (hits.length > limit) warnings.push(`left_out: ${hits.length - limit} more files match ${rule.path}`);
    const kept = inProject ? newestFirst(base, hits).slice(0, limit) : hits.slice(0, limit);
    for (const path of kept) {
      taken.add(join(base, path));
      found.push({
        file: join(base, path),
        move: !inProject,
        role: rule.role,
        name: path,
        label: labelOf(path, rule.label ?? labels[path], recipe.each === true, produced.said),
        ...(rule.view ? { view: rule.view } : {}),
      });
    }
  }
  promote(found, recipe);
  const hero = recipe.run && recipe.artifacts?.find((rule) => rule.role === 'hero');
  if (hero && absent.length === 0 && !found.some((input) => input.role === 'hero')) absent.push(hero.path);
  if (recipe.run && !recipe.artifacts && found.length === 0) absent.push(DEFAULT_RULES[0]!.path);
  addAll(stage, found, produced.later);
  return { ...learned, warnings, absent };
}

/** One picture is the hero: of several that a rule names the first, and of several recipes that of the first. */
function addAll(stage: Stage, found: ArtifactInput[], later: boolean): void {
  let heroes = later ? 1 : 0;
  for (const input of found) {
    if (later && input.role === 'thumb') continue;
    if (input.role === 'hero' && heroes++ > 0) input.role = 'gallery';
    addArtifact(stage, input);
  }
}

/** What people are shown: what rule or report say, and with `each` the source it was made from before that. */
function labelOf(path: string, stated: string | undefined, each: boolean, said: readonly Said[]): string {
  const made = each && said.find(({ unit }) => path.startsWith(unit.name));
  if (!made) return stated ?? path;
  return stated === undefined ? made.unit.source : `${made.unit.source}: ${stated}`;
}

/** Where a recipe shows what commands produced, the newest picture of them is the hero. */
function promote(found: ArtifactInput[], recipe: Recipe): void {
  if (recipe.run || found.some((input) => input.role === 'hero')) return;
  const images = found.filter(
    (input) => input.role === 'gallery' && detectMedia(input.file!, input.name).kind === 'image',
  );
  const newest = images.sort(
    (a, b) => statSync(b.file!).mtimeMs - statSync(a.file!).mtimeMs || (a.name! < b.name! ? -1 : 1),
  )[0];
  if (newest) newest.role = 'hero';
}

function newestFirst(base: string, paths: string[]): string[] {
  return paths
    .map((path) => ({ path, at: statSync(join(base, path)).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

/** All files below a folder, relative and sorted; links are not followed. */
export function filesIn(dir: string, base: string = dir): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(dir, entry.name), base) : [relative(base, join(dir, entry.name))],
    )
    .sort();
}
