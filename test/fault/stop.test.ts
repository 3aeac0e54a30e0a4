// A capture that is stopped (SIGSTOP, a suspended laptop, a starved machine) at each of its file calls while
// another one wants to publish. Inside the lock the other gives up or waits; outside it nothing is in its way.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Call,
  countCalls,
  type Outcome,
  readLog,
  run,
  scratch,
  skipReason,
  start,
  until,
} from '../helpers/fault.js';
import { type Before, checkQuiet, remember, result } from './invariants.js';
import { again, caseFolder, findings, heldBefore, inWords, jobs, type Point, pool, tidy } from './points.js';
import { capture, copyOf, makeTemplate, type Site } from './project.js';

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

const patience_s = 0.3;

/**
 * Stopped after a call is stopped before the next, so `before` every call is every moment there is. Left out
 * are calls outside the lock that only read what is the process's own or was read by the call before.
 */
function stops(calls: Call[]): Point[] {
  const held = heldBefore(calls);
  return calls.flatMap((call, at): Point[] => {
    const own = /\.work\/(stage|new|link)-/.test(call.path) || calls[at - 1]?.path === call.path;
    return call.kind === 'r' && own && held[at]!.size === 0
      ? []
      : [{ at: call.index, action: 'stop-before', call }];
  });
}

/** What a waiter that gives up must say: exit 5, soon, in one JSON line that names the owner and its age. */
function checkRefused(waiter: Outcome, owner: number): string[] {
  const problems: string[] = [];
  if (waiter.code !== 5)
    return [
      `the waiter: exit ${waiter.code ?? waiter.signal} instead of 5, ${waiter.stdout.slice(0, 200)} ${waiter.stderr.slice(-300)}`,
    ];
  if (waiter.stdout !== '') problems.push(`the waiter printed ${waiter.stdout.slice(0, 200)}`);
  // It waits 0.3 s; the rest is the start of Node and the machine's other work.
  if (waiter.elapsed_ms > 5000)
    problems.push(`the waiter took ${Math.round(waiter.elapsed_ms)} ms to give up after ${patience_s} s`);
  const line = waiter.stderr.trimEnd().split('\n').at(-1) ?? '';
  try {
    const { error } = JSON.parse(line) as { error: { code: string; message: string; hint: string } };
    const text = `${error.message} ${error.hint}`;
    if (!text.includes(String(owner))) problems.push(`the waiter does not name process ${owner}: ${text}`);
    if (!/\d\s*(ms|s|sec|min)/.test(text))
      problems.push(`the waiter does not say how old the lock is: ${text}`);
  } catch {
    // SyntaxError or TypeError: not the one JSON line that is promised.
    problems.push(`the waiter's last line is no error document: ${line.slice(0, 300)}`);
  }
  return problems;
}

const failed = (who: string, outcome: Outcome): string[] =>
  outcome.code === 0 && result(outcome)
    ? []
    : [
        `${who}: exit ${outcome.code ?? outcome.signal}${outcome.hung ? ' (hung)' : ''}, ${outcome.stderr.slice(-300)}`,
      ];

describe.skipIf(reason)(`SIGSTOP at every file call${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it('I3 I5 A04 a stopped capture is never evicted, blocks others only while it holds the lock, and publishes after SIGCONT', async () => {
    const dry = await copyOf(template, caseFolder(place.path, 'dry'));
    const { calls, outcome } = await countCalls(capture(dry.project, { force: true }), dry);
    expect(outcome.code, outcome.stderr).toBe(0);
    const locked = heldBefore(calls).filter((locks) => locks.size > 0).length;
    expect(locked, `calls under the lock of ${calls.map(inWords).join('\n')}`).toBeGreaterThan(10);
    const points = stops(calls);
    let within = 0;
    const found = findings(`${calls.length} calls, ${locked} of them under the lock`);
    await pool(
      points,
      async (point, _at) => {
        const site = await copyOf(template, caseFolder(place.path, 'case'));
        const command = capture(site.project, { force: true });
        const problems: string[] = [];
        const first = start(command, { ...site, fault: point });
        // Calls move a little from run to run, so this run's own log says whether it was stopped in the lock.
        const stopped = await first.stopped();
        const held = stopped && (heldBefore(readLog(site.log).calls).at(-1)?.size ?? 0) > 0;
        if (held) {
          within++;
          problems.push(
            ...checkRefused(
              await run(capture(site.project, { force: true, lockTimeout_s: patience_s })),
              first.pid,
            ),
          );
          // One that has patience is there when the holder wakes.
          const work = join(site.session, '.work');
          const names = readdirSync(work).length;
          const patient = run(capture(site.project, { force: true, lockTimeout_s: 30 }));
          let ended = false;
          void patient.then(() => {
            ended = true;
          });
          await until(() => ended || readdirSync(work).length > names, {
            deadline_ms: 10_000,
            what: 'the second waiter at the lock',
          });
          if (ended)
            problems.push(
              ...failed('the second waiter did not wait', await patient),
              'the second waiter published past a stopped holder',
            );
          first.resume();
          problems.push(
            ...failed('the holder after SIGCONT', await first.done),
            ...failed('the waiter after SIGCONT', await patient),
          );
        } else {
          const other = await run(capture(site.project, { force: true, lockTimeout_s: 1 }));
          problems.push(...failed('the other capture', other));
          first.resume();
          problems.push(...failed('the stopped capture after SIGCONT', await first.done));
        }
        const outcome = await first.done;
        found.fired(outcome);
        problems.push(...(await checkQuiet(site, before, { mayHaveAdded: 2, mustHaveAdded: 2 })));
        found.add({ ...point, call: outcome.fired }, problems, again(command, site.root, point));
        tidy(site.folder, problems);
      },
      jobs + 1,
    );
    expect(found.report()).toBe('');
    expect(within).toBeGreaterThan(locked * 0.8);
  }, 600_000);
});
