// A publication killed before, after and in the middle of each of its file calls, which are found by a dry run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countCalls, runWithFault, scratch, skipReason } from '../helpers/fault.js';
import { type Before, checkSession, remember } from './invariants.js';
import {
  again,
  caseFolder,
  committed,
  findings,
  isCommit,
  killPoints,
  pool,
  takesLock,
  tidy,
} from './points.js';
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

const shapes: [string, CaptureOptions][] = [
  ['a rendering capture', { force: true }],
  ['a cached capture', {}],
  ['a capture with the built-in svg recipe', { force: true, recipe: 'drawing' }],
];

describe.skipIf(reason)(`SIGKILL at every file call${reason ? ` (skipped: ${reason})` : ''}`, () => {
  for (const [shape, options] of shapes) {
    it(`I1 I3 I4 A03 A09 ${shape} killed before and after every call loses no step and leaves a session that works at once`, async () => {
      const dry = await copyOf(template, caseFolder(place.path, 'dry'));
      const { calls, outcome } = await countCalls(capture(dry.project, options), {
        root: dry.root,
        log: dry.log,
      });
      expect(outcome.code, outcome.stderr).toBe(0);
      // One rename onto the head is the commit, so the log alone tells whether the step must be there.
      expect(calls.filter(isCommit)).toHaveLength(1);
      // A picture costs far more to make than to publish, and is published in the same way: only its staging.
      const staging = calls.slice(0, calls.findIndex(takesLock));
      const points = options.recipe
        ? killPoints(staging).filter(
            ({ action, call }) => action === 'kill-after' && call.path.includes('.work/'),
          )
        : killPoints(calls);
      const found = findings(`${shape}, ${calls.length} calls`);
      await pool(points, async (point, _at) => {
        const site = await copyOf(template, caseFolder(place.path, 'case'));
        const command = capture(site.project, options);
        const killed = await runWithFault(command, { root: site.root, log: site.log, fault: point });
        found.fired(killed);
        const added = committed(killed) ? 1 : 0;
        const problems: string[] = [];
        if (killed.fired && killed.signal !== 'SIGKILL')
          problems.push(`ended with ${killed.code ?? killed.signal} instead of SIGKILL`);
        problems.push(...(await checkSession(site, before, { mayHaveAdded: added, mustHaveAdded: added })));
        found.add({ ...point, call: killed.fired }, problems, again(command, site.root, point));
        tidy(site.folder, problems);
      });
      expect(found.report()).toBe('');
    }, 600_000);
  }
});
