// What one capture is asked for and works with, shared by its two ways: an older bundle used again, or a fresh render.

import type { Moment } from '../src/clock.js';
import { monotonicMs } from '../src/clock.js';
import type { CommitOptions } from '../src/commit.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import type { Manifest } from '../src/schema.js';
import type { OpenSession } from '../src/session.js';
import type { StepInput } from '../src/step.js';
import type { Keyed } from './changes.js';
import type { NamedRecipe, Project } from './config.js';
import type { CaptureResult } from './result.js';
import type { Evidence } from './running/evidence.js';
import type { Tools } from './tools.js';

export interface CaptureOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  root?: string | undefined;
  session?: string | undefined;
  recipe?: string | undefined;
  /** What the agent ran; without it the capture's own command line, and the reason is `capture`. */
  command?: string | undefined;
  own_command?: string;
  reason?: StepInput['publish_reason'];
  started_at?: string | undefined;
  exit_code?: number | undefined;
  label?: string | undefined;
  note?: string | undefined;
  force?: boolean | undefined;
  /** False keeps secrets in commands and captured text as they are. */
  redact?: boolean | undefined;
  lock_timeout_ms?: number | undefined;
  /** Told what is being done, for progress. */
  onPhase?: ((phase: string) => void) | undefined;
  /** Takes the session to publish into instead of finding it. */
  into?: OpenSession;
  /** The command that `preview run` has just run: the bundle shows its outcome and is one of its own. */
  ran?: Evidence | undefined;
  /** Loaded already by whoever needs it most. */
  takeOver?: TakeOver;
  /** Only these statuses may be published into. */
  allowed?: CommitOptions['allowed'];
  /** Asked under the lock: true where the step is not wanted after all. */
  unless?: CommitOptions['unless'];
}

/** Publishes a bundle of its own with the pictures of an older one; null where that one is gone meanwhile. */
export type TakeOver = (
  run: Attempt,
  sources: SourceFingerprint,
  keyed: Keyed,
  from: { bundle_id: string; manifest: Manifest },
) => Promise<CaptureResult | null>;

/** All that one capture works with. */
export interface Attempt {
  options: CaptureOptions;
  project: Project;
  session: OpenSession;
  recipe: NamedRecipe;
  tools: Tools;
  look: () => Promise<SourceFingerprint>;
  began: Moment & { clock: number };
  /** When the sources that are recorded were looked at, where that was later. */
  looked?: Moment;
  step: StepInput;
}

/** What a capture's step says of the command that it shows the outcome of, or of the capture itself. */
export function stepInput(
  options: CaptureOptions,
  began: Moment,
  recipe: string | null,
  source_fingerprint: string | null,
): StepInput {
  const given = options.command !== undefined;
  const started = given ? (options.started_at ?? null) : began.at;
  return {
    command: options.command ?? options.own_command ?? null,
    command_started_at: started,
    // A command that is reported to us ended before we were started.
    command_finished_at: given ? began.at : null,
    duration_ms: given && started ? Math.max(0, Date.parse(began.at) - Date.parse(started)) : null,
    exit_code: options.exit_code ?? null,
    publish_reason: options.reason ?? (given ? 'mutation' : 'capture'),
    recipe,
    source_fingerprint,
    stage_label: options.label ?? null,
    note: options.note ?? null,
    ...options.ran?.step,
  };
}

export function commitOptions({ began, looked, options }: Attempt): Partial<CommitOptions> {
  const { at, boot_id, monotonic_ns } = looked ?? began;
  return {
    begun: { at, boot_id, monotonic_ns },
    redact: options.redact,
    ...(options.allowed ? { allowed: options.allowed } : {}),
    ...(options.unless ? { unless: options.unless } : {}),
  };
}

/** A capture that is its own command ends when it is recorded. */
export function finished({ step, began, options }: Pick<Attempt, 'step' | 'began' | 'options'>): StepInput {
  if (options.command !== undefined) return step;
  return {
    ...step,
    command_finished_at: new Date().toISOString(),
    duration_ms: monotonicMs() - began.clock,
  };
}
