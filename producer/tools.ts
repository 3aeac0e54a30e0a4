// Which renderer this is: where a program lies, what tells one build of it from another, and its version in words.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Recipe } from '../src/config.js';
import { makeDir } from '../src/disk.js';
import { readJsonObject } from '../src/json.js';
import { CACHE_NAME } from '../src/layout.js';
import { PACKAGE_VERSION } from '../src/version.js';

/** The file a program's name stands for, as execvp would find it; null where there is none. */
export function findProgram(
  name: string,
  cwd: string,
  path: string = process.env['PATH'] ?? '',
): string | null {
  const candidates = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : path.split(delimiter).map((dir) => join(dir || cwd, name));
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // Not this one: the next folder of PATH.
    }
  }
  return null;
}

/** What distinguishes the program's builds without starting it: its real path, size and time. */
function identityOf(program: string): string {
  const file = realpathSync(program);
  const { size, mtimeMs } = statSync(file);
  return `${file} ${size} ${mtimeMs}`;
}

export interface Tools {
  /** Part of the cache key. */
  identity: string[];
  /** The first program that is not there. */
  missing: { program: string; debian: string | null } | null;
  /** The renderer's own version line, where the recipe says how to ask. */
  backend: string | null;
}

/** Looks for all programs of a recipe. The version is asked once for each build and then remembered in `.cache`. */
export async function lookUpTools(recipe: Recipe, project: string, root: string): Promise<Tools> {
  const needs = recipe.needs ?? [];
  const named = new Set([
    ...needs.map((need) => need.program),
    ...(recipe.run ?? []).map((argv) => argv[0]!),
  ]);
  const identity: string[] = [`preview-recorder ${PACKAGE_VERSION}`];
  for (const program of named) {
    if (program === '{node}') {
      identity.push(`node ${process.version}`);
      continue;
    }
    const file = findProgram(program, project);
    if (file === null) {
      const debian = needs.find((need) => need.program === program)?.debian ?? null;
      return { identity, missing: { program, debian }, backend: null };
    }
    identity.push(identityOf(file));
  }
  const backend = recipe.version
    ? await versionLine(recipe.version, identity.join('\n'), project, root)
    : null;
  return { identity: backend ? [...identity, backend] : identity, missing: null, backend };
}

async function versionLine(
  argv: string[],
  identity: string,
  project: string,
  root: string,
): Promise<string | null> {
  const file = join(root, CACHE_NAME, 'versions.json');
  const known = readJsonObject(file, 'cache').value ?? {};
  const remembered = known[identity];
  if (typeof remembered === 'string') return remembered;
  const { runCommand } = await import('./process.js');
  const { stdout, stderr, missing } = await runCommand(argv, {
    cwd: project,
    env: process.env,
    timeout_ms: 20_000,
    keep_bytes: 8192,
  });
  const line = `${stdout}\n${stderr}`
    .split('\n')
    .find((text) => text.trim() !== '')
    ?.trim()
    .slice(0, 200);
  if (missing || !line) return null;
  try {
    makeDir(join(root, CACHE_NAME));
    writeFileAtomic.sync(file, JSON.stringify({ ...known, [identity]: line }), { mode: 0o600, fsync: false });
  } catch {
    // It is asked again next time.
  }
  return line;
}
