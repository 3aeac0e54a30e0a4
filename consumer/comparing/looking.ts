// What a step has to compare: the tiles of its picture, or its facts. From its manifest and summary alone; no picture
// is decoded.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { compareFacts } from '../../src/compare/facts.js';
import { type Tiled, tiledOf } from '../../src/compare/tiles.js';
import { errnoOf } from '../../src/errors.js';
import type { Recording, SeenStep } from '../../src/formats/seen.js';
import { isObject, type JsonObject, readJsonObject } from '../../src/json.js';
import { MANIFEST_NAME, numberOf, SUMMARY_NAME } from '../../src/layout.js';

/** `nothing`: no picture, or no facts. `lost`: the step's line or its bundle is gone. */
export const STATES = ['shown', 'nothing', 'failed', 'diff', 'lost'] as const;
export type State = (typeof STATES)[number];

/** One step, as far as it is compared. `value` is null unless it is `shown`. */
export interface Look<T> {
  recipe: string | null;
  state: State;
  value: T | null;
}

/** What is looked for. */
export interface Aspect<T> {
  name: 'tiles' | 'facts';
  of(manifest: JsonObject, summary: () => JsonObject | null): T | null;
  /** A value as an index has it, and back; null where that is none. */
  write(value: T): string;
  parse(text: string): T | null;
}

export const TILES: Aspect<Tiled> = {
  name: 'tiles',
  of: (manifest) => tiledOf(manifest['metrics']),
  // No JSON: a thousand of them are parsed while somebody waits.
  write: ({ width, height, tiles: { size, columns, rows, hashes } }) =>
    [width, height, size, columns, rows, hashes].join(' '),
  parse(text) {
    const end = text.lastIndexOf(' ');
    const [width, height, size, columns, rows] = text.slice(0, end).split(' ').map(Number);
    return tiledOf({
      picture: { width, height },
      tiles: { size, columns, rows, hashes: text.slice(end + 1) },
    });
  },
};

/** By name, those within others with dots. */
export type Facts = Record<string, unknown>;
/** A summary of ours has at most 4 KB; what is far larger is nobody's facts. */
const FACTS_LENGTH = 16 * 1024;

export const FACTS: Aspect<Facts> = {
  name: 'facts',
  of(_, summary) {
    const facts = summary()?.['facts'];
    if (!isObject(facts) || JSON.stringify(facts).length > FACTS_LENGTH) return null;
    const flat = compareFacts({}, facts).map(({ name, after }) => [name, after] as const);
    return flat.length === 0 ? null : Object.fromEntries(flat);
  },
  write: (facts) => JSON.stringify(facts),
  parse(text) {
    try {
      const value: unknown = JSON.parse(text);
      return isObject(value) ? value : null;
    } catch {
      // SyntaxError: damaged.
      return null;
    }
  },
};

/** Looks at steps of one session; a bundle that several steps name in turn is read once. */
export function looker<T>(recording: Recording, aspect: Aspect<T>): (step: SeenStep | undefined) => Look<T> {
  let last: { bundle: string; look: Omit<Look<T>, 'recipe'> } | null = null;
  return (step) => {
    if (!step || step['lost'] || step.bundle_dir === null)
      return { recipe: null, state: 'lost', value: null };
    const recipe = typeof step['recipe'] === 'string' ? step['recipe'] : null;
    if (step.publish_reason === 'diff') return { recipe, state: 'diff', value: null };
    if (last?.bundle !== step.bundle_dir)
      last = { bundle: step.bundle_dir, look: lookInto(folderOf(recording, step), aspect) };
    return { recipe, ...last.look };
  };
}

function lookInto<T>(dir: string | null, aspect: Aspect<T>): Omit<Look<T>, 'recipe'> {
  const read = (name: string) => (dir === null ? null : readJsonObject(join(dir, name), name).value);
  const manifest = read(MANIFEST_NAME);
  if (manifest === null) return { state: 'lost', value: null };
  if (manifest['bundle_kind'] === 'diff') return { state: 'diff', value: null };
  const value = aspect.of(manifest, () => read(SUMMARY_NAME));
  if (value !== null) return { state: 'shown', value };
  return { state: manifest['status'] === 'error' ? 'failed' : 'nothing', value: null };
}

/** A step's bundle. I9: a folder of ours by its own name, which is no link; anything else is resolved in full. */
export function folderOf(recording: Recording, step: SeenStep): string | null {
  const stored = step.bundle_dir;
  if (recording.format !== 'preview' || stored === null || numberOf(stored, 'bundle') === null)
    return recording.bundleDir(step);
  const dir = join(recording.dir, stored);
  try {
    return lstatSync(dir).isDirectory() ? dir : null;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
