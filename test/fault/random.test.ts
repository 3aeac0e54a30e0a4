// 200 kills at random: of the capture that creates the root and the session, of one into a session that is
// there, and of one of two that run at once. FAULT_SEED repeats a run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, countCalls, run, runWithFault, scratch, skipReason } from '../helpers/fault.js';
import {
  type Before,
  checkSession,
  leftInWork,
  nothing,
  readRecorded,
  remember,
  result,
} from './invariants.js';
import { again, caseFolder, committed, findings, pool, tidy } from './points.js';
import { capture, copyOf, makeProject, makeTemplate, type Site } from './project.js';

const reason = skipReason();
const place = scratch();
// The same 200 each time, so that a failure can be repeated; FAULT_SEED takes others.
const seed = Number(process.env.FAULT_SEED ?? 60_114);
const kills = 200;
let fresh: Site;
let used: Site;
let before: Before;

beforeAll(async () => {
  if (reason) return;
  fresh = makeProject(`${place.path}/fresh`);
  used = await makeTemplate(`${place.path}/used`, 3);
  before = remember(used.session);
}, 60_000);
afterAll(place.remove);

/** mulberry32: a small generator whose sequence depends on the seed alone. */
function generator(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const actions: Action[] = ['kill-before', 'kill-after', 'kill-short'];

describe.skipIf(reason)(`SIGKILL at random${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it(`I2 I3 A03 A07 A09 ${kills} random kills (seed ${seed}) of first, later and concurrent captures`, async () => {
    const lengthOf = async (template: Site, name: string): Promise<number> => {
      const dry = await copyOf(template, caseFolder(place.path, name));
      const { calls, outcome } = await countCalls(capture(dry.project, { force: true }), dry);
      expect(outcome.code, outcome.stderr).toBe(0);
      return calls.length;
    };
    const lengths = { fresh: await lengthOf(fresh, 'dry-fresh'), used: await lengthOf(used, 'dry-used') };
    const random = generator(seed);
    const points = Array.from({ length: kills }, (_, at) => {
      const kind = (['first', 'later', 'concurrent'] as const)[at % 3]!;
      const on = kind === 'first' || (kind === 'concurrent' && random() < 0.5) ? 'fresh' : 'used';
      return {
        kind,
        on,
        at: 1 + Math.floor(random() * lengths[on]),
        action: actions[Math.floor(random() * actions.length)]!,
      } as const;
    });
    const found = findings(`seed ${seed}`);
    await pool(points, async (point, _at) => {
      const site = await copyOf(point.on === 'fresh' ? fresh : used, caseFolder(place.path, 'case'));
      const command = capture(site.project, { force: true });
      const known = point.on === 'fresh' ? nothing : before;
      const problems: string[] = [];
      const [killed, other] = await Promise.all([
        runWithFault(command, { ...site, fault: point }),
        point.kind === 'concurrent' ? run(command) : null,
      ]);
      found.fired(killed);
      let added = committed(killed) ? 1 : 0;
      if (other) {
        // The one that nobody killed must not notice, and its step must be where it said.
        added++;
        const printed = result(other);
        if (other.code !== 0)
          problems.push(`the other capture: exit ${other.code ?? other.signal}, ${other.stderr.slice(-300)}`);
        else if (!readRecorded(site.session).steps.some((step) => step.step_id === printed?.step_id)) {
          problems.push(
            `the other capture printed ${String(printed?.step_id)}, which is not in ${site.session}`,
          );
        }
      }
      if (point.on === 'fresh' && !other && added === 0) {
        // Nothing was committed, so there is nothing to lose: whichever session is begun next must be right.
        const begins = !existsSync(join(site.root, 'current'));
        const next = await run(capture(site.project, { force: true, lockTimeout_s: 1 }));
        const printed = result(next);
        if (next.code !== 0 || !printed)
          problems.push(`the next capture: exit ${next.code ?? next.signal}, ${next.stderr.slice(-300)}`);
        else {
          const session = String(printed.session_dir);
          if (begins) problems.push(...leftInWork(site.root));
          problems.push(
            ...(await checkSession({ ...site, session }, nothing, { mayHaveAdded: 1, mustHaveAdded: 1 })),
          );
        }
      } else {
        problems.push(...(await checkSession(site, known, { mayHaveAdded: added, mustHaveAdded: added })));
      }
      found.add(
        { at: point.at, action: `${point.kind} on ${point.on}: ${point.action}`, call: killed.fired },
        problems,
        again(command, site.root, point),
      );
      tidy(site.folder, problems);
    });
    expect(found.report()).toBe('');
  }, 600_000);
});
