// Making a step: its fields in their order, within the bounds that keep a line under 16 KB, and the
// shortened form that the head's history holds.
import { join } from 'node:path';
import { createFile, exists, makeDir, syncPath } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { sha256 } from './hash.js';
import { redactDeep } from './redact.js';
import { check, type Step, stepSchema } from './schema.js';
import { cutText, jsonBytes, utf8Bytes, wellFormed, wellFormedJson } from './text.js';
import { LIMITS } from './version.js';

export const TEXTS_NAME = 'texts';

/** What is known of a command when its step is recorded. */
export interface StepInput {
  command: string | null;
  command_started_at?: string | null;
  command_finished_at?: string | null;
  duration_ms?: number | null;
  exit_code?: number | null;
  signal?: string | null;
  publish_reason: 'start' | 'mutation' | 'capture' | 'diff' | 'rollback';
  recipe?: string | null;
  source_fingerprint?: string | null;
  stage_label?: string | null;
  note?: string | null;
  git?: Record<string, unknown>;
  usage?: Record<string, unknown>;
  actor?: Record<string, unknown>;
}

/** The step's texts with their secrets masked, and how many there were. */
export function maskStep(input: StepInput): { input: StepInput; masked: number } {
  const { command, stage_label, note } = input;
  const { value, count } = redactDeep({ command, stage_label, note });
  return { input: count === 0 ? input : { ...input, ...value }, masked: count };
}

/** `text` cut to `limit` bytes (twice that inside JSON), ending in `…` where it was longer. */
export const bounded = (text: string, limit: number): string =>
  cutText(cutText(text, limit), limit * 2, jsonBytes);

/**
 * Keeps a text that a step can only hold cut: whole, in a file of its own named by its hash. Returns its path in
 * the session, or null where the cut form is the whole. Done before the lock is taken.
 */
export function keepText(session: string, text: string | null | undefined, limit: number): string | null {
  if (text == null || bounded(text, limit) === text) return null;
  const content = wellFormed(text);
  const path = `${TEXTS_NAME}/${sha256(content).slice('sha256:'.length)}.txt`;
  const folder = join(session, TEXTS_NAME);
  const fresh = !exists(folder);
  makeDir(folder);
  try {
    createFile(join(session, path), content, true);
  } catch (error) {
    // The same text was kept before.
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  syncPath(folder);
  if (fresh) syncPath(session);
  return path;
}

/** What the commit adds to a step. */
export interface StepPlace {
  step_id: string;
  step_index: number;
  published_at: string;
  bundle_id: string;
  render: string | null;
  manifest_sha256: string;
  prev_sha256: string | null;
  status: Step['status'];
  cached: boolean;
  command_path: string | null;
  note_path: string | null;
}

/** The step as it is written. @throws PreviewError `step_too_large` where git, usage or actor overflow the line. */
export function makeStep(input: StepInput, place: StepPlace): Step {
  const step: Step = {
    step_id: place.step_id,
    step_index: place.step_index,
    command: input.command === null ? null : bounded(input.command, LIMITS.command),
    command_started_at: input.command_started_at ?? null,
    command_finished_at: input.command_finished_at ?? null,
    duration_ms: input.duration_ms == null ? null : Math.max(0, Math.round(input.duration_ms)),
    published_at: place.published_at,
    exit_code: input.exit_code ?? null,
    signal: input.signal ?? null,
    publish_reason: input.publish_reason,
    recipe: input.recipe ?? null,
    source_fingerprint: input.source_fingerprint ?? null,
    bundle_id: place.bundle_id,
    bundle_dir: place.bundle_id,
    manifest_path: `${place.bundle_id}/manifest.json`,
    summary_path: `${place.bundle_id}/summary.json`,
    render_path: place.render === null ? null : `${place.bundle_id}/${place.render}`,
    manifest_sha256: place.manifest_sha256,
    prev_sha256: place.prev_sha256,
    status: place.status,
    cached: place.cached,
    ...(input.stage_label ? { stage_label: bounded(input.stage_label, LIMITS.label) } : {}),
    ...(input.note ? { note: bounded(input.note, LIMITS.note) } : {}),
    ...(place.command_path ? { command_path: place.command_path } : {}),
    ...(place.note_path ? { note_path: place.note_path } : {}),
    ...(input.git ? { git: input.git } : {}),
    ...(input.usage ? { usage: input.usage } : {}),
    ...(input.actor ? { actor: input.actor } : {}),
  };
  // Parsing and writing again must give the same bytes, for readers rebuild the line from the head.
  const clean = wellFormedJson(step);
  const { problems } = check(stepSchema, clean, place.step_id);
  if (problems.length > 0)
    throw new PreviewError(
      'usage',
      `the step does not fit its schema: ${problems[0]!.detail}`,
      'guides/protocol.md lists the fields of a step',
    );
  const bytes = utf8Bytes(JSON.stringify(clean));
  if (bytes > LIMITS.stepLine) {
    throw new PreviewError(
      'step_too_large',
      `the step would take ${bytes} bytes, over the ${LIMITS.stepLine} that a line may have`,
      'shorten what git, usage or actor hold; long texts belong into artifacts',
    );
  }
  return clean;
}

/** What the head's history keeps of a step, in this order. */
const HISTORY_KEYS = [
  'step_id',
  'step_index',
  'command',
  'published_at',
  'publish_reason',
  'exit_code',
  'recipe',
  'status',
  'cached',
  'bundle_id',
  'bundle_dir',
  'manifest_path',
  'summary_path',
  'render_path',
  'source_fingerprint',
] as const;

/** A step as the head's history holds it: at most 1 KB. */
export function historyEntry(step: Step): Pick<Step, (typeof HISTORY_KEYS)[number]> {
  const entry = Object.fromEntries(HISTORY_KEYS.map((key) => [key, step[key]])) as Pick<
    Step,
    (typeof HISTORY_KEYS)[number]
  >;
  const fixed = utf8Bytes(JSON.stringify({ ...entry, command: null }));
  return {
    ...entry,
    command: step.command === null ? null : cutText(step.command, LIMITS.historyStep - fixed, jsonBytes),
  };
}
