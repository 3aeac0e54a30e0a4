// A capture that cannot use an older bundle: stage, render, look at the sources once more, publish, remember.
import { basename } from 'node:path';
import { type BundleFields, closeStage, openStage, resetStage, type Sealed } from '../src/bundle.js';
import { PreviewError } from '../src/errors.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import { rememberBundle } from '../src/remember.js';
import { type Recorded, record } from '../src/session.js';
import { type Attempt, commitOptions, finished } from './attempt.js';
import { type Keyed, keyOf } from './changes.js';
import { interruptible } from './interrupt.js';
import { render } from './render.js';
import { type CaptureResult, resultOf } from './result.js';

/** How often a render is begun anew: once where sources changed under it, once where its bundle was removed. */
const TRIES = 3;

/** Renders and records one step, an `error` bundle where the renderer failed. Ctrl-C ends the renderer and records nothing. */
export const renderAndRecord = (run: Attempt, first: SourceFingerprint): Promise<CaptureResult> =>
  interruptible((signal) => renderStaged(run, first, signal));

async function renderStaged(
  run: Attempt,
  first: SourceFingerprint,
  signal: AbortSignal,
): Promise<CaptureResult> {
  const { options, session, recipe } = run;
  const stage = openStage(session.dir);
  try {
    let sources = first;
    for (let tries = 1; ; tries++) {
      if (tries > 1) resetStage(stage);
      options.onPhase?.(`rendering with ${recipe.name}`);
      const keyed = keyOf({ ...run, session_dir: session.dir }, sources);
      const { seal, whole } = await render(stage, {
        ...run,
        project: run.project.dir,
        sources,
        changed: keyed.changed,
        fields: bundleFields(run, sources, keyed),
        signal,
      });
      const after = await run.look();
      const moved = after.fingerprint !== sources.fingerprint;
      if (moved && tries === 1) {
        sources = after;
        continue;
      }
      const sealed = seal({
        partial: moved
          ? [
              'sources_changed: the sources changed while they were rendered, twice; the picture may show neither state',
            ]
          : [],
      });
      run.step.source_fingerprint = sources.fingerprint;
      options.onPhase?.('recording');
      try {
        const recorded = await record(session, { kind: 'new', sealed }, finished(run), commitOptions(run));
        remember(recorded, sealed, keyed.key, whole && sources.complete && !moved && recipe.reuse !== false);
        return resultOf(recorded, session.warnings, {
          artifacts: stage.artifacts,
          warnings: sealed.warnings,
        });
      } catch (error) {
        if (!(error instanceof PreviewError) || error.code !== 'bundle_gone' || tries >= TRIES) throw error;
      }
    }
  } finally {
    closeStage(stage);
  }
}

function bundleFields(
  run: Attempt,
  sources: SourceFingerprint,
  { key, since }: Keyed,
): Omit<BundleFields, 'status' | 'headline'> {
  const { project, recipe, step } = run;
  return {
    command: step.command,
    software: recipe.software ?? project.config?.software ?? recipe.name,
    recipe: recipe.name,
    cache_key: key,
    source_fingerprint: sources.fingerprint,
    source: {
      project_name: basename(project.dir),
      project_path: project.dir,
      project_fingerprint: sources.fingerprint,
      files: sources.files.flatMap(({ sha256, ...file }) =>
        sha256 === null ? [] : [{ ...file, sha256: `sha256:${sha256}` }],
      ),
    },
    ...(since ? { context: { since_fingerprint: since } } : {}),
    warnings: sources.problems
      .filter((problem) => !isOpenGlob(problem) || sources.files.length === 0)
      .map((problem) => `sources: ${problem}`),
  };
}

function remember(recorded: Recorded, sealed: Sealed, key: string, reusable: boolean): void {
  const { session_id } = recorded.head;
  if (!reusable || sealed.fields.status === 'error' || !session_id) return;
  rememberBundle(recorded.session.root, session_id, key, {
    bundle_id: recorded.step.bundle_id,
    manifest_sha256: recorded.step.manifest_sha256,
  });
}

/** A wildcard that matches nothing yet is no news where another one matches; a file named outright is. */
const isOpenGlob = (problem: string) => /^no file matches the source .*[*?{[]/.test(problem);
