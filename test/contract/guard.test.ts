// The guard of `previews watch`: every way in that is not the person's own page is refused, and the server lives on.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SERVER_LIMITS } from '../../consumer/server/limits.js';
import { STREAM_LIMITS } from '../../src/stream.js';
import { until } from '../helpers/cli.js';
import { recordSession, thaw } from '../helpers/project.js';
import {
  ask,
  openPage,
  raw,
  rawSocket,
  requestText,
  signIn,
  statusOf,
  upgradeText,
  type Watching,
  watching,
} from '../helpers/server.js';

const SECRET = 'what nobody outside may read';
const HOSTILE_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="fetch(\'/\')"><script>fetch("/")</script></svg>';
const HOSTILE_HTML = '<script>fetch("/").then(r=>r.text()).then(t=>parent.postMessage(t,"*"))</script>';

let server: Watching;
let root: string;
let file: string;

beforeAll(async () => {
  const recorded = await recordSession(3, {
    each: () => [
      {
        artifacts: [
          { content: HOSTILE_SVG, role: 'hero', name: 'picture.svg' },
          { content: HOSTILE_HTML, role: 'render-output', name: 'page.html' },
          { content: '%PDF-1.4\n', role: 'render-output', name: 'sheet.pdf' },
          { content: 'a,b\n', role: 'render-output', name: 'table.csv' },
          { content: Buffer.from([0, 1, 2, 3]), role: 'render-output', name: 'odd.bin' },
          { content: 'linked', role: 'render-output', name: 'linked.txt' },
          { content: 'deep', role: 'render-output', name: 'folder.txt' },
        ],
      },
      {},
    ],
  });
  root = recorded.root;
  // A sibling whose name begins like the session's, a secret outside, and links that lead there.
  mkdirSync(join(root, 'session_001x'));
  writeFileSync(join(root, 'session_001x/secret.txt'), SECRET);
  writeFileSync(join(root, 'secret.txt'), SECRET);
  const bundle = join(recorded.dir, 'bundle_002');
  thaw(bundle);
  const stored = artifactsOf(bundle);
  rmSync(join(bundle, stored['linked.txt']!));
  symlinkSync(join(root, 'secret.txt'), join(bundle, stored['linked.txt']!));
  const deep = join(bundle, 'manifest.json');
  const manifest = JSON.parse(readFileSync(deep, 'utf8'));
  manifest.artifacts.push({ ...manifest.artifacts[0], path: 'out/secret.txt', role: 'render-output' });
  manifest.artifacts.push({ ...manifest.artifacts[0], path: '../../secret.txt', role: 'render-output' });
  writeFileSync(deep, JSON.stringify(manifest));
  symlinkSync(root, join(bundle, 'out'));
  symlinkSync(join(root, 'session_001x'), join(recorded.dir, 'bundle_004'));
  writeFileSync(join(root, 'session_001x/manifest.json'), JSON.stringify(manifest));
  file = `/file/session_001/bundle_001/${artifactsOf(join(recorded.dir, 'bundle_001'))['picture.svg']}`;
  server = await watching([root]);
});

/** Stored paths by the names that were given. */
function artifactsOf(bundle: string): Record<string, string> {
  const { artifacts } = JSON.parse(readFileSync(join(bundle, 'manifest.json'), 'utf8'));
  return Object.fromEntries(artifacts.map(({ label, path }: Record<string, string>) => [label, path]));
}

const alive = async () => expect((await ask(server, '/')).status).toBe(200);
const get = (target: string, headers: string[] = [], method = 'GET') =>
  raw(server.port, requestText(server, target, headers, method));
const upgrade = (headers: string[] = [], target?: string) =>
  raw(server.port, upgradeText(server, headers, target));

/** A refusal says nothing of what is recorded, allows no other origin, and can be used for nothing. */
function expectRefused(answer: string, ...statuses: number[]): void {
  expect(statuses, answer.slice(0, 300)).toContain(statusOf(answer));
  expect(answer).not.toContain(SECRET);
  expect(answer.length).toBeLessThan(1200);
  expect(answer).not.toMatch(/access-control-allow/i);
  expect(answer).not.toMatch(/set-cookie/i);
}

describe('G01 only this machine, and only under its own name', () => {
  test('it listens on 127.0.0.1 alone, and the address says so', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{22}$/);
    const hex = server.port.toString(16).toUpperCase().padStart(4, '0');
    const listening = ['tcp', 'tcp6'].flatMap((name) =>
      readFileSync(`/proc/${server.pid}/net/${name}`, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, local, , state]) => state === '0A' && local?.endsWith(`:${hex}`))
        .map(([, local]) => local),
    );
    expect(listening).toEqual([`0100007F:${hex}`]);
    for (const { address, family } of Object.values(networkInterfaces()).flatMap((each) => each ?? []))
      if (family === 'IPv4' && address !== '127.0.0.1')
        await expect(ask({ origin: `http://${address}:${server.port}`, cookie: '' }, '/')).rejects.toThrow();
  });

  const foreign = (port: number) => [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `localhost.evil.example:${port}`,
    `localhost:${port}@evil.example`,
    `127.0.0.1.evil.example:${port}`,
    `127.0.0.1:${port + 1}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.2:${port}`,
    `0.0.0.0:${port}`,
    `2130706433:${port}`,
    `[::1]:${port}`,
    '',
  ];

  test('another Host is refused, on a request and on an upgrade', async () => {
    for (const host of foreign(server.port)) {
      expectRefused(await get(file, [`Host: ${host}`]), 403, 400);
      expectRefused(await upgrade([`Host: ${host}`, `Origin: http://${host}`]), 403, 400);
    }
    expect(statusOf(await get(file, [`Host: localhost:${server.port}`]))).toBe(200);
    expect(statusOf(await get(file, [`Host: LOCALHOST:${server.port}`]))).toBe(200);
  });

  test('none, two of them, and an absolute address are refused', async () => {
    const cookie = `Cookie: ${server.cookie}`;
    expectRefused(
      await raw(server.port, `GET ${file} HTTP/1.1\r\n${cookie}\r\nConnection: close\r\n\r\n`),
      400,
      403,
    );
    expectRefused(await raw(server.port, `GET ${file} HTTP/1.0\r\n${cookie}\r\n\r\n`), 400, 403);
    const own = `Host: 127.0.0.1:${server.port}`;
    expectRefused(await get(file, [own, 'Host: evil.example']), 400, 403);
    expectRefused(await get(file, [own, own]), 400, 403);
    expectRefused(await get(`http://evil.example${file}`), 400);
    expectRefused(await get(`http://127.0.0.1:${server.port}${file}`), 400);
    expectRefused(await get('*', [], 'OPTIONS'), 405);
  });

  test('no answer allows another origin to read it, to embed it, or to learn the address', async () => {
    for (const path of ['/', '/viewer.js', file, '/nothing', server.url]) {
      const { headers } = await ask(server, path);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });
});

describe('G02 no other page speaks with it', () => {
  const strangers = (port: number) => [
    'null',
    'http://evil.example',
    `https://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://127.0.0.1:${port + 1}`,
    'http://127.0.0.1',
    `http://127.0.0.1:${port}.evil.example`,
    `http://evil.example/127.0.0.1:${port}`,
    `http://127.0.0.1:${port}/`,
    `HTTP://127.0.0.1:${port}`,
    `http://user@127.0.0.1:${port}`,
    'file://',
    'chrome-extension://abcdefgh',
    '',
  ];

  test('an Origin that is not exactly its own is refused', async () => {
    for (const origin of strangers(server.port)) {
      expectRefused(await get(file, [`Origin: ${origin}`]), 403);
      expectRefused(await get(`/?token=${server.url.split('=')[1]}`, [`Origin: ${origin}`]), 403);
      expectRefused(await upgrade([`Origin: ${origin}`]), 403);
    }
    const own = `http://127.0.0.1:${server.port}`;
    expect(statusOf(await get(file, [`Origin: ${own}`]))).toBe(200);
  });

  test('an upgrade without an Origin is refused', async () => {
    expectRefused(await upgrade(['Origin:']), 403);
  });

  test('what a browser says comes from another site is refused', async () => {
    for (const site of ['cross-site', 'same-site', 'anything', '']) {
      expectRefused(await get(file, [`Sec-Fetch-Site: ${site}`]), 403);
      expectRefused(await upgrade([`Sec-Fetch-Site: ${site}`]), 403);
    }
    expectRefused(await upgrade(['Sec-Fetch-Site: none']), 403);
    for (const site of ['same-origin', 'none'])
      expect(statusOf(await get(file, [`Sec-Fetch-Site: ${site}`]))).toBe(200);
  });

  test('without the token nothing is told: none, a wrong one, a cut one, one of an older run, one of another port', async () => {
    const older = await watching([root]);
    const stale = older.cookie.split('=')[1]!;
    expect(await older.end()).toEqual({ code: 0, signal: null });
    const [name, token] = server.cookie.split('=') as [string, string];
    const wrong = [
      'Cookie: a=b',
      'Cookie:',
      `Cookie: ${name}=`,
      `Cookie: ${name}=${'A'.repeat(22)}`,
      `Cookie: ${name}=${token.slice(0, -1)}`,
      `Cookie: ${name}=${token}x`,
      `Cookie: ${name}=${token.toLowerCase()}x`,
      `Cookie: ${name}=${stale}`,
      `Cookie: preview_1=${token}`,
      `Cookie: x${name}=${token}`,
      `Cookie: ${name.toUpperCase()}=${token}`,
    ];
    for (const cookie of wrong) {
      for (const target of ['/', '/viewer.js', file, '/nothing', '/stream'])
        expectRefused(await get(target, [cookie]), 403);
      expectRefused(await upgrade([cookie]), 403);
    }
    expectRefused(await get(`${file}?token=${token}`, ['Cookie: a=b']), 403);
    expectRefused(await upgrade(['Cookie: a=b'], `/stream?token=${token}`), 403);
    expect(statusOf(await get(file, [`Cookie: a=b; ${name}=wrong; ${name}=${token}; c=d`]))).toBe(200);
  });

  test('a token in the address is exchanged for a cookie that scripts cannot read, and leaves the address', async () => {
    const given = await ask({ ...server, cookie: '' }, server.url);
    expect(given.status).toBe(303);
    expect(given.headers['location']).toBe('/');
    expect(given.headers['set-cookie']).toEqual([
      expect.stringMatching(/^preview_\d+=[\w-]{22}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect(given.headers['cache-control']).toBe('no-store');
    // Not even with a good cookie beside it.
    for (const token of ['', 'x', `${server.url.split('=')[1]}x`, server.url.split('=')[1]!.slice(1)])
      expectRefused(await get(`/?token=${token}`), 403);
    expect(await signIn(server.url)).toBe(server.cookie);
  });

  test('only GET and HEAD are answered, and nothing with a body', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
      expectRefused(await get(file, [], method), 405);
    expectRefused(await get(file, ['Content-Length: 5']), 413);
    expectRefused(await get(file, ['Transfer-Encoding: chunked']), 413);
    expectRefused(await raw(server.port, upgradeText(server).replace(/^GET/, 'POST')), 405);
    const head = await get(file, [], 'HEAD');
    expect(statusOf(head)).toBe(200);
    expect(head.endsWith('\r\n\r\n')).toBe(true);
  });
});

describe('G04 no path leads out', () => {
  const out = [
    '/file/session_001/bundle_001/../../../secret.txt',
    '/file/session_001/bundle_002/../../secret.txt',
    '/file/session_001/bundle_002/..%2f..%2fsecret.txt',
    '/file/session_001/bundle_002/%2e%2e/%2e%2e/secret.txt',
    '/file/session_001/bundle_002/%252e%252e%252f%252e%252e%252fsecret.txt',
    '/file/session_001/..%2f..%2fsecret.txt/x',
    '/file/session_001/../secret.txt',
    '/file/session_001x/bundle_001/secret.txt',
    '/file/..%2fsession_001x/bundle_001/secret.txt',
    '/file/../secret.txt',
    '/file/session_001/bundle_004/secret.txt',
    '/file/session_001//etc/passwd',
    '/file/session_001/bundle_001//etc/passwd',
    '/file/session_001/bundle_001/%2fetc%2fpasswd',
    '/file/session_001/bundle_001/..\\..\\secret.txt',
    '/file/session_001/bundle_001/..%5c..%5csecret.txt',
    '/file/session_001/bundle_001/%c0%ae%c0%ae/secret.txt',
    '/file/session_001/bundle_001/picture.svg%00.txt',
    '/file/session_001/bundle_001/.',
    '/file/session_001/bundle_001/',
    '/file/session_001/bundle_001',
    '/file/session_001/.work/lock',
    '/file/session_001/bundle_001x/manifest.json',
    '/file/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/../../../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/x/#/../../etc/passwd',
    '/viewer.js/../../package.json',
    '/..%2fcommands%2fpreviews-watch.cjs',
    '/viewer%2ejs%00',
    '/index.html?raw??',
    '/@fs/etc/passwd?raw??',
    '/constructor',
    '/__proto__',
    '/file/__proto__/constructor/x',
  ];
  test.each(out)('%s', async (target) => {
    const answer = await get(target);
    // A question mark and what follows it choose nothing.
    if (target === '/index.html?raw??') expect(statusOf(answer)).toBe(200);
    else expectRefused(answer, 400, 404);
  });

  test.each([
    '/file/%',
    '/file/session_001/bundle_001/%zz',
    '/%e0%a4%a',
    '/file/session_001/bundle_001/%ff',
    'file/session_001',
    '\\file',
    '?token=x',
    '#',
  ])('malformed: %s', async (target) => {
    expectRefused(await get(target), 400);
    await alive();
  });
});

describe('G06 links in a bundle are not followed', () => {
  test('a link to a file outside, a linked folder, a bundle that is a link, a stored path that leaves', async () => {
    const stored = Object.values(artifactsOf(join(root, 'session_001/bundle_002')));
    expect(stored.length).toBeGreaterThan(3);
    const answers = [
      ...stored.map((path) => `/file/session_001/bundle_002/${path}`),
      '/file/session_001/bundle_002/out/secret.txt',
      '/file/session_001/bundle_002/..%2f..%2fsecret.txt',
      '/file/session_001/bundle_004/manifest.json',
      '/file/session_001/bundle_004/secret.txt',
    ];
    const statuses = new Map<string, number>();
    for (const target of answers) {
      const answer = await get(target);
      expect(answer).not.toContain(SECRET);
      statuses.set(target, statusOf(answer));
    }
    // The link itself is among them, and what is no link is still served.
    expect([...statuses.values()].filter((status) => status === 200).length).toBeGreaterThan(2);
    expect(statuses.get('/file/session_001/bundle_002/out/secret.txt')).toBe(404);
    expect(statuses.get('/file/session_001/bundle_004/manifest.json')).toBe(404);
    const linked = artifactsOf(join(root, 'session_001/bundle_002'))['linked.txt']!;
    expect(statuses.get(`/file/session_001/bundle_002/${linked}`)).toBe(404);
  });
});

describe('G07 what a bundle holds runs nothing in the page', () => {
  test.each([
    ['picture.svg', 'image/svg+xml'],
    ['page.html', 'text/html; charset=utf-8'],
    ['sheet.pdf', 'application/pdf'],
  ])('%s has an origin of its own, without scripts or requests', async (name, type) => {
    const path = artifactsOf(join(root, 'session_001/bundle_001'))[name]!;
    const { status, headers } = await ask(server, `/file/session_001/bundle_001/${path}`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none';/);
    expect(headers['content-security-policy']).not.toMatch(/allow-|script-src/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('a type that is not known is bytes, and text that would be downloaded is text', async () => {
    const paths = artifactsOf(join(root, 'session_001/bundle_001'));
    const odd = await ask(server, `/file/session_001/bundle_001/${paths['odd.bin']}`);
    expect(odd.headers['content-type']).toBe('application/octet-stream');
    const table = await ask(server, `/file/session_001/bundle_001/${paths['table.csv']}`);
    expect(table.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(table.headers['content-security-policy']).toMatch(/^sandbox/);
  });

  test('the page itself runs only its own scripts, and nobody frames it', async () => {
    const { headers, body } = await ask(server, '/');
    const policy = headers['content-security-policy']!;
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(headers['x-frame-options']).toBe('DENY');
    expect(body.toString()).not.toMatch(/<script(?![^>]* src=)|\son\w+=/i);
    expect(body.toString()).not.toContain(server.cookie.split('=')[1]);
  });
});

describe('G10 nothing that is sent ends it', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400],
    ['bytes', Buffer.alloc(4096, 0xff), 400],
    ['a request line without a version', 'GET /\r\n\r\n', 403],
    ['HTTP/9', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n', 400],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
  ])('%s', async (_what, bytes, status) => {
    expect(statusOf(await raw(server.port, bytes))).toBe(status);
    await alive();
  });

  test(`more than ${SERVER_LIMITS.headers} headers, and more than ${SERVER_LIMITS.headerBytes} bytes of them`, async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `x${n}: 1`);
    // With Host, Cookie and Connection it is one too many.
    expectRefused(await get(file, many(SERVER_LIMITS.headers - 2)), 431);
    expect(statusOf(await get(file, many(SERVER_LIMITS.headers - 3)))).toBe(200);
    expectRefused(await upgrade(many(SERVER_LIMITS.headers)), 431);
    expectRefused(await upgrade(many(2000)), 431);
    expectRefused(await get(file, [`x: ${'y'.repeat(SERVER_LIMITS.headerBytes)}`]), 431);
    expectRefused(await get(`/${'a'.repeat(SERVER_LIMITS.headerBytes)}`), 431);
    await alive();
  });

  test('frames that are too large, malformed, unmasked or binary', async () => {
    const begun = async () => {
      const opened = rawSocket(server.port);
      opened.socket.write(upgradeText(server));
      await until(() => opened.text().includes('\r\n\r\n'), 'the upgrade is answered');
      expect(statusOf(opened.text())).toBe(101);
      return opened;
    };
    const codes: number[] = [];
    for (const frame of [
      // A text frame that says it has 101 MB, one a byte over the cap, one unmasked, one with reserved bits, a
      // control frame that is too long, and a continuation of nothing.
      Buffer.from('81ff0000000006500000aabbccdd', 'hex'),
      Buffer.from(`81fe${(STREAM_LIMITS.requestBytes + 1).toString(16)}aabbccdd`, 'hex'),
      Buffer.from('810161', 'hex'),
      Buffer.from('f18061626364', 'hex'),
      Buffer.from('89fe0100aabbccdd', 'hex'),
      Buffer.from('8080aabbccdd', 'hex'),
    ]) {
      const { socket, text, closed } = await begun();
      const before = text().length;
      socket.write(frame);
      await until(closed, 'the connection is closed');
      const answer = Buffer.from(text().slice(before), 'latin1');
      expect(answer[0]).toBe(0x88);
      codes.push(answer.readUInt16BE(2));
    }
    expect(codes).toEqual([1009, 1009, 1002, 1002, 1002, 1002]);
    const page = await openPage(server);
    page.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    await page.until(() => page.messages.some(({ type }) => type === 'refused'), 'the refusal');
    await alive();
  });

  test('a message that is none is refused, and a page that sends nothing else is let go', async () => {
    const page = await openPage(server);
    const bad = [
      '',
      '{',
      '[]',
      'null',
      '"x"',
      '{"type":"hello"}',
      '{"type":"range","id":-1,"from":1,"to":2}',
    ];
    for (const text of bad) page.socket.send(text);
    const refusals = () => page.messages.filter(({ type }) => type === 'refused').length;
    await page.until(() => refusals() === bad.length, 'the refusals');
    expect((await page.ask({ type: 'range', from: 1, to: 2 })).steps).toHaveLength(2);
    for (let n = bad.length; n < SERVER_LIMITS.badMessages; n++) page.socket.send('x'.repeat(1000));
    await page.until(() => page.closed() !== null, 'it is let go');
    expect(page.closed()!.code).toBe(1008);
    await alive();
  });

  test('requests one after another on a connection, cut anywhere, are answered or end only that connection', async () => {
    const whole = requestText(server, '/', ['Connection: keep-alive']);
    for (const at of [1, 5, 20, whole.length - 2]) {
      const { socket, text, closed } = rawSocket(server.port);
      socket.write(whole + whole.slice(0, at));
      await until(() => statusOf(text()) === 200, 'the first is answered');
      socket.destroy();
      await until(closed, 'it is closed');
    }
    await alive();
  });
});

test('the server has said nothing but its address', async () => {
  await alive();
  expect(server.stderr()).toBe('');
  expect(server.stdout().trimEnd().split('\n')).toHaveLength(1);
});
