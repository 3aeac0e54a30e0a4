// `preview diff`: two bundles compared, and the comparison recorded as a bundle of its own, of kind `diff`. Sessions
// are only read until it is recorded; the pictures are decoded by a child.
import { basename, extname, isAbsolute, join } from 'node:path';
import { addArtifact } from '../src/artifact.js';
import { sealStage } from '../src/bundle.js';
import { monotonicMs, now } from '../src/clock.js';
import type { Box } from '../src/compare/boxes.js';
import {
  compareFacts,
  compareFiles,
  type FactChange,
  type FileChanges,
  isChanged,
} from '../src/compare/facts.js';
import { counted, percent } from '../src/compare/percent.js';
import { THRESHOLD } from '../src/compare/pixels.js';
import { PreviewError } from '../src/errors.js';
import { isObject, type JsonObject } from '../src/json.js';
import { findRoot, findSession, workingDirectory } from '../src/layout.js';
import { openSession, record } from '../src/session.js';
import { type Names, namesIn, type Side, sideOf } from '../src/side.js';
import { closeStage, openStage, type Stage } from '../src/stage.js';
import { cutText, neutralise } from '../src/text.js';
import { askRenderer } from './askrenderer.js';
import { interruptible } from './interrupt.js';
import { type CaptureResult, resultOf } from './result.js';

export interface DiffOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  root?: string | undefined;
  session?: string | undefined;
  /** Two REFs: steps, bundles, or sessions for their current step. */
  before: string;
  after: string;
  /** Only pictures of this recipe: the newest one up to each step. */
  recipe?: string | undefined;
  threshold?: number | undefined;
  label?: string | undefined;
  own_command?: string;
  lock_timeout_ms?: number | undefined;
  /** Told what is being done, for progress. */
  onPhase?: ((phase: string) => void) | undefined;
}

/** What comparing the pictures gave; `changed_pixels` and `changed_ratio` are null where there are not two to compare. */
export interface PictureDiff {
  changed_pixels: number | null;
  changed_ratio: number | null;
  boxes: Box[];
}

/** What `diff --json` prints: what a capture prints, and what differs. */
export interface DiffResult extends CaptureResult, PictureDiff {
  /** All facts of both, the ones that changed first. */
  facts: FactChange[];
  files: FileChanges;
}

/**
 * Compares two bundles and records the comparison as a step, which does not become current.
 * @throws PreviewError `not_found`, `session_damaged`, `bundle_damaged`, `lock_timeout`, `interrupted`; nothing was recorded then.
 */
export const diff = (options: DiffOptions): Promise<DiffResult> =>
  interruptible((signal) => diffStaged(options, signal));

async function diffStaged(options: DiffOptions, signal: AbortSignal): Promise<DiffResult> {
  const began = { ...now(), clock: monotonicMs() };
  const cwd = options.cwd ?? workingDirectory();
  const env = options.env ?? process.env;
  const place = { cwd, env, root: options.root, session: options.session };
  // First of all: a wrong name must not begin a session.
  const home = findSession(place, findRoot(place));
  const sides = [options.before, options.after].map((ref) => sideOf(ref, place, options.recipe));
  const session = await openSession({
    ...place,
    software: sides[1]!.manifest.software ?? null,
    timeout_ms: options.lock_timeout_ms,
    onWait: (owner) => options.onPhase?.(`waiting for the session: ${owner}`),
  });
  const [before, after] = sides.map((side) => ({ ...side, ...namesIn(session, side) })) as [Named, Named];
  const stage = openStage(session.dir);
  try {
    options.onPhase?.('comparing the pictures');
    const pictures = await comparePictures(stage, before, after, options.threshold ?? THRESHOLD, signal);
    if (signal.aborted) throw new PreviewError('interrupted', 'interrupted; nothing was recorded');
    const facts = compareFacts(before.summary?.facts ?? {}, after.summary?.facts ?? {});
    const files = compareFiles(before.manifest.artifacts, after.manifest.artifacts);
    const { changed_pixels, changed_ratio, boxes, sizes, warnings } = pictures;
    const told = { changed_pixels, changed_ratio, boxes, facts, files };
    addArtifact(stage, {
      content: `${JSON.stringify(
        {
          ...told,
          ...sizes,
          threshold: options.threshold ?? THRESHOLD,
          before: sourceOf(before),
          after: sourceOf(after),
        },
        null,
        1,
      )}\n`,
      role: 'diff-json',
      name: 'diff.json',
      label: 'What differs',
    });
    const sealed = sealStage(stage, {
      bundle_kind: 'diff',
      command: options.own_command ?? null,
      software: after.manifest.software ?? null,
      status: pictures.failed ? 'partial' : 'ok',
      headline: headlineOf(before, after, told),
      facts: summaryFacts(told),
      warnings: [...warnings, ...differences(before, after)],
      metrics: { changed_pixels, changed_ratio, regions: boxes.length },
      source_bundles: [before.bundle, after.bundle],
    });
    options.onPhase?.('recording');
    const recorded = await record(
      session,
      { kind: 'new', sealed },
      {
        command: options.own_command ?? null,
        command_started_at: began.at,
        command_finished_at: new Date().toISOString(),
        duration_ms: monotonicMs() - began.clock,
        publish_reason: 'diff',
        stage_label: options.label ?? null,
      },
      { begun: { at: began.at, boot_id: began.boot_id, monotonic_ns: began.monotonic_ns } },
    );
    const elsewhere =
      home !== null && session.created
        ? [`session_begun: nothing more is recorded in ${home}, so the diff is in ${session.name}`]
        : [];
    const shown = { artifacts: stage.artifacts, warnings: sealed.warnings };
    return { ...resultOf(recorded, [...session.warnings, ...elsewhere], shown), ...told };
  } finally {
    closeStage(stage);
  }
}

/** A side with what it is called here. */
type Named = Side & Names;

interface Pictures extends PictureDiff {
  /** Of the canvas that holds both. */
  sizes: { width: number; height: number; padded: boolean } | Record<string, never>;
  warnings: string[];
  /** True where there were two pictures and they could not be compared. */
  failed: boolean;
}

/** Puts both pictures and what differs into the stage. */
async function comparePictures(
  stage: Stage,
  before: Named,
  after: Named,
  threshold: number,
  signal: AbortSignal,
): Promise<Pictures> {
  const nothing = { changed_pixels: null, changed_ratio: null, boxes: [], sizes: {}, failed: false };
  const [old, fresh] = [keep(stage, before, 'before'), keep(stage, after, 'after')];
  const missing = [before, after].filter(({ hero }) => hero === null).map(pictureless);
  if (old === null || fresh === null) return { ...nothing, warnings: missing };
  const { report, failure } = await askRenderer(
    'compare',
    [
      ...['--before', old, '--after', fresh, '--out', stage.out, '--threshold', String(threshold)],
      `--before-name=${titleOf(before)}`,
      `--after-name=${titleOf(after)}`,
    ],
    { cwd: stage.out, signal },
  );
  const unread = isObject(report['unread']) ? Object.entries(report['unread']) : [];
  const failures = failure
    ? [`picture_unread: the pictures could not be compared: ${neutralise(failure)}`]
    : unread.map(
        ([side, reason]) =>
          `picture_unread: the picture of ${side === 'before' ? before.name : after.name} could not be compared: ${neutralise(String(reason))}`,
      );
  if (failures.length > 0) return { ...nothing, failed: true, warnings: failures };
  const names = `${before.name} → ${after.name}`;
  const add = (name: string, role: string, label: string) =>
    addArtifact(stage, { file: join(stage.out, name), move: true, role, name, label });
  add('render.png', 'hero', `What changed, ${names}`);
  add('thumb.png', 'thumb', 'Thumbnail');
  add('changes.png', 'diff', `Changed pixels, ${names}`);
  return { ...told(report), failed: false, warnings: sizesDiffer(report) };
}

/** Copies a side's picture into the stage, where it is compared: what is recorded is what was looked at. */
function keep(stage: Stage, side: Named, role: 'before' | 'after'): string | null {
  if (side.hero === null) return null;
  const { path, sha256, media_type, label } = side.hero;
  const copy = addArtifact(stage, {
    file: join(side.dir, path),
    role,
    name: role + extname(path),
    label: `${role === 'before' ? 'Before' : 'After'}: ${side.name}${label ? `, ${label}` : ''}`,
    ...(media_type ? { media_type } : {}),
  });
  if (sha256?.startsWith('sha256:') && copy.sha256 !== sha256)
    throw new PreviewError('bundle_damaged', `${join(side.dir, path)} was altered while it was read`);
  return join(stage.bundle, copy.path);
}

function told(report: JsonObject): Pick<Pictures, 'changed_pixels' | 'changed_ratio' | 'boxes' | 'sizes'> {
  const { count, ratio, boxes, width, height, padded } = report;
  return {
    changed_pixels: Number(count),
    changed_ratio: Math.round(Number(ratio) * 1e6) / 1e6 || Number(ratio),
    boxes: boxes as Box[],
    sizes: { width: Number(width), height: Number(height), padded: padded === true },
  };
}

function sizesDiffer({ padded, before, after }: JsonObject): string[] {
  if (!padded || !isObject(before) || !isObject(after)) return [];
  const size = (of: JsonObject) => `${of['width']} × ${of['height']}`;
  return [
    `sizes_differ: the pictures are ${size(before)} and ${size(after)} px; what only one of them has counts as changed`,
  ];
}

const pictureless = ({ name, manifest, summary }: Named): string =>
  `no_picture: ${name} has none${manifest.status === 'error' ? `, for its render failed${summary ? `: ${neutralise(cutText(summary.headline, 200))}` : ''}` : ''}; facts and files are compared all the same`;

function differences(before: Named, after: Named): string[] {
  const [old, fresh] = [before.manifest.recipe ?? null, after.manifest.recipe ?? null];
  return old === fresh
    ? []
    : [
        `recipes_differ: ${before.name} was made with ${old ?? 'no recipe'}, ${after.name} with ${fresh ?? 'no recipe'}`,
      ];
}

/** What a picture is called in the comparison: its step, and the command or label it shows. A path is said by its end. */
function titleOf({ name, dir, step, manifest }: Named): string {
  const short = isAbsolute(name) || name.split('/').length > 2 ? (step?.step_id ?? basename(dir)) : name;
  const label = step?.['stage_label'];
  const said = (typeof label === 'string' && label) || step?.command || manifest.command;
  return neutralise(said ? `${short}  ${cutText(said, 120)}` : short);
}

/** Where a side came from, for diff.json. */
const sourceOf = ({ name, bundle, manifest, manifest_sha256, summary, hero }: Named) => ({
  name,
  bundle,
  manifest_sha256,
  recipe: manifest.recipe ?? null,
  status: manifest.status,
  created_at: manifest.created_at,
  headline: summary?.headline ?? null,
  picture: hero ? { path: hero.path, sha256: hero.sha256 ?? null } : null,
});

type Told = Pick<DiffResult, 'changed_pixels' | 'changed_ratio' | 'boxes' | 'facts' | 'files'>;

function headlineOf(
  before: Named,
  after: Named,
  { changed_pixels, changed_ratio, boxes, facts, files }: Told,
): string {
  const changes = [];
  if (changed_pixels === null) changes.push('no two pictures to compare');
  else if (changed_pixels === 0) changes.push('no pixel changed');
  else
    changes.push(
      `${counted(changed_pixels, 'pixel')} changed (${percent(changed_ratio ?? 0)}) in ${counted(boxes.length, 'region')}`,
    );
  const altered = facts.filter(isChanged).length;
  if (altered > 0) changes.push(`${counted(altered, 'fact')} changed`);
  for (const [kind, names] of Object.entries(files) as [keyof FileChanges, string[]][])
    if (names.length > 0 && !(kind === 'changed' && names.length === 1 && names[0]?.startsWith('render.')))
      changes.push(`${counted(names.length, 'file')} ${kind}`);
  return `${before.name} → ${after.name}: ${changes.join(', ')}`;
}

/** A summary is small: of the facts that changed, the first few. */
const FACTS = 20;

function summaryFacts({ changed_pixels, changed_ratio, boxes, facts, files }: Told): Record<string, unknown> {
  const altered = facts.filter(isChanged).slice(0, FACTS);
  return {
    changed_pixels,
    changed_ratio,
    regions: boxes.length,
    ...(altered.length > 0
      ? { facts: Object.fromEntries(altered.map(({ name, before, after }) => [name, { before, after }])) }
      : {}),
    files_added: files.added.length,
    files_removed: files.removed.length,
    files_changed: files.changed.length,
  };
}
