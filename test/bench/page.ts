// The page of `previews watch`, in a real browser: how soon a new picture is seen, what an idle page costs, and that a
// session of 100,000 steps feels like one of ten. Times here are of this machine; the budgets are the product's.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { QUIET } from '../../producer/render/web/browser.js';
import { recordLong } from '../helpers/long.js';
import { type Line, plainEnv, round, run, spread } from './measure.js';
import { makeSite } from './site.js';

export const CHROMIUM = '/usr/bin/chromium';
const FIRST_MESSAGE_BYTES = 256 * 1024;

/** Told by the page: when each picture of the recording was there. */
const WATCH_PICTURES = `
  window.seen = [];
  // Not on the window: an element's load does not reach it.
  document.addEventListener('load', ({ target }) => {
    if (target.localName === 'img') window.seen.push({ src: target.currentSrc, at: Date.now() });
  }, true);
  window.long = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.long.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
`;

interface Watched {
  page: Page;
  cdp: CDPSession;
  /** Bytes received since the last call, and the first message of the stream. */
  received(): number;
  firstMessage(): number;
  /** Whether the outline of all steps, which takes the longest to load, is there. */
  outlined(): boolean;
  close(): Promise<void>;
}

/** Starts `previews watch` of the copy of dist/ in `dir` and resolves to its address. */
async function serve(dir: string, root: string): Promise<{ url: string; stop(): void }> {
  const argv = [join(dir, 'dist/previews.cjs'), 'watch', root, '--json'];
  const child = spawn(process.execPath, argv, { env: plainEnv(), stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece;
      if (text.includes('\n')) resolve(text);
    });
    child.on('exit', (code) => reject(new Error(`previews watch ended with ${code}`)));
  });
  return { url: JSON.parse(line).url, stop: () => child.kill('SIGTERM') };
}

async function watch(browser: Browser, url: string, link = ''): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(WATCH_PICTURES);
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Performance.enable');
  let bytes = 0;
  let first = 0;
  let outlined = false;
  cdp.on('Network.dataReceived', ({ encodedDataLength, dataLength }) => {
    bytes += encodedDataLength || dataLength;
  });
  cdp.on('Network.webSocketFrameReceived', ({ response }) => {
    first ||= Buffer.byteLength(response.payloadData);
    outlined ||= response.payloadData.startsWith('{"type":"outline"');
    bytes += Buffer.byteLength(response.payloadData);
  });
  await page.goto(url + link);
  return {
    page,
    cdp,
    received: () => {
      const got = bytes;
      bytes = 0;
      return got;
    },
    firstMessage: () => first,
    outlined: () => outlined,
    close: () => context.close(),
  };
}

/** When a picture of `bundle` was there, as the page's Date.now(). */
const pictureOf = async (page: Page, bundle: string): Promise<number> => {
  const found = await page.waitForFunction(
    (name) =>
      (globalThis as any).seen.find(({ src }: { src: string }) => src.includes(`/${name}/render.`))?.at,
    bundle,
    { timeout: 20_000, polling: 10 },
  );
  return (await found.jsonValue()) as number;
};

/** 1. From the end of `preview live push` to the picture: in ms. */
async function pushLines(browser: Browser, dir: string, pushes: number): Promise<Line[]> {
  const site = await makeSite(dir, 11);
  const preview = (...args: string[]) =>
    run({
      name: args[0]!,
      argv: [process.execPath, join(dir, 'dist/preview.cjs'), ...args],
      cwd: site.project,
    });
  preview('live', 'start');
  preview('live', 'push', '--command', 'first', '--json');
  const { url, stop } = await serve(dir, site.root);
  const { page, close } = await watch(browser, url);
  try {
    await page.waitForFunction(() => (globalThis as any).seen.length > 0);
    const waits: number[] = [];
    for (let n = 0; n < pushes; n++) {
      const shape = `<rect width="${40 + (n % 20)}" height="${10 + n}" fill="teal"/>`;
      const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48">${shape}</svg>\n`;
      writeFileSync(join(site.project, 'drawing.svg'), picture);
      const pushed = preview('live', 'push', '--command', `edit ${n}`, '--json');
      const ended = Date.now();
      const at = await pictureOf(page, JSON.parse(pushed.stdout).bundle_id);
      waits.push(Math.max(0, at - ended));
    }
    const { median, max } = spread(waits);
    return [
      budgeted('from the end of live push to the picture on the page, median, ms', median, 100),
      budgeted(`the same, worst of ${pushes}, ms`, max, 500),
    ];
  } finally {
    await close();
    stop();
  }
}

/** 2. What a page costs that nobody touches: in bytes, and in ms of its main thread. */
async function idleLines(browser: Browser, url: string, seconds: number): Promise<Line[]> {
  const { page, cdp, received, firstMessage, outlined, close } = await watch(browser, url);
  try {
    await page.waitForFunction(() => (globalThis as any).seen.length > 0);
    await page.waitForLoadState('networkidle');
    const busy = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
    };
    do {
      received();
      await new Promise((resume) => setTimeout(resume, 1000));
    } while (!outlined() || received() > 0);
    const before = await busy();
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
    const [took, bytes] = [(await busy()) - before, received()];
    return [
      budgeted('bytes of an idle page in 15 s', (bytes * 15) / seconds, 10_000),
      budgeted('main thread of an idle page in 15 s, ms', (took * 15) / seconds, 100),
      budgeted('first message, bytes', firstMessage(), FIRST_MESSAGE_BYTES),
    ];
  } finally {
    await close();
  }
}

/** 3. Opening the page: in ms until the newest picture is there, the two sessions in turns. */
async function openLines(browser: Browser, short: string, long: string, tries: number): Promise<Line[]> {
  const times: Record<string, number[]> = { [short]: [], [long]: [] };
  for (let n = 0; n <= tries; n++) {
    for (const url of [short, long]) {
      const { page, close } = await watch(browser, url);
      await page.waitForFunction(() =>
        (globalThis as any).seen.some(({ src }: { src: string }) => src.includes('render.')),
      );
      const took = await page.evaluate(
        () =>
          (globalThis as any).seen.find(({ src }: { src: string }) => src.includes('render.')).at -
          performance.timeOrigin,
      );
      await close();
      // The first of each warms the server up.
      if (n > 0) times[url]!.push(took);
    }
  }
  const [few, many] = [spread(times[short]!), spread(times[long]!)];
  return [
    {
      ...budgeted('opening 100,000 steps over opening 10', round(many.median / few.median, 2), 1.5),
      short: few,
      long: many,
    },
  ];
}

/** 4. Moving about in a long session: the longest task, in ms, and what the tab keeps after walking. */
async function walkLines(browser: Browser, url: string, steps: number): Promise<Line[]> {
  const { page, cdp, close } = await watch(browser, url);
  const heap = async () => {
    await cdp.send('HeapProfiler.collectGarbage');
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value;
  };
  const frame = () =>
    page.evaluate(
      () => new Promise((resume) => (globalThis as any).requestAnimationFrame(() => resume(null))),
    );
  try {
    await page.waitForFunction(() => (globalThis as any).seen.length > 0);
    await page.evaluate(() => {
      (globalThis as any).long.length = 0;
    });
    const list = page.getByRole('listbox').first();
    const box = (await list.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let n = 0; n < 60; n++) {
      await page.mouse.wheel(0, n % 10 === 9 ? 200_000 : 900);
      await frame();
    }
    const strip = (await page.getByRole('slider').first().boundingBox())!;
    await page.mouse.move(strip.x + 5, strip.y + strip.height / 2);
    await page.mouse.down();
    for (let n = 0; n <= 60; n++) {
      await page.mouse.move(strip.x + 5 + ((strip.width - 10) * n) / 60, strip.y + strip.height / 2);
      await frame();
    }
    await page.mouse.up();
    const longest = await page.evaluate(() => Math.max(0, ...(globalThis as any).long));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    const walk = async (count: number) => {
      for (let n = 0; n < count; n++) {
        await page.keyboard.press('k');
        await frame();
      }
    };
    await walk(200);
    const before = await heap();
    await walk(steps);
    const after = await heap();
    return [
      budgeted('longest task while scrolling and scrubbing 100,000 steps, ms', longest, 100),
      {
        ...budgeted(`memory after walking ${steps} steps over that before`, round(after / before, 2), 1.3),
        before,
        after,
      },
    ];
  } finally {
    await close();
  }
}

const budgeted = (name: string, value: number, budget: number): Line => ({
  name,
  ratio: round(value, 2),
  budget,
  pass: value <= budget,
});

/** All lines of the page. `dir` holds the copy of dist/ and takes what is made. */
export async function pageLines(dir: string, quick: boolean): Promise<Line[]> {
  const { chromium } = require('playwright-core') as typeof import('playwright-core');
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: QUIET,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  const stops: (() => void)[] = [];
  const served = async (steps: number, pictures: number) => {
    const root = join(dir, `long-${steps}`, '.preview');
    await recordLong(root, steps, pictures);
    const { url, stop } = await serve(dir, root);
    stops.push(stop);
    return url;
  };
  try {
    const short = await served(10, 10);
    const long = await served(100_000, quick ? 200 : 2000);
    return [
      ...(await pushLines(browser, dir, quick ? 15 : 50)),
      ...(await idleLines(browser, long, quick ? 5 : 15)),
      ...(await openLines(browser, short, long, quick ? 5 : 9)),
      ...(await walkLines(browser, long, quick ? 400 : 2000)),
    ];
  } finally {
    for (const stop of stops) stop();
    await browser.close();
  }
}
