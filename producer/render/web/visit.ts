// One visit of a page in a window of some width: waits until it stands still, listens to what goes wrong, takes pictures.
import type { BrowserContext, Page } from 'playwright-core';
import { sleep } from '../../../src/clock.js';
import { named } from '../names.js';
import { failure } from '../programs.js';
import { firstLine } from './browser.js';
import type { Waits } from './waiting.js';

export type Heard = {
  /** `error: …`, `warning: …`, `log: …`, in their order. */
  console: { type: string; text: string; where: string }[];
  errors: string[];
  requests: { method: string; url: string; type: string; status: number | null; failure: string | null }[];
};

export type Visit = { page: Page; status: number; heard: Heard };

const HEIGHTS = [
  { to: 480, height: 844 },
  { to: 1024, height: 1024 },
  { to: Number.POSITIVE_INFINITY, height: 800 },
];
const LOAD_MS = 30_000;
/** A page that polls for ever is never idle; what it has by then is what it is. */
const IDLE_MS = 3000;
/** A page at rest answers at once; one that does not by then is busy. */
const ANSWER_MS = 3000;
const TALLEST = 6000;
const MESSAGES = 500;

/** Opens `url` in a new page. Throws a `Failure` where there is no page to look at. */
export async function visit(
  context: BrowserContext,
  url: string,
  width: number,
  waitFor: string,
  waits: Waits,
): Promise<Visit> {
  const page = await context.newPage();
  const height = HEIGHTS.find(({ to }) => width <= to)!.height;
  await page.setViewportSize({ width, height });
  const heard = listen(page);
  const loading = pending(page);
  let status: number;
  waits(`${placeOf(url)} to load`);
  try {
    const response = await page.goto(url, { waitUntil: 'load', timeout: LOAD_MS });
    status = response?.status() ?? 0;
  } catch (error) {
    if (!isTimeout(error)) throw failure(`${url} cannot be opened: ${firstLine(error)}`);
    throw failure(await whyNotLoaded(page, url, loading));
  }
  if (waitFor) {
    waits(`${placeOf(url)} to show ${waitFor}`);
    try {
      await page.locator(waitFor).first().waitFor({ timeout: LOAD_MS });
    } catch {
      throw failure(`${url} never showed ${waitFor}, which with.wait_for waits for`);
    }
  }
  await settle(page, waits);
  // From here on it is asked, and pictures are taken of it.
  waits(busyWords(url));
  return { page, status, heard };
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

/** A script that never gives way keeps everything waiting that is asked of its page. */
const busyWords = (url: string): string =>
  `a script of ${placeOf(url)} that keeps the page busy; look for a loop that never ends, or raise the recipe's timeout_s`;

/** What of a page has been answered, and what has been asked for and is still to come. */
function pending(page: Page) {
  const open = new Set<string>();
  const state = { answered: false, open };
  page.on('request', (request) => open.add(request.url()));
  page.on('requestfinished', (request) => open.delete(request.url()));
  page.on('requestfailed', (request) => open.delete(request.url()));
  page.on('response', (response) => {
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame())
      state.answered = true;
  });
  return state;
}

/** Why a page has not loaded in time, and what to try. */
async function whyNotLoaded(page: Page, url: string, { answered, open }: ReturnType<typeof pending>) {
  const time = `${LOAD_MS / 1000} s`;
  if (!answered)
    return `no answer from ${url} within ${time}; see whether what should answer there runs, such as with curl`;
  const idle = page.evaluate('0').then(
    () => true,
    () => true,
  );
  const place = placeOf(url);
  if (!(await Promise.race([idle, sleep(ANSWER_MS).then(() => false)])))
    return `${place} did not load within ${time}: a script of it keeps the page busy; look for a loop that never ends`;
  const left = [...open].map(placeOf);
  return `${place} was still loading after ${time}${left.length > 0 ? `: no answer for ${named(left)}` : ''}; see whether they can be had, or leave them out`;
}

/** Until requests have ended, fonts are there and two frames have been painted. */
async function settle(page: Page, waits: Waits): Promise<void> {
  waits(`the requests of ${placeOf(page.url())} to end`);
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => undefined);
  waits(busyWords(page.url()));
  await page.evaluate('0');
  waits(`the fonts of ${placeOf(page.url())} to load`);
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0)))))',
  );
}

function listen(page: Page): Heard {
  const heard: Heard = { console: [], errors: [], requests: [] };
  page.on('console', (message) => {
    // What could not be loaded is told by the request, with its address.
    if (heard.console.length >= MESSAGES || /^Failed to load resource/.test(message.text())) return;
    const { url, lineNumber } = message.location();
    heard.console.push({
      type: message.type(),
      text: message.text(),
      where: url ? `${placeOf(url)}:${lineNumber + 1}` : '',
    });
  });
  page.on('pageerror', (error) => {
    if (heard.errors.length < MESSAGES) heard.errors.push(firstLine(error));
  });
  // A question that nobody answers would hold the page up for ever.
  page.on('dialog', (dialog) => dialog.dismiss().catch(() => undefined));
  const note = (
    request: { method(): string; url(): string; resourceType(): string },
    status: number | null,
    why: string | null,
  ) => {
    // Browsers ask for it on their own account.
    if (request.url().endsWith('/favicon.ico') || heard.requests.length >= MESSAGES) return;
    heard.requests.push({
      method: request.method(),
      url: request.url(),
      type: request.resourceType(),
      status,
      failure: why,
    });
  };
  page.on('response', (response) => note(response.request(), response.status(), null));
  page.on('requestfailed', (request) => note(request, null, request.failure()?.errorText ?? 'failed'));
  return heard;
}

/** An address as people know it: without the origin of the page's own. */
export const placeOf = (url: string): string =>
  url.replace(/^http:\/\/localhost(:\d+)?\//, '/').slice(0, 200);

/** The window as it stands. */
export const shot = (page: Page, path: string): Promise<Buffer> =>
  page.screenshot({ path, animations: 'disabled', caret: 'hide' });

/** The whole page from top to bottom, 6000 px at most; returns how tall it is. */
export async function fullShot(page: Page, path: string, waits: Waits): Promise<number> {
  // What loads when it is scrolled to is scrolled to.
  const height = await page.evaluate<number>(
    '(async () => { for (let y = 0; y < document.documentElement.scrollHeight && y < 6000; y += innerHeight) { scrollTo(0, y); await new Promise(requestAnimationFrame); } scrollTo(0, 0); return document.documentElement.scrollHeight; })()',
  );
  await settle(page, waits);
  waits(busyWords(page.url()));
  const width = page.viewportSize()!.width;
  await page.screenshot({
    path,
    animations: 'disabled',
    caret: 'hide',
    fullPage: true,
    ...(height > TALLEST ? { clip: { x: 0, y: 0, width, height: TALLEST } } : {}),
  });
  return height;
}
export { TALLEST };
