// Each file call of a publication made to fail (ENOSPC, EIO), every later one that needs room as well (a
// full disk), and every read and write made to come back short. The command may give up with one clear line,
// or publish with a warning; what it says must be what happened.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Action,
  type Call,
  countCalls,
  type Outcome,
  runWithFault,
  scratch,
  skipReason,
} from '../helpers/fault.js';
import { type Before, checkSession, readRecorded, remember, result } from './invariants.js';
import { again, caseFolder, findings, isData, type Point, pool, tidy } from './points.js';
import { type CaptureOptions, capture, copyOf, makeTemplate, type Site } from './project.js';

const reason = skipReason();
const place = scratch();
let template: Site;
let before: Before;

beforeAll(async () => {
  if (reason) return;
  template = await makeTemplate(`${place.path}/template`, 3);
  before = remember(template.session);
}, 60_000);
afterAll(place.remove);

/** A pure read can't run out of room; everything else can (on copy-on-write file systems an unlink too). */
function errorPoints(calls: Call[]): Point[] {
  return calls.flatMap((call) => {
    const actions: Action[] = ['errno:EIO'];
    if (call.kind === 'w') actions.push('errno:ENOSPC', 'full:ENOSPC');
    if (isData(call)) actions.push('short-seen', 'short-then-ENOSPC');
    if (/^p?readv?(64)?$/.test(call.name) && call.bytes > 1) actions.push('short-read');
    return actions.map((action) => ({ at: call.index, action, call }));
  });
}

/** Holds what the command said against what is in the session. */
function checkWords(outcome: Outcome, action: Action, session: string): string[] {
  const problems: string[] = [];
  const { code, signal, stderr, stdout, fired: hit } = outcome;
  const said = `exit ${code ?? signal}, stdout ${JSON.stringify(stdout.slice(0, 200))}, stderr ${JSON.stringify(stderr.slice(-400))}`;
  if (outcome.hung) return [`hung: ${said}`];
  // Node itself aborts when the close in its readFileSync(path, 'utf8') fails (a CHECK in its ReadFileUtf8).
  if (signal === 'SIGABRT' && hit?.name === 'close' && /1: readFileSync \(node:fs/.test(stderr)) return [];
  if (signal) return [`died: ${said}`];
  if (/^\s+at .+:\d+:\d+\)?$/m.test(stderr) || /node:internal|Uncaught|UnhandledPromise/.test(stderr))
    problems.push(`a stack trace: ${said}`);
  const printed = result(outcome);
  if (stdout !== '' && !printed) problems.push(`stdout is not one JSON document: ${said}`);
  const { lines, steps } = readRecorded(session);
  if (
    printed &&
    (printed.session_dir !== session || !steps.some((step) => step.step_id === printed.step_id))
  ) {
    problems.push(
      `printed ${String(printed.session_dir)} ${String(printed.step_id)}, which is not there: ${said}`,
    );
  }
  if (code === 0) {
    if (!printed) problems.push(`succeeded without a result: ${said}`);
    return problems;
  }
  if (!printed && lines.length > before.steps.length)
    problems.push(`the step was committed and the command says it failed: ${said}`);
  if (code !== 1 && code !== 4) problems.push(`not the exit code of a fault of the machine: ${said}`);
  try {
    const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as {
      error: Record<'code' | 'message' | 'hint', string>;
    };
    const text = `${error.message} ${error.hint}`;
    const names = action.endsWith('ENOSPC')
      ? /ENOSPC|disk|space|full/i
      : action.endsWith('EIO')
        ? /EIO|I\/O|input\/output/i
        : /./;
    // Node's mkdir({ recursive: true }) answers any other error with what a stat of the missing folder says.
    const masked = hit?.name === 'mkdir' && /ENOENT.*mkdir/.test(text);
    if (!names.test(text) && !masked) problems.push(`the message does not name the cause: ${text}`);
    if (error.message.includes('\n')) problems.push(`more than one line: ${error.message}`);
  } catch {
    // SyntaxError or TypeError: not the one JSON line that is promised.
    problems.push(`the last line of stderr is no error document: ${said}`);
  }
  return problems;
}

const shapes: [string, CaptureOptions][] = [
  ['a rendering capture', { force: true }],
  ['a cached capture', {}],
];

describe.skipIf(reason)(
  `ENOSPC, EIO and short counts at every file call${reason ? ` (skipped: ${reason})` : ''}`,
  () => {
    for (const [shape, options] of shapes) {
      it(`I3 I4 A10 I01 ${shape} with each call failing in turn says what happened, and the session is whole`, async () => {
        const dry = await copyOf(template, caseFolder(place.path, 'dry'));
        // The whole project, not just the preview root: sources and configuration are read as well.
        const { calls, outcome } = await countCalls(capture(dry.project, options), {
          root: dry.project,
          log: dry.log,
        });
        expect(outcome.code, outcome.stderr).toBe(0);
        const points = errorPoints(calls);
        const found = findings(`${shape}, ${calls.length} calls`);
        await pool(points, async (point, _at) => {
          const site = await copyOf(template, caseFolder(place.path, 'case'));
          const command = capture(site.project, options);
          const hit = await runWithFault(command, { root: site.project, log: site.log, fault: point });
          found.fired(hit);
          const problems = checkWords(hit, point.action, site.session);
          problems.push(
            ...(await checkSession(site, before, {
              mayHaveAdded: 1,
              mustHaveAdded: hit.code === 0 ? 1 : 0,
              once: true,
            })),
          );
          found.add({ ...point, call: hit.fired }, problems, again(command, site.project, point));
          tidy(site.folder, problems);
        });
        expect(found.report()).toBe('');
      }, 900_000);
    }
  },
);
