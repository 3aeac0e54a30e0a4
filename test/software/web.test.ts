// The recipes `web`, `web-full` and `web-url` on little sites, with Chromium.
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../../producer/program.js';
import { fileFor } from '../../producer/render/web/site.js';
import { until } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

const page = (body: string, head = '') =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cape</title>${head}</head><body><h1>Cape</h1>${body}</body></html>`;
const projectOf = (files: Record<string, string | Uint8Array>) => {
  const project = join(temporary(), 'project');
  write(project, files);
  return project;
};

withPrograms('web', { chromium: 'chromium' }, () => {
  test('a script that loops for ever after the page has loaded: the timeout says what was waited for', async () => {
    const project = projectOf({
      'index.html': page('<script>onload = () => setTimeout(() => { for (;;); }, 50)</script>'),
      'preview.config.json': JSON.stringify({ recipes: { web: { uses: 'web', timeout_s: 30 } } }),
    });
    const { result } = await captureWith(project, 'web', { code: 4 });
    expect(result['warnings']).toEqual([
      expect.stringMatching(
        /^renderer_timeout: web was ended after 30 s: it was still waiting for a script of \/index\.html that keeps the page busy; look for a loop/,
      ),
    ]);
  });

  test('an address that takes requests and never answers is named, and what to try', async () => {
    const server = createServer(() => {});
    await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    try {
      const project = projectOf({
        'preview.config.json': JSON.stringify({ recipes: { dev: { uses: 'web-url', with: { url } } } }),
      });
      const { result } = await captureWith(project, 'dev', { code: 4 });
      expect(result['warnings'].join()).toContain(`no answer from ${url} within 30 s; see whether`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test('a folder at three widths, with scripts, styles and the accessibility tree; nothing is wrong with it', async () => {
    const project = projectOf({
      'site/index.html': page(
        '<a href="/tides.html">Tides</a><p id="out"></p><script type="module" src="app.js"></script>',
        '<link rel="stylesheet" href="/style.css">',
      ),
      'site/app.js': "const { word } = await (await fetch('data.json')).json(); out.textContent = word;",
      'site/data.json': '{"word":"fetched"}',
      'site/style.css':
        'body { background: rgb(0, 64, 128); margin: 0 } @media (max-width: 500px) { body { background: rgb(128, 0, 0) } }',
    });
    const { result, manifest, summary, facts, of, file } = await captureWith(project, 'web');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['generator'].backend).toMatch(/^Chromium \d/);
    expect(summary['headline']).toBe('/index.html: Cape');
    expect(facts).toEqual({
      ...{ title: 'Cape', status: 200, pages: 1, requests: 4, failed_requests: 0 },
      ...{ page_errors: 0, console_errors: 0, console_warnings: 0, accessibility_lacks: 0 },
    });
    const shots = [...of('hero'), ...of('gallery')].map((artifact) => {
      const { width, height, pixels } = look(file(artifact));
      return [
        artifact['label'],
        width,
        height,
        ...pixels.subarray((width * (height - 9) + 9) * 4).subarray(0, 3),
      ];
    });
    expect(shots).toEqual([
      ['/index.html at 1280 px', 1280, 800, 0, 64, 128],
      ['/index.html at 768 px', 768, 1024, 0, 64, 128],
      ['/index.html at 390 px', 390, 844, 128, 0, 0],
    ]);
    const tree = readFileSync(file(of('render-output')[0]!), 'utf8');
    expect(tree).toMatch(/heading "Cape" \[level=1\]/);
    expect(tree).toMatch(/link "Tides"/);
    expect(tree).toMatch(/paragraph: fetched/);
    expect((await captureWith(project, 'web')).result['cached']).toBe(true);
  });

  test('what goes wrong in a page is said: errors, failed requests, what lies outside, too wide, not accessible', async () => {
    const project = projectOf({
      'index.html': page(
        `<img src="none.png"><button></button><div id="wide" style="width:600px">wide</div><script>
console.error('bad', 7); console.warn('careful'); fetch('https://example.com/x').catch(() => {}); alert('stop');
setTimeout(() => { throw new Error('boom') }, 1)</script>`,
      ),
    });
    const { result, facts, of, file } = await captureWith(project, 'web');
    expect(result['status']).toBe('ok');
    expect(result['warnings']).toEqual([
      'page_error: boom',
      'console_error: bad 7 (/index.html:2)',
      'request_failed: /none.png: 404',
      'left_out: 1 request to example.com not made: this recipe has no network',
      expect.stringMatching(/^overflows: at 390 px the page is 6\d\d px wide: div#wide$/),
      'accessibility: 1 without alternative text (img)',
      'accessibility: 1 without words to name them (button)',
    ]);
    expect(facts).toMatchObject({
      failed_requests: 2,
      page_errors: 1,
      console_errors: 1,
      console_warnings: 1,
    });
    const said = of('render-output').find(({ label }) => label === 'Console')!;
    expect(readFileSync(file(said), 'utf8')).toBe(
      'page error: boom\nerror: bad 7 (/index.html:2)\nwarning: careful (/index.html:2)\n',
    );
  });

  test('web-full adds whole pages, the dark scheme, the document and the requests', async () => {
    const css =
      'main { height: 2000px } h1 { margin: 0; height: 0 } @media (prefers-color-scheme: dark) { body { background: #000 } }';
    const project = projectOf({ 'index.html': page('<main>tall</main>', `<style>${css}</style>`) });
    const { of, file } = await captureWith(project, 'web-full');
    const gallery = of('gallery').map((artifact) => ({ ...artifact, ...look(file(artifact)) }) as any);
    const dark = gallery.find(({ label }) => label === 'where a dark scheme is preferred');
    expect([...dark.pixels.subarray(0, 3)]).toEqual([0, 0, 0]);
    const whole = gallery.find(({ label }) => label === 'the whole page at 390 px');
    expect([whole.width, whole.height]).toEqual([390, 2016]);
    expect(JSON.parse(readFileSync(file(of('pipeline-json')[0]!), 'utf8'))).toMatchObject([
      { method: 'GET', type: 'document', status: 200 },
    ]);
  });

  test('web-url starts a server, waits for it, looks at its pages, and ends it with all that it started', async () => {
    const project = projectOf({
      'server.mjs': `import { createServer } from 'node:http'; import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
const child = spawn('sleep', ['600']); writeFileSync('pids', process.pid + ' ' + child.pid);
const html = ${JSON.stringify(page('<p>served'))};
setTimeout(() => createServer((q, s) => { s.statusCode = q.url === '/no' ? 500 : 200; s.setHeader('content-type', 'text/html'); s.end(html) }).listen(process.env.PORT, '127.0.0.1'), 300);`,
      'preview.config.json': JSON.stringify({
        recipes: {
          dev: {
            uses: 'web-url',
            with: { serve: `'${process.execPath}' server.mjs`, widths: '640', pages: '/,/no' },
          },
        },
      }),
    });
    const { result, facts, of } = await captureWith(project, 'dev');
    expect(result).toMatchObject({
      cached: false,
      warnings: ['http_status: /no answers with 500', 'request_failed: /no: 500'],
    });
    expect(facts).toMatchObject({ title: 'Cape', status: 200, pages: 2 });
    expect(of('gallery').map(({ label }) => label)).toEqual(['/no at 640 px']);
    const pids = readFileSync(join(project, 'pids'), 'utf8').split(' ').map(Number);
    await until(() => pids.every(isGone), 'the end of the server and its child', 5000);
  });

  test('$CHROME names the browser, wherever it is', async () => {
    const folder = temporary();
    write(folder, {
      'bin/my-browser': `#!/bin/sh\nexec ${findProgram('chromium', '/')} "$@"\n`,
      'empty/x': '',
    });
    chmodSync(join(folder, 'bin/my-browser'), 0o755);
    const env = { PATH: `${join(folder, 'empty')}:/bin`, CHROME: join(folder, 'bin/my-browser') };
    const { result } = await captureWith(projectOf({ 'index.html': page('x') }), 'web', { env });
    expect(result['status']).toBe('ok');
    const nowhere = { ...env, CHROME: join(folder, 'none'), PATH: join(folder, 'empty') };
    const missing = await captureWith(projectOf({ 'index.html': page('x') }), 'web', {
      env: nowhere,
      code: 4,
    });
    expect(missing.result['warnings'][0]).toMatch(/^renderer_missing: chromium is not there/);
  });

  test('a server that ends, and an address where nobody answers, are errors that say so', async () => {
    const config = (options: object) => ({
      'preview.config.json': JSON.stringify({ recipes: { dev: { uses: 'web-url', with: options } } }),
    });
    const ended = await captureWith(projectOf(config({ serve: 'echo no such script; exit 3' })), 'dev', {
      code: 4,
    });
    expect(ended.result['warnings'][0]).toMatch(/ended before it answered on port \d+: no such script/);
    const refused = await captureWith(projectOf(config({ url: 'http://127.0.0.1:9/' })), 'dev', { code: 4 });
    expect(refused.result['warnings'][0]).toMatch(/http:\/\/127\.0\.0\.1:9\/ cannot be opened/);
  });
});

test('I9 no path of a site leaves its folder, by dots, by escapes or by a link', () => {
  const folder = temporary();
  write(folder, { 'site/index.html': 'x', 'site/a/index.html': 'x', 'site/b.html': 'x', 'secret.txt': 'x' });
  const base = join(folder, 'site');
  symlinkSync(join(folder, 'secret.txt'), join(base, 'link.txt'));
  symlinkSync(folder, join(base, 'up'));
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/link.txt',
    '/up/secret.txt',
    '/a/../../secret.txt',
    '/\\..\\secret.txt',
    '/%00',
    '/%',
    '/none',
  ])
    expect([path, fileFor(base, path)]).toEqual([path, null]);
  expect(fileFor(base, '/')).toBe(join(base, 'index.html'));
  expect(fileFor(base, '/a')).toBe(join(base, 'a/index.html'));
  expect(fileFor(base, '/b')).toBe(join(base, 'b.html'));
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2)[0] === 'Z';
  } catch {
    // ESRCH or ENOENT: no such process.
    return true;
  }
}
