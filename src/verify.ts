// Proving a session: the chain of lines, the head against it, and every bundle's files against their hashes.
// Reads everything, writes nothing, needs no lock: what is published meanwhile comes after what is looked at.

import { closeSync, fstatSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { openRegular } from './disk.js';
import { errnoOf } from './errors.js';
import { hashFile, sha256 } from './hash.js';
import { numberOf, stepId, TRAJECTORY_NAME } from './layout.js';
import { inside, parseStep, readBundle, readHead } from './read.js';
import type { Head, Problem, Step } from './schema.js';
import { TEXTS_NAME } from './step.js';
import { eachLine, inspectTail, lastOffset, readAt } from './trajectory.js';
import { checkFiles, type Use, verifyBundles } from './verifyfiles.js';

export interface Verdict {
  ok: boolean;
  steps: number;
  bundles: number;
  /** 1 when the last step is committed in the head and its line is not yet written: no problem. */
  pending: number;
  problems: Problem[];
  /** What is no fault but should be known: that a neighbour's recording has no hashes to prove it by. */
  notes?: Problem[];
}

export interface VerifyOptions {
  /** A head hash kept elsewhere: some step's line must have it, so that all before is proved unchanged. */
  head?: string | undefined;
  /** Called with the bundles done so far and their number. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Verifies a whole session. Never throws for what is on disk; a failing disk throws. */
export function verify(dir: string, options: VerifyOptions = {}): Verdict {
  const problems: Problem[] = [];
  const reading = readHead(dir);
  problems.push(...reading.problems.filter((problem) => problem.kind !== 'version_newer'));
  const head = reading.value;
  if (head === null) return { ok: false, steps: 0, bundles: 0, pending: 0, problems };
  const chain = verifyChain(dir, head, problems, options.head);
  const bundles = verifyBundles(dir, head, chain.bundles, problems, options.onProgress);
  verifyHead(head, chain, problems);
  return { ok: problems.length === 0, steps: chain.count, bundles, pending: chain.pending, problems };
}

/** One bundle by itself: its files against its manifest. */
export function verifyBundle(dir: string): Verdict {
  const problems: Problem[] = [];
  const { value, problems: found } = readBundle(dir);
  problems.push(...found);
  if (value.manifest) checkFiles(dir, '', value.manifest, problems);
  return { ok: problems.length === 0, steps: 0, bundles: 1, pending: 0, problems };
}

interface Chain {
  count: number;
  pending: number;
  bundles: Map<string, Use>;
  /** Steps by id that the head's `current` may name. */
  newest: Step | null;
  current: Step | null;
}

/** Walks the lines: each must name its predecessor's hash, its own number, and the same manifest as others of its bundle. */
function verifyChain(dir: string, head: Head, problems: Problem[], wanted: string | undefined): Chain {
  const chain: Chain = { count: 0, pending: 0, bundles: new Map(), newest: null, current: null };
  let previous: string | null = null;
  let found = wanted === undefined;
  const take = (line: string) => {
    const index = chain.count + 1;
    const { value: step, problems: bad } = parseStep(line, index);
    problems.push(...bad);
    chain.count = index;
    const where = `step ${index}`;
    if (step && step.step_index !== index)
      problems.push({ kind: 'step_order', where, detail: `it says it is step ${step.step_index}` });
    if (step && step.step_id !== stepId(step.step_index))
      problems.push({ kind: 'step_altered', where, detail: `its id is ${step.step_id}` });
    if (step && step.prev_sha256 !== previous)
      problems.push({
        kind: 'chain_broken',
        where,
        detail: 'the step before it was edited, dropped, added or moved',
      });
    previous = sha256(line);
    if (previous === wanted) found = true;
    if (!step) return;
    if (step['lost'])
      problems.push({
        kind: 'step_lost',
        where,
        detail: 'nothing of what was recorded is left; a repair kept its number',
      });
    if (step['unproved'])
      problems.push({
        kind: 'step_unproved',
        where,
        detail: 'a repair found it altered and could not prove what it was',
      });
    chain.newest = step;
    if (step.step_id === head.current_step_id) chain.current = step;
    takeBundle(step, where);
    checkText(dir, step, where, problems);
  };
  const takeBundle = (step: Step, where: string) => {
    if (numberOf(step.bundle_id, 'bundle') === null || step.bundle_dir !== step.bundle_id) {
      problems.push({
        kind: 'step_altered',
        where,
        detail: `${step.bundle_dir} is no bundle of this session`,
      });
      return;
    }
    const use = chain.bundles.get(step.bundle_id);
    if (use && use.manifest_sha256 !== step.manifest_sha256)
      problems.push({
        kind: 'step_altered',
        where,
        detail: `it names another manifest hash for ${step.bundle_id} than ${use.step.step_id}`,
      });
    if (use && !step.cached && !use.step['lost'])
      problems.push({
        kind: 'bundle_doubled',
        where,
        detail: `${step.bundle_id} is already that of ${use.step.step_id}`,
      });
    if (!use) chain.bundles.set(step.bundle_id, { step, manifest_sha256: step.manifest_sha256 });
  };
  let fd: number;
  try {
    fd = openRegular(join(dir, TRAJECTORY_NAME));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    problems.push({ kind: 'missing', where: TRAJECTORY_NAME, detail: 'the file is not there' });
    return chain;
  }
  try {
    const end = lastOffset(head);
    const odd = () =>
      problems.push({
        kind: 'trajectory_altered',
        where: `step ${chain.count + 1}`,
        detail: 'what stands between the lines was altered',
      });
    for (const line of eachLine(fd, 0, Math.min(Math.max(end, 1), fstatSync(fd).size), odd)) take(line);
    const written = chain.count;
    if (head.trajectory_step_count > 0) take(JSON.stringify(head.latest_step));
    const state = inspectTail(fd, head);
    if (state.state === 'pending') chain.pending = 1;
    // A publication since the head was read may have gone past it; only what is before the head's end is judged.
    if (state.state === 'damaged' && !grewPast(dir, head, fd))
      problems.push({ kind: 'trajectory_cut', where: TRAJECTORY_NAME, detail: state.detail });
    if (written + 1 < head.trajectory_step_count)
      problems.push({
        kind: 'step_missing',
        where: TRAJECTORY_NAME,
        detail: `the head counts ${head.trajectory_step_count} steps, ${written + 1} are there`,
      });
  } finally {
    closeSync(fd);
  }
  if (previous !== head.trajectory_sha256)
    problems.push({
      kind: 'head_disagrees',
      where: 'session.json',
      detail: 'trajectory_sha256 is not the hash of the last step',
    });
  if (!found)
    problems.push({
      kind: 'head_hash',
      where: TRAJECTORY_NAME,
      detail: `no step has the hash ${wanted}: the history is not the one it was taken from`,
    });
  return chain;
}

/** True when the bytes up to the head's end are as they must be and another entry has been appended since. */
function grewPast(dir: string, head: Head, fd: number): boolean {
  const newer = readHead(dir).value;
  if (!newer || newer.trajectory_step_count <= head.trajectory_step_count) return false;
  const line = Buffer.from(JSON.stringify(head.latest_step));
  return readAt(fd, head.trajectory_bytes - line.length, line.length).equals(line);
}

/** A command or note kept in a file of its own: the file's name is its hash. */
function checkText(dir: string, step: Step, where: string, problems: Problem[]): void {
  for (const stored of [step.command_path, step.note_path]) {
    if (stored == null) continue;
    const match = new RegExp(`^${TEXTS_NAME}/([0-9a-f]{64})\\.txt$`).exec(stored);
    const path = match && inside(dir, stored);
    if (!path || lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      problems.push({ kind: 'text_missing', where, detail: `${stored} is not there` });
    } else if (hashFile(path).sha256 !== `sha256:${match[1]}`) {
      problems.push({ kind: 'text_altered', where, detail: `${stored} was altered` });
    }
  }
}

/** The head's own words against the chain's. */
function verifyHead(head: Head, chain: Chain, problems: Problem[]): void {
  const disagree = (detail: string) =>
    problems.push({ kind: 'head_disagrees', where: 'session.json', detail });
  if (chain.count !== head.trajectory_step_count)
    disagree(`it counts ${head.trajectory_step_count} steps, the trajectory has ${chain.count}`);
  if (chain.bundles.size !== head.bundle_count)
    disagree(`it counts ${head.bundle_count} bundles, the steps name ${chain.bundles.size}`);
  let last = 0;
  for (const name of chain.bundles.keys()) last = Math.max(last, numberOf(name, 'bundle') ?? 0);
  if (head.bundle_last < last) disagree(`its last bundle number is ${head.bundle_last}, ${last} is in use`);
  if (head.trajectory_path !== TRAJECTORY_NAME) disagree(`its trajectory_path is ${head.trajectory_path}`);
  if (head.trajectory_step_count === 0) return;
  const { current, newest } = chain;
  if (!current) disagree(`current_step_id ${head.current_step_id} is no step of the trajectory`);
  else {
    const says = [
      head.current_bundle_id,
      head.current_bundle_dir,
      head.current_manifest_path,
      head.current_summary_path,
      head.current_render_path ?? null,
      head.current_cached,
    ];
    const is = [
      current.bundle_id,
      current.bundle_dir,
      current.manifest_path,
      current.summary_path ?? null,
      current.render_path ?? null,
      current.cached,
    ];
    if (says.some((value, n) => value !== is[n]))
      disagree(`its current bundle is not that of ${current.step_id}`);
  }
  if (
    newest &&
    (head.latest_command !== newest.command || head.latest_publish_reason !== newest.publish_reason)
  )
    disagree('its latest command is not that of the last step');
  if (newest && !isShortOf(head.history[0], newest))
    disagree('its history does not begin with the last step');
}

/** Whether a history entry says nothing else than its step; it may say less, and its command may be cut. */
function isShortOf(entry: Head['history'][number] | undefined, step: Step): boolean {
  if (!entry) return false;
  return Object.entries(entry).every(([key, value]) => {
    if (key === 'command' && typeof value === 'string' && value.endsWith('…'))
      return step.command?.startsWith(value.slice(0, -1));
    return key in step ? JSON.stringify(step[key]) === JSON.stringify(value) : key !== 'step_id';
  });
}
