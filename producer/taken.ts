// A bundle of its own whose pictures are those of an older one: what a run publishes where its sources' state was drawn
// before. A bundle that is used again as a whole would show an earlier command's output as this one's.
import { join } from 'node:path';
import { takeArtifact } from '../src/artifact.js';
import { type BundleFields, sealStage } from '../src/bundle.js';
import { errnoOf, PreviewError } from '../src/errors.js';
import { isObject } from '../src/json.js';
import { readBundle } from '../src/read.js';
import type { Manifest } from '../src/schema.js';
import { record } from '../src/session.js';
import { closeStage, openStage, type Stage } from '../src/stage.js';
import { commitOptions, finished, type TakeOver } from './attempt.js';
import { bundleFields } from './fields.js';
import { resultOf } from './result.js';
import type { Evidence } from './running/evidence.js';

/**
 * How a run changes the fields of the bundle that shows its outcome, its artifacts added to the stage; nothing without a
 * run. With output in it the bundle has no cache key: it is found by `render_key`, for its pictures alone.
 */
export function withRun(
  stage: Stage,
  ran: Evidence | undefined,
  render_key: string | null,
): (fields: BundleFields) => BundleFields {
  if (!ran) return (fields) => fields;
  return (fields) => {
    const over = ran.gather(stage);
    const { headline, facts = {}, warnings = [], next_actions = [] } = fields;
    const context = {
      ...fields.context,
      ...(render_key ? { render_key, render: { headline, facts, warnings, next_actions } } : {}),
    };
    return over({ ...fields, cache_key: null, context });
  };
}

/** What the renderer said of the pictures in a bundle, without what a command's run added to it. */
function renderOf(
  bundle: string,
  manifest: Manifest,
): Pick<BundleFields, 'headline' | 'facts' | 'warnings' | 'next_actions'> {
  const kept = manifest.context?.['render'];
  const summary = readBundle(bundle).value.summary;
  const from = isObject(kept) ? kept : { ...summary, warnings: manifest.warnings ?? [] };
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  return {
    headline: String(from['headline'] ?? ''),
    facts: isObject(from['facts']) ? from['facts'] : {},
    warnings: texts(from['warnings']),
    next_actions: texts(from['next_actions']),
  };
}

/** The artifacts of a bundle that its renderer made. */
function picturesOf({ artifacts, context, source }: Manifest): Manifest['artifacts'] {
  const run = context?.['run'];
  const own = isObject(run) && Array.isArray(run['artifacts']) ? run['artifacts'] : [];
  // The list of source files is written anew where it is long.
  return artifacts.filter(
    ({ artifact_id, path }) => !own.includes(artifact_id) && path !== source?.files_path,
  );
}

/** What was told of the pictures: they are the same, and so it is true of them here. */
function pictureMetrics({ metrics }: Manifest): Record<string, unknown> {
  const { picture, tiles } = (metrics ?? {}) as Record<string, unknown>;
  return isObject(picture) && isObject(tiles) ? { picture, tiles } : {};
}

/** Publishes the pictures of `from` again, with what a run adds. */
export const takeOver: TakeOver = async (run, sources, keyed, { bundle_id, manifest }) => {
  const { options, session } = run;
  const bundle = join(session.dir, bundle_id);
  options.onPhase?.('recording');
  const stage = openStage(session.dir, { redact: options.redact });
  try {
    const said = renderOf(bundle, manifest);
    for (const artifact of picturesOf(manifest)) takeArtifact(stage, bundle, artifact);
    const fields = bundleFields(run, sources, keyed);
    const { entry_point, version, ...generator } = manifest.generator ?? {};
    const over = withRun(stage, options.ran, keyed.key);
    const sealed = sealStage(
      stage,
      over({
        ...fields,
        ...said,
        status: manifest.status as BundleFields['status'],
        generator,
        metrics: { ...fields.metrics, ...pictureMetrics(manifest) },
        context: { ...fields.context, reused_from: bundle_id },
      }),
    );
    const recorded = await record(session, { kind: 'new', sealed }, finished(run), commitOptions(run));
    const { session_id } = recorded.head;
    if (!options.ran && session_id) {
      // Most of what it needs, a run does not.
      const { rememberBundle } = await import('../src/remember.js');
      rememberBundle(recorded.session.root, session_id, keyed.key, {
        bundle_id: recorded.step.bundle_id,
        manifest_sha256: recorded.step.manifest_sha256,
      });
    }
    return resultOf(recorded, session.warnings, { artifacts: stage.artifacts, warnings: sealed.warnings });
  } catch (error) {
    // Gone in the meantime: it is rendered instead.
    if (errnoOf(error) === 'ENOENT') return null;
    if (error instanceof PreviewError && error.code === 'bundle_gone') return null;
    throw error;
  } finally {
    closeStage(stage);
  }
};
