// What a capture says it recorded, and what a session says is current, in one form.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_NAME } from '../src/layout.js';
import { readBundle } from '../src/read.js';
import type { Head } from '../src/schema.js';
import type { Recorded } from '../src/session.js';
import { type CaptureResult, emptyResult } from './captureresult.js';

export type { CaptureResult } from './captureresult.js';

/** The result of a recorded step that shows these artifacts; nothing is read any more. `earlier` are warnings from before it was rendered. */
export function resultOf(
  { step, session, warnings }: Recorded,
  earlier: string[],
  shown: { artifacts: readonly unknown[]; warnings?: string[] | undefined },
): CaptureResult {
  return {
    ...placesOf(session.dir, step),
    step_id: step.step_id,
    status: step.status,
    cached: step.cached,
    artifact_count: shown.artifacts.length,
    warnings: [...new Set([...earlier, ...session.warnings, ...(shown.warnings ?? []), ...warnings])],
  };
}

/** A step's paths, absolute. */
function placesOf(
  dir: string,
  step: {
    bundle_id: string;
    bundle_dir: string;
    manifest_path: string;
    summary_path?: string | null | undefined;
    render_path?: string | null | undefined;
  },
) {
  const at = (stored: string | null | undefined) => (stored ? join(dir, stored) : null);
  return {
    session_dir: dir,
    bundle_dir: at(step.bundle_dir),
    bundle_id: step.bundle_id,
    manifest_path: at(step.manifest_path),
    summary_path: at(step.summary_path),
    render: at(step.render_path),
  };
}

/** What is current in a session, in the form a capture's result has; null fields before the first step. */
export function currentResult(dir: string, head: Head): CaptureResult {
  if (!head.current_bundle_id || !head.current_bundle_dir || !head.current_manifest_path) {
    return emptyResult(dir);
  }
  const manifest = existsSync(join(dir, head.current_bundle_dir, MANIFEST_NAME))
    ? readBundle(join(dir, head.current_bundle_dir)).value.manifest
    : null;
  return {
    ...placesOf(dir, {
      bundle_id: head.current_bundle_id,
      bundle_dir: head.current_bundle_dir,
      manifest_path: head.current_manifest_path,
      summary_path: head.current_summary_path,
      render_path: head.current_render_path,
    }),
    step_id: head.current_step_id,
    status: manifest?.status ?? null,
    cached: head.current_cached,
    artifact_count: manifest?.artifacts.length ?? 0,
    warnings: manifest?.warnings ?? [],
  };
}
