// Two kills in a row: the first anywhere from taking the lock to the end, torn appends included; the second
// while the following capture takes over the lock, heals, takes its number and commits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, countCalls, type Fault, runWithFault, scratch, skipReason } from '../helpers/fault.js';
import { type Before, checkSession, readRecorded, remember, signature } from './invariants.js';
import {
  again,
  caseFolder,
  committed,
  findings,
  isCommit,
  isData,
  killPoints,
  pool,
  takesLock,
  tidy,
} from './points.js';
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

/** Kills after every change from the lock on, and appends cut after one byte, in the middle and before the last byte. */
function firstKills(calls: Call[]): Fault[] {
  const from = calls.findIndex(takesLock);
  return calls.slice(from).flatMap((call): Fault[] => {
    if (call.kind !== 'w') return [];
    const torn =
      isData(call) && /(session|trajectory|manifest)\.json/.test(call.path)
        ? [1, call.bytes >> 1, call.bytes - 1]
        : [];
    return [
      { at: call.index, action: 'kill-after' },
      ...torn.map((bytes): Fault => ({ at: call.index, action: 'kill-short', bytes })),
    ];
  });
}

/** The calls of a capture from its first touch of the lock to its commit: takeover, healing, numbering. */
function healing(calls: Call[]): Call[] {
  const touches = (call: Call): boolean => /\.work\/lock/.test(call.path) || /\.work\/lock/.test(call.to);
  const from = calls.findIndex(touches);
  const to = calls.findIndex(isCommit);
  return calls.slice(from, to + 1);
}

describe.skipIf(reason)(`SIGKILL twice${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it('I2 I3 A09 A10 a capture killed while it heals what a killed capture left loses nothing and reuses no number', async () => {
    const command = (site: Site) => capture(site.project, { force: true });
    const dry = await copyOf(template, caseFolder(place.path, 'dry'));
    const { calls, outcome } = await countCalls(command(dry), dry);
    expect(outcome.code, outcome.stderr).toBe(0);

    // Each kind of state that a first kill leaves, once.
    const states = new Map<string, { site: Site; first: Fault; calls: Call[] }>();
    await pool(firstKills(calls), async (first, _at) => {
      const site = await copyOf(template, caseFolder(place.path, 'state'));
      await runWithFault(command(site), { ...site, fault: first });
      const kind = signature(site.session);
      if (states.has(kind)) return tidy(site.folder, []);
      states.set(kind, { site, first, calls: [] });
      const probe = await copyOf(site, caseFolder(place.path, 'probe'));
      states.get(kind)!.calls = healing((await countCalls(command(probe), probe)).calls);
      tidy(probe.folder, []);
    });
    expect(states.size).toBeGreaterThan(5);

    const points = [...states.values()].flatMap(({ site, first, calls: window }) =>
      killPoints(window)
        .filter(({ action, call }) => action !== 'kill-before' || call === window[0])
        .map((point) => ({ site, first, ...point })),
    );
    const found = findings(`${states.size} states`);
    await pool(points, async (point, _at) => {
      const site = await copyOf(point.site, caseFolder(place.path, 'case'));
      const left: Before = { ...before, steps: readRecorded(site.session).lines };
      const killed = await runWithFault(command(site), { ...site, fault: point });
      found.fired(killed);
      const added = committed(killed) ? 1 : 0;
      const problems = await checkSession(site, left, { mayHaveAdded: added });
      const first = `first ${point.first.action} at ${point.first.at}${point.first.bytes === undefined ? '' : ` (${point.first.bytes} bytes)`}, then ${point.action}`;
      found.add(
        { at: point.at, action: first, call: killed.fired },
        problems,
        again(command(site), site.root, point),
      );
      tidy(site.folder, problems);
    });
    expect(found.report()).toBe('');
  }, 900_000);
});
