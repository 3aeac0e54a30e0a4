// One side of a comparison: the bundle that a REF names, proved against its hashes before anything is made of it.
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readRegular } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import type { Recording, SeenHead, SeenStep } from './formats/seen.js';
import { sha256 } from './hash.js';
import { findSession, MANIFEST_NAME, numberOf, type Place, stepId } from './layout.js';
import { openRecording, readAnyBundle, verifyAnyBundle } from './recording.js';
import { resolveRef } from './ref.js';
import type { Artifact, Manifest, Problem, Summary } from './schema.js';

export interface Side {
  /** As it was asked for. */
  ref: string;
  /** The session it lies in, where it lies in one. */
  session: string | null;
  dir: string;
  step: SeenStep | null;
  manifest: Manifest;
  manifest_sha256: string;
  summary: Summary | null;
  /** Its picture, where it has one. */
  hero: Artifact | null;
}

/** A step is looked for among so many at a time, from the newest back. */
const PIECE = 200;

/**
 * The bundle a REF names; of a session or a root, the current one. With `recipe`, the newest of that recipe up to the
 * step named.
 * @throws PreviewError `not_found`, `session_damaged`, `bundle_damaged`.
 */
export function sideOf(ref: string, place: Place, recipe: string | undefined): Side {
  const found = resolveRef(ref, place);
  if (found.kind === 'bundle') {
    const side = readSide(ref, found.bundle, found.session, null);
    if (recipe !== undefined && side.manifest.recipe !== recipe)
      throw new PreviewError(
        'not_found',
        `${ref} was made with ${side.manifest.recipe ?? 'no recipe'}, not ${recipe}`,
        'name a step, and the newest picture of that recipe before it is taken',
      );
    return side;
  }
  const session = found.kind === 'root' ? currentOf(found.root, place) : found.session;
  const recording = openRecording(session);
  const head = headOf(recording);
  const index = found.kind === 'step' ? found.index : numberOf(head.current_step_id ?? '', 'step');
  if (index === null || index < 1 || index > head.trajectory_step_count)
    throw new PreviewError(
      'not_found',
      index === null ? `${session} has no step yet` : `there is no ${stepId(index)} in ${session}`,
      `it has ${head.trajectory_step_count} steps; \`previews inspect\` shows them`,
    );
  const step = recipe === undefined ? stepAt(recording, index) : stepOf(recording, index, recipe);
  const dir = recording.bundleDir(step);
  if (dir === null)
    throw new PreviewError(
      'bundle_damaged',
      `${session}: the bundle of ${step.step_id} is not there`,
      'see `previews verify`',
    );
  return readSide(ref, dir, session, step);
}

function currentOf(root: string, place: Place): string {
  const session = findSession({ cwd: place.cwd, env: {} }, root);
  if (session !== null) return session;
  throw new PreviewError('not_found', `no session is recorded in ${root}`, 'see `previews list`');
}

function headOf({ dir, head, problems }: Recording): SeenHead {
  if (head) return head;
  throw new PreviewError(
    'session_damaged',
    `${dir}: session.json: ${problems[0]?.detail ?? 'it cannot be read'}`,
    'see `previews verify`; `preview repair` mends it; a bundle can be named by its folder',
  );
}

function stepAt(recording: Recording, index: number): SeenStep {
  const { value, problems } = recording.steps(index, index);
  if (value[0]?.step_index === index) return value[0];
  throw new PreviewError(
    'session_damaged',
    `${recording.dir}: ${stepId(index)} cannot be read: ${problems[0]?.detail ?? 'its line is gone'}`,
    'see `previews verify`',
  );
}

/** The newest step of a recipe, no newer than `index`. */
function stepOf(recording: Recording, index: number, recipe: string): SeenStep {
  for (let to = index; to > 0; to -= PIECE) {
    const { value } = recording.steps(Math.max(1, to - PIECE + 1), to);
    const step = value.findLast((each) => each['recipe'] === recipe);
    if (step) return step;
  }
  throw new PreviewError(
    'not_found',
    `no step up to ${stepId(index)} in ${recording.dir} was made with ${recipe}`,
    `\`preview capture --recipe ${recipe}\` makes one`,
  );
}

/** Problems that say nothing about what is compared: a file more, or one that was never hashed. */
const HARMLESS = /_unproved$|^file_unlisted$/;
/** A neighbour's bundle is taken as far as it can be read, but for what was altered since. */
const ALTERED = /_altered$/;

function readSide(ref: string, dir: string, session: string | null, step: SeenStep | null): Side {
  const damaged = ({ where, detail }: Pick<Problem, 'where' | 'detail'>) =>
    new PreviewError(
      'bundle_damaged',
      `${join(dir, where)}: ${detail}`,
      'see `previews verify`; name another step',
    );
  const bytes = manifestBytes(dir);
  if (bytes === null) throw damaged({ where: MANIFEST_NAME, detail: 'the file is not there' });
  const manifest_sha256 = sha256(bytes);
  if (step?.manifest_sha256 && step.manifest_sha256 !== manifest_sha256)
    throw damaged({ where: MANIFEST_NAME, detail: `it is not the one that ${step.step_id} recorded` });
  const { value, problems } = readAnyBundle(dir);
  const { manifest, summary } = value;
  if (!manifest) throw damaged(problems[0]!);
  const verdict = verifyAnyBundle(dir);
  // Only a neighbour's have notes.
  const harm = verdict.problems.find(({ kind }) =>
    verdict.notes ? ALTERED.test(kind) : !HARMLESS.test(kind),
  );
  if (harm) throw damaged(harm);
  const hero = manifest.artifacts.find(({ role, kind }) => role === 'hero' && kind === 'image') ?? null;
  return { ref, session, dir, step, manifest, manifest_sha256, summary, hero };
}

function manifestBytes(dir: string): Buffer | null {
  try {
    // I9: a link in a folder's place may lead anywhere.
    return lstatSync(dir).isDirectory() ? readRegular(join(dir, MANIFEST_NAME)) : null;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENXIO'].includes(errnoOf(error) ?? '')) throw error;
    return null;
  }
}

/**
 * What a side and its bundle are called in the session that the comparison is recorded in: `step-0003` there,
 * `session_002/step-0003` in another of the same root, and as it was asked for anywhere else.
 */
export function namesIn(home: { dir: string; root: string }, { ref, session, dir, step }: Side): Names {
  if (session === null || dirname(session) !== home.root) return { name: ref, bundle: ref };
  const of = session === home.dir ? '' : `${basename(session)}/`;
  return { name: of + (step?.step_id ?? basename(dir)), bundle: of + basename(dir) };
}

export interface Names {
  name: string;
  bundle: string;
}
