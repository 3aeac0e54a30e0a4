// Looks at web pages with Chromium, a program of its own: pictures at several widths, what goes wrong, and what a screen
// reader gets.
//   web.cjs (--folder DIR | --source site/index.html | --url URL | --serve COMMAND [--port N])
//           [--pages /,/about.html] [--widths 1280,768,390] [--wait-for SELECTOR] [--full=true]
// Exit 0 with render.png, views/*.png, accessibility.yml and preview.json in $PREVIEW_OUT; 1 where there is no page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContext } from 'playwright-core';
import { counted, named } from '../render/names.js';
import { failure, renderer } from '../render/programs.js';
import { writeReport } from '../render/report.js';
import { launch, openContext } from '../render/web/browser.js';
import { lacksOf, overflowOf } from '../render/web/checks.js';
import { type Served, serve } from '../render/web/server.js';
import { answerFrom, ORIGIN } from '../render/web/site.js';
import { fullShot, placeOf, shot, TALLEST, type Visit, visit } from '../render/web/visit.js';
import { sayAtEnd, type Waits } from '../render/web/waiting.js';

const VIEWS = 8;
const REFUSED = 'net::ERR_INTERNET_DISCONNECTED';

type Options = {
  out: string;
  /** Where the pages are: a folder that is answered from, or an address. */
  place: { folder: string; first: string } | { url: string; first: string };
  pages: string[];
  widths: number[];
  waitFor: string;
  full: boolean;
  waits: Waits;
};

renderer('web', async () => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      ...{ source: text, folder: text, url: text, serve: text, port: text },
      ...{ pages: text, widths: text, 'wait-for': text, full: text },
    },
  });
  const out = process.env['PREVIEW_OUT'];
  if (!out) throw failure('expected a folder in $PREVIEW_OUT');
  const waits = sayAtEnd();
  if (values.serve) waits(`an answer of the server that ${values.serve} starts`);
  const server = values.serve ? await serve(values.serve, Number(values.port) || 0) : null;
  let browser: Browser | null = null;
  try {
    waits('Chromium to start');
    browser = await launch();
    await look(browser, {
      out,
      place: placeFrom(values, server),
      pages: listed(values.pages),
      widths: widthsFrom(values.widths),
      waitFor: values['wait-for'] ?? '',
      full: values.full === 'true',
      waits,
    });
  } finally {
    await browser?.close();
    await server?.close();
  }
});

const listed = (text = ''): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);

function widthsFrom(text = ''): number[] {
  const widths = listed(text).map(Number);
  if (widths.some((width) => !(Number.isInteger(width) && width >= 200 && width <= 1280)))
    throw failure(`with.widths must be widths from 200 to 1280, not ${JSON.stringify(text)}`);
  return widths.length > 0 ? widths.sort((a, b) => b - a) : [1280, 768, 390];
}

function placeFrom(
  values: { source?: string; folder?: string; url?: string },
  server: Served | null,
): Options['place'] {
  const { source = '', folder, url } = values;
  if (server) return { url: new URL(url || '/', server.url).href, first: '' };
  if (url) {
    if (!/^https?:\/\//.test(url)) throw failure(`with.url must begin with http:// or https://, not ${url}`);
    return { url, first: '' };
  }
  if (folder === undefined && values.source === undefined)
    throw failure('nothing to look at: with.url or with.serve says what');
  if (folder) return { folder, first: '/' };
  if (!source) throw failure('there is no HTML file here; with.folder says where the site is');
  return { folder: dirname(source), first: `/${encodeURI(relative(dirname(source), source))}` };
}

async function look(browser: Browser, options: Options): Promise<void> {
  const { out, place, widths, full } = options;
  const context = await openContext(browser);
  const outside = new Set<string>();
  if ('folder' in place) await answerFrom(context, place.folder, (url) => outside.add(url));
  const base = 'folder' in place ? ORIGIN : place.url;
  const first = new URL(place.first || '', base).href;
  const addresses =
    options.pages.length > 0 ? options.pages.map((path) => new URL(path, base).href) : [first];
  mkdirSync(join(out, 'views'), { recursive: true });
  const warnings: string[] = [];
  const labels: Record<string, string> = {
    'accessibility.yml': 'Accessibility tree',
    'console.txt': 'Console',
    'document.html': 'Document',
  };
  const main = await visit(context, addresses[0]!, widths[0]!, options.waitFor, options.waits);
  if (main.status === 404 && 'folder' in place)
    throw failure(`${placeOf(addresses[0]!)} is not in ${place.folder}`);
  if (main.status >= 400) warnings.push(`http_status: ${placeOf(addresses[0]!)} answers with ${main.status}`);
  await shot(main.page, join(out, 'render.png'));
  labels['render.png'] = `${placeOf(addresses[0]!)} at ${widths[0]} px`;
  await noteOverflow(main, widths[0]!, warnings);
  writeFileSync(join(out, 'accessibility.yml'), `${await main.page.locator('html').ariaSnapshot()}\n`);
  const lacks = await lacksOf(main.page);
  const title = await main.page.title();
  if (full) await more(main, options, warnings, labels);
  await others(context, addresses, options, warnings, labels);
  writeTexts(out, main, full);
  writeReport(out, {
    headline: headlineOf(placeOf(addresses[0]!), title, main),
    facts: {
      title,
      status: main.status,
      pages: addresses.length,
      ...countsOf(main),
      accessibility_lacks: lacks.length,
    },
    warnings: [...troubles(main), ...outsideRemarks(outside), ...warnings, ...lacks],
    labels,
    next_actions: main.heard.errors.length > 0 ? ['mend the script errors; console.txt has them all'] : [],
    backend: `Chromium ${browser.version()}`,
  });
}

/** The other widths of the first page, then the other pages. */
async function others(
  context: BrowserContext,
  addresses: string[],
  { out, widths, waitFor, full, waits }: Options,
  warnings: string[],
  labels: Record<string, string>,
): Promise<void> {
  const wanted = [
    ...widths.slice(1).map((width) => ({ url: addresses[0]!, width })),
    ...addresses.slice(1).map((url) => ({ url, width: widths[0]! })),
  ];
  // With `full` each width is shown twice.
  const room = full ? VIEWS / 2 : VIEWS;
  for (const [n, { url, width }] of wanted.slice(0, room).entries()) {
    const seen = await visit(context, url, width, url === addresses[0] ? waitFor : '', waits);
    const name = `views/${n + 1}-${width}.png`;
    await shot(seen.page, join(out, name));
    labels[name] = `${placeOf(url)} at ${width} px`;
    await noteOverflow(seen, width, warnings);
    if (url !== addresses[0]) {
      if (seen.status >= 400) warnings.push(`http_status: ${placeOf(url)} answers with ${seen.status}`);
      warnings.push(...troubles(seen));
    } else if (full)
      await fullView(seen, `views/${n + 1}-${width}-full.png`, width, { out, waits }, warnings, labels);
    await seen.page.close();
  }
  if (wanted.length > room) warnings.push(`left_out: ${wanted.length - room} more views are not shown`);
}

/** What `--full` adds of the first page: all of it, the dark scheme, the document as it stands, and every request. */
async function more(
  { page, heard }: Visit,
  { out, widths, waits }: Options,
  warnings: string[],
  labels: Record<string, string>,
) {
  await fullView({ page }, 'views/0-full.png', widths[0]!, { out, waits }, warnings, labels);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await shot(page, join(out, 'views/0-dark.png'));
  labels['views/0-dark.png'] = 'where a dark scheme is preferred';
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  writeFileSync(join(out, 'document.html'), await page.content());
  writeFileSync(join(out, 'requests.json'), `${JSON.stringify(heard.requests, null, 1)}\n`);
}

async function fullView(
  { page }: Pick<Visit, 'page'>,
  name: string,
  width: number,
  { out, waits }: Pick<Options, 'out' | 'waits'>,
  warnings: string[],
  labels: Record<string, string>,
) {
  const height = await fullShot(page, join(out, name), waits);
  labels[name] = `the whole page at ${width} px`;
  if (height > TALLEST)
    warnings.push(`left_out: at ${width} px the page is ${height} px tall; its first ${TALLEST} are shown`);
}

async function noteOverflow({ page }: Visit, width: number, warnings: string[]): Promise<void> {
  const overflow = await overflowOf(page);
  if (overflow)
    warnings.push(
      `overflows: at ${width} px the page is ${overflow.width} px wide${overflow.by ? `: ${overflow.by}` : ''}`,
    );
}

const failed = ({ heard }: Visit) =>
  heard.requests.filter(({ status, failure }) => failure !== null || (status ?? 0) >= 400);
const ofType = ({ heard }: Visit, type: string) => heard.console.filter((message) => message.type === type);

const countsOf = (seen: Visit) => ({
  requests: seen.heard.requests.length,
  failed_requests: failed(seen).length,
  page_errors: seen.heard.errors.length,
  console_errors: ofType(seen, 'error').length,
  console_warnings: ofType(seen, 'warning').length,
});

function headlineOf(place: string, title: string, seen: Visit): string {
  const { failed_requests, page_errors, console_errors } = countsOf(seen);
  const flaws = [
    ...(page_errors > 0 ? [counted(page_errors, 'script error')] : []),
    ...(console_errors > 0 ? [counted(console_errors, 'console error')] : []),
    ...(failed_requests > 0 ? [counted(failed_requests, 'failed request')] : []),
  ];
  return `${place}: ${title || 'no title'}${flaws.length > 0 ? `; ${flaws.join(', ')}` : ''}`;
}

/** Script errors, console errors and failed requests, three of each. */
function troubles(seen: Visit): string[] {
  const some = (code: string, texts: string[]) => {
    const different = [...new Set(texts)];
    const left = different.length - 3;
    return [
      ...different.slice(0, 3).map((text) => `${code}: ${text}`),
      ...(left > 0 ? [`${code}: ${left} more`] : []),
    ];
  };
  return [
    ...some('page_error', seen.heard.errors),
    ...some(
      'console_error',
      ofType(seen, 'error').map(({ text, where }) => `${text}${where ? ` (${where})` : ''}`),
    ),
    ...some(
      'request_failed',
      // What was refused for want of a network is told by itself.
      failed(seen)
        .filter(({ failure }) => failure !== REFUSED)
        .map(({ url, status, failure }) => `${placeOf(url)}: ${failure ?? status}`),
    ),
  ];
}

function outsideRemarks(outside: ReadonlySet<string>): string[] {
  if (outside.size === 0) return [];
  const hosts = [...new Set([...outside].map((url) => new URL(url).host))];
  return [
    `left_out: ${counted(outside.size, 'request')} to ${named(hosts)} not made: this recipe has no network`,
  ];
}

function writeTexts(out: string, { heard }: Visit, full: boolean): void {
  const lines = [
    ...heard.errors.map((text) => `page error: ${text}`),
    ...heard.console.map(({ type, text, where }) => `${type}: ${text}${where ? ` (${where})` : ''}`),
  ];
  if (lines.length > 0 || full) writeFileSync(join(out, 'console.txt'), `${lines.join('\n')}\n`);
}
