// Whether what one step shows is what was recorded: its manifest against the step's own hash, its files against the
// manifest. Reads every file of the bundle.
import { join } from 'node:path';
import { readRegular } from './disk.js';
import { errnoOf } from './errors.js';
import type { Recording, SeenStep } from './formats/seen.js';
import { sha256 } from './hash.js';
import { MANIFEST_NAME } from './layout.js';
import { verifyAnyBundle } from './recording.js';
import type { Problem } from './schema.js';
import type { ShownVerdict } from './stream.js';

/** So many problems of one bundle are listed. */
const LISTED = 20;

/** Verifies the bundle of a step. Never throws for what is on disk; a failing disk throws. */
export function verdictOn(recording: Recording, step: SeenStep): ShownVerdict {
  const at = new Date().toISOString();
  const dir = recording.bundleDir(step);
  if (dir === null) {
    const detail = step['lost'] ? 'nothing of what was recorded is left' : 'its bundle is not there';
    return { ok: false, at, problems: [{ kind: 'bundle_missing', where: step.step_id, detail }], notes: [] };
  }
  const { problems, notes = [] } = verifyAnyBundle(dir);
  const all = [...manifestProblem(dir, step), ...problems];
  return {
    ok: all.length === 0,
    at,
    problems: all.slice(0, LISTED),
    notes: notes.map(({ detail }) => detail),
  };
}

function manifestProblem(dir: string, { manifest_sha256, step_id }: SeenStep): Problem[] {
  if (manifest_sha256 === null) return [];
  try {
    if (sha256(readRegular(join(dir, MANIFEST_NAME))) === manifest_sha256) return [];
  } catch (error) {
    // That it is not there is said by whoever verifies the bundle.
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
  return [
    { kind: 'manifest_altered', where: MANIFEST_NAME, detail: `it is not the one that ${step_id} recorded` },
  ];
}
