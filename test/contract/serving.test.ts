// The bytes of artifacts: ranges, HEAD, caching, downloads. And where the server listens, how it begins and how it ends.

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rangeOf } from '../../consumer/server/range.js';
import { startSession } from '../../src/session.js';
import { documentOf, errorOf, previews, previewsArgv, run, until } from '../helpers/cli.js';
import { recordSession, snapshot, temporary } from '../helpers/project.js';
import {
  ask,
  openPage,
  raw,
  requestText,
  serving,
  statusOf,
  type Watching,
  watching,
} from '../helpers/server.js';

const CLIP = Buffer.concat([Buffer.from('000000186674797069736f6d', 'hex'), Buffer.alloc(5000, 7)]);
let server: Watching;
let root: string;
let clip: { path: string; sha256: string };
const others: Server[] = [];

afterAll(() => {
  for (const other of others) other.close();
});

beforeAll(async () => {
  const recorded = await recordSession(1, {
    each: () => [
      {
        artifacts: [
          { content: CLIP, role: 'hero', name: 'clip.mp4' },
          { content: '', role: 'render-output', name: 'empty.txt' },
          { content: 'x', role: 'render-output', name: 'ä "quoted" (1).txt' },
        ],
      },
      {},
    ],
  });
  root = recorded.root;
  server = await watching([root]);
  const page = await openPage(server);
  const { hero } = page.snapshots()[0]!.steps[0]!;
  clip = {
    path: `/file/session_001/${hero!.bundle}/${hero!.path}`,
    sha256: hero!.sha256!.replace('sha256:', ''),
  };
});

describe('H05 byte ranges', () => {
  const size = CLIP.length;
  test.each([
    ['bytes=0-1', 0, 1],
    ['bytes=0-0', 0, 0],
    ['bytes=-5', size - 5, size - 1],
    ['bytes=100-', 100, size - 1],
    ['bytes=0-99999999', 0, size - 1],
    ['bytes=-99999999', 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ['Bytes=1-2', 1, 2],
  ])('%s is 206 with these bytes', async (range, first, last) => {
    const { status, headers, body } = await ask(server, clip.path, { headers: { range } });
    expect(status).toBe(206);
    expect(headers['content-range']).toBe(`bytes ${first}-${last}/${size}`);
    expect(headers['content-length']).toBe(String(last - first + 1));
    expect(headers['content-type']).toBe('video/mp4');
    expect(body.equals(CLIP.subarray(first, last + 1))).toBe(true);
  });

  test.each(['bytes=5012-', 'bytes=999999-', 'bytes=999999-9999999', 'bytes=-0'])(
    '%s is 416',
    async (range) => {
      const { status, headers, body } = await ask(server, clip.path, { headers: { range } });
      expect(status).toBe(416);
      expect(headers['content-range']).toBe(`bytes */${size}`);
      expect(body).toHaveLength(0);
    },
  );

  test.each([
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'bytes=1-2,4-5',
    'items=0-1',
    'bytes 0-1',
    '0-1',
    'bytes=1e1-',
  ])('%s is not understood, and the whole is sent', async (range) => {
    const { status, body } = await ask(server, clip.path, { headers: { range } });
    expect(status).toBe(200);
    expect(body.equals(CLIP)).toBe(true);
  });

  test('If-Range: the same file in part, another one whole', async () => {
    const { headers } = await ask(server, clip.path);
    const range = 'bytes=0-1';
    expect((await ask(server, clip.path, { headers: { range, 'if-range': headers['etag']! } })).status).toBe(
      206,
    );
    expect((await ask(server, clip.path, { headers: { range, 'if-range': '"other"' } })).status).toBe(200);
  });

  test('HEAD has the length and no body, also with a range; an empty file is empty', async () => {
    for (const range of [[], ['Range: bytes=0-1']]) {
      const answer = await raw(server.port, requestText(server, clip.path, range, 'HEAD'));
      expect(statusOf(answer)).toBe(200);
      expect(answer).toMatch(new RegExp(`content-length: ${size}\r\n`, 'i'));
      expect(answer).toMatch(/accept-ranges: bytes/i);
      expect(answer.split('\r\n\r\n')[1]).toBe('');
    }
    const page = await openPage(server);
    const { detail } = await page.ask({ type: 'detail', index: 1 });
    const empty = detail.manifest.artifacts.find((each: any) => each.bytes === 0);
    const got = await ask(server, `/file/session_001/bundle_001/${empty.path}`);
    expect([got.status, got.body.length, got.headers['content-length']]).toEqual([200, 0, '0']);
    const part = await ask(server, `/file/session_001/bundle_001/${empty.path}`, {
      headers: { range: 'bytes=0-' },
    });
    expect(part.status).toBe(416);
  });

  test.each([
    [undefined, null],
    ['bytes=0-', { first: 0, last: 9 }],
    ['bytes=9-', { first: 9, last: 9 }],
    ['bytes=10-', 'none'],
    ['bytes=-1', { first: 9, last: 9 }],
    ['bytes=99999999999999999999-', null],
  ])('%s of ten bytes', (header, range) => {
    expect(rangeOf(header, 10)).toEqual(range);
  });
});

describe('caching and downloads', () => {
  test('an address with the recorded hash never changes; any other is asked again', async () => {
    const cached = await ask(server, `${clip.path}?v=${clip.sha256}`);
    expect(cached.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect(cached.headers['etag']).toBe(`"${clip.sha256}"`);
    for (const query of ['', '?v=', `?v=${clip.sha256.slice(1)}`, '?v=0', `?w=${clip.sha256}`])
      expect((await ask(server, clip.path + query)).headers['cache-control']).toBe('no-store');
    expect((await ask(server, '/')).headers['cache-control']).toBe('no-store');
  });

  test('a download has its name, whatever that holds', async () => {
    const page = await openPage(server);
    const { detail } = await page.ask({ type: 'detail', index: 1 });
    const paths: string[] = detail.manifest.artifacts.map(({ path }: any) => path);
    for (const path of paths) {
      const address = `/file/session_001/bundle_001/${path.split('/').map(encodeURIComponent).join('/')}`;
      const { headers, status } = await ask(server, `${address}?download`);
      expect(status).toBe(200);
      expect(headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''[\w.%~!$&+^`|-]+$/);
      expect(decodeURIComponent(headers['content-disposition']!.split("''")[1]!)).toBe(
        path.split('/').at(-1),
      );
    }
    expect((await ask(server, clip.path)).headers['content-disposition']).toBeUndefined();
  });

  test('manifest and summary can be had as they were recorded, other files of the session cannot', async () => {
    const manifest = await ask(server, '/file/session_001/bundle_001/manifest.json');
    expect(manifest.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(manifest.body.toString()).bundle_id).toBe('bundle_001');
    for (const path of [
      '/file/session_001/session.json',
      '/file/session_001/texts/x',
      '/file/session_001/.work/x',
    ])
      expect((await ask(server, path)).status).toBe(404);
  });
});

test('I6 a recording is the same to a byte after it was watched, searched and verified', async () => {
  const before = snapshot(root);
  const page = await openPage(server);
  await page.ask({ type: 'search', query: { words: 'draw' } });
  await page.ask({ type: 'outline', buckets: 10 });
  expect((await page.ask({ type: 'verify', index: 1 })).verdict).toMatchObject({ ok: true });
  await ask(server, clip.path);
  expect(snapshot(root)).toEqual(before);
});

/** Occupies a port. */
async function occupy(host: string, port = 0): Promise<number> {
  const other = createServer((_, response) => response.end('somebody else'));
  others.push(other);
  await new Promise<void>((resolve, reject) => {
    other.once('error', reject);
    other.listen({ host, port, ipv6Only: host.includes(':') }, () => resolve());
  });
  return (other.address() as { port: number }).port;
}

describe('where it listens', () => {
  test('H06 a port that is taken is a clear error; taken on [::1] alone, the printed address is still ours', async () => {
    const taken = await occupy('127.0.0.1');
    const refused = await previews('/', ['watch', root, '--port', String(taken), '--json']);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toBe('');
    expect(errorOf(refused)).toMatchObject({
      code: 'port_taken',
      message: expect.stringContaining(`127.0.0.1:${taken}`),
    });
    const six = await occupy('::1');
    const ours = await watching([root, '--port', String(six)]);
    expect(ours.origin).toBe(`http://127.0.0.1:${six}`);
    const { body, status } = await ask(ours, '/');
    expect(status).toBe(200);
    expect(body.toString()).not.toContain('somebody else');
    expect(await ours.end()).toEqual({ code: 0, signal: null });
  });

  test('other addresses only with a token of the own, and a long one', async () => {
    const token = 'a-token-of-my-own-that-is-long-enough-0123456789';
    for (const args of [
      ['--host', '0.0.0.0'],
      ['--host', '0.0.0.0', '--token', 'short'],
      ['--host', '::', '--token', 'x'.repeat(31)],
      ['--token', `${token} `],
      ['--token', `${token};`],
      ['--port', '70000'],
      ['--port', '-1'],
      ['--host', '203.0.113.7', '--token', token],
    ]) {
      const refused = await previews('/', ['watch', root, ...args, '--json']);
      expect([refused.code, errorOf(refused).code], args.join(' ')).toEqual([2, 'usage']);
    }
    const open = await watching([root, '--host', '0.0.0.0', '--token', token]);
    expect(open.url.endsWith(`/?token=${token}`)).toBe(true);
    const local = { ...open, origin: `http://127.0.0.1:${open.port}` };
    expect((await ask(local, '/')).status).toBe(200);
    expect(statusOf(await raw(open.port, requestText(open, '/', ['Host: evil.example'])))).toBe(403);
    expect(
      statusOf(await raw(open.port, requestText(open, '/', [`Cookie: preview_${open.port}=${token}x`]))),
    ).toBe(403);
    await open.end();
  });
});

describe('how it ends', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s: the pages are told, and the exit code is 0',
    async (signal) => {
      const begun = await watching([root]);
      const page = await openPage(begun);
      const silent = await openPage(begun);
      silent.socket.pause();
      expect(await begun.end(signal)).toEqual({ code: 0, signal: null });
      await page.until(() => page.closed() !== null, 'it is closed');
      expect(page.messages.at(-1)).toMatchObject({ type: 'bye', reason: expect.any(String) });
      expect(page.closed()!.code).toBe(1001);
      expect(begun.stderr()).toBe('');
    },
  );

  test('closed by its caller, it frees all that it held, and may be closed again', async () => {
    const before = process
      .getActiveResourcesInfo()
      .filter((name) => /FSEvent|TCP|Timeout/.test(name))
      .sort();
    const { server: own, ...address } = await serving({ root });
    const page = await openPage(address);
    await page.ask({ type: 'verify', index: 1 });
    await own.close();
    await own.close();
    await page.until(() => page.closed() !== null, 'it is closed');
    await until(
      () =>
        process.getActiveResourcesInfo().filter((name) => /FSEvent|TCP/.test(name)).length <=
        before.filter((name) => /FSEvent|TCP/.test(name)).length,
      'nothing is left',
    );
    await expect(ask(address, '/')).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('what it shows', () => {
  test('H07 `open` where no browser can be started: a live session is served, its address printed', async () => {
    const live = await startSession({ root: join(temporary(), '.preview') });
    const begun = await watching([live.root], { command: 'open', env: { PATH: '/nonexistent' } });
    await until(() => begun.stderr().includes('no browser was opened'), 'it is said');
    expect((await ask(begun, '/')).status).toBe(200);
    expect(await begun.end()).toEqual({ code: 0, signal: null });
  });

  test('H07 any other session is a page of its own, for its owner alone', async () => {
    const folder = join(temporary(), 'a b #%');
    mkdirSync(folder);
    const opened = await run(previewsArgv('open', 'session_001/step-0001', '--root', root, '--json'), {
      cwd: '/',
      env: { PATH: '/nonexistent', TMPDIR: folder },
    });
    const { url, path } = documentOf(opened);
    expect(opened.code).toBe(0);
    expect(opened.stderr).toMatch(/^no browser was opened: /);
    expect(fileURLToPath(url.split('#')[0])).toBe(path);
    expect(url.endsWith('#/session_001/step-0001')).toBe(true);
    expect(path.startsWith(folder)).toBe(true);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(dirname(path)).mode & 0o077).toBe(0);
    expect(readFileSync(path, 'utf8')).toMatch(/id="?recording/);
  });

  test('where an agent or CI runs it no browser is started', async () => {
    for (const name of ['CI', 'CLAUDECODE', 'CODEX_SANDBOX', 'GEMINI_CLI', 'CURSOR_AGENT']) {
      const begun = await watching([root, '--open'], { env: { [name]: '1' } });
      await until(() => begun.stderr().includes(`${name} is set`), 'it is said');
      await begun.end();
    }
  });

  test('nothing there is an error for a REF; without one it waits for what will be recorded', async () => {
    const project = temporary();
    const refused = await previews(project, ['watch', 'nowhere', '--json']);
    expect([refused.code, errorOf(refused).code]).toEqual([3, 'not_found']);
    const begun = await watching(['--root', join(project, '.preview')], { cwd: project });
    const page = await openPage(begun);
    expect(page.messages[0]).toMatchObject({ type: 'refused', code: 'not_found' });
    await recordSession(2, { root: join(project, '.preview') });
    await page.until(() => page.steps().length === 2, 'the session is shown');
    await begun.end();
  });

  test('a step, a bundle and a session: where the page begins', async () => {
    for (const [ref, fragment] of [
      ['session_001', ''],
      ['session_001/step-0001', '#/session_001/step-0001'],
      ['session_001/bundle_001', '#/session_001/step-0001'],
    ] as const) {
      const begun = await watching([ref, '--root', root]);
      expect(new URL(begun.url).hash).toBe(fragment);
      expect(begun.line).toEqual({
        url: expect.any(String),
        origin: begun.origin,
        port: begun.port,
        pid: begun.child.pid,
        root,
        session_dir: join(root, 'session_001'),
      });
      await begun.end();
    }
  });
});
