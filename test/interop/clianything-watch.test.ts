// `previews watch` of recordings that CLI-Anything made.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRecording } from '../../src/recording.js';
import { sessionsOf } from '../../src/ref.js';
import { copySample, samplesOf } from '../helpers/samples.js';
import { ask, openPage, watching } from '../helpers/server.js';

const samples = samplesOf('cli-anything');
const RECORDINGS = [
  'blender/ok',
  'blender/failed-pushes',
  'freecad/manual',
  'shotcut/manual',
  'shotcut/poll',
];

describe.skipIf(samples === null)(
  `recordings of CLI-Anything's${samples ? '' : ' (not on this machine)'}`,
  () => {
    test.each(RECORDINGS)(
      '%s: every session, its steps, and every file that a manifest names',
      async (name) => {
        const root = copySample(join(samples!, name));
        const server = await watching([root]);
        const page = await openPage(server);
        const keys = page.snapshots()[0]!.sessions.map(({ key }) => key);
        expect(keys).toHaveLength(sessionsOf(root).length);
        expect(new Set(keys).size).toBe(keys.length);
        let files = 0;
        for (const [n, key] of keys.entries()) {
          page.hello(key);
          await page.until(() => page.snapshots().length === n + 2, `the session ${key}`);
          const { session, steps } = page.snapshots().at(-1)!;
          expect(session).toMatchObject({ key, format: 'cli-anything', step_count: steps.length });
          expect(steps.length).toBeGreaterThan(0);
          for (const { index, bundle } of steps) {
            const { detail } = await page.ask({ type: 'detail', index });
            expect(detail.index).toBe(index);
            for (const { path, bytes } of detail.manifest?.artifacts ?? []) {
              const at = `/file/${key}/${bundle}/${path.split('/').map(encodeURIComponent).join('/')}`;
              const got = await ask(server, at, { method: 'HEAD' });
              expect([at, got.status, got.headers['content-length']]).toEqual([at, 200, String(bytes)]);
              files++;
            }
          }
          expect((await page.ask({ type: 'verify', index: 1 })).verdict.problems).toEqual([]);
          expect((await page.ask({ type: 'outline', buckets: 5 })).buckets.length).toBeGreaterThan(0);
          const { hits } = await page.ask({ type: 'search', query: { words: steps[0]!.step_id } });
          expect(hits.count).toBeGreaterThan(0);
        }
        if (name !== 'blender/failed-pushes') expect(files).toBeGreaterThan(0);
        for (const path of ['session.json', '..%2fsession.json', '%2e%2e/live'])
          expect((await ask(server, `/file/${keys[0]}/${path}/x`)).status).toBe(404);
        await server.end();
      },
    );

    test('a step that is added is shown, and a cursor holds across a restart', async () => {
      const root = copySample(join(samples!, 'shotcut/manual'));
      const dir = join(root, sessionsOf(root).at(-1)!);
      const count = openRecording(dir).head!.trajectory_step_count;
      const first = await watching([dir]);
      const page = await openPage(first);
      const path = join(dir, readdirSync(dir).find((name) => name.startsWith('trajectory'))!);
      const before = JSON.parse(readFileSync(path, 'utf8'));
      const list = before.steps ?? before.trajectory;
      const add = () => {
        list.push({ ...list.at(-1), step_id: `added-${list.length + 1}`, step_index: list.length + 1 });
        writeFileSync(`${path}.new`, JSON.stringify({ ...before, step_count: list.length }));
        renameSync(`${path}.new`, path);
      };
      add();
      await page.until(() => page.steps().at(-1) === count + 1, 'the step is shown');
      await first.end('SIGKILL');
      add();
      const back = await openPage(await watching([dir]), { cursor: page.cursor(), steps: page.steps() });
      expect(back.snapshots()[0]).toMatchObject({ resumed: true });
      expect(back.steps().at(-1)).toBe(count + 2);
    });
  },
);
