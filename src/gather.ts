// All steps of a damaged session that can still be had: from its readable lines, its head and its bundles' manifests.

import { closeSync, fstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openRegular, readRegular } from './disk.js';
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
  /** Steps of which nothing could be had: a placeholder keeps their number. */
  lost: number;
  /** Lines that were altered: given back their recorded command, proved by the next line's hash, or left and marked. */
  restored: number;
  unproved: number;
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
  const altered = restoreAltered(dir, steps);
  const fromBundles = addUnnamed(dir, head, steps);
  const all = filled(steps, head);
  return { steps: all, bad, fromHead, fromBundles, lost: all.length - steps.length, ...altered };
}

/** Each line that is a step. One whose opening was overwritten by a closing bracket (a writer overtaken elsewhere) is given it back. */
function readableLines(dir: string, head: Head | null): { steps: Step[]; bad: number } {
  const steps: Step[] = [];
  const seen = new Set<number>();
  let bad = 0;
  let fd: number;
  try {
    fd = openRegular(join(dir, TRAJECTORY_NAME));
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

/**
 * Looks at each step whose successor recorded another hash of its line. The bundle's manifest, itself proved by the
 * step's own hash of it, may know the command as it was; if the line with it has the recorded hash, it is given back.
 */
function restoreAltered(dir: string, steps: Step[]): { restored: number; unproved: number } {
  let restored = 0;
  let unproved = 0;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1];
    if (!next || next.step_index !== step.step_index + 1 || next['recovered'] || step['recovered']) continue;
    if (sha256(JSON.stringify(step)) === next.prev_sha256) continue;
    const { manifest } = readBundle(join(dir, step.bundle_id)).value;
    const candidate = { ...step, command: manifest?.command ?? null };
    const proved = sha256(JSON.stringify(candidate)) === next.prev_sha256;
    steps[at] = proved ? candidate : { ...step, unproved: true };
    if (proved) restored++;
    else unproved++;
  }
  return { restored, unproved };
}

/** Never so many placeholders that a damaged index could fill the disk. */
const MAX_GAP = 1000;

/**
 * The steps with a placeholder for each number that is missing between them, so that every other step keeps its name.
 * A placeholder says so in its note, and shows the bundle of the step before it.
 */
function filled(steps: Step[], head: Head | null): Step[] {
  const all: Step[] = [];
  for (const step of steps) {
    const gap = step.step_index - all.length - 1;
    const near = all.at(-1) ?? step;
    if (gap > 0 && gap <= MAX_GAP)
      for (let n = 0; n < gap; n++) all.push(placeholder(near, all.length + 1, head));
    all.push(step);
  }
  return all;
}

function placeholder(near: Step, step_index: number, head: Head | null): Step {
  const step = makeStep(
    { command: null, publish_reason: 'capture', note: 'What was recorded of this step is lost.' },
    {
      step_id: stepId(step_index),
      step_index,
      published_at: near.published_at ?? head?.updated_at,
      bundle_id: near.bundle_id,
      render: null,
      manifest_sha256: near.manifest_sha256,
      prev_sha256: null,
      status: 'error',
      cached: true,
      command_path: null,
      note_path: null,
    },
  );
  return { ...step, lost: true };
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
      manifest_sha256: sha256(readRegular(join(dir, bundle_id, MANIFEST_NAME))),
      prev_sha256: null,
      status,
      cached: false,
      command_path: null,
      note_path: null,
    },
  );
  return { ...step, recovered: true };
}
