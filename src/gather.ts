// All steps of a damaged session that can still be had: from its readable lines, its head and its bundles' manifests.
import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './errors.js';
import { sha256 } from './hash.js';
import { byNumber, MANIFEST_NAME, numberOf, stepId, TRAJECTORY_NAME } from './layout.js';
import { parseStep, readBundle } from './read.js';
import type { Head, Step } from './schema.js';
import { makeStep } from './step.js';
import { eachLine, lastOffset } from './trajectory.js';

export interface Gathered {
  steps: Step[];
  /** How many lines could not be read, and how many steps came from the head and from manifests. */
  bad: number;
  fromHead: number;
  fromBundles: number;
}

/** All steps that can be had, in their order. */
export function gather(dir: string, head: Head | null): Gathered {
  const { steps, bad } = readableLines(dir, head);
  const known = new Set(steps.map((step) => step.step_index));
  let fromHead = 0;
  for (const candidate of [
    head?.latest_step,
    ...(head?.history ?? []).map((entry) => fromHistory(dir, entry as Partial<Step>)),
  ]) {
    if (!candidate || known.has(candidate.step_index)) continue;
    known.add(candidate.step_index);
    steps.push(candidate);
    fromHead++;
  }
  steps.sort((a, b) => a.step_index - b.step_index);
  const fromBundles = addUnnamed(dir, head, steps);
  return { steps, bad, fromHead, fromBundles };
}

/** Each line that is a step. One whose opening was overwritten by a closing bracket (a writer overtaken elsewhere) is given it back. */
function readableLines(dir: string, head: Head | null): { steps: Step[]; bad: number } {
  const steps: Step[] = [];
  const seen = new Set<number>();
  let bad = 0;
  let fd: number;
  try {
    fd = openSync(join(dir, TRAJECTORY_NAME), 'r');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return { steps, bad };
  }
  try {
    for (const line of eachLine(fd, 0, fstatSync(fd).size)) {
      if (line === ']') continue;
      const step = parseStep(line, 0).value ?? parseStep(`{${line}`, 0).value;
      if (!step) bad++;
      else if (!seen.has(step.step_index)) {
        seen.add(step.step_index);
        steps.push(step);
      }
    }
    // The head's own last step is the better witness for what stands at its place.
    const last = head?.latest_step;
    if (head && last && lastOffset(head) > 0) {
      const at = steps.findIndex((step) => step.step_index === last.step_index);
      if (at >= 0) steps[at] = last;
    }
  } finally {
    closeSync(fd);
  }
  return { steps, bad };
}

/** A step of the head's history made whole again from its bundle's manifest; null where that is gone. */
function fromHistory(dir: string, entry: Partial<Step>): Step | null {
  const { bundle_id, step_index } = entry;
  if (
    typeof bundle_id !== 'string' ||
    typeof step_index !== 'number' ||
    numberOf(bundle_id, 'bundle') === null
  )
    return null;
  const made = fromManifest(dir, bundle_id, step_index);
  return made && { ...made, ...entry, recovered: true };
}

/** Steps for bundles that no step names, each before the first step whose bundle is newer. */
function addUnnamed(dir: string, head: Head | null, steps: Step[]): number {
  const named = new Set(steps.map((step) => step.bundle_id));
  const orphans = new Set(head?.orphans);
  let added = 0;
  for (const name of readdirSync(dir)
    .filter((entry) => numberOf(entry, 'bundle') !== null)
    .sort(byNumber)) {
    const number = numberOf(name, 'bundle')!;
    if (named.has(name) || orphans.has(name) || (head && number > head.bundle_last)) continue;
    const before = steps.findIndex(
      (step) => !step.cached && (numberOf(step.bundle_id, 'bundle') ?? 0) > number,
    );
    const at = before < 0 ? steps.length : before;
    const made = fromManifest(dir, name, (steps[at - 1]?.step_index ?? 0) + 1);
    if (!made) continue;
    steps.splice(at, 0, made);
    added++;
  }
  return added;
}

/** What a manifest knows of its step. */
function fromManifest(dir: string, bundle_id: string, step_index: number): Step | null {
  const { manifest } = readBundle(join(dir, bundle_id)).value;
  if (!manifest) return null;
  const status = manifest.status === 'ok' || manifest.status === 'partial' ? manifest.status : 'error';
  const render = manifest.artifacts.find((artifact) => artifact.role === 'hero')?.path ?? null;
  const step = makeStep(
    {
      command: manifest.command ?? null,
      publish_reason: 'capture',
      recipe: manifest.recipe ?? null,
      source_fingerprint: manifest.source_fingerprint ?? null,
    },
    {
      step_id: stepId(step_index),
      step_index,
      published_at: manifest.created_at,
      bundle_id,
      render,
      manifest_sha256: sha256(readFileSync(join(dir, bundle_id, MANIFEST_NAME))),
      prev_sha256: null,
      status,
      cached: false,
      command_path: null,
      note_path: null,
    },
  );
  return { ...step, recovered: true };
}
