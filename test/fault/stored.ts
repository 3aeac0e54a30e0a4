// A second opinion on what is on disk after a fault: a small reader of the protocol that imports nothing of
// src/, and what must hold of every session it reads. It runs no command; that is invariants.ts.
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

const sha256 = (bytes: Buffer | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
/** Hashes are written as `sha256:<hex>`; a bare hex digest is taken as the same. */
const sameHash = (written: unknown, bytes: Buffer | string): boolean =>
  typeof written === 'string' && `sha256:${written.replace(/^sha256:/, '')}` === sha256(bytes);

export type Json = Record<string, unknown>;
export type Recorded = { head: Json | null; lines: string[]; steps: Json[]; problems: string[] };

/** What was recorded before the fault. `raw` is trajectory.json up to where its last entry ended. */
export type Before = { steps: string[]; raw: Buffer };
export const nothing: Before = { steps: [], raw: Buffer.alloc(0) };

function parse(text: string, what: string, problems: string[]): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object') return value as Json;
    problems.push(`${what} is no object`);
  } catch (error) {
    problems.push(
      `${what} does not parse (${(error as Error).message}): ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  return null;
}

function read(path: string, problems: string[]): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    problems.push(`cannot read ${basename(path)}: ${(error as Error).message}`);
    return null;
  }
}

/**
 * Reads a session by protocol.md section 3: the bytes of trajectory.json before its last entry, then the
 * head's own latest_step. Needs no lock and no healed trajectory.
 */
export function readRecorded(session: string): Recorded {
  const problems: string[] = [];
  const nobody: Recorded = { head: null, lines: [], steps: [], problems };
  const headBytes = read(join(session, 'session.json'), problems);
  const head = headBytes && parse(headBytes.toString('utf8'), 'session.json', problems);
  if (!head) return nobody;
  const count = head.trajectory_step_count;
  const ends = head.trajectory_bytes;
  if (typeof count !== 'number' || typeof ends !== 'number') {
    problems.push(
      `session.json has trajectory_step_count ${String(count)}, trajectory_bytes ${String(ends)}`,
    );
    return { ...nobody, head };
  }
  if (count === 0) return { ...nobody, head };
  const trajectory = read(join(session, 'trajectory.json'), problems);
  if (!trajectory) return { ...nobody, head };
  const last = JSON.stringify(head.latest_step);
  const begins = ends - Buffer.byteLength(last);
  if (!sameHash(head.trajectory_sha256, last))
    problems.push('trajectory_sha256 is not the hash of latest_step');
  // The comma and newline before the last entry belong to its append, so they may be missing or torn too.
  const separator = count === 1 ? 1 : 2;
  const settled = trajectory.subarray(0, begins - separator).toString('utf8');
  if (Buffer.byteLength(settled) !== begins - separator)
    problems.push(`trajectory.json ends at ${trajectory.length}, before the last entry's ${begins}`);
  if (!settled.startsWith('[')) problems.push('trajectory.json does not begin with [');
  const earlier = count === 1 ? [] : settled.slice(2).split(',\n');
  const lines = [...earlier, last];
  if (lines.length !== count)
    problems.push(`trajectory.json holds ${lines.length} entries, session.json counts ${count}`);
  const steps: Json[] = [];
  for (const [at, line] of lines.entries()) {
    const step = parse(line, `step ${at + 1}`, problems);
    if (step) steps.push(step);
  }
  return { head, lines, steps, problems };
}

/** What to remember of a healthy session before something is done to it. */
export function remember(session: string): Before {
  const { lines, head, problems } = readRecorded(session);
  if (problems.length > 0) throw new Error(`the session is unsound before the test: ${problems.join('; ')}`);
  const raw = readFileSync(join(session, 'trajectory.json')).subarray(0, Number(head?.trajectory_bytes));
  return { steps: lines, raw: Buffer.from(raw) };
}

/** Names of all bundle directories, in numeric order, whether a step names them or not. */
export function bundlesOf(session: string): string[] {
  if (!existsSync(session)) return [];
  return readdirSync(session)
    .filter((name) => /^bundle_\d+$/.test(name))
    .sort((a, b) => number(a) - number(b));
}
export const number = (name: string): number => Number(/\d+$/.exec(name)?.[0] ?? -1);

/** I1: a bundle that has its name is whole: manifest, summary and artifacts are there and have their hashes. */
function checkBundle(session: string, dir: string, problems: string[]): Json | null {
  const where = join(session, dir);
  if (!existsSync(where) || !lstatSync(where).isDirectory()) {
    problems.push(`${dir} is no directory`);
    return null;
  }
  const bytes = read(join(where, 'manifest.json'), problems);
  const manifest = bytes && parse(bytes.toString('utf8'), `${dir}/manifest.json`, problems);
  if (!manifest) return null;
  const artifacts = Array.isArray(manifest.artifacts) ? (manifest.artifacts as Json[]) : [];
  for (const artifact of artifacts) {
    const path = join(where, String(artifact.path));
    if (relative(where, path).startsWith('..'))
      problems.push(`${dir}: artifact path ${String(artifact.path)} leads out`);
    const content = read(path, problems);
    if (!content) continue;
    if (!sameHash(artifact.sha256, content))
      problems.push(`${dir}/${String(artifact.path)} does not have its sha256`);
    if (artifact.bytes !== content.length)
      problems.push(
        `${dir}/${String(artifact.path)} has ${content.length} bytes, not ${String(artifact.bytes)}`,
      );
    if (statSync(path).mode & 0o222) problems.push(`${dir}/${String(artifact.path)} is still writable`);
  }
  const summary = read(join(where, 'summary.json'), problems);
  if (summary && !sameHash(manifest.summary_sha256, summary))
    problems.push(`${dir}/summary.json does not have its sha256`);
  return manifest;
}

/** How far the end of trajectory.json has the last entry's record, and what follows where it differs from it. */
function tailOf(raw: Buffer, head: Json): { same: number; of: number; rest: string } {
  const count = Number(head.trajectory_step_count);
  const entry = count === 0 ? '' : `${count === 1 ? '\n' : ',\n'}${JSON.stringify(head.latest_step)}`;
  const record = Buffer.from(`${entry}\n]\n`);
  const tail = raw.subarray(Math.max(0, Number(head.trajectory_bytes) + 3 - record.length));
  let same = 0;
  while (same < tail.length && tail[same] === record[same]) same++;
  return { same, of: record.length, rest: tail.subarray(same).toString('latin1') };
}

/**
 * I3: from where the last entry's record begins, trajectory.json holds that record, or what a kill within its
 * append leaves: a beginning of it, then nothing, zero bytes or the rest of the old closing. Nothing that the
 * head does not name is ever in it.
 */
function checkTail(raw: Buffer, head: Json): string[] {
  const { same, of, rest } = tailOf(raw, head);
  if (rest === '' || (same < of && (/^\0+$/.test(rest) || rest === '\n]\n'.slice(same)))) return [];
  return [
    `trajectory.json ends in ${JSON.stringify(rest.slice(0, 120))} after ${same} of the last record's ${of} bytes`,
  ];
}

/** How many steps the faulted command may and must have committed. */
export type Added = { mayHaveAdded: number; mustHaveAdded?: number };

/** The stored state alone: nothing lost, altered or doubled, everything that is named exists and has its hash. */
export function checkStored(
  session: string,
  before: Before,
  { mayHaveAdded, mustHaveAdded = 0 }: Added,
): string[] {
  const { head, lines, steps, problems } = readRecorded(session);
  if (!head) return problems;
  // I4: the bytes that were there are there.
  const raw = read(join(session, 'trajectory.json'), problems);
  if (raw && !raw.subarray(0, before.raw.length).equals(before.raw))
    problems.push('bytes of earlier entries in trajectory.json changed');
  if (raw) problems.push(...checkTail(raw, head));
  // I3: nothing lost, at most what was asked for added.
  for (const [at, line] of before.steps.entries()) {
    if (lines[at] !== line)
      problems.push(lines[at] === undefined ? `step ${at + 1} is lost` : `step ${at + 1} was altered`);
  }
  const added = lines.length - before.steps.length;
  if (added > mayHaveAdded) problems.push(`${added} steps were added, at most ${mayHaveAdded} may have been`);
  if (added < mustHaveAdded) problems.push(`${added} steps were added, ${mustHaveAdded} were committed`);
  const fresh = new Map<string, string>();
  for (const [at, step] of steps.entries()) {
    const name = `step ${at + 1}`;
    const line = lines[at]!;
    if (JSON.stringify(step) !== line) problems.push(`${name} is not written as JSON.stringify would`);
    if (Buffer.byteLength(line) > 16 * 1024) problems.push(`${name} has more than 16 KB`);
    if (step.step_index !== at + 1) problems.push(`${name} has step_index ${String(step.step_index)}`);
    if (step.step_id !== `step-${String(at + 1).padStart(4, '0')}`)
      problems.push(`${name} has step_id ${String(step.step_id)}`);
    if (at === 0 ? step.prev_sha256 !== null : !sameHash(step.prev_sha256, lines[at - 1]!))
      problems.push(`${name}: prev_sha256 is wrong`);
    const dir = String(step.bundle_dir);
    if (!/^bundle_\d{3,}$/.test(dir)) problems.push(`${name} has bundle_dir ${dir}`);
    const id = String(step.bundle_id);
    if (step.cached === true) {
      if (!fresh.has(dir)) problems.push(`${name} reuses ${dir}, which no earlier step published`);
      continue;
    }
    if (fresh.has(dir)) problems.push(`${name} and an earlier step both published ${dir}`);
    if ([...fresh.values()].includes(id)) problems.push(`${name} has the bundle id of an earlier step`);
    fresh.set(dir, id);
    const manifest = checkBundle(session, dir, problems);
    if (!manifest) continue;
    if (!sameHash(step.manifest_sha256, readFileSync(join(session, dir, 'manifest.json'))))
      problems.push(`${name}: manifest_sha256 is wrong`);
    if (manifest.bundle_id !== id) problems.push(`${name}: the manifest has another bundle_id`);
    if (step.manifest_path !== `${dir}/manifest.json`)
      problems.push(`${name}: manifest_path is ${String(step.manifest_path)}`);
  }
  // I1: what no step names is whole as well, once it has a bundle's name.
  for (const dir of bundlesOf(session)) if (!fresh.has(dir)) checkBundle(session, dir, problems);
  if (Number(head.bundle_last) < Math.max(0, ...[...fresh.keys()].map(number)))
    problems.push(`bundle_last is ${String(head.bundle_last)}, less than a published number`);
  // F05: `current` is never missing and never leads nowhere.
  if (lines.length > 0 && before.steps.length > 0) {
    try {
      if (!statSync(join(session, 'current')).isDirectory()) problems.push('current leads to no directory');
    } catch (error) {
      problems.push(`current: ${(error as Error).message}`);
    }
  }
  return problems;
}

/** What lies in a folder, recursively: relative names, directories with a closing slash. */
function listing(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const name = (entry: Dirent): string =>
    relative(folder, join(entry.parentPath, entry.name)) + (entry.isDirectory() ? '/' : '');
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map(name).sort();
}

/** What a dead process left in a `.work` folder: anything but the lock's own empty directory. */
export function leftInWork(folder: string): string[] {
  const rest = listing(join(folder, '.work')).filter((name) => name !== 'lock/');
  return rest.length > 0 ? [`left in ${basename(folder)}/.work: ${rest.join(' ')}`] : [];
}

/**
 * What a dead process left: anything in the session's .work, and elsewhere anything that a healthy root does
 * not have. The root's own .work is swept by whoever takes the root's lock, which only a new session needs.
 */
export function leftovers(root: string, session: string): string[] {
  const problems = leftInWork(session);
  const known = /^(session\.json|trajectory\.json|current|bundle_\d+|\.work)$/;
  const odd = readdirSync(session).filter((name) => !known.test(name));
  if (odd.length > 0) problems.push(`left in the session: ${odd.join(' ')}`);
  const oddInRoot = readdirSync(root).filter(
    (name) => !/^(session_\d+|current|\.gitignore|\.work|\.cache)$/.test(name),
  );
  if (oddInRoot.length > 0) problems.push(`left in the root: ${oddInRoot.join(' ')}`);
  return problems;
}

/** A session's shape without times, hashes and owners: what `previews verify` says depends on nothing else here. */
export function signature(session: string): string {
  const { head, lines } = readRecorded(session);
  const names = listing(session).map((name) => {
    const file = join(session, name);
    const plain = name.startsWith('.work/') ? name.replace(/[0-9a-f]{4,}|\d+/g, '#') : name;
    return `${plain} ${existsSync(file) && statSync(file).size > 0}`;
  });
  const raw = existsSync(join(session, 'trajectory.json'))
    ? readFileSync(join(session, 'trajectory.json'))
    : null;
  const kinds = ((head?.recoveries ?? []) as Json[]).map(({ kind }) => kind);
  return sha256(
    JSON.stringify([lines.length, names, raw && head && tailOf(raw, head), kinds, head?.orphans]),
  );
}
