// From a recording to what is shown of it: sessions, steps and details in the stream's form. Reads only, and never
// stops at what is damaged. The server, the exported page and the replay all show these.
import { basename } from 'node:path';
import { changedTiles, type Tiled, tiledOf } from './compare/tiles.js';
import { bundlesOf } from './formats/clianything/session.js';
import type { Recording, SeenBundle, SeenStep } from './formats/seen.js';
import { numberOf } from './layout.js';
import { inside } from './read.js';
import type { Artifact, Problem } from './schema.js';
import { searchedText } from './search.js';
import {
  type ShownDetail,
  type ShownFile,
  type ShownSession,
  type ShownStep,
  STREAM_LIMITS,
} from './stream.js';
import { cutText } from './text.js';

/** Bundles that are kept in memory; they never change (I1). */
const KEPT_BUNDLES = 3000;

/** What is shown of a bundle, without its files. */
interface Looks {
  key: string | null;
  headline: string | null;
  warning_count: number;
  hero: ShownFile | null;
  thumb: ShownFile | null;
  tiled: Tiled | null;
  facts: Record<string, unknown>;
  /** What is searched besides the step's own words. */
  text: string;
}

const NOTHING: Looks = {
  key: null,
  headline: null,
  warning_count: 0,
  hero: null,
  thumb: null,
  tiled: null,
  facts: {},
  text: '',
};

/** Shows steps of one session; keeps what it has read of the newest bundles. */
export interface Shower {
  /** Steps `from` to `to` (1-based, inclusive); one that cannot be read is shown as lost. */
  steps(from: number, to: number): ShownStep[];
  /** As `steps`, with what was recorded (null where that cannot be read), the facts, and the text that is searched beside them. */
  searched(
    from: number,
    to: number,
  ): { step: ShownStep; recorded: SeenStep | null; facts: Record<string, unknown>; text: string }[];
  detail(index: number): ShownDetail | null;
  /** The folder of a bundle by its key, or null where there is none or it leaves the session (I9). */
  bundleDir(key: string): string | null;
  /** The files that a bundle's manifest lists. */
  files(key: string): (ShownFile & { role: string })[];
}

export { tiledOf } from './compare/tiles.js';

const isText = (value: unknown): value is string => typeof value === 'string';
const textOr = (value: unknown): string | null =>
  isText(value) ? cutText(value, STREAM_LIMITS.text, (text) => text.length) : null;
const numberOr = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const wholeOr = (value: unknown): number | null => (Number.isSafeInteger(value) ? Number(value) : null);

export function showSession(recording: Recording): ShownSession {
  const head = recording.head;
  const raw: Record<string, unknown> = head ?? recording.raw ?? {};
  return {
    key: basename(recording.dir),
    format: recording.format,
    title: textOr(raw['title']),
    software: textOr(raw['software']),
    recipe: textOr(raw['recipe']),
    project_name: textOr(raw['project_name']),
    status: head ? textOr(head.status)! : 'damaged',
    stop_reason: textOr(raw['stop_reason']),
    continues: textOr(raw['continues']),
    created_at: textOr(raw['created_at']),
    updated_at: textOr(raw['updated_at']),
    first_step: 1,
    step_count: head?.trajectory_step_count ?? 0,
    bundle_count: head?.bundle_count ?? 0,
    problems: recording.problems.slice(0, 20).map(inWords),
  };
}

const inWords = ({ kind, where, detail }: Problem): string =>
  cutText(`${kind} ${where}: ${detail}`, STREAM_LIMITS.text, (text) => text.length);

/** `recording` is asked anew each time, since a session that is being recorded grows. */
export function shower(recording: () => Recording): Shower {
  const kept = new Map<string, Looks>();
  const looksOf = (step: SeenStep, from: Recording): Looks => {
    // By the stored path: to resolve it anew for each of a thousand steps would cost more than all else.
    const stored = step.bundle_dir ?? '';
    const found = step['lost'] ? undefined : kept.get(stored);
    if (found) return found;
    const dir = from.bundleDir(step);
    if (dir === null) return NOTHING;
    const looks = lookAt(from.readBundle(dir).value, basename(dir));
    kept.set(stored, looks);
    if (kept.size > KEPT_BUNDLES) kept.delete(kept.keys().next().value!);
    return looks;
  };
  const read = (from: number, to: number) => {
    const opened = recording();
    const first = Math.max(1, from);
    // The step before the first tells how much of that one changed.
    const seen = opened.steps(Math.max(1, first - 1), to).value;
    const byIndex = new Map(seen.map((step) => [step.step_index, step]));
    const shown: ReturnType<Shower['searched']> = [];
    let before = byIndex.get(first - 1);
    for (let index = first; index <= Math.min(to, opened.head?.trajectory_step_count ?? 0); index++) {
      const step = byIndex.get(index);
      if (!step) {
        shown.push({ step: lostStep(index), recorded: null, facts: {}, text: '' });
        continue;
      }
      const looks = looksOf(step, opened);
      const last = before && looksOf(before, opened);
      shown.push({ step: showStep(step, looks, last), recorded: step, facts: looks.facts, text: looks.text });
      before = step;
    }
    return shown;
  };
  const bundleDir = (key: string): string | null => {
    const { dir, format } = recording();
    if (format === 'preview') return numberOf(key, 'bundle') === null ? null : inside(dir, key);
    return bundlesOf(dir).find((bundle) => basename(bundle) === key) ?? null;
  };
  return {
    steps: (from, to) => read(from, to).map(({ step }) => step),
    searched: read,
    detail: (index) => detailOf(recording(), index, looksOf),
    bundleDir,
    files(key) {
      const dir = bundleDir(key);
      const artifacts = dir === null ? [] : (recording().readBundle(dir).value.manifest?.artifacts ?? []);
      return artifacts.map((artifact) => ({ ...fileOf(artifact, key), role: artifact.role }));
    },
  };
}

function showStep(step: SeenStep, looks: Looks, before: Looks | undefined): ShownStep {
  return {
    index: step.step_index,
    step_id: step.step_id,
    command: textOr(step.command),
    published_at: textOr(step.published_at),
    duration_ms: numberOr(step['duration_ms']),
    exit_code: wholeOr(step.exit_code),
    signal: textOr(step.signal),
    reason: textOr(step.publish_reason) ?? 'capture',
    recipe: textOr(step['recipe']),
    status: step.status,
    cached: step.cached,
    lost: Boolean(step['lost']),
    label: textOr(step['stage_label']),
    note: textOr(step.note),
    bundle: looks.key,
    headline: looks.headline,
    warning_count: looks.warning_count,
    hero: looks.hero,
    thumb: looks.thumb,
    changed: looks.tiled && before?.tiled ? changedShare(before.tiled, looks.tiled) : null,
  };
}

/** Stands for a step whose line cannot be read. */
const lostStep = (index: number): ShownStep => ({
  index,
  step_id: `step-${String(index).padStart(4, '0')}`,
  command: null,
  published_at: null,
  duration_ms: null,
  exit_code: null,
  signal: null,
  reason: 'capture',
  recipe: null,
  status: 'error',
  cached: false,
  lost: true,
  label: null,
  note: null,
  bundle: null,
  headline: null,
  warning_count: 0,
  hero: null,
  thumb: null,
  changed: null,
});

function changedShare(before: Tiled, after: Tiled): number {
  const area = Math.max(before.width, after.width) * Math.max(before.height, after.height);
  const changed = changedTiles(before, after).reduce((sum, { width, height }) => sum + width * height, 0);
  return area === 0 ? 0 : Math.round((changed / area) * 1e4) / 1e4;
}

function lookAt({ manifest, summary }: SeenBundle, key: string): Looks {
  const artifacts = manifest?.artifacts ?? [];
  const of = (role: string) => artifacts.find((artifact) => artifact.role === role);
  const hero = of('hero') ?? artifacts.find(({ role }) => role !== 'thumb' && role !== 'log') ?? null;
  const thumb = of('thumb') ?? (hero?.kind === 'image' ? hero : null);
  const facts = summary?.facts ?? {};
  return {
    key,
    headline: textOr(summary?.headline),
    warning_count: manifest?.warnings?.length ?? summary?.warnings.length ?? 0,
    hero: hero && fileOf(hero, key),
    thumb: thumb && fileOf(thumb, key),
    tiled: tiledOf(manifest?.metrics),
    facts,
    text: searchedText(manifest, summary),
  };
}

/** An artifact in the stream's form. */
export const fileOf = (artifact: Artifact, bundle: string): ShownFile => ({
  bundle,
  path: artifact.path,
  sha256: artifact.sha256 ?? null,
  bytes: artifact.bytes,
  media_type: artifact.media_type ?? 'application/octet-stream',
  width: numberOr(artifact.width),
  height: numberOr(artifact.height),
});

function detailOf(
  recording: Recording,
  index: number,
  looksOf: (step: SeenStep, from: Recording) => Looks,
): ShownDetail | null {
  const { value, problems } = recording.steps(index, index);
  const step = value[0];
  if (!step) return null;
  const dir = recording.bundleDir(step);
  const bundle = dir === null ? null : recording.readBundle(dir);
  const recipe = step['recipe'];
  const earlier = recording.steps(Math.max(1, index - STREAM_LIMITS.factsBack), index - 1).value.reverse();
  const before =
    index > 1
      ? earlier.find((each) => each['recipe'] === recipe && hasFacts(looksOf(each, recording)))
      : null;
  return {
    index,
    step,
    manifest: bundle?.value.manifest ?? null,
    summary: bundle?.value.summary ?? null,
    before: before ? { index: before.step_index, facts: looksOf(before, recording).facts } : null,
    problems: [...problems, ...(bundle?.problems ?? [])].slice(0, 50),
  };
}

const hasFacts = ({ facts }: Looks): boolean => Object.keys(facts).length > 0;
