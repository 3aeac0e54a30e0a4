// What must hold after a fault, from the two things any user would do next: verify, and capture again. What
// must hold of the files themselves is in stored.ts. Problems are returned as sentences, so that a test can
// report every point that failed.
import { readFileSync, readlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type Outcome, run } from '../helpers/fault.js';
import { capture, verify } from './project.js';
import {
  type Added,
  type Before,
  bundlesOf,
  checkStored,
  type Json,
  leftInWork,
  leftovers,
  number,
  readRecorded,
  signature,
} from './stored.js';

export {
  type Before,
  checkStored,
  leftInWork,
  nothing,
  readRecorded,
  remember,
  signature,
} from './stored.js';

/** Reads one JSON document from a command's stdout, or null. */
export function result(outcome: Outcome): Json | null {
  try {
    return JSON.parse(outcome.stdout) as Json;
  } catch {
    // SyntaxError: nothing was printed, or not all of it.
    return null;
  }
}

const brief = (outcome: Outcome): string =>
  `exit ${outcome.code ?? outcome.signal}${outcome.hung ? ' (hung)' : ''}, stderr ${JSON.stringify(outcome.stderr.slice(-300))}`;

/** The consumer's opinion. A step whose append is still missing is pending, not a problem. */
async function checkVerify(
  project: string,
  session: string,
  { steps, pending }: { steps: number; pending: boolean },
): Promise<string[]> {
  const outcome = await run(verify(project, session));
  const report = result(outcome);
  if (outcome.code !== 0 || report?.ok !== true)
    return [`verify: ${brief(outcome)}, stdout ${outcome.stdout.slice(0, 400)}`];
  const problems: string[] = [];
  if (Array.isArray(report.problems) && report.problems.length > 0)
    problems.push(`verify is ok but has problems: ${JSON.stringify(report.problems)}`);
  if (report.steps !== steps) problems.push(`verify counts ${String(report.steps)} steps, not ${steps}`);
  if (!pending && Number(report.pending ?? 0) !== 0)
    problems.push(`verify has pending ${String(report.pending)} after a publication`);
  return problems;
}

const verified = new Map<string, Promise<string[]>>();

/** `checkVerify` once for each shape of session: most points leave, and heal to, one that another point did too. */
async function verifiedOnce(
  { project, session }: { project: string; session: string },
  expected: { steps: number; pending: boolean },
): Promise<string[]> {
  const shape = `${signature(session)} ${expected.pending}`;
  if (!verified.has(shape)) verified.set(shape, checkVerify(project, session, expected));
  return verified.get(shape)!;
}

/**
 * The whole check after a fault: the stored state, `previews verify` of it as it is, one more forced
 * capture that must succeed at once and add exactly one step under a new number, and that leaves the
 * session healed, swept and clean. With `once` that capture is made for each shape of session only once.
 */
export async function checkSession(
  { project, root, session }: { project: string; root: string; session: string },
  before: Before,
  { once = false, ...added }: Added & { once?: boolean },
): Promise<string[]> {
  const problems = checkStored(session, before, added);
  const torn = readRecorded(session);
  if (torn.head) {
    problems.push(...(await verifiedOnce({ project, session }, { steps: torn.lines.length, pending: true })));
  }
  const shape = signature(session);
  if (once && continued.has(shape)) return [...problems, ...(await continued.get(shape)!)];
  const next = checkNext({ project, root, session });
  continued.set(shape, next);
  return [...problems, ...(await next)];
}
const continued = new Map<string, Promise<string[]>>();

/** Checks a session that nobody is to have died in: stored state, plain JSON, nothing left, and verify. */
export async function checkQuiet(
  { project, root, session }: { project: string; root: string; session: string },
  before: Before,
  added: Added,
): Promise<string[]> {
  const problems = [...checkStored(session, before, added), ...leftovers(root, session), ...leftInWork(root)];
  const { lines } = readRecorded(session);
  problems.push(...checkPlain(session, lines));
  problems.push(...(await verifiedOnce({ project, session }, { steps: lines.length, pending: false })));
  return problems;
}

/** trajectory.json as any reader without our rule sees it. */
function checkPlain(session: string, lines: string[]): string[] {
  try {
    const raw: unknown = JSON.parse(readFileSync(join(session, 'trajectory.json'), 'utf8'));
    return JSON.stringify(raw) === `[${lines.join(',')}]`
      ? []
      : ['trajectory.json as plain JSON differs from the recorded steps'];
  } catch (error) {
    return [`trajectory.json is no plain JSON: ${(error as Error).message}`];
  }
}

/** The next capture, and what it must leave. */
export async function checkNext({
  project,
  root,
  session,
}: {
  project: string;
  root: string;
  session: string;
}): Promise<string[]> {
  const problems: string[] = [];
  const torn = readRecorded(session);
  const seen = bundlesOf(session);
  // A second for the lock is far less than the 5 s after which even an unknown owner is evicted, so a dead
  // owner that is not taken over at once shows as exit 5 here, on a slow machine too.
  const next = await run(capture(project, { force: true, lockTimeout_s: 1 }));
  const published = result(next);
  if (next.code !== 0 || !published) return [...problems, `the next capture: ${brief(next)}`];
  if (published.session_dir !== session) {
    return [
      ...problems,
      `the next capture went to ${basename(String(published.session_dir))}: ${next.stderr.slice(-300)}`,
    ];
  }
  const after = readRecorded(session);
  problems.push(
    ...checkStored(session, { steps: torn.lines, raw: Buffer.alloc(0) }, { mayHaveAdded: 1 }).map(
      (text) => `after the next capture: ${text}`,
    ),
  );
  if (after.lines.length !== torn.lines.length + 1)
    problems.push(`the next capture took ${torn.lines.length} steps to ${after.lines.length}`);
  if (published.step_id !== after.steps.at(-1)?.step_id)
    problems.push(`the next capture printed ${String(published.step_id)}`);
  // I2: never a number that a step or a reader could have seen.
  const dir = basename(String(published.bundle_dir));
  if (number(dir) <= Math.max(0, ...seen.map(number)))
    problems.push(`the next capture took ${dir} although ${seen.join(' ')} existed`);
  problems.push(...checkPlain(session, after.lines).map((text) => `after the next capture: ${text}`));
  const orphans = JSON.stringify(after.head?.orphans ?? []);
  const named = new Set(after.steps.map((step) => step.bundle_dir));
  for (const name of bundlesOf(session)) {
    if (!named.has(name) && !orphans.includes(name))
      problems.push(`${name} is named by no step and not among the orphans ${orphans}`);
  }
  for (const [link, target] of [
    [join(session, 'current'), dir],
    [join(root, 'current'), basename(session)],
  ] as const) {
    try {
      if (basename(readlinkSync(link)) !== target)
        problems.push(`${relative(root, link)} leads to ${readlinkSync(link)}, not ${target}`);
    } catch (error) {
      problems.push(`${relative(root, link)}: ${(error as Error).message}`);
    }
  }
  problems.push(...leftovers(root, session));
  problems.push(
    ...(await verifiedOnce({ project, session }, { steps: after.lines.length, pending: false })).map(
      (text) => `after the next capture: ${text}`,
    ),
  );
  return problems;
}
