// A step named for a comparison, and what is said of one: its command, its time and where its picture lies.
import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { Rect } from '../../src/compare/boxes.js';
import { PreviewError } from '../../src/errors.js';
import type { Recording, SeenStep } from '../../src/formats/seen.js';
import { stepId } from '../../src/layout.js';
import { inside } from '../../src/read.js';
import { openRecording } from '../../src/recording.js';
import { refOf, sessionOfRef } from '../place.js';
import { folderOf } from './looking.js';

/** Where a step is looked for among the newest, when a bundle is named. */
const NEWEST = 1000;

/**
 * The session of a REF and the step it means: of a session the newest one, of a bundle the newest that shows it.
 * @throws PreviewError `not_found`, `session_damaged`.
 */
export function stepOfRef(ref: string, options: { root?: string }): { recording: Recording; index: number } {
  const found = refOf(ref, options);
  const recording = openRecording(sessionOfRef(found));
  const count = recording.head?.trajectory_step_count ?? 0;
  if (recording.head === null)
    throw new PreviewError(
      'session_damaged',
      `${recording.dir}: session.json: ${recording.problems[0]?.detail ?? 'it cannot be read'}`,
      'see `previews verify`; `preview repair` mends it',
    );
  const index =
    found.kind === 'step' ? found.index : found.kind === 'bundle' ? showing(recording, found.bundle) : count;
  if (index >= 1 && index <= count) return { recording, index };
  throw new PreviewError(
    'not_found',
    count === 0
      ? `${recording.dir} has no step yet`
      : found.kind === 'bundle'
        ? `no step of ${recording.dir} shows ${found.bundle}`
        : `there is no ${stepId(index)} in ${recording.dir}`,
    `it has ${count} steps; \`previews inspect\` shows them`,
  );
}

function showing(recording: Recording, bundle: string): number {
  const count = recording.head?.trajectory_step_count ?? 0;
  const { value } = recording.steps(Math.max(1, count - NEWEST + 1), count);
  return value.findLast((step) => recording.bundleDir(step) === bundle)?.step_index ?? 0;
}

/** What is said of a step. */
export interface ToldStep {
  step_id: string;
  command: string | null;
  published_at: string | null;
  recipe: string | null;
  bundle_id: string | null;
  /** The path of its picture, or null where there is none. */
  picture: string | null;
}

export function toldStep(recording: Recording, index: number): ToldStep {
  const step = recording.steps(index, index).value[0];
  return {
    step_id: step?.step_id ?? stepId(index),
    command: step?.command ?? null,
    published_at: step?.published_at ?? null,
    recipe: typeof step?.['recipe'] === 'string' ? step['recipe'] : null,
    bundle_id: step?.bundle_id ?? null,
    picture: step ? pictureIn(recording, step) : null,
  };
}

/** The path of a step's picture, or null. */
export function pictureOf(recording: Recording, index: number): string | null {
  const step = recording.steps(index, index).value[0];
  return step ? pictureIn(recording, step) : null;
}

/** I9: a manifest's path may not leave its bundle. */
function pictureIn(recording: Recording, step: SeenStep): string | null {
  const dir = folderOf(recording, step);
  if (dir === null) return null;
  const artifacts = recording.readBundle(dir).value.manifest?.artifacts ?? [];
  const hero = artifacts.find(({ role, kind }) => role === 'hero' && kind === 'image');
  const path = hero ? inside(dir, hero.path) : null;
  return path !== null && existsSync(path) ? path : null;
}

/** For options and arguments that name a place of a picture: `X,Y` is one pixel, `X,Y,W,H` a rectangle. */
export function place(text: string): Rect {
  const match = /^(\d{1,7}),(\d{1,7})(?:,(\d{1,7}),(\d{1,7}))?$/.exec(text.replaceAll(' ', ''));
  const [x, y, width, height] = match ? match.slice(1).map((part) => Number(part ?? 1)) : [];
  if (match === null || width === 0 || height === 0)
    throw new InvalidArgumentError('expected X,Y or X,Y,WIDTH,HEIGHT in pixels, such as 120,80,40,20');
  return { x: x!, y: y!, width: width!, height: height! };
}
