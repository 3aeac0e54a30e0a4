// What a real browser does with the guard: a page of another origin gets nothing, and what a bundle holds runs nothing.
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../helpers/cli.js';
import { png, recordSession } from '../helpers/project.js';
import { openPage, type Watching, watching } from '../helpers/server.js';

const CHROMIUM = '/usr/bin/chromium';
const found = existsSync(CHROMIUM);

/** What is passed to `evaluate` runs in the browser. */
declare const document: any, window: any, location: any, HTMLLinkElement: any;

/** Tells its parent, and asks for what only the page may have. */
const TELLS = `<script>
  const tell = (what) => { parent.postMessage(what, '*'); opener?.postMessage(what, '*'); document.title = what; };
  tell('it ran');
  fetch('/').then((answer) => answer.text()).then(tell, () => {});
</script>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="parent.postMessage('it ran', '*');document.title='it ran'"><script>parent.postMessage('it ran', '*');document.title='it ran'</script><rect width="60" height="40" fill="teal"/></svg>`;

let browser: Browser;
let server: Watching;
let other: Server;
let foreign: string;
let files: Record<string, string>;

beforeAll(async () => {
  if (!found) return;
  const { root } = await recordSession(1, {
    each: () => [
      {
        artifacts: [
          { content: png(), role: 'hero', name: 'picture.png' },
          { content: TELLS, role: 'render-output', name: 'page.html' },
          { content: SVG, role: 'render-output', name: 'drawing.svg' },
        ],
      },
      {},
    ],
  });
  server = await watching([root]);
  const page = await openPage(server);
  const { detail } = await page.ask({ type: 'detail', index: 1 });
  files = Object.fromEntries(
    detail.manifest.artifacts.map(({ label, path }: any) => [label, `/file/session_001/bundle_001/${path}`]),
  );
  other = createServer((request, response) => {
    const [type, body] =
      request.url === '/page.html'
        ? ['text/html', TELLS]
        : request.url === '/drawing.svg'
          ? ['image/svg+xml', SVG]
          : ['text/html', '<title>elsewhere</title>'];
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  foreign = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});

afterAll(async () => {
  await browser?.close();
  other?.close();
});

/** A browser that has signed in. */
async function signedIn() {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}#/session_001/step-0001`);
  return { context, page };
}

describe.skipIf(!found)(`in a browser${found ? '' : ` (skipped: ${CHROMIUM} is not there)`}`, () => {
  test('the token leaves the address, the fragment stays, and scripts do not see the cookie', async () => {
    const { context, page } = await signedIn();
    expect(page.url()).toBe(`${server.origin}/#/session_001/step-0001`);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    expect((await context.cookies()).map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([
      [true, 'Strict'],
    ]);
    const opened = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const socket = new WebSocket(`ws://${location.host}/stream`);
          socket.onopen = () => resolve('open');
          socket.onerror = () => resolve('refused');
        }),
    );
    expect(opened).toBe('open');
    await context.close();
  });

  test('G01 G02 a page of another origin can neither read, embed, nor connect, though the browser has the cookie', async () => {
    const { context } = await signedIn();
    for (const at of [foreign, foreign.replace('127.0.0.1', 'localhost')]) {
      const page = await context.newPage();
      await page.goto(at);
      const got = await page.evaluate(
        async ({ origin, picture }) => {
          const load = (name: 'img' | 'script' | 'link', address: string) =>
            new Promise<string>((resolve) => {
              const element = document.createElement(name);
              element.onload = () => resolve('loaded');
              element.onerror = () => resolve('refused');
              if (element instanceof HTMLLinkElement) {
                element.rel = 'stylesheet';
                element.href = address;
              } else element.src = address;
              document.head.append(element);
            });
          const ask = (address: string, options: RequestInit) =>
            fetch(address, options).then(
              async (answer) => `read ${answer.status} ${(await answer.text()).length}`,
              () => 'refused',
            );
          const socket = await new Promise((resolve) => {
            const made = new WebSocket(`${origin.replace('http', 'ws')}/stream`);
            made.onopen = () => resolve('open');
            made.onerror = () => resolve('refused');
          });
          return [
            await ask(`${origin}/`, { credentials: 'include' }),
            await ask(origin + picture, { credentials: 'include' }),
            await ask(origin + picture, { method: 'POST', credentials: 'include', body: 'x' }),
            await load('img', origin + picture),
            await load('script', `${origin}/viewer.js`),
            await load('link', `${origin}/viewer.css`),
            socket,
          ];
        },
        { origin: server.origin, picture: files['picture.png']! },
      );
      expect(got).toEqual(Array(7).fill('refused'));
      const frame = await page.evaluate(async (origin) => {
        const element = document.createElement('iframe');
        element.src = origin;
        await new Promise((resolve) => {
          element.onload = resolve;
          document.body.append(element);
        });
        return element.contentWindow!.length;
      }, server.origin);
      expect(frame).toBe(0);
      await page.close();
    }
    await context.close();
  });

  test('G07 HTML and SVG of a bundle run nothing, in a frame and by themselves; elsewhere they would', async () => {
    const { context, page } = await signedIn();
    const tells = async (address: string) => {
      await page.evaluate((src) => {
        const told: unknown[] = [];
        window.told = told;
        window.addEventListener('message', ({ data }: { data: unknown }) => told.push(data));
        const element = document.createElement('iframe');
        element.onload = () => {
          window.loaded = src;
        };
        element.src = src;
        document.body.append(element);
      }, address);
      await until(() => page.evaluate(() => window.loaded), 'the frame is loaded');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)));
      return page.evaluate(() => window.told);
    };
    const shown = async (address: string) => {
      const own = await context.newPage();
      await own.goto(address);
      const title = await own.title();
      await own.close();
      return title;
    };
    for (const name of ['page.html', 'drawing.svg']) {
      // From a server that sends no policy it runs: the test can fail.
      expect(await shown(`${foreign}/${name}`)).not.toBe('');
      expect(await tells(files[name]!)).toEqual([]);
      expect(await shown(server.origin + files[name]!)).not.toContain('it ran');
    }
    await context.close();
  });
});
