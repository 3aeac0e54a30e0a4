// The steps of a CLI-Anything trajectory.json: an object around a list, with the keys that ours have.
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../json.js';
import { MANIFEST_NAME, stepId } from '../../layout.js';
import { BUNDLE_STATUS, type Problem, type Reading } from '../../schema.js';
import type { SeenStep } from '../seen.js';
import { type Found, locate, type Places } from './places.js';
import { count, firstMoment, moment, number, object, text, whole } from './values.js';

/** Where their own viewer looks for the steps of a trajectory, in its order; `steps` is what their programs write. */
const LISTS = [
  'steps',
  'preview_events',
  'events',
  'publishes',
  'entries',
  'history',
  'timeline',
  'commands',
];

/** The list of steps in a trajectory, or null where it holds none. */
export function listOf(trajectory: JsonObject | null): unknown[] | null {
  if (trajectory === null) return null;
  for (const key of LISTS) {
    const list = trajectory[key];
    if (Array.isArray(list) && list.length > 0) return list;
  }
  return Array.isArray(trajectory['steps']) ? trajectory['steps'] : null;
}

/** Their reasons by our names for them; any other is kept as it is. */
const REASONS: Record<string, string> = {
  'live-start': 'start',
  'manual-push': 'capture',
  'auto-poll': 'mutation',
};

export const reasonOf = (value: unknown): string => {
  const recorded = text(value) ?? '';
  return Object.hasOwn(REASONS, recorded) ? REASONS[recorded]! : recorded;
};

/** Where their viewer looks for what a step says of its bundle: in a part of its own, or in the step itself. */
function bundlePart(item: JsonObject): JsonObject {
  for (const key of ['copied_bundle', 'bundle', 'preview_bundle', 'current_bundle', 'published_bundle'])
    if (isObject(item[key])) return item[key];
  return item;
}

/** What a step says of its bundle; the step's own words first. */
export function bundleWords(value: unknown): { id: string | null; paths: string[] } {
  const item = object(value);
  const part = bundlePart(item);
  const id = text(item['bundle_id']) ?? text(part['bundle_id']);
  const paths = [item, part].flatMap((words) => [
    text(words['bundle_dir']) ?? [],
    // The folder that holds the manifest.
    text(words['manifest_path'])?.replace(/[\\/]?manifest\.json$/, '') ?? [],
  ]);
  return { id, paths: [...new Set(paths.flat())].filter((path) => path !== '') };
}

/** The folder of a bundle by what is said of it, or why there is none; null where nothing is said. */
export function bundleAt(places: Places, { id, paths }: ReturnType<typeof bundleWords>): Found | null {
  let result: Found | null = null;
  for (const path of id === null ? paths : [...paths, id]) {
    const found = locate(places, path);
    if (found.path !== null) return found;
    if (result?.why !== 'path_leaves') result = found;
  }
  return result;
}

/** A step with our keys; `at` is its place in the list, from 0. Null where the entry is none. */
export function readStep(
  item: unknown,
  at: number,
  recipe: string | null,
  find: (words: ReturnType<typeof bundleWords>) => Found | null,
): Reading<SeenStep | null> {
  const index = at + 1;
  const where = `step ${index}`;
  if (!isObject(item))
    return { value: null, problems: [{ kind: 'invalid', where, detail: 'it is no object' }] };
  const problems: Problem[] = [];
  const recorded = count(item['step_index']);
  if (recorded !== null && recorded !== index)
    problems.push({ kind: 'step_order', where, detail: `it says it is step ${recorded}` });
  const status = BUNDLE_STATUS.find((known) => known === item['status']);
  if (status === undefined)
    problems.push({ kind: 'invalid', where, detail: 'status: expected ok, partial or error' });
  const published_at = firstMoment(
    item['published_at'],
    item['command_finished_at'],
    item['finished_at'],
    item['created_at'],
  );
  if (published_at === null)
    problems.push({ kind: 'invalid', where, detail: 'nothing says when it was published' });
  const words = bundleWords(item);
  const bundle = find(words);
  if (bundle !== null && bundle.path === null) problems.push(goneProblem(where, words, bundle));
  const dir = bundle?.path ?? null;
  const value: SeenStep = {
    step_id: text(item['step_id']) ?? stepId(index),
    step_index: index,
    command: commandOf(item),
    command_started_at: firstMoment(item['command_started_at'], item['started_at']),
    command_finished_at: firstMoment(item['command_finished_at'], item['finished_at']),
    duration_ms: number(item['duration_ms']),
    published_at,
    exit_code: whole(item['exit_code']) ?? whole(item['returncode']),
    signal: text(item['signal']),
    publish_reason: reasonOf(item['publish_reason'] ?? item['reason']),
    recipe: text(item['recipe']) ?? recipe,
    source_fingerprint: text(item['source_fingerprint']),
    bundle_id: words.id,
    bundle_dir: dir,
    manifest_path: dir && join(dir, MANIFEST_NAME),
    summary_path: dir && join(dir, 'summary.json'),
    manifest_sha256: null,
    prev_sha256: null,
    status: status ?? 'partial',
    cached: item['cached'] === true,
  };
  for (const key of ['stage_label', 'note']) if (text(item[key]) !== null) value[key] = text(item[key]);
  const created = moment(item['created_at']);
  if (created !== null) value['bundle_created_at'] = created;
  return { value, problems };
}

function goneProblem(where: string, words: ReturnType<typeof bundleWords>, { why }: Found): Problem {
  const named = (words.paths[0] ?? words.id ?? '').slice(0, 300);
  return why === 'path_leaves'
    ? { kind: 'path_leaves', where, detail: `its bundle ${named} lies outside what belongs to the session` }
    : { kind: 'bundle_missing', where, detail: `its bundle ${named} is not here` };
}

/** A command as text; their viewer takes a list, or an object that holds it, too. */
function commandOf(item: JsonObject): string | null {
  for (const key of ['command', 'display_cmd', 'display_command', 'argv', 'raw_command']) {
    const value = item[key];
    const said = isObject(value) ? (value['display'] ?? value['command'] ?? value['argv']) : value;
    if (Array.isArray(said)) return said.filter((part) => typeof part === 'string').join(' ');
    if (text(said) !== null) return text(said);
  }
  return null;
}
