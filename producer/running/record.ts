// Recording a run after its command has ended: with pictures of the project as it is now, or, where those cannot be had,
// the command and what it printed alone. The session was opened before; it may have gone since.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type BundleFields, sealStage } from '../../src/bundle.js';
import { now } from '../../src/clock.js';
import { asPreviewError, PreviewError } from '../../src/errors.js';
import type { Place } from '../../src/layout.js';
import { type OpenSession, openSession, record } from '../../src/session.js';
import { closeStage, openStage } from '../../src/stage.js';
import { capture } from '../capture.js';
import { type CaptureResult, resultOf } from '../result.js';
import { takeOver, withRun } from '../taken.js';
import type { Asked } from './asked.js';
import { type Evidence, evidenceOf, type Run } from './evidence.js';
import type { Recording } from './place.js';

/** Opens the session that a run is recorded in. Throws as `openSession` does. */
export const openFor = (
  place: Partial<Place>,
  project: string,
  timeout_ms: number | undefined,
): Promise<OpenSession> =>
  openSession({ ...place, project_name: basename(project), project_path: project, timeout_ms });

/** What nothing can be recorded with: trying again without pictures would only wait once more. */
const HOPELESS = ['lock_timeout', 'disk_full', 'not_writable', 'version_newer'];

/**
 * Records a run as one step.
 * @throws PreviewError where nothing could be recorded.
 */
export async function recordRun(run: Run, asked: Asked, recording: Recording): Promise<CaptureResult> {
  const lock_timeout_ms = asked.lockTimeout === undefined ? undefined : asked.lockTimeout * 1000;
  const opened = await sessionOf(asked, recording, lock_timeout_ms);
  const session = { ...opened, warnings: [...recording.warnings, ...opened.warnings] };
  const evidence = evidenceOf(run);
  const alone = (status: 'ok' | 'error', warnings: string[]) =>
    recordAlone(evidence, asked, session, recording, { status, warnings });
  if (!asked.capture) return alone('ok', []);
  if (!existsSync(recording.project))
    return alone('error', [`project_gone: ${recording.project} is no longer there, so nothing was rendered`]);
  try {
    return await capture({
      cwd: recording.project,
      into: session,
      recipe: asked.recipe,
      command: evidence.step.command ?? '',
      ran: evidence,
      takeOver,
      label: asked.label,
      note: asked.note,
      force: asked.force,
      redact: asked.redact,
      lock_timeout_ms,
    });
  } catch (error) {
    const known = asPreviewError(error);
    if (HOPELESS.includes(known.code)) throw known;
    // A project that a renderer removed, the recordings in it, is not made anew to record that.
    if (!existsSync(recording.project) && !existsSync(recording.root)) throw known;
    return alone('error', [`${known.code}: ${known.message}`]);
  }
}

async function sessionOf(
  asked: Asked,
  { cwd, project, root, session }: Recording,
  timeout_ms: number | undefined,
): Promise<OpenSession> {
  const place = { cwd, env: process.env, root: asked.root, session: asked.session };
  if (session === null) return openFor(place, project, timeout_ms);
  try {
    return await openFor({ cwd: dirname(session), env: {}, session, root }, project, timeout_ms);
  } catch (error) {
    // The command has removed it: what is recorded now begins a new one.
    if (!(error instanceof PreviewError) || !['session_name', 'not_found'].includes(error.code)) throw error;
    return openFor({ cwd: dirname(root), env: {}, root }, project, timeout_ms);
  }
}

/** The command and what it printed, without a look at the project. */
async function recordAlone(
  evidence: Evidence,
  { label, note, recipe, redact }: Asked,
  session: OpenSession,
  { project }: Recording,
  { status, warnings }: Pick<BundleFields, 'status' | 'warnings'>,
): Promise<CaptureResult> {
  const stage = openStage(session.dir, { redact });
  try {
    const over = withRun(stage, evidence, null);
    const fields: BundleFields = {
      command: evidence.step.command,
      software: 'terminal',
      recipe: recipe ?? null,
      status,
      headline: '',
      warnings: warnings ?? [],
      source: { project_name: basename(project), project_path: project },
    };
    const sealed = sealStage(stage, over(fields));
    const recorded = await record(
      session,
      { kind: 'new', sealed },
      {
        ...evidence.step,
        publish_reason: 'mutation',
        recipe: recipe ?? null,
        stage_label: label ?? null,
        note: note ?? null,
      },
      { begun: now(), redact, looked: status !== 'ok' },
    );
    return resultOf(recorded, session.warnings, { artifacts: stage.artifacts, warnings: sealed.warnings });
  } finally {
    closeStage(stage);
  }
}
