// A live session of CLI-Anything's, read as one of ours: session.json, trajectory.json, and the bundles beside it.
import { basename, dirname, join, relative } from 'node:path';
import { readPointer } from '../../disk.js';
import { isObject, type JsonObject } from '../../json.js';
import { CURRENT_NAME, HEAD_NAME, MANIFEST_NAME, TRAJECTORY_NAME } from '../../layout.js';
import type { Problem, Reading } from '../../schema.js';
import { LIMITS } from '../../version.js';
import type { Recording, SeenHead, SeenStep } from '../seen.js';
import { heroOf, readCliAnythingBundle } from './bundle.js';
import {
  type Found,
  foldersAt,
  foldersIn,
  isBundleFolder,
  LIVE_NAME,
  locate,
  locateLink,
  type Places,
  placesOf,
} from './places.js';
import { bundleAt, bundleWords, listOf, readStep, reasonOf } from './trajectory.js';
import { count, firstMoment, moment, object, readOwn, slug, text, whole } from './values.js';

export interface CliAnything extends Recording {
  format: 'cli-anything';
  /** trajectory.json as it stands there. */
  trajectory: JsonObject | null;
  stepCount: number;
  places: Places;
  /** The folder that a step's words about its bundle lead to. */
  find(words: ReturnType<typeof bundleWords>): Found | null;
}

/** Opens a session's folder. Never throws for what is in it; a failing disk throws. */
export function openCliAnything(dir: string): CliAnything {
  const places = placesOf(dir);
  const { value: raw, problems: found } = readOwn(dir, HEAD_NAME);
  const trajectory = readOwn(dir, trajectoryName(raw));
  // A recipe's folder may be a recording by itself, which has no head.
  const headless = basename(dirname(dir)) !== LIVE_NAME && found[0]?.kind === 'missing';
  const problems = headless && trajectory.value !== null ? [] : [...found];
  problems.push(...trajectory.problems);
  const items = listOf(trajectory.value) ?? historyOf(raw);
  if (trajectory.value !== null && listOf(trajectory.value) === null)
    problems.push({ kind: 'invalid', where: TRAJECTORY_NAME, detail: 'it holds no list of steps' });
  const known = new Map<string, Found | null>();
  const find = (words: ReturnType<typeof bundleWords>): Found | null => {
    const key = JSON.stringify(words);
    if (!known.has(key)) known.set(key, bundleAt(places, words));
    return known.get(key) ?? null;
  };
  const recipe = text(raw?.['recipe']) ?? text(trajectory.value?.['recipe']);
  const steps = (from: number, to: number): Reading<SeenStep[]> => {
    const bad: Problem[] = [];
    const value = items.slice(Math.max(0, from - 1), Math.max(0, to)).flatMap((item, n) => {
      const step = readStep(item, Math.max(0, from - 1) + n, recipe, find);
      bad.push(...step.problems);
      return step.value ?? [];
    });
    return { value, problems: bad };
  };
  const head =
    raw === null && trajectory.value === null ? null : headOf(dir, raw, trajectory.value, items, steps, find);
  if (raw !== null) problems.push(...headProblems(places, raw, items, trajectory.value));
  return {
    format: 'cli-anything',
    dir,
    head,
    raw,
    trajectory: trajectory.value,
    stepCount: items.length,
    places,
    problems,
    steps,
    find,
    bundleDir: (step) => step.bundle_dir,
    readBundle: readCliAnythingBundle,
    strays: () => straysOf(places, head, items, find),
  };
}

/** The trajectory's file, which their head names by a path; only its name counts here. */
function trajectoryName(raw: JsonObject | null): string {
  const named = text(raw?.['trajectory_path'])?.split(/[\\/]/).at(-1);
  return named?.endsWith('.json') ? named : TRAJECTORY_NAME;
}

/** The head's own list, which has the newest step first and each bundle once: what is left without a trajectory. */
const historyOf = (raw: JsonObject | null): unknown[] =>
  Array.isArray(raw?.['history']) ? [...raw['history']].reverse() : [];

function headOf(
  dir: string,
  raw: JsonObject | null,
  trajectory: JsonObject | null,
  items: unknown[],
  steps: Recording['steps'],
  find: CliAnything['find'],
): SeenHead {
  const either = (key: string) => text(raw?.[key]) ?? text(trajectory?.[key]);
  const bundles = new Set(items.map((item) => bundleWords(item).id).filter((id) => id !== null));
  const newest = steps(Math.max(1, items.length - LIMITS.historySteps + 1), items.length).value.reverse();
  const latest = newest[0] ?? null;
  const current = currentOf(dir, raw, find) ?? latest?.bundle_dir ?? null;
  const hero = current && heroOf(readCliAnythingBundle(current).value.manifest);
  const current_step_id = either('current_step_id') ?? latest?.step_id ?? null;
  return {
    format: 'cli-anything',
    protocol_version: either('protocol_version') ?? '',
    session_name: either('session_name') ?? basename(dir),
    session_id: text(raw?.['session_id']),
    title: null,
    continues: null,
    software: either('software'),
    recipe: either('recipe'),
    status: statusOf(raw),
    live_mode: text(raw?.['live_mode']),
    project_name: either('project_name'),
    project_path: either('project_path'),
    created_at: moment(either('created_at')),
    updated_at: moment(either('updated_at')),
    stopped_at: moment(raw?.['stopped_at']),
    current_link: text(raw?.['current_link']),
    current_bundle_id: text(raw?.['current_bundle_id']) ?? latest?.bundle_id ?? null,
    current_bundle_dir: current,
    current_manifest_path: current && join(current, MANIFEST_NAME),
    current_summary_path: current && join(current, 'summary.json'),
    current_render_path: current && hero ? join(current, hero) : null,
    current_cached: raw?.['current_cached'] === true,
    current_step_id,
    bundle_count: bundles.size,
    trajectory_path: trajectoryName(raw),
    trajectory_protocol_version:
      text(trajectory?.['protocol_version']) ?? text(raw?.['trajectory_protocol_version']) ?? '',
    trajectory_step_count: items.length,
    trajectory_sha256: null,
    latest_command: latest?.command ?? text(raw?.['latest_command']),
    latest_publish_reason: latest?.publish_reason ?? reasonOf(raw?.['latest_publish_reason']),
    latest_step: latest,
    history: newest,
    watcher: watcherOf(object(raw?.['poller']), object(raw?.['source_state'])),
    recoveries: [],
    publish_command: text(raw?.['publish_command']),
    watch_command: text(raw?.['watch_command']),
    inspect_command: text(raw?.['inspect_command']),
  };
}

/** Their `active` and `stopped` are ours; a session without a readable head has no state that anybody knows. */
function statusOf(raw: JsonObject | null): string {
  const status = text(raw?.['status']) ?? 'unknown';
  return status === 'error' ? 'failed' : status;
}

/**
 * Their poller with our watcher's keys, or null where there was none. `running` is what it last wrote of itself: whether
 * it lives cannot be told from its pid, which may be another machine's.
 */
function watcherOf(poller: JsonObject, source: JsonObject): JsonObject | null {
  if (whole(poller['pid']) === null && moment(poller['spawned_at']) === null) return null;
  return {
    pid: whole(poller['pid']),
    started_at: moment(poller['spawned_at']),
    heartbeat_at: moment(poller['last_heartbeat']),
    running: poller['running'] === true,
    stopped_at: moment(poller['stopped_at']),
    exit_reason: text(poller['last_exit_reason']),
    last_status: text(poller['last_capture_status']),
    last_error: text(poller['last_capture_error']) ?? text(source['last_error']),
    last_error_at: firstMoment(poller['last_capture_error_at'], source['last_error_at']),
  };
}

/** The current bundle's folder: what the head names, or else what the link names. */
function currentOf(dir: string, raw: JsonObject | null, find: CliAnything['find']): string | null {
  const named = find({
    id: text(raw?.['current_bundle_id']),
    paths: [text(raw?.['current_bundle_dir']) ?? []].flat(),
  });
  return named?.path ?? locateLink(dir);
}

/** What the head says that is not so, and a poller that cannot work. */
function headProblems(
  places: Places,
  raw: JsonObject,
  items: unknown[],
  trajectory: JsonObject | null,
): Problem[] {
  const problems: Problem[] = [];
  const disagree = (where: string, detail: string) =>
    problems.push({ kind: 'head_disagrees', where, detail });
  if (trajectory !== null) {
    for (const [where, value] of [
      [HEAD_NAME, raw['trajectory_step_count']],
      [TRAJECTORY_NAME, trajectory['step_count']],
    ] as const)
      if (value !== undefined && count(value) !== items.length)
        disagree(where, `it counts ${JSON.stringify(value)?.slice(0, 40)} steps, ${items.length} are there`);
  }
  const id = text(raw['current_bundle_id']);
  const target = readPointer(join(places.session, CURRENT_NAME));
  const { path, why } = target === null ? { path: null, why: null } : locate(places, target);
  if (target !== null && path === null)
    problems.push(
      why === 'path_leaves'
        ? { kind: 'path_leaves', where: CURRENT_NAME, detail: 'it leads outside what belongs to the session' }
        : { kind: 'bundle_missing', where: CURRENT_NAME, detail: `${target.slice(0, 300)} is not here` },
    );
  if (path !== null && id !== null && basename(path) !== id)
    disagree(CURRENT_NAME, `it leads to ${basename(path)}, the head says ${id}`);
  const error = text(object(raw['source_state'])['last_error']);
  if (error !== null)
    problems.push({ kind: 'capture_failed', where: HEAD_NAME, detail: `the poller's last look: ${error}` });
  return problems;
}

/** Folders of bundles that no session here names: a capture that failed, or was never published. */
function straysOf(
  places: Places,
  head: SeenHead | null,
  items: unknown[],
  find: CliAnything['find'],
): Problem[] {
  const own = items.map((item) => find(bundleWords(item))?.path ?? null).filter((path) => path !== null);
  const named = new Set([...own, ...namedBeside(places)]);
  const folders = [...new Set(own.map(dirname))].flatMap(foldersIn);
  if (head?.recipe && basename(dirname(places.session)) === LIVE_NAME)
    folders.push(...foldersAt(places.root, slug(head.recipe)));
  const project = head?.['project_path'];
  const strays = [...new Set(folders)]
    .filter((dir) => !named.has(dir) && isBundleFolder(dir))
    .flatMap((dir) => {
      const where = relative(places.session, dir);
      const { manifest } = readCliAnythingBundle(dir).value;
      if (manifest === null)
        return { kind: 'orphan', where, detail: 'it has no manifest: its capture failed or was cut off' };
      const other = text(object(manifest.source)['project_path']);
      if (project && other && other !== project) return [];
      return { kind: 'orphan', where, detail: 'no step of a session here names it' };
    });
  const more = strays.length - LIMITS.orphans;
  if (more <= 0) return strays;
  return [...strays.slice(0, LIMITS.orphans), { kind: 'orphan', where: '…', detail: `${more} more` }];
}

/** Bundles that the other sessions beside this one name. */
function namedBeside({ session, root }: Places): string[] {
  if (dirname(session) !== join(root, LIVE_NAME)) return [];
  return foldersAt(root, LIVE_NAME)
    .filter((dir) => dir !== session)
    .flatMap(bundlesOf);
}

/** The folders of the bundles that a session names. */
export function bundlesOf(dir: string): string[] {
  const { value: raw } = readOwn(dir, HEAD_NAME);
  const items = listOf(readOwn(dir, trajectoryName(raw)).value) ?? historyOf(raw);
  const places = placesOf(dir);
  return items.flatMap((item) => (isObject(item) ? (bundleAt(places, bundleWords(item))?.path ?? []) : []));
}
