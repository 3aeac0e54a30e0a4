// Following the disk: whatever happens to folders, files and events, the pages end up showing what is recorded.
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeAll } from '../../src/disk.js';
import { sha256 } from '../../src/hash.js';
import { publish } from '../../src/index.js';
import { readHead } from '../../src/read.js';
import { appendRecord } from '../../src/trajectory.js';
import { until } from '../helpers/cli.js';
import { mountNamespace, mountSkip } from '../helpers/namespace.js';
import { bundleOf, type Recording, recordSession, snapshot, temporary } from '../helpers/project.js';
import { seedSession } from '../helpers/seed.js';
import { ask, openPage, type Page, rawSocket, serving, watching } from '../helpers/server.js';
import { limitSkip, silentWatches, withoutWatches } from '../helpers/silent.js';

const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);
const push = async ({ session, steps }: Recording, count = 1) => {
  for (let n = 0; n < count; n++)
    steps.push(await publish(session, bundleOf(steps.length + 1), { command: `draw ${steps.length + 1}` }));
};
const shows = (page: Page, last: number) =>
  page.until(
    () => page.steps().at(-1) === last && page.session()?.step_count === last,
    `step ${last} is shown`,
  );

/** Only events can tell of anything in time: the slow look never comes. */
const EVENTS_ONLY = { limits: { safetyMs: 3_600_000, pollMs: 50 } };

const headPath = ({ dir }: Recording) => join(dir, 'session.json');
const changedHead = (recorded: Recording, change: Record<string, unknown>): string =>
  JSON.stringify({ ...JSON.parse(readFileSync(headPath(recorded), 'utf8')), ...change });

function replace(path: string, content: string): void {
  writeFileSync(`${path}.123`, content);
  renameSync(`${path}.123`, path);
}

/** Publishes `count` cached steps as fast as the disk takes them: the head by a rename, then the trajectory's line. */
function burst(dir: string, count: number): void {
  let head = readHead(dir).value!;
  const fd = openSync(join(dir, 'trajectory.json'), 'r+');
  try {
    for (let n = 0; n < count; n++) {
      const index = head.trajectory_step_count + 1;
      const step = {
        ...head.latest_step!,
        step_id: `step-${String(index).padStart(4, '0')}`,
        step_index: index,
        prev_sha256: head.trajectory_sha256,
        cached: true,
      };
      const line = JSON.stringify(step);
      const record = appendRecord(line, index - 1, head.trajectory_bytes);
      head = {
        ...head,
        latest_step: step,
        current_step_id: step.step_id,
        trajectory_step_count: index,
        trajectory_bytes: record.end,
        trajectory_sha256: sha256(line),
        history: [],
      };
      replace(join(dir, 'session.json'), JSON.stringify(head));
      writeAll(fd, record.bytes, record.offset);
    }
  } finally {
    closeSync(fd);
  }
}

describe('H01 files that are replaced, and read while they are written', () => {
  test('after fifty replacements in a row the last one is shown, by events alone', async () => {
    const recorded = await recordSession(1);
    const page = await openPage(await serving({ root: recorded.root }, EVENTS_ONLY));
    for (let round = 1; round <= 5; round++) {
      for (let n = 1; n <= 50; n++)
        replace(headPath(recorded), changedHead(recorded, { title: `${round}.${n}` }));
      await page.until(() => page.session()?.title === `${round}.50`, 'the last title');
    }
    expect(page.steps()).toEqual([1]);
    expect(page.snapshots()).toHaveLength(1);
  });

  test('the last good view stays while the head is damaged, and what is wrong is said', async () => {
    const recorded = await recordSession(2);
    const page = await openPage(await serving({ root: recorded.root }, EVENTS_ONLY));
    const whole = changedHead(recorded, { title: 'whole again' });
    for (const content of [whole.slice(0, 200), '', 'null', '{}']) {
      writeFileSync(headPath(recorded), content);
      await page.until(() => (page.session()?.problems.length ?? 0) > 0, 'the problem is said');
      expect(page.steps()).toEqual([1, 2]);
      expect(page.session()).toMatchObject({ step_count: 2, status: 'open' });
      writeFileSync(headPath(recorded), whole);
      await page.until(() => page.session()?.problems.length === 0, 'all is well');
    }
    expect(page.session()!.title).toBe('whole again');
    expect(page.snapshots()).toHaveLength(1);
  });

  test('a session that is removed and made again is followed again, by events alone', async () => {
    const recorded = await recordSession(3);
    const page = await openPage(await serving({ root: recorded.root }, EVENTS_ONLY));
    await shows(page, 3);
    rmSync(recorded.dir, { recursive: true });
    await page.until(() => (page.session()?.problems.length ?? 0) > 0, 'it is said that it is gone');
    expect(page.steps()).toEqual([1, 2, 3]);
    const other = await recordSession(2);
    cpSync(other.dir, recorded.dir, { recursive: true });
    await page.until(() => page.steps().length === 2, 'the new one is shown');
    expect(page.session()!.problems).toEqual([]);
    const again = { ...other, session: { ...other.session, dir: recorded.dir, root: recorded.root } };
    await push(again, 2);
    await shows(page, 4);
    // The hero of the first step is the new session's, not what was read before.
    const { steps } = await page.ask({ type: 'range', from: 1, to: 1 });
    expect(steps[0].hero.sha256).toBe((await otherHero(recorded.dir)).sha256);
  });

  const otherHero = async (dir: string) =>
    JSON.parse(readFileSync(join(dir, 'bundle_001/manifest.json'), 'utf8')).artifacts.find(
      ({ role }: { role: string }) => role === 'hero',
    );

  test('a root that is removed and made again, and one that comes later', async () => {
    const recorded = await recordSession(2);
    const server = await watching([recorded.root]);
    const page = await openPage(server);
    rmSync(recorded.root, { recursive: true });
    await page.until(() => (page.session()?.problems.length ?? 0) > 0, 'it is said that it is gone');
    const again = await recordSession(3, { root: recorded.root });
    await shows(page, 3);
    await push(again);
    await shows(page, 4);
    expect(server.stderr()).toBe('');
  });

  test('a history that is shortened or made anew under the same id begins anew', async () => {
    const recorded = await recordSession(4);
    const page = await openPage(await serving({ root: recorded.root }, EVENTS_ONLY));
    await shows(page, 4);
    const copy = join(temporary(), 'copy');
    cpSync(recorded.dir, copy, { recursive: true });
    await push(recorded, 2);
    await shows(page, 6);
    for (const name of ['trajectory.json', 'session.json'])
      replace(join(recorded.dir, name), readFileSync(join(copy, name), 'utf8'));
    await shows(page, 4);
    expect(page.snapshots().at(-1)).toMatchObject({ resumed: false });
    // The head goes, and comes back with another step 5 than the one that was told, and one more behind it.
    burst(recorded.dir, 1);
    await shows(page, 5);
    const { length } = page.snapshots();
    rmSync(headPath(recorded));
    await page.until(() => (page.session()?.problems.length ?? 0) > 0, 'the head is gone');
    const head = JSON.parse(readFileSync(join(copy, 'session.json'), 'utf8'));
    head.latest_step.note = 'another';
    writeFileSync(join(copy, 'session.json'), JSON.stringify(head));
    burst(copy, 2);
    for (const name of ['trajectory.json', 'session.json'])
      replace(join(recorded.dir, name), readFileSync(join(copy, name), 'utf8'));
    await shows(page, 6);
    expect(page.snapshots()).toHaveLength(length + 1);
  });
});

test('a thousand steps in a second: every page shows each of them once, in order', async () => {
  const { dir } = await seedSession(join(temporary(), '.preview'), 20);
  const server = await watching([dir]);
  const pages = [await openPage(server), await openPage(server), await openPage(server)];
  burst(dir, 1000);
  for (const page of pages) {
    await shows(page, 1020);
    expect(page.snapshots()).toHaveLength(1);
    expect(page.steps()).toEqual(upTo(1020));
  }
});

test('links that lead in a circle, to nowhere and out are passed over', async () => {
  const recorded = await recordSession(2);
  for (const [link, target] of [
    [join(recorded.root, 'session_005'), 'session_005'],
    [join(recorded.root, 'session_006'), 'nowhere'],
    [join(recorded.root, 'around'), '.'],
    [join(recorded.dir, 'around'), '..'],
    [join(recorded.dir, 'bundle_007'), 'bundle_007'],
    [join(recorded.dir, 'itself'), '.'],
  ] as const)
    symlinkSync(target, link);
  const server = await watching([recorded.root]);
  const page = await openPage(server);
  expect(page.session()!.key).toBe('session_001');
  await push(recorded);
  await shows(page, 3);
  for (const path of [
    'around/session_001/bundle_001/manifest.json',
    'bundle_007/manifest.json',
    'itself/bundle_001/x',
  ])
    expect((await ask(server, `/file/session_001/${path}`)).status).toBe(404);
  expect(server.stderr()).toBe('');
});

const skip = limitSkip();
describe.skipIf(skip)(`limits${skip ? ` (${skip})` : ''}`, () => {
  test.each([
    ['ENOSPC', 'max_inotify_watches'],
    ['EMFILE', 'max_inotify_instances'],
  ])('H03 %s: one warning, and new steps and sessions are shown all the same', async (code, limit) => {
    const recorded = await recordSession(1);
    const server = await watching([recorded.root], { before: withoutWatches(limit) });
    const page = await openPage(server);
    await push(recorded);
    await shows(page, 2);
    await push(recorded);
    await shows(page, 3);
    const { dir } = await seedSession(join(temporary(), '.preview'), 3);
    cpSync(dir, join(recorded.root, 'session_002'), { recursive: true });
    await page.until(
      () => page.messages.findLast(({ type }) => type === 'sessions'),
      'the new session is told',
    );
    expect(server.stderr().match(/watch_polling/g)).toHaveLength(1);
    expect(server.stderr()).toMatch(new RegExp(`^warning: watch_polling: .*${code}.*every 1 s instead\n$`));
    expect(await server.end()).toEqual({ code: 0, signal: null });
  });
});

test.runIf(process.platform === 'linux')(
  'H03 a file system that tells of no change: the slow look finds it',
  async () => {
    const recorded = await recordSession(1);
    const server = await watching([recorded.root], { env: silentWatches(temporary()) });
    const page = await openPage(server);
    for (let n = 2; n <= 3; n++) {
      await push(recorded);
      await shows(page, n);
    }
    expect(server.stderr()).toBe('');
  },
);

test.runIf(process.platform === 'linux')(
  'H03 few descriptors: who is too much is turned away, the others are served',
  async () => {
    const recorded = await recordSession(1);
    const server = await watching([recorded.root], { before: ['sh', '-c', 'ulimit -n 48; exec "$@"', 'sh'] });
    const page = await openPage(server);
    const held = upTo(60).map(() => rawSocket(server.port));
    await until(() => held.every(({ socket }) => !socket.connecting), 'they have connected');
    for (const { socket } of held) socket.destroy();
    await push(recorded);
    await shows(page, 2);
    expect((await ask(server, '/')).status).toBe(200);
  },
);

const noMount = mountSkip();
test.skipIf(noMount)(
  `a recording that may only be read is watched like any other${noMount ? ` (${noMount})` : ''}`,
  async () => {
    const recorded = await recordSession(2);
    const space = await mountNamespace(
      `mount --bind ${recorded.root} ${recorded.root}; mount -o remount,ro,bind ${recorded.root}`,
    );
    try {
      expect(() => space.sh(`touch ${recorded.root}/x 2>/dev/null`)).toThrow();
      const server = await watching([recorded.root], { before: space.inside('/') });
      const page = await openPage(server);
      const before = snapshot(recorded.root);
      await page.ask({ type: 'verify', index: 1 });
      expect(snapshot(recorded.root)).toEqual(before);
      await push(recorded);
      await shows(page, 3);
      expect(server.stderr()).toBe('');
      await server.end();
    } finally {
      await space.close();
    }
  },
);
