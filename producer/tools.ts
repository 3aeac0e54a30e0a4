// Which renderer this is: where a program lies, what tells one build of it from another, and its version in words.
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Need, Recipe } from '../src/config.js';
import { readJsonObject } from '../src/json.js';
import { CACHE_NAME } from '../src/layout.js';
import { PACKAGE_VERSION } from '../src/version.js';
import { type NamedRecipe, partsOf, RENDERERS } from './config.js';
import { findProgram } from './program.js';

/** Where version lines are remembered, in `.cache`. */
export const VERSIONS_NAME = 'versions.json';

/** What distinguishes the program's builds without starting it: its real path and all that changes with its content. */
function identityOf(program: string): string {
  const file = realpathSync(program);
  const { ino, size, mtimeMs, ctimeMs } = statSync(file);
  return [file, ino, size, mtimeMs, ctimeMs].join(' ');
}

/** The programs of a capture: of each recipe that it renders, and for its cache key all of them. */
export interface Tools {
  identity: string[];
  complete: boolean;
  parts: PartTools[];
}

export interface PartTools {
  identity: string[];
  /** The programs that are not there. */
  missing: Need[];
  /** The renderer's own version line, where the recipe says how to ask. */
  backend: string | null;
}

/** Looks for the programs of all that a recipe renders. */
export async function lookUpTools(recipe: NamedRecipe, project: string, root: string): Promise<Tools> {
  const parts: PartTools[] = [];
  // One after another: two that ask the same program for its version ask it once.
  for (const part of partsOf(recipe)) parts.push(await lookUpPart(part, project, root));
  return {
    identity: parts.flatMap((part) => part.identity),
    complete: parts.every((part) => part.missing.length === 0),
    parts,
  };
}

/** Looks for all programs of a recipe. The version is asked once for each build and then remembered in `.cache`. */
async function lookUpPart(recipe: Recipe, project: string, root: string): Promise<PartTools> {
  const identity: string[] = [`preview-recorder ${PACKAGE_VERSION}`];
  const missing: Need[] = [];
  for (const need of needsOf(recipe)) {
    if (need.program === '{node}') {
      identity.push(`node ${process.version}`);
      continue;
    }
    const file = findNeed(need, project);
    if (file === null) missing.push(need);
    else identity.push(identityOf(file));
  }
  if (missing.length > 0) return { identity, missing, backend: null };
  const backend = recipe.version ? await backendOf(recipe.version, identity.join('\n'), project, root) : null;
  return { identity: backend ? [...identity, backend] : identity, missing, backend };
}

/** What a recipe says it needs, and the programs of its commands. */
export function needsOf({ needs = [], run = [] }: Recipe): Need[] {
  const stated = new Set(needs.flatMap(({ program, or = [] }) => [program, ...or]));
  const started = new Set(run.map((argv) => argv[0]!));
  return [
    ...needs,
    ...[...started].filter((program) => !stated.has(program)).map((program) => ({ program })),
  ];
}

/** Debian's packages of programs, or the programs themselves where that is not known. */
export const packagesOf = (needs: readonly Need[]): string[] => [
  ...new Set(needs.map(({ program, debian }) => debian ?? program)),
];

/** The file of the program that a variable names, of the program itself, or of one that does as well; else null. */
export function findNeed({ program, or = [] }: Need, project: string): string | null {
  for (const name of [...or.filter((other) => other.startsWith('$')), program, ...or]) {
    const stated = name.startsWith('$') ? process.env[name.slice(1)] : name;
    const file = stated ? findProgram(located(stated, project), project) : null;
    if (file !== null) return file;
  }
  return null;
}

/** A program's name with the folders filled in that a recipe may name. */
export const located = (program: string, project: string): string =>
  program.replace('{project}', project).replace('{renderers}', RENDERERS);

/** The renderer's version line; what was asked before is remembered for each build of it. */
async function backendOf(
  argv: string[],
  identity: string,
  project: string,
  root: string,
): Promise<string | null> {
  const remembered = readJsonObject(join(root, CACHE_NAME, VERSIONS_NAME), 'cache').value?.[identity];
  if (typeof remembered === 'string') return remembered;
  const { askVersion } = await import('./toolversion.js');
  return askVersion(argv, identity, project, root);
}
