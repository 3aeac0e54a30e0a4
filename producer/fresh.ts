// A capture that cannot use an older bundle: stage, render, look at the sources once more, publish, remember.

import type { Sealed } from '../src/bundle.js';
import { type Moment, now } from '../src/clock.js';
import { createFile } from '../src/disk.js';
import { PreviewError } from '../src/errors.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import { rememberBundle } from '../src/remember.js';
import { type Recorded, record } from '../src/session.js';
import { closeStage, openStage, resetStage } from '../src/stage.js';
import { type Attempt, commitOptions, finished } from './attempt.js';
import { keyOf } from './changes.js';
import { bundleFields } from './fields.js';
import { interruptible } from './interrupt.js';
import { render, terminalFile } from './render.js';
import { type CaptureResult, resultOf } from './result.js';
import { withRun } from './taken.js';

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
  const stage = openStage(session.dir, options);
  try {
    let sources = first;
    for (let tries = 1; ; tries++) {
      if (tries > 1) resetStage(stage);
      options.onPhase?.(`rendering with ${recipe.name}`);
      if (options.ran) createFile(terminalFile(stage), options.ran.cast ?? NOTHING_SHOWN, false);
      const keyed = keyOf({ ...run, session_dir: session.dir }, sources);
      const again = secondLook(run);
      const { seal, whole } = await render(stage, {
        ...run,
        project: run.project.dir,
        sources,
        changed: keyed.changed,
        fields: bundleFields(run, sources, keyed),
        onRendered: () => again.begin(),
        signal,
      });
      const { looked, after } = await again.begin();
      const moved = after.fingerprint !== sources.fingerprint;
      if (moved && tries === 1) {
        // What is rendered now is as new as this look, and may be newer than what others recorded meanwhile.
        sources = after;
        run.looked = looked;
        continue;
      }
      const reusable = whole && sources.complete && !moved && recipe.reuse !== false;
      const sealed = seal({
        over: withRun(stage, options.ran, reusable ? keyed.key : null),
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
        if (reusable) remember(recorded, sealed, keyed.key);
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

/** The look at the sources after rendering, begun once. Another process may be given its work before. */
function secondLook(run: Attempt) {
  let look: Promise<{ looked: Moment; after: SourceFingerprint }> | undefined;
  const begin = async () => {
    await new Promise(setImmediate);
    return { looked: now(), after: await run.look() };
  };
  return {
    begin: () => {
      look ??= begin();
      // Its failure is told to whoever awaits it; a render that fails meanwhile leaves nobody who does.
      look.catch(() => {});
      return look;
    },
  };
}

function remember(recorded: Recorded, sealed: Sealed, key: string): void {
  const { session_id } = recorded.head;
  if (sealed.fields.status === 'error' || !session_id) return;
  rememberBundle(recorded.session.root, session_id, key, {
    bundle_id: recorded.step.bundle_id,
    manifest_sha256: recorded.step.manifest_sha256,
  });
}

/** The terminal of a command that printed nothing. */
const NOTHING_SHOWN = '{"version":2,"width":80,"height":24}\n';
