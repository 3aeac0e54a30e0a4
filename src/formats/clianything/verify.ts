// Checking a CLI-Anything session: it has no hashes, so what can be checked is that its files are there, are JSON,
// and say the same. What cannot is said in `notes`.
import { lstatSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { hashFile } from '../../hash.js';
import { HEAD_NAME } from '../../layout.js';
import type { Problem } from '../../schema.js';
import type { Verdict, VerifyOptions } from '../../verify.js';
import { readCliAnythingBundle } from './bundle.js';
import { type CliAnything, openCliAnything } from './session.js';
import { bundleWords } from './trajectory.js';

/** Problems that a session reports of itself, though all of it is there: no fault of what is on disk. */
const REPORTED = ['capture_failed'];

/** Checks a whole session. Never throws for what is on disk; a failing disk throws. */
export function verifyCliAnything(dir: string, options: VerifyOptions = {}): Verdict {
  const session = openCliAnything(dir);
  const problems = session.problems.filter(({ kind }) => !REPORTED.includes(kind));
  const { value: steps, problems: bad } = session.steps(1, session.stepCount);
  problems.push(...bad, ...currentProblems(session));
  const bundles = new Map<string, string>();
  for (const step of steps)
    if (step.bundle_dir !== null && !bundles.has(step.bundle_dir))
      bundles.set(step.bundle_dir, step.bundle_id ?? basename(step.bundle_dir));
  const hashes = { proved: 0, unproved: 0 };
  let done = 0;
  for (const [folder, id] of bundles) {
    options.onProgress?.(done++, bundles.size);
    const prefix = `${relative(dir, folder)}/`;
    const found: Problem[] = [];
    const manifest = checkBundle(folder, found, hashes);
    if (manifest !== null && manifest !== id)
      found.push({ kind: 'bundle_disagrees', where: 'manifest.json', detail: `it says it is ${manifest}` });
    problems.push(...found.map((problem) => ({ ...problem, where: prefix + problem.where })));
  }
  if (options.head !== undefined)
    problems.push({
      kind: 'head_hash',
      where: HEAD_NAME,
      detail: 'this recording has no hashes to look for it',
    });
  const notes = [unverifiable(dir, hashes), ...session.strays()];
  return {
    ok: problems.length === 0,
    steps: steps.length,
    bundles: bundles.size,
    pending: 0,
    problems,
    notes,
  };
}

/** Checks one bundle by itself. */
export function verifyCliAnythingBundle(dir: string): Verdict {
  const problems: Problem[] = [];
  const hashes = { proved: 0, unproved: 0 };
  checkBundle(dir, problems, hashes);
  const notes = [unverifiable(dir, hashes)];
  return { ok: problems.length === 0, steps: 0, bundles: 1, pending: 0, problems, notes };
}

function unverifiable(where: string, { proved, unproved }: { proved: number; unproved: number }): Problem {
  const kept = proved > 0 ? `${proved} files have a hash, which was checked; ` : '';
  return {
    kind: 'unverifiable',
    where,
    detail: `${kept}${unproved} files and all steps have none: that they are there and agree was checked, not that nobody changed them`,
  };
}

/** Files there, of the recorded size, and of the recorded hash where there is one. Returns the manifest's id. */
function checkBundle(
  dir: string,
  problems: Problem[],
  hashes: { proved: number; unproved: number },
): string | null {
  const { value, problems: found } = readCliAnythingBundle(dir);
  problems.push(...found);
  for (const { path, bytes, sha256 } of value.manifest?.artifacts ?? []) {
    const altered = (detail: string) => problems.push({ kind: 'artifact_altered', where: path, detail });
    const { size } = lstatSync(join(dir, path));
    if (size !== bytes) altered(`it has ${size} bytes, ${bytes} were recorded`);
    if (sha256 === undefined) hashes.unproved++;
    else if (hashFile(join(dir, path)).sha256 === sha256) hashes.proved++;
    else altered('its content is not what was recorded');
  }
  return value.manifest?.bundle_id ?? null;
}

/** What the head says is current against the steps. */
function currentProblems({ raw, head, stepCount, steps, find }: CliAnything): Problem[] {
  if (raw === null || head === null || stepCount === 0) return [];
  const problems: Problem[] = [];
  const all = steps(1, stepCount).value;
  const disagree = (detail: string) => problems.push({ kind: 'head_disagrees', where: HEAD_NAME, detail });
  const step = all.find(({ step_id }) => step_id === head.current_step_id);
  if (step === undefined) disagree(`current_step_id ${head.current_step_id} is no step of the trajectory`);
  else if (step.bundle_id !== head.current_bundle_id)
    disagree(`its current bundle is not that of ${step.step_id}`);
  const words = bundleWords({ bundle_id: raw['current_bundle_id'], bundle_dir: raw['current_bundle_dir'] });
  if (find(words)?.path === null) disagree('its current bundle is not here');
  return problems;
}
