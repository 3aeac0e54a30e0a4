// The page in a real browser: one Chromium a test file, a built `previews watch` behind it, and whatever the page or the
// browser complains of kept. A page that complains fails its test.
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Child, previewsArgv, start, until } from './children.js';
import { REPOSITORY } from './cli.js';

export const SCREENS = join(REPOSITORY, 'test/e2e/screens');

/** What the browser says where a sandbox did what it is there for. */
const EXPECTED = /^Blocked script execution in /;

export interface View {
  width?: number;
  height?: number;
  theme?: 'dark' | 'light';
  touch?: boolean;
}

/** Opens the page of a session; `hash` is where in it. */
export type Open = (hash?: string, view?: View) => Promise<Page>;

interface Opened {
  page: Page;
  faults: string[];
}

/** A browser for the tests of one file. `open` gives pages that are closed, and asked for their faults, after each test. */
export function browserPages() {
  let browser: Browser;
  const opened: Opened[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
    });
  });
  afterAll(() => browser?.close());
  return {
    async open(url: string, { width = 1280, height = 800, theme = 'dark', touch = false }: View = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        hasTouch: touch,
        locale: 'en-GB',
        timezoneId: 'UTC',
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' && !EXPECTED.test(message.text()))
          faults.push(`console: ${message.text()}`);
      });
      page.on('request', (request) => {
        const { protocol, host } = new URL(request.url());
        if (protocol.startsWith('http') && host !== new URL(url).host)
          faults.push(`asked elsewhere: ${request.url()}`);
      });
      opened.push({ page, faults });
      await page.goto(url);
      return page;
    },
    /** Closes all pages; none may have complained. */
    async close() {
      const all = opened.splice(0);
      for (const { page } of all) await page.context().close();
      expect(all.flatMap(({ faults }) => faults)).toEqual([]);
    },
    /** A fault that a test brings about itself. */
    forgive(page: Page, fault: RegExp) {
      const mine = opened.find((each) => each.page === page)!;
      mine.faults = mine.faults.filter((words) => !fault.test(words));
      const { faults } = mine;
      page.on('console', () => {
        for (let at = faults.length - 1; at >= 0; at--) if (fault.test(faults[at]!)) faults.splice(at, 1);
      });
    },
  };
}

/** A case that fails where its pages complained. */
export const pageTest =
  ({ close }: { close(): Promise<void> }) =>
  (title: string, run: () => Promise<void>): void =>
    test(title, async () => {
      try {
        await run();
      } finally {
        await close();
      }
    }, 180_000); // Chromium without a graphics card, on a machine that has other work.

export interface Watching {
  url: string;
  origin: string;
  port: number;
  child: Child;
  stop(): Promise<void>;
}

/** Starts the built `previews watch` of a root or a session. */
export async function watching(ref: string, ...args: string[]): Promise<Watching> {
  const child = start(previewsArgv('watch', ref, '--json', ...args), { cwd: ref, limit_ms: 300_000 });
  await until(() => child.out().includes('\n') || child.ended(), {
    deadline_ms: 60_000,
    what: 'previews watch says where it is',
  });
  const { url, origin, port } = JSON.parse(child.out());
  return {
    url,
    origin,
    port,
    child,
    async stop() {
      child.kill('SIGTERM');
      await child.done;
    },
  };
}
