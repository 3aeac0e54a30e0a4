// Finding what CLI-Anything recorded below a folder: its `.cli-anything`, its `previews`, the folder of one program,
// or a `live` folder. Only folders of that layout are looked into; links are not followed.
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { HEAD_NAME, MANIFEST_NAME, TRAJECTORY_NAME } from '../../layout.js';
import { LIMITS } from '../../version.js';
import { foldersAt, foldersIn, LIVE_NAME } from './places.js';
import { isCliAnythingManifest, isCliAnythingSession } from './shape.js';
import { readOwn } from './values.js';

/** How many folders of a program are looked at to know it by its recipes. */
const RECIPES = 64;

/** A folder of a recipe that is a recording by itself: its trajectory lies among its bundles, and there is no session. */
const isRecipeRecording = (dir: string): boolean =>
  existsSync(join(dir, TRAJECTORY_NAME)) && !existsSync(join(dir, HEAD_NAME)) && isCliAnythingSession(dir);

const isProgram = (dir: string): boolean =>
  existsSync(join(dir, LIVE_NAME)) || foldersIn(dir).slice(0, RECIPES).some(isRecipeRecording);

/** Folders of programs (each with `live`, or with folders of bundles) that `dir` is, or holds. */
function programsIn(dir: string): string[] {
  if (basename(dir) === LIVE_NAME) return [dirname(dir)];
  for (const below of ['.cli-anything/previews', 'previews', '.']) {
    const base = join(dir, below);
    const folders = foldersAt(dir, below).slice(0, LIMITS.neighbourEntries);
    const found = below !== '.' || isProgram(base) ? [base, ...folders] : folders.filter(isProgram);
    if (found.length > 1 || (found.length === 1 && isProgram(found[0]!))) return found;
  }
  return [];
}

/** Sessions below a folder, as paths from it, the one that was written last at the end. */
export function cliAnythingSessions(dir: string): string[] {
  const programs = programsIn(dir);
  const live = programs
    .flatMap((program) => foldersAt(program, LIVE_NAME))
    .filter((folder) => existsSync(join(folder, HEAD_NAME)) || existsSync(join(folder, TRAJECTORY_NAME)))
    .filter(isCliAnythingSession);
  const recipes = basename(dir) === LIVE_NAME ? [] : programs.flatMap(foldersIn).filter(isRecipeRecording);
  return [...new Set([...live, ...recipes])]
    .map((folder) => ({ name: relative(dir, folder) || '.', at: updatedAt(folder) }))
    .sort((a, b) => a.at.localeCompare(b.at) || a.name.localeCompare(b.name))
    .map(({ name }) => name);
}

const updatedAt = (session: string) =>
  String(
    (readOwn(session, HEAD_NAME).value ?? readOwn(session, TRAJECTORY_NAME).value)?.['updated_at'] ?? '',
  );

/** Folders of bundles with a manifest below a folder, absolute, the newest at the end. */
export function cliAnythingBundles(dir: string): string[] {
  const recipes = programsIn(dir).flatMap((program) =>
    foldersIn(program).filter((folder) => basename(folder) !== LIVE_NAME),
  );
  return [...recipes, dir]
    .flatMap(foldersIn)
    .filter((folder) => existsSync(join(folder, MANIFEST_NAME)) && isCliAnythingBundle(folder))
    .sort((a, b) => basename(a).localeCompare(basename(b)));
}

/** True for a bundle's folder in their form. */
export function isCliAnythingBundle(dir: string): boolean {
  const { value } = readOwn(dir, MANIFEST_NAME);
  return value !== null && isCliAnythingManifest(value);
}

/** True for a folder that holds something of theirs, as a root holds sessions. */
export const holdsCliAnything = (dir: string): boolean =>
  cliAnythingSessions(dir).length > 0 || cliAnythingBundles(dir).length > 0;

/** The sessions that may name a bundle: those of the same program, and the folder that it lies in. */
export function sessionsBeside(bundle: string): string[] {
  const recipe = dirname(bundle);
  const live = foldersAt(dirname(recipe), LIVE_NAME);
  return [
    ...live.filter((folder) => existsSync(join(folder, HEAD_NAME)) && isCliAnythingSession(folder)),
    ...(isRecipeRecording(recipe) ? [recipe] : []),
  ];
}
