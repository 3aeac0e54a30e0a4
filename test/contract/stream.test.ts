// What the server tells its pages: a snapshot, then every step once and in order, whatever happens to the connection.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cursorText, readCursor } from '../../consumer/server/cursor.js';
import { SERVER_LIMITS } from '../../consumer/server/limits.js';
import { publish } from '../../src/index.js';
import { startSession, stopSession } from '../../src/session.js';
import { STREAM_LIMITS } from '../../src/stream.js';
import { until } from '../helpers/cli.js';
import { bundleOf, type Recording, recordSession, temporary } from '../helpers/project.js';
import { seedSession } from '../helpers/seed.js';
import {
  type Address,
  openPage,
  type Page,
  raw,
  rawSocket,
  serving,
  statusOf,
  upgradeText,
  watching,
} from '../helpers/server.js';

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n);
const push = async ({ session, steps }: Recording, count = 1) => {
  for (let n = 0; n < count; n++)
    steps.push(await publish(session, bundleOf(steps.length + 1), { command: `draw ${steps.length + 1}` }));
};
const shows = (page: Page, last: number, first = 1) =>
  page.until(() => page.steps().at(-1) === last && page.steps()[0] === first, `steps ${first} to ${last}`);

describe('a page that follows', () => {
  test('gets a snapshot, and each step once it is committed; a stop is told', async () => {
    const root = join(temporary(), '.preview');
    const session = await startSession({ root });
    const recorded: Recording = { root, session, dir: session.dir, steps: [] };
    await push(recorded, 3);
    const page = await openPage(await watching([root]));
    await shows(page, 3);
    const [snapshot] = page.snapshots();
    expect(snapshot).toMatchObject({
      resumed: false,
      seq: 0,
      session: { key: 'session_001', status: 'active' },
    });
    expect(snapshot!.steps.at(-1)).toMatchObject({
      step_id: 'step-0003',
      command: 'draw 3',
      headline: 'Picture 3',
      hero: { media_type: 'image/png', bundle: 'bundle_003' },
    });
    await push(recorded, 5);
    await shows(page, 8);
    await page.until(() => page.session()?.step_count === 8, 'the head is told');
    expect(page.snapshots()).toHaveLength(1);
    await stopSession(session.dir, { reason: 'done' });
    await page.until(() => page.session()?.status === 'stopped', 'the stop is told');
  });

  test('a window is the newest steps, at most so many and so large; `range` gets the others, and says what it holds', async () => {
    const { dir } = await seedSession(join(temporary(), '.preview'), 450, {
      commands: [`${'\u0001ä漢'.repeat(200)}`],
    });
    const page = await openPage(await serving({ session: dir }));
    const first = page.snapshots()[0]!;
    expect(first.steps.at(-1)!.index).toBe(450);
    expect(first.steps.length).toBeGreaterThan(10);
    const asked = await page.ask({ type: 'range', from: 1, to: 450 });
    expect(asked.from).toBe(1);
    // Larger than a message may be: what fits is sent, and the page sees where it ends.
    expect(asked.steps.length).toBeLessThan(STREAM_LIMITS.window);
    expect(asked.steps.map(({ index }: any) => index)).toEqual(upTo(asked.steps.length));
    const rest = await page.ask({ type: 'range', from: asked.steps.length + 1, to: asked.steps.length + 20 });
    expect(rest.steps).toHaveLength(20);
    for (const [from, to, indexes] of [
      [448, 900, upTo(450, 448)],
      [0, 2, upTo(2)],
      [451, 460, []],
      [5, 4, []],
    ] as const) {
      const got = await page.ask({ type: 'range', from, to });
      expect(got.steps.map(({ index }: any) => index)).toEqual(indexes);
    }
    // Who comes once older steps were read gets as many as fit.
    page.hello('session_001', cursorOf(page, 250));
    await page.until(() => page.snapshots().length === 2, 'another snapshot');
    expect(page.snapshots()[1]).toMatchObject({ resumed: false });
    expect(page.steps().length).toBeLessThan(STREAM_LIMITS.window);
    expect(page.largest()).toBeGreaterThan(STREAM_LIMITS.messageBytes / 2);
    expect(page.largest()).toBeLessThanOrEqual(STREAM_LIMITS.messageBytes);
  });

  test(`a window of small steps is ${STREAM_LIMITS.window}, and so is an answer to range`, async () => {
    const { dir } = await seedSession(join(temporary(), '.preview'), 450);
    const address = await serving({ session: dir });
    const page = await openPage(address);
    expect((await page.ask({ type: 'range', from: 1, to: 450 })).steps).toHaveLength(STREAM_LIMITS.window);
    const back = await openPage(address, { cursor: cursorOf(page, 250), steps: [250] });
    expect(back.snapshots()[0]).toMatchObject({ resumed: true });
    expect(back.steps()).toEqual(upTo(450, 250));
    const late = await openPage(address);
    expect(late.steps()).toEqual(upTo(450, 251));
    const behind = await openPage(address, { cursor: cursorOf(page, 249), steps: [249] });
    expect(behind.snapshots()[0]).toMatchObject({ resumed: false });
    expect(behind.steps()).toEqual(upTo(450, 251));
  });

  /** The cursor of a page that had come to step `count` of a session made by `seedSession`. */
  const cursorOf = (page: Page, count: number): string => {
    const { id } = readCursor(page.cursor())!;
    const step = page.messages
      .flatMap((message) => ('steps' in message ? message.steps : []))
      .find(({ index }) => index === count);
    return cursorText({ id, count, at: step?.published_at ?? seededAt(page) });
  };
  const seededAt = (page: Page) => page.snapshots()[0]!.steps[0]!.published_at;
});

describe('H04 a broken connection', () => {
  test('who comes back gets exactly what it missed, without waiting for more', async () => {
    const recorded = await recordSession(4);
    const server = await watching([recorded.root]);
    const page = await openPage(server);
    await shows(page, 4);
    page.socket.terminate();
    await push(recorded, 3);
    const back = await openPage(server, { cursor: page.cursor(), steps: page.steps() });
    expect(back.snapshots()[0]).toMatchObject({ resumed: true });
    expect(back.snapshots()[0]!.steps.map(({ index }) => index)).toEqual([5, 6, 7]);
    expect(back.steps()).toEqual(upTo(7));
    const again = await openPage(server, { cursor: back.cursor(), steps: back.steps() });
    expect(again.snapshots()[0]).toMatchObject({ resumed: true, steps: [] });
    await push(recorded);
    await shows(again, 8);
  });

  test('a cursor is as good after the server was killed and started again, and only for its recording', async () => {
    const recorded = await recordSession(3);
    const other = await recordSession(5);
    const first = await watching([recorded.root]);
    const page = await openPage(first);
    await shows(page, 3);
    await first.end('SIGKILL');
    await push(recorded, 2);
    const second = await watching([recorded.root]);
    const back = await openPage(second, { cursor: page.cursor(), steps: page.steps() });
    expect(back.snapshots()[0]).toMatchObject({ resumed: true });
    expect(back.steps()).toEqual(upTo(5));
    expect(back.snapshots()[0]!.server).not.toBe(page.snapshots()[0]!.server);
    const elsewhere = await openPage(await watching([other.root]), { cursor: page.cursor(), steps: [] });
    expect(elsewhere.snapshots()[0]).toMatchObject({ resumed: false });
    expect(elsewhere.steps()).toEqual(upTo(5));
    const { id } = readCursor(back.cursor())!;
    for (const cursor of [
      '',
      'x',
      '!!!',
      'A'.repeat(5000),
      Buffer.from('null').toString('base64url'),
      Buffer.from('[1]').toString('base64url'),
      cursorText({ id, count: 6, at: null }),
      cursorText({ id, count: 3, at: '2020-01-01T00:00:00.000Z' }),
      cursorText({ id: 'other', count: 3, at: null }),
    ]) {
      const odd = await openPage(second, { cursor });
      expect(odd.snapshots()[0], cursor.slice(0, 50)).toMatchObject({ resumed: false });
      expect(odd.steps()).toEqual(upTo(5));
    }
    const fresh = await openPage(second, { cursor: cursorText({ id, count: 0, at: null }) });
    expect(fresh.snapshots()[0]).toMatchObject({ resumed: true });
    expect(fresh.steps()).toEqual(upTo(5));
  });

  test('a socket that looks open and is dead is closed', async () => {
    const { dir } = await recordSession(1);
    const { server, ...address } = await serving({ session: dir }, { limits: { pingMs: 100 } });
    const page = await openPage(address);
    const dead = await openPage(address);
    dead.socket.pause();
    await until(() => server.pages() === 1, 'the dead one is dropped');
    expect(page.closed()).toBeNull();
    expect((await page.ask({ type: 'range', from: 1, to: 1 })).steps).toHaveLength(1);
  });
});

test('twenty pages, one stalled, one late, one that comes back after the server was killed: all show the same', async () => {
  const recorded = await recordSession(5);
  const token = 'the-token-that-outlives-one-server-0123456789';
  const begin = (port: number) => watching([recorded.root, '--token', token, '--port', String(port)]);
  let server = await begin(0);
  const { port } = server;
  const pages = await Promise.all(upTo(18).map(() => openPage(server)));
  // It takes the snapshot and never reads again.
  const stalled = rawSocket(port);
  stalled.socket.write(upgradeText(server));
  await until(() => stalled.text().includes('\r\n\r\n'), 'the upgrade is answered');
  stalled.socket.write(maskedText('{"type":"hello","protocol":1,"session":null,"cursor":null}'));
  await until(() => stalled.text().includes('"snapshot"'), 'its snapshot');
  stalled.socket.pause();
  await push(recorded, 10);
  for (const page of pages) await shows(page, 15);
  const late = await openPage(server);
  await shows(late, 15);
  await server.end('SIGKILL');
  for (const page of pages) await page.until(() => page.closed() !== null, 'the connection breaks');
  await push(recorded, 10);
  server = await begin(port);
  const back = await Promise.all(
    [...pages, late].map((page) => openPage(server, { cursor: page.cursor(), steps: page.steps() })),
  );
  await push(recorded, 10);
  for (const page of back) {
    await shows(page, 35);
    expect(page.steps()).toEqual(upTo(35));
    expect(page.snapshots().map(({ resumed }) => resumed)).toEqual([true]);
  }
  expect(await server.end()).toEqual({ code: 0, signal: null });
});

/** A text frame as a client sends it (RFC 6455, section 5.2), masked with zeros. */
function maskedText(text: string): Buffer {
  const body = Buffer.from(text);
  const length =
    body.length < 126 ? [0x80 | body.length] : [0x80 | 126, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), body]);
}

describe('sessions of a root', () => {
  test('one that begins is told to all, and shown when it is asked for; a roll-over says what it continues', async () => {
    const recorded = await recordSession(2);
    const server = await watching([recorded.root]);
    const [one, two] = [await openPage(server), await openPage(server)];
    const next = await startSession({ root: recorded.root });
    expect(next.dir).toBe(join(recorded.root, 'session_002'));
    await publish(next, bundleOf(1), { command: 'in the next' });
    const listed = (page: Page) => page.messages.findLast((message) => message.type === 'sessions');
    for (const page of [one, two])
      await page.until(
        () =>
          listed(page)
            ?.sessions.map(({ key }) => key)
            .join() === 'session_002,session_001',
        'both sessions are told',
      );
    one.hello('session_002');
    await one.until(() => one.session()?.key === 'session_002', 'the other session is shown');
    expect(one.steps()).toEqual([1]);
    await push(recorded);
    await shows(two, 3);
    expect(one.steps()).toEqual([1]);
    one.hello(null);
    await one.until(() => one.snapshots().length === 3, 'the newest is shown');
    expect(one.session()!.key).toBe('session_002');
    one.hello('session_009');
    await one.until(() => one.messages.at(-1)?.type === 'refused', 'the refusal');
    expect(one.messages.at(-1)).toMatchObject({ id: null, code: 'not_found' });
    expect(await one.ask({ type: 'range', from: 1, to: 1 })).toMatchObject({
      type: 'refused',
      code: 'not_found',
    });
  });

  test(`I10 a listing has at most ${STREAM_LIMITS.sessions}, the newest, and an older one can be asked for`, async () => {
    const recorded = await recordSession(1);
    const head = JSON.parse(readFileSync(join(recorded.dir, 'session.json'), 'utf8'));
    const empty = {
      ...head,
      title: 'x'.repeat(400),
      trajectory_step_count: 0,
      trajectory_bytes: 1,
      trajectory_sha256: null,
      latest_step: null,
    };
    for (let n = 2; n <= STREAM_LIMITS.sessions + 2; n++) {
      const name = `session_${String(n).padStart(3, '0')}`;
      mkdirSync(join(recorded.root, name));
      const title = n % 2 ? 'x'.repeat(400) : null;
      writeFileSync(
        join(recorded.root, name, 'session.json'),
        JSON.stringify({ ...empty, title, session_name: name, session_id: name }),
      );
      writeFileSync(join(recorded.root, name, 'trajectory.json'), '[\n]\n');
    }
    const address = await serving({ root: recorded.root }, { limits: { sessionsBytes: 1e6 } });
    const page = await openPage(address);
    const { sessions } = page.snapshots()[0]!;
    expect(sessions).toHaveLength(STREAM_LIMITS.sessions);
    expect(sessions[0]!.key).toBe(`session_${STREAM_LIMITS.sessions + 2}`);
    page.hello('session_001');
    await page.until(() => page.session()?.key === 'session_001', 'the oldest is shown');
    expect(page.steps()).toEqual([1]);
    const narrow = await openPage(await serving({ root: recorded.root }));
    const fewer = narrow.snapshots()[0]!.sessions;
    expect(fewer.length).toBeLessThan(STREAM_LIMITS.sessions);
    expect(fewer[0]!.key).toBe(sessions[0]!.key);
    expect(Buffer.byteLength(JSON.stringify(fewer))).toBeLessThanOrEqual(SERVER_LIMITS.sessionsBytes);
  });
});

describe('what a page asks', () => {
  let page: Page;
  let recorded: Recording;
  let address: Address;
  beforeAll(async () => {
    recorded = await recordSession(6, {
      each: (n) => [
        { headline: n === 4 ? 'A tower' : `Picture ${n}`, facts: { storeys: n } },
        { command: n === 5 ? 'false' : `draw ${n}`, exit_code: n === 5 ? 1 : 0 },
      ],
    });
    address = await serving({ root: recorded.root });
    page = await openPage(address);
  });

  test('one step whole, with the facts of the one before', async () => {
    const { detail } = await page.ask({ type: 'detail', index: 4 });
    expect(detail).toMatchObject({
      index: 4,
      step: { step_id: 'step-0004' },
      manifest: { bundle_id: 'bundle_004' },
      summary: { headline: 'A tower' },
      before: { index: 3, facts: { storeys: 3 } },
      problems: [],
    });
    expect((await page.ask({ type: 'detail', index: 99 })).detail).toBeNull();
    expect((await page.ask({ type: 'detail', index: 0 })).detail).toBeNull();
  });

  test('a search: what is found, everything, and nothing', async () => {
    const search = async (query: object) => (await page.ask({ type: 'search', query })).hits;
    expect(await search({ words: 'TOWER' })).toEqual({ count: 1, ranges: [[4, 4]], more: false });
    expect(await search({ words: 'storeys 3' })).toEqual({ count: 1, ranges: [[3, 3]], more: false });
    expect(await search({ words: ' ' })).toEqual({ count: 6, ranges: [[1, 6]], more: false });
    expect(await search({ words: 'nowhere' })).toEqual({ count: 0, ranges: [], more: false });
    expect(await search({ words: '', reason: 'mutation' })).toMatchObject({ count: 6 });
    expect(await search({ words: '', reason: 'start' })).toMatchObject({ count: 0 });
  });

  test('an outline of all steps, in at most as many buckets as were asked for', async () => {
    const outline = async (buckets: number) => (await page.ask({ type: 'outline', buckets })).buckets;
    expect((await outline(3)).map(({ from, count }: any) => [from, count])).toEqual([
      [1, 2],
      [3, 2],
      [5, 2],
    ]);
    expect(await outline(0)).toHaveLength(1);
    expect(await outline(1e9)).toHaveLength(6);
    await push(recorded);
    await shows(page, 7);
    expect(await outline(100)).toHaveLength(7);
    expect((await outline(100))[6].at).toBe(
      page.messages.findLast((m) => m.type === 'steps')!.steps[0]!.published_at,
    );
  });

  test('whether a step is what was recorded, before and after it was altered', async () => {
    expect((await page.ask({ type: 'verify', index: 2 })).verdict).toMatchObject({ ok: true, problems: [] });
    const copy = join(temporary(), 'session_001');
    cpSync(recorded.dir, copy, { recursive: true });
    const manifest = join(copy, 'bundle_002/manifest.json');
    const { artifacts } = JSON.parse(readFileSync(manifest, 'utf8'));
    rmSync(join(copy, 'bundle_002', artifacts[0].path), { force: true });
    const other = await openPage(await serving({ session: copy }));
    const { verdict } = await other.ask({ type: 'verify', index: 2 });
    expect(verdict.ok).toBe(false);
    expect(verdict.problems[0].kind).toBe('artifact_missing');
    expect(await other.ask({ type: 'verify', index: 99 })).toMatchObject({
      type: 'refused',
      code: 'not_found',
    });
  });

  test('I10 a detail that is larger than a message is sent without its largest parts, and says so', async () => {
    const huge = await recordSession(1, {
      each: () => [
        { context: { notes: Array.from({ length: 9000 }, (_, n) => `line ${n} of what was noted`) } },
        {},
      ],
    });
    const other = await openPage(await serving({ root: huge.root }));
    const { detail } = await other.ask({ type: 'detail', index: 1 });
    expect(detail.problems[0]).toMatchObject({ kind: 'too_large' });
    expect(detail.manifest.artifacts.length).toBeGreaterThan(0);
    expect(detail.manifest.context).toBeUndefined();
    expect(other.largest()).toBeLessThanOrEqual(STREAM_LIMITS.messageBytes);
  });

  test('another protocol, a question before hello, and no hello at all', async () => {
    const early = await openPage(address, { hello: false });
    expect(await early.ask({ type: 'range', from: 1, to: 2 })).toMatchObject({
      type: 'refused',
      code: 'not_found',
    });
    early.socket.send(JSON.stringify({ type: 'hello', protocol: 2, session: null, cursor: null }));
    await early.until(() => early.messages.length === 2, 'the refusal');
    expect(early.messages.at(-1)).toMatchObject({ code: 'protocol', id: null });
    const hasty = await serving({ root: recorded.root }, { limits: { helloMs: 100 } });
    const mute = await openPage(hasty, { hello: false });
    await mute.until(() => mute.closed()?.code === 1008, 'it is let go');
  });
});

describe('I10 caps', () => {
  test(`${STREAM_LIMITS.hits} ranges of hits and ${STREAM_LIMITS.buckets} buckets, and the server answers meanwhile`, async () => {
    const { dir } = await seedSession(join(temporary(), '.preview'), 2 * STREAM_LIMITS.hits + 10, {
      commands: ['odd', 'even'],
    });
    const page = await openPage(await serving({ session: dir }));
    const found = page.ask({ type: 'search', query: { words: 'odd' } });
    const outlined = page.ask({ type: 'outline', buckets: 1e6 });
    // Asked later and answered earlier.
    await page.ask({ type: 'range', from: 5, to: 6 });
    expect(page.messages.some(({ type }) => type === 'hits' || type === 'outline')).toBe(false);
    const { hits } = await found;
    expect(hits).toMatchObject({ count: STREAM_LIMITS.hits + 5, more: true });
    expect(hits.ranges).toHaveLength(STREAM_LIMITS.hits);
    const { buckets } = await outlined;
    expect(buckets.length).toBeLessThanOrEqual(STREAM_LIMITS.buckets);
    expect(buckets.reduce((sum: number, { count }: any) => sum + count, 0)).toBe(2 * STREAM_LIMITS.hits + 10);
    // A newer search takes the place of an older one.
    const older = page.ask({ type: 'search', query: { words: 'even' } });
    const newer = page.ask({ type: 'search', query: { words: 'odd' } });
    expect(await older).toMatchObject({ type: 'refused', code: 'superseded' });
    expect((await newer).hits.count).toBe(STREAM_LIMITS.hits + 5);
  });

  test('pages, connections, and requests that wait', async () => {
    const { root } = await recordSession(1);
    const address = await serving({ root }, { limits: { viewers: 2, connections: 4, requests: 3 } });
    const page = await openPage(address);
    const other = await openPage(address);
    expect(statusOf(await raw(address.port, upgradeText(address)))).toBe(503);
    other.socket.close();
    await until(() => address.server.pages() === 1, 'it is gone');
    const held = [rawSocket(address.port), rawSocket(address.port), rawSocket(address.port)];
    await until(() => held.every(({ socket }) => !socket.connecting), 'they are connected');
    const over = rawSocket(address.port);
    await until(over.closed, 'the one too many is closed');
    expect(over.text()).toBe('');
    for (let id = 1; id <= 10; id++)
      page.socket.send(JSON.stringify({ type: 'verify', id: 1000 + id, index: 1 }));
    const answers = () => page.messages.filter((message) => 'id' in message && (message.id ?? 0) > 1000);
    await page.until(() => answers().length === 10, 'all are answered');
    const busy = answers().filter((message) => message.type === 'refused' && message.code === 'busy');
    expect(busy.length).toBeGreaterThan(0);
    expect(answers().filter(({ type }) => type === 'verdict').length).toBeGreaterThanOrEqual(3);
  });

  test('verifications that wait', async () => {
    const { root } = await recordSession(1);
    const page = await openPage(await serving({ root }, { limits: { verifications: 2 } }));
    const answers = await Promise.all(upTo(8).map(() => page.ask({ type: 'verify', index: 1 })));
    expect(answers.filter(({ type }) => type === 'verdict').length).toBeGreaterThanOrEqual(3);
    expect(answers.filter(({ code }) => code === 'usage').length).toBeGreaterThan(0);
  });

  test('G10 a page that reads nothing is let go once so much waits for it; the others miss nothing', async () => {
    const recorded = await recordSession(1);
    const { dir } = await seedSession(join(temporary(), '.preview'), 400, { commands: ['漢'.repeat(400)] });
    cpSync(dir, join(recorded.root, 'session_002'), { recursive: true });
    const address = await serving({ root: recorded.root }, { limits: { bufferedBytes: 1024 * 1024 } });
    const page = await openPage(address, { session: 'session_001' });
    const greedy = await openPage(address, { session: 'session_002' });
    greedy.socket.pause();
    let id = 0;
    const asking = setInterval(() => {
      for (let n = 0; n < 8; n++)
        greedy.socket.send(JSON.stringify({ type: 'range', id: ++id, from: 1, to: 200 }));
    }, 5);
    try {
      await until(() => address.server.pages() === 1, 'it is let go');
    } finally {
      clearInterval(asking);
    }
    await push(recorded, 3);
    await shows(page, 4);
    greedy.socket.resume();
    await until(() => greedy.closed() !== null, 'it learns that');
  });

  test('sessions that no page shows are kept a while, and so many of them', async () => {
    const root = join(temporary(), '.preview');
    for (let n = 0; n < 5; n++) await stopSession((await startSession({ root })).dir);
    const watches = () =>
      readdirSync('/proc/self/fdinfo').flatMap((fd) => {
        try {
          return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify wd:/gm) ?? [];
        } catch {
          // ENOENT: it was closed meanwhile.
          return [];
        }
      }).length;
    const address = await serving({ root }, { limits: { idleHubs: 2, idleHubMs: 3_600_000 } });
    const page = await openPage(address);
    const one = watches();
    for (const key of ['session_004', 'session_003', 'session_002', 'session_001']) {
      page.hello(key);
      await page.until(() => page.session()?.key === key, `${key} is shown`);
    }
    // The one that is shown, and two more; three of five have been let go or were never opened.
    await until(() => watches() === one + 2, 'the older ones are let go');
    const brief = await serving({ root }, { limits: { idleHubMs: 50 } });
    const before = watches();
    const other = await openPage(brief);
    await until(() => watches() === before + 1, 'it is followed');
    other.socket.close();
    await until(() => watches() === before, 'it is let go');
  });

  test('G10 a page that reads nothing while much is published costs no more than the cap', async () => {
    const recorded = await recordSession(1);
    const address = await serving({ root: recorded.root }, { limits: { bufferedBytes: 64 * 1024 } });
    const page = await openPage(address);
    const stalled = await openPage(address);
    stalled.socket.pause();
    const long = '漢'.repeat(400);
    for (let n = 0; address.server.pages() > 1; n++) {
      // The kernel takes some megabytes before the server has to keep anything.
      if (n === 3000) throw new Error('it is never let go');
      if (n < 500) await publish(recorded.session, bundleOf(n), { command: `${n} ${long}` });
      else stalled.socket.send(JSON.stringify({ type: 'range', id: n, from: 1, to: 200 }));
      if (n >= 500) await new Promise((resume) => setImmediate(resume));
    }
    const count = () => page.session()!.step_count;
    await page.until(() => page.steps().at(-1) === count() && count() > 1, 'the other shows all');
    expect(page.steps()).toEqual(upTo(count()));
    expect(page.snapshots()).toHaveLength(1);
  });

  test('so many steps at once that a page begins anew', async () => {
    const recorded = await recordSession(2);
    const page = await openPage(
      await serving({ root: recorded.root }, { limits: { behind: 3, spacingMs: 400, quietMs: 400 } }),
    );
    await push(recorded, 8);
    await shows(page, 10);
    expect(page.snapshots().length).toBeGreaterThan(1);
  });
});

test('a slow request for headers is ended', async () => {
  const { root } = await recordSession(1);
  const address = await serving({ root }, { limits: { headersMs: 200, idleMs: 60_000 } });
  const slow = rawSocket(address.port);
  slow.socket.write('GET / HTTP/1.1\r\nHost: 127');
  await until(slow.closed, 'it is closed');
  expect([0, 408]).toContain(statusOf(slow.text()));
  const idle = await serving({ root }, { limits: { idleMs: 200 } });
  const still = rawSocket(idle.port);
  await until(still.closed, 'a connection that stands still is closed');
});
