// `previews export --format cli-anything`: one of our sessions as a root in CLI-Anything's layout, which its programs
// take as `--root-dir` and its viewer by the session's folder.
import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readRegular } from '../../src/disk.js';
import {
  type Placed,
  theirBundleId,
  theirHead,
  theirManifest,
  theirSessionName,
  theirStep,
  theirSummary,
  theirTrajectory,
} from '../../src/formats/clianything/form.js';
import { slug, text } from '../../src/formats/clianything/values.js';
import type { Recording, SeenHead, SeenStep } from '../../src/formats/seen.js';
import { sha256 } from '../../src/hash.js';
import { MANIFEST_NAME, SUMMARY_NAME } from '../../src/layout.js';
import { inside } from '../../src/read.js';
import type { Manifest, Problem } from '../../src/schema.js';
import type { Exported } from './formats.js';
import type { Output } from './output.js';

/** Writes all of a session into `output`. What is damaged or gone is left out and named in `problems`. */
export function exportCliAnything(recording: Recording, head: SeenHead, output: Output): Exported {
  const problems: Problem[] = [];
  const { value: steps, problems: bad } = recording.steps(1, head.trajectory_step_count);
  problems.push(...recording.problems, ...bad);
  const software = slug(head.software);
  const recipe = head.recipe ?? steps.at(-1)?.['recipe'] ?? 'preview';
  const project = String(head['project_name'] ?? head.session_name);
  const session_name = theirSessionName(
    project,
    sha256(String(head['session_id'] ?? head.session_name)),
    String(recipe),
  );
  const session = join(software, 'live', session_name);
  const session_dir = join(output.dir, session);
  const words = { software, recipe: String(recipe), session_name, session_dir, root: output.dir };

  const placed = new Map<string, Placed | null>();
  const taken = new Set<string>();
  const place = (step: SeenStep): Placed | null => {
    const key = step.bundle_id ?? '';
    if (!placed.has(key))
      placed.set(key, placeBundle(recording, head, step, software, taken, output, problems));
    return placed.get(key) ?? null;
  };
  const theirs = steps.map((step) => {
    const bundle = place(step);
    return theirStep(step, wholeCommand(recording.dir, step, problems), bundle);
  });
  const current = placed.get(head.current_bundle_id ?? '') ?? null;
  output.writeJson(join(session, 'trajectory.json'), theirTrajectory(head, theirs, words));
  output.writeJson(join(session, 'session.json'), theirHead(head, theirs, current, words));
  if (current !== null) output.link(join(session, 'current'), relative(session_dir, current.dir));
  const bundles = [...placed.values()].filter((bundle) => bundle !== null).length;
  return { session_dir, steps: theirs.length, bundles, problems };
}

/** Copies a step's bundle, once; null where it cannot be shown. */
function placeBundle(
  recording: Recording,
  head: SeenHead,
  step: SeenStep,
  software: string,
  taken: Set<string>,
  output: Output,
  problems: Problem[],
): Placed | null {
  const dir = recording.bundleDir(step);
  const { value, problems: found } = dir === null ? { value: null, problems: [] } : recording.readBundle(dir);
  problems.push(...found.map((problem) => ({ ...problem, where: `${step.bundle_id}/${problem.where}` })));
  const { manifest, summary } = value ?? { manifest: null, summary: null };
  if (dir === null || manifest === null) {
    if (dir === null && !step['lost'])
      problems.push({
        kind: 'path_leaves',
        where: step.step_id,
        detail: 'its bundle lies outside the session',
      });
    return null;
  }
  const recipe = manifest.recipe ?? 'preview';
  const id = freeId(manifest, step, recipe, taken);
  const path = join(software, slug(recipe), id);
  const placed = { id, dir: join(output.dir, path), created_at: manifest.created_at };
  const artifacts = manifest.artifacts.filter((artifact) => {
    const from = inside(dir, artifact.path);
    const stored = from === null ? '' : relative(dir, from);
    const there = from !== null && lstatSync(from, { throwIfNoEntry: false })?.isFile() === true;
    // The manifest and the summary are written anew below.
    if (from === null || !there || stored === MANIFEST_NAME || stored === SUMMARY_NAME) {
      const where = `${step.bundle_id}/${artifact.path}`;
      problems.push({ kind: 'artifact_missing', where, detail: 'it is no file of its bundle' });
      return false;
    }
    output.copy(from, join(path, stored));
    return true;
  });
  output.writeJson(
    join(path, 'manifest.json'),
    theirManifest({ ...manifest, artifacts }, placed, text(head['session_id'])),
  );
  output.writeJson(
    join(path, 'summary.json'),
    theirSummary(summary ?? { headline: '', facts: {}, warnings: manifest.warnings ?? [], next_actions: [] }),
  );
  return placed;
}

/** Two bundles of one second and one cache key, which ours may have, get ids that differ. */
function freeId(manifest: Manifest, step: SeenStep, recipe: string, taken: Set<string>): string {
  const hashes = [manifest.cache_key, step.manifest_sha256, sha256(`${step.bundle_id}`)];
  const ids = hashes.flatMap((hash) => (hash ? theirBundleId(manifest.created_at, hash, recipe) : []));
  const id = ids.find((candidate) => !taken.has(candidate)) ?? `${ids.at(-1)}-${slug(step.bundle_id)}`;
  taken.add(id);
  return id;
}

/** A command over 4 KB is kept whole in a file of its own; theirs have no limit. */
function wholeCommand(dir: string, step: SeenStep, problems: Problem[]): string | null {
  if (!step.command_path) return step.command;
  const path = inside(dir, step.command_path);
  if (path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile()) {
    const whole = readRegular(path).toString('utf8');
    if (step.command_path.includes(sha256(whole).slice('sha256:'.length))) return whole;
  }
  const detail = `${step.command_path} is not what was kept: the command is cut`;
  problems.push({ kind: 'text_altered', where: step.step_id, detail });
  return step.command;
}
