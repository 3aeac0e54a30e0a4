// What a renderer left, as artifacts: the recipe's rules matched against `{out}` and the project, facts read from
// its output, and the report that it may have written itself.
import { lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import picomatch from 'picomatch';
import { type ArtifactInput, addArtifact, type Stage } from '../src/bundle.js';
import type { ArtifactRule, FactRule, Recipe } from '../src/config.js';
import { isObject, readJsonObject } from '../src/json.js';
import { detectMedia } from '../src/media.js';
import { inside } from '../src/read.js';
import { LIMITS } from '../src/version.js';

const IN_PROJECT = '{project}/';
/** A renderer may write this beside its files: headline, facts, warnings, labels (by path), next_actions, backend. */
export const REPORT = 'preview.json';
/** Rules of a recipe that states none. */
export const DEFAULT_RULES: ArtifactRule[] = [
  { path: 'render.*', role: 'hero' },
  { path: 'thumb.*', role: 'thumb' },
  { path: 'views/*', role: 'gallery' },
];

export interface Collected {
  facts: Record<string, unknown>;
  warnings: string[];
  next_actions: string[];
  headline: string | null;
  backend: string | null;
  /** Rules naming one file that is not there although the commands ended well. */
  absent: string[];
}

export interface Produced {
  project: string;
  /** The recipe's source files, and those of them that are new or changed since the step before. */
  sources: string[];
  changed: ReadonlySet<string>;
  stdout: string;
  stderr: string;
}

/** Moves what the rules name into the bundle and reads facts and report. Throws system errors. */
export function collect(stage: Stage, recipe: Recipe, produced: Produced): Collected {
  const report = readReport(stage);
  // Before the files are moved: a fact may come from one that is an artifact too.
  const facts = { ...factsFrom(recipe.facts ?? [], stage.out, produced), ...report.facts };
  const taken = new Set<string>();
  const warnings = [...report.warnings];
  const absent: string[] = [];
  const found: ArtifactInput[] = [];
  const made = filesIn(stage.out);
  for (const rule of recipe.artifacts ?? (recipe.run ? DEFAULT_RULES : [])) {
    const inProject = rule.path.startsWith(IN_PROJECT);
    const glob = inProject ? rule.path.slice(IN_PROJECT.length) : rule.path;
    const matches = picomatch(glob, { dot: glob.includes('/.') || glob.startsWith('.') });
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
    if (plain.length === 0 && !inProject && picomatch.scan(glob).isGlob === false) absent.push(rule.path);
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
        label: rule.label ?? report.labels[path] ?? path,
        ...(rule.view ? { view: rule.view } : {}),
      });
    }
  }
  promote(found, recipe);
  if (recipe.run && !recipe.artifacts && found.length === 0) absent.push(DEFAULT_RULES[0]!.path);
  for (const input of found) addArtifact(stage, input);
  return {
    facts,
    warnings,
    next_actions: report.next_actions,
    headline: report.headline,
    backend: report.backend,
    absent,
  };
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

/** No path leaves its folder, by a link least of all (I9). */
function isPlainFile(base: string, path: string): boolean {
  const whole = inside(base, path);
  return whole !== null && lstatSync(whole, { throwIfNoEntry: false })?.isFile() === true;
}

/** All files below a folder, relative and sorted; links are not followed. */
export function filesIn(dir: string, base: string = dir): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(dir, entry.name), base) : [relative(base, join(dir, entry.name))],
    )
    .sort();
}

const number = (text: string) =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text.trim();

function factsFrom(rules: FactRule[], out: string, { stdout, stderr }: Produced): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const { name, from, match } of rules) {
    const text = from === 'stdout' ? stdout : from === 'stderr' ? stderr : textIn(out, from);
    const hit = new RegExp(match, 'm').exec(text);
    if (hit) facts[name] = number(hit[1] ?? hit[0]);
  }
  return facts;
}

const MAX_FACT_FILE = 4 * 1024 * 1024;

function textIn(out: string, stored: string): string {
  if (!isPlainFile(out, stored) || statSync(join(out, stored)).size > MAX_FACT_FILE) return '';
  return readFileSync(join(out, stored), 'utf8');
}

/** The renderer's own report, believed only as far as its types go. */
function readReport(stage: Stage) {
  const path = join(stage.out, REPORT);
  const value =
    isPlainFile(stage.out, REPORT) && statSync(path).size <= MAX_FACT_FILE
      ? (readJsonObject(path, REPORT).value ?? {})
      : {};
  rmSync(path, { force: true });
  const strings = (key: string) =>
    Array.isArray(value[key]) ? value[key].filter((item): item is string => typeof item === 'string') : [];
  const text = (key: string) => (typeof value[key] === 'string' ? value[key] : null);
  const labels: Record<string, string> = {};
  for (const [path, label] of Object.entries(isObject(value['labels']) ? value['labels'] : {}))
    if (typeof label === 'string') labels[path] = label;
  return {
    headline: text('headline'),
    backend: text('backend'),
    facts: isObject(value['facts']) ? value['facts'] : {},
    warnings: strings('warnings'),
    next_actions: strings('next_actions'),
    labels,
  };
}
