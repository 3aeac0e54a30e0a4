// The reading half: head, steps, manifest and summary as they are on disk. Needs no lock, never writes,
// and never stops at what is damaged: whatever could be had comes back with the problems found.
import { join } from 'node:path';
import { errnoOf, PreviewError } from './errors.js';
import { isCliAnythingHead, isCliAnythingSession } from './formats/clianything/shape.js';
import { isObject, type JsonObject, readJsonObject } from './json.js';
import { HEAD_NAME, MANIFEST_NAME, SUMMARY_NAME, TRAJECTORY_NAME } from './layout.js';
import { migrate, versionOf } from './migrate.js';
import {
  check,
  type Head,
  headSchema,
  type Manifest,
  manifestSchema,
  type Problem,
  type Reading,
  type Step,
  type Summary,
  stepSchema,
  summarySchema,
} from './schema.js';
import { EMPTY_TAIL, readLines, type Tail } from './trajectory.js';
import { HEAD_VERSION } from './version.js';

export { inside } from './inside.js';

export interface HeadReading extends Reading<Head | null> {
  /** The parsed object as it stands on disk, migrated if it is ours, where it is JSON at all. */
  raw: JsonObject | null;
  version: number | null;
}

/** Reads session.json. `value` is null where it is damaged beyond use; a newer version is a problem, not a reason to stop. */
export function readHead(dir: string): HeadReading {
  const { value, problems } = readJsonObject(join(dir, HEAD_NAME), HEAD_NAME);
  if (value === null) return { value: null, problems, raw: null, version: null };
  const version = versionOf(value);
  const raw = isCliAnythingHead(value) ? value : migrate(value);
  const checked = check(headSchema, raw, HEAD_NAME);
  if (version > HEAD_VERSION) {
    const detail = `it is of version ${version}, this program knows ${HEAD_VERSION}: what is known is read, nothing is written`;
    checked.problems.unshift({ kind: 'version_newer', where: HEAD_NAME, detail });
  }
  return { ...checked, raw, version };
}

/** @throws PreviewError `version_newer` or `session_name` for a head that this program may read but not write. */
export function refuseNewer(dir: string, { version, raw }: HeadReading): void {
  if (raw === null ? isCliAnythingSession(dir) : isCliAnythingHead(raw))
    throw new PreviewError(
      'session_name',
      `${dir} was recorded by CLI-Anything; nothing of ours is written into it`,
      '`previews` reads it as it is; publish into a session of your own',
    );
  if (version === null || version <= HEAD_VERSION) return;
  throw new PreviewError(
    'version_newer',
    `${join(dir, HEAD_NAME)} is of version ${version}; this program writes version ${HEAD_VERSION}`,
    'publish with a newer preview-recorder, or into a new session',
  );
}

/** What a head says of its trajectory's end. */
export const tailOf = (head: Head | null): Tail => head ?? EMPTY_TAIL;

/** A step from its line: the step where it is one, else a problem naming its index. */
export function parseStep(line: string, index: number): Reading<Step | null> {
  const where = `step ${index}`;
  try {
    return check(stepSchema, JSON.parse(line), where);
  } catch (error) {
    return {
      value: null,
      problems: [{ kind: 'invalid', where, detail: `its line is not JSON: ${(error as Error).message}` }],
    };
  }
}

/** Steps `from` to `to` (1-based, inclusive; the whole trajectory unless told). Bad ones are left out and named. */
export function readSteps(
  dir: string,
  head: Head,
  from = 1,
  to: number = head.trajectory_step_count,
): Reading<Step[]> {
  const steps: Step[] = [];
  const problems: Problem[] = [];
  let lines: string[] = [];
  try {
    lines = readLines(join(dir, TRAJECTORY_NAME), tailOf(head), from, to);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    problems.push({ kind: 'missing', where: TRAJECTORY_NAME, detail: 'the file is not there' });
    if (head.latest_step && to >= head.trajectory_step_count) lines = [JSON.stringify(head.latest_step)];
  }
  const last = Math.min(to, head.trajectory_step_count);
  let index = Math.max(1, last - lines.length + 1);
  const wanted = last - Math.max(1, from) + 1;
  if (lines.length < wanted && problems.length === 0) {
    problems.push({
      kind: 'trajectory_cut',
      where: TRAJECTORY_NAME,
      detail: `${wanted - lines.length} steps that the head counts are not there`,
    });
  }
  for (const line of lines) {
    const step = parseStep(line, index++);
    if (step.value) steps.push(step.value);
    problems.push(...step.problems);
  }
  return { value: steps, problems };
}

export interface Session {
  dir: string;
  head: Head | null;
  /** The newest steps, oldest first. */
  steps: Step[];
}

/** A session: its head and its newest `limit` steps (all of them unless told). */
export function readSession(
  dir: string,
  { limit = Number.POSITIVE_INFINITY }: { limit?: number } = {},
): Reading<Session> {
  const head = readHead(dir);
  if (head.value === null) return { value: { dir, head: null, steps: [] }, problems: head.problems };
  const from = Math.max(1, head.value.trajectory_step_count - limit + 1);
  const steps = readSteps(dir, head.value, from);
  return {
    value: { dir, head: head.value, steps: steps.value },
    problems: [...head.problems, ...steps.problems],
  };
}

export interface Bundle {
  dir: string;
  manifest: Manifest | null;
  summary: Summary | null;
}

/** A bundle: its manifest and its summary. The hashes are `verify`'s business. */
export function readBundle(dir: string): Reading<Bundle> {
  const manifest = readJsonObject(join(dir, MANIFEST_NAME), MANIFEST_NAME);
  const summary = readJsonObject(join(dir, SUMMARY_NAME), SUMMARY_NAME);
  const problems = [...manifest.problems, ...summary.problems];
  const checkedManifest = manifest.value ? check(manifestSchema, manifest.value, MANIFEST_NAME) : null;
  const checkedSummary = summary.value ? check(summarySchema, summary.value, SUMMARY_NAME) : null;
  problems.push(...(checkedManifest?.problems ?? []), ...(checkedSummary?.problems ?? []));
  return {
    value: { dir, manifest: checkedManifest?.value ?? null, summary: checkedSummary?.value ?? null },
    problems,
  };
}

/** Warnings as text, whatever another writer put there. */
export const asWarnings = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
    : isObject(value)
      ? [JSON.stringify(value)]
      : [];
