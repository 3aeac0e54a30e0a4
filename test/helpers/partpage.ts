// A page with nothing but one part of the viewer, under the policy that the real one has. Its source answers from what
// the test has put into memory. Any error of the page, and whatever the policy had to refuse, is kept.
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { DIST, REPOSITORY } from './cli.js';

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; font-src 'none'; frame-src 'self' blob:; base-uri 'none'; form-action 'none'";

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html' };

/** Themes as the viewer has them; what a part looks like without is not looked at. */
const STYLE = `
html, body { margin: 0; height: 100%; }
#stage { height: 100vh; }
:root { --bg: #11141b; --panel: #171b24; --line: #2a303d; --text: #e6e9f0; --dim: #9aa3b5; --accent: #7aa2ff;
  --ok: #5fd38d; --warn: #e8b04b; --bad: #ff7b86; --mono: "DejaVu Sans Mono", monospace; --sans: "DejaVu Sans", sans-serif; }
:root[data-theme=light] { --bg: #ffffff; --panel: #f5f6f8; --line: #d9dde4; --text: #1a1e26; --dim: #5c6575;
  --accent: #2456c8; --ok: #1d7a41; --warn: #8a5a00; --bad: #c02434; }
body { background: var(--bg); }
`;

const SCRIPT = `
import { loadPart } from './consumer/viewer/loadpart.ts';
let mounted = null;
globalThis.problems = [];
globalThis.refused = [];
document.addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective + ' ' + event.blockedURI));
globalThis.show = async (name, file, theme) => {
  document.documentElement.dataset.theme = theme;
  const part = await loadPart(name);
  const source = { kind: 'live', leftOut: [], url: () => null, bytes: async () => {
    const answer = await fetch('/data/' + encodeURIComponent(file.path));
    if (!answer.ok) throw new Error('it is not there');
    return answer.arrayBuffer();
  } };
  mounted = part.mount(document.getElementById('stage'), { file, source, theme, onProblem: (words) => problems.push(words) });
};
globalThis.retheme = (theme) => { document.documentElement.dataset.theme = theme; mounted.retheme?.(theme); };
globalThis.hide = () => { mounted?.unmount(); mounted = null; };
`;

export interface Shown {
  bytes: Uint8Array | string;
  media_type: string;
  /** What the file says it has, where that is not true. */
  claimed?: number;
}

export interface PartPage {
  browser: Browser;
  page: Page;
  /** Errors of the page and of its console, and what the policy refused. Must be empty at the end. */
  faults: string[];
  /** Addresses asked for that are none of ours. */
  asked: string[];
  /** Mounts a part with a file and waits until it has drawn, or has told a problem. Returns the problems. */
  show(part: string, file: Shown, theme?: 'dark' | 'light'): Promise<string[]>;
  /** Unmounts it. */
  hide(): Promise<void>;
  close(): Promise<void>;
}

/** `args` are Chromium's. */
export async function partPage(args: string[] = []): Promise<PartPage> {
  const script = await build({
    stdin: { contents: SCRIPT, resolveDir: REPOSITORY, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
  });
  const files = new Map<string, Shown>();
  const own: Record<string, [type: string, body: string | Buffer]> = {
    '/': [
      'text/html',
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>part</title><link rel="stylesheet" href="own.css"></head><body><main id="stage"></main><script src="own.js"></script></body></html>',
    ],
    '/own.css': ['text/css', STYLE],
    '/own.js': ['text/javascript', script.outputFiles[0]!.text],
    '/favicon.ico': ['image/x-icon', ''],
  };
  const answer = (response: ServerResponse, code: number, type: string, body: string | Uint8Array) => {
    response.writeHead(code, { 'content-type': type, 'content-security-policy': POLICY });
    response.end(body);
  };
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(url);
    if (own[path]) return answer(response, 200, ...own[path]);
    const file = path.startsWith('/data/') ? files.get(path.slice(6)) : undefined;
    if (file) return answer(response, 200, 'application/octet-stream', file.bytes);
    if (/^\/part(-\w+\.js|\.css)$/.test(path))
      return answer(response, 200, TYPES[extname(path)]!, readFileSync(join(DIST, 'viewer', path)));
    answer(response, 404, 'text/plain', 'nothing here');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', ...args],
  });
  const page = await browser.newPage({ viewport: { width: 1100, height: 700 } });
  const faults: string[] = [];
  const asked: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
    if (/too many active webgl/i.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(blob|data):/.test(request.url())) asked.push(request.url());
  });
  await page.goto(origin);

  return {
    browser,
    page,
    faults,
    asked,
    async show(part, file, theme = 'dark') {
      files.set('shown', file);
      const { length } = typeof file.bytes === 'string' ? Buffer.from(file.bytes) : file.bytes;
      const shown = {
        bundle: 'bundle_001',
        path: 'shown',
        sha256: null,
        bytes: file.claimed ?? length,
        media_type: file.media_type,
        width: null,
        height: null,
      };
      return page.evaluate(
        async ([name, what, how]) => {
          const page = globalThis as any;
          page.hide();
          page.problems = [];
          await page.show(name, what, how);
          const stage = page.document.getElementById('stage');
          const deadline = performance.now() + 20_000;
          while (page.problems.length === 0 && stage.querySelector('[aria-busy]')) {
            if (performance.now() > deadline) throw new Error('nothing is drawn');
            await new Promise((done) => page.requestAnimationFrame(done));
          }
          return page.problems;
        },
        [part, shown, theme] as const,
      );
    },
    async hide() {
      await page.evaluate(() => (globalThis as any).hide());
    },
    async close() {
      faults.push(...(await page.evaluate(() => (globalThis as any).refused as string[])));
      await browser.close();
      await new Promise((done) => server.close(done));
    },
  };
}
