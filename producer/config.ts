// The project's preview.config.json, the built-in recipes, and the recipe that a capture uses.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Config, checkConfig, checkRecipe, type Recipe } from '../src/config.js';
import { errnoOf, PreviewError } from '../src/errors.js';
import { CONFIG_NAME, findProject } from '../src/layout.js';

/** dist/, from which recipes, renderers and fonts are read at run time. */
export const DIST = join(__dirname, '..');
export const RENDERERS = join(DIST, 'renderers');
const RECIPES = join(DIST, 'recipes');

export interface Project {
  dir: string;
  config: Config | null;
}

/** The project that `cwd` lies in and its config, where it has one. @throws PreviewError `config_invalid`. */
export function loadProject(cwd: string): Project {
  const dir = findProject(cwd);
  const file = join(dir, CONFIG_NAME);
  let text: string;
  try {
    text = readFileSync(file).toString('utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { dir, config: null };
    if (errnoOf(error) !== 'EISDIR') throw error;
    throw new PreviewError(
      'config_invalid',
      `${file} cannot be read: ${(error as Error).message}`,
      'it must be a file that you may read',
      { cause: error },
    );
  }
  return { dir, config: checkConfig(parseJson(text, file), file) };
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
  const names = [...new Set(name.split(',').map((each) => each.trim()))];
  const parts = names.map((each): NamedRecipe => ({ ...merged(each, config, new Set()), name: each }));
  return parts.length === 1 ? parts[0]! : together(parts);
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
  if (!recipe) {
    const known = [...new Set([...Object.keys(config?.recipes ?? {}), ...builtinNames()])].sort();
    throw new PreviewError(
      'recipe_unknown',
      `there is no recipe ${JSON.stringify(name)}`,
      `there are: ${known.join(', ')}; your own go into ${CONFIG_NAME}`,
    );
  }
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
