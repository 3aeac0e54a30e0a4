// Publishing without the CLI: another program hands over files and facts, and gets a recorded step back.

import { type ArtifactInput, addArtifact } from './artifact.js';
import { type BundleFields, sealStage } from './bundle.js';
import { now } from './clock.js';
import type { CommitOptions } from './commit.js';
import { asPreviewError, PreviewError } from './errors.js';
import { type OpenSession, type Recorded, record } from './session.js';
import { closeStage, openStage } from './stage.js';
import type { StepInput } from './step.js';

export interface BundleInput extends Partial<Omit<BundleFields, 'command'>> {
  headline: string;
  /** The files of the bundle; one of role `hero` becomes its picture. */
  artifacts: ArtifactInput[];
}

export interface PublishOptions extends Partial<StepInput>, Partial<Omit<CommitOptions, 'allowed'>> {}

/**
 * Publishes one immutable bundle and commits its step (protocol, section 4). The files are copied unless `move` is set.
 * @throws PreviewError (`lock_timeout`, `version_newer` …) and system errors; then nothing was recorded.
 */
export async function publish(
  session: OpenSession,
  bundle: BundleInput,
  options: PublishOptions = {},
): Promise<Recorded> {
  const begun = options.begun ?? now();
  if (typeof bundle?.headline !== 'string' || !Array.isArray(bundle.artifacts)) {
    throw new PreviewError(
      'usage',
      'publish() needs a bundle with a headline and a list of artifacts',
      'see guides/recipes.md for an example',
    );
  }
  const { artifacts, ...fields } = bundle;
  const { redact, ...given } = options;
  const command = options.command ?? null;
  const stage = openStage(session.dir, { redact });
  try {
    for (const artifact of artifacts) addArtifact(stage, artifact);
    const sealed = sealStage(stage, { status: 'ok', ...fields, command });
    const input: StepInput = {
      ...given,
      command,
      publish_reason: options.publish_reason ?? (command === null ? 'capture' : 'mutation'),
      recipe: options.recipe ?? fields.recipe ?? null,
      source_fingerprint: options.source_fingerprint ?? fields.source_fingerprint ?? null,
    };
    return await record(session, { kind: 'new', sealed }, input, {
      begun,
      redact,
      timeout_ms: options.timeout_ms ?? session.lock.timeout_ms,
    });
  } catch (error) {
    throw error instanceof TypeError
      ? new PreviewError(
          'usage',
          `publish(): ${error.message}`,
          'see guides/protocol.md for what a bundle holds',
          { cause: error },
        )
      : asPreviewError(error);
  } finally {
    closeStage(stage);
  }
}
