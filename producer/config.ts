// The project's preview.config.json, the built-in recipes, and the recipe that a capture uses.
import { closeSync, existsSync, fstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Config, checkConfig, checkRecipe, type Recipe } from '../src/config.js';
import { openRegular } from '../src/disk.js';
import { errnoOf, PreviewError } from '../src/errors.js';
import { CONFIG_NAME, findProject } from '../src/layout.js';

/** dist/, from which recipes, renderers and fonts are read at run time. */
export const DIST = join(__dirname, '..');
export const RENDERERS = join(DIST, 'renderers');
const RECIPES = join(DIST, 'recipes');

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

export interface Project {
  dir: string;
  config: Config | null;
}

/** The project that `cwd` lies in and its config, where it has one. @throws PreviewError `config_invalid`. */
export function loadProject(cwd: string): Project {
  const dir = findProject(cwd);
  const file = join(dir, CONFIG_NAME);
  const unreadable = (why: string, cause?: unknown) =>
    new PreviewError(
      'config_invalid',
      `${file} cannot be read: ${why}`,
      'it must be a file that you may read',
      {
        cause,
      },
    );
  let text: string;
  try {
    text = readConfig(file);
  } catch (error) {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat && errnoOf(error) === 'ENOENT') return { dir, config: null };
    if (stat && !stat.isFile()) throw unreadable('it is no regular file', error);
    if (stat && stat.size > MAX_CONFIG_BYTES) throw unreadable(`it has ${stat.size} bytes`, error);
    throw error;
  }
  return { dir, config: checkConfig(parseJson(text, file), file) };
}

/** A pipe or a device in its place is never read, nor is what can be no config by its size. */
function readConfig(file: string): string {
  const fd = openRegular(file);
  try {
    if (fstatSync(fd).size > MAX_CONFIG_BYTES) throw new Error(`${file} is too large`);
    return readFileSync(fd).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    // Editors on some systems put a byte order mark in front, which JSON.parse refuses.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new PreviewError(
      'config_invalid',
      `${file} is not JSON: ${(error as Error).message}`,
      'mend it, or move it away and run `preview init`',
    );
  }
}

/** Names of the built-in recipes. */
export const builtinNames = (): string[] =>
  readdirSync(RECIPES)
    .map((name) => basename(name, '.json'))
    .sort();

/** A built-in recipe, or null for a name there is none of. */
export function builtinRecipe(name: string): Recipe | null {
  const file = join(RECIPES, `${name}.json`);
  if (!/^[a-z0-9_-]+$/.test(name) || !existsSync(file)) return null;
  return checkRecipe(JSON.parse(readFileSync(file, 'utf8')), `recipe ${name}`);
}

export interface NamedRecipe extends Recipe {
  name: string;
  /** The recipes of a capture that was asked for several. */
  parts?: NamedRecipe[];
}

/** What is rendered for a recipe, one after another: itself, or its parts. */
export const partsOf = (recipe: NamedRecipe): NamedRecipe[] => recipe.parts ?? [recipe];

/**
 * The recipe of that name, with what it `uses` under it; several names with commas give one that renders them all.
 * @throws PreviewError `recipe_unknown`, naming those there are.
 */
export function findRecipe(name: string, config: Config | null): NamedRecipe {
  const parts = namesIn(name).map(
    (each): NamedRecipe => ({ ...merged(each, config, new Set()), name: each }),
  );
  return parts.length === 1 ? parts[0]! : together(parts);
}

const namesIn = (name: string): string[] => [...new Set(name.split(',').map((each) => each.trim()))];

/** @throws PreviewError `recipe_unknown` where one of the names is nowhere; what is wrong with a recipe itself is let be. */
export function needRecipes(name: string, config: Config | null): void {
  for (const each of namesIn(name))
    if (!Object.hasOwn(config?.recipes ?? {}, each) && builtinRecipe(each) === null)
      throw unknownRecipe(each, config);
}

function unknownRecipe(name: string, config: Config | null): PreviewError {
  const known = [...new Set([...Object.keys(config?.recipes ?? {}), ...builtinNames()])].sort();
  return new PreviewError(
    'recipe_unknown',
    `there is no recipe ${JSON.stringify(name)}`,
    `there are: ${known.join(', ')}; your own go into ${CONFIG_NAME}`,
  );
}

/** Several recipes as one: what any of them reads, reused only where each may be. */
function together(parts: NamedRecipe[]): NamedRecipe {
  const sources = parts.map((part) => part.sources);
  const exclude = parts.map((part) => part.exclude ?? []);
  return {
    name: parts.map((part) => part.name).join(','),
    software: parts[0]!.software,
    ...(sources.every((globs) => globs !== undefined) ? { sources: [...new Set(sources.flat())] } : {}),
    exclude: exclude[0]!.filter((glob) => exclude.every((globs) => globs.includes(glob))),
    reuse: parts.every((part) => part.reuse !== false),
    parts,
  };
}

function merged(name: string, config: Config | null, above: Set<string>): Recipe {
  // A recipe named as the built-in it uses changes that one.
  const recipes = config?.recipes ?? {};
  const own = above.has(name) || !Object.hasOwn(recipes, name) ? undefined : recipes[name];
  const recipe = own ?? builtinRecipe(name);
  if (!recipe && above.has(name))
    throw new PreviewError(
      'recipe_unknown',
      `the recipe ${JSON.stringify(name)} uses itself: ${[...above, name].join(' uses ')}`,
      `let one of them stand on its own in ${CONFIG_NAME}`,
    );
  if (!recipe) throw unknownRecipe(name, config);
  const { uses, ...changes } = recipe;
  if (!uses) return own ? { software: config?.software, ...recipe } : recipe;
  const base = merged(uses, config, new Set([...above, name]));
  return {
    ...base,
    ...changes,
    with: { ...base.with, ...changes.with },
    env: { ...base.env, ...changes.env },
  };
}
