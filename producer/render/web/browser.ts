// Chromium, as it is installed, driven by playwright-core, which is loaded here and nowhere else. It is kept from talking
// to its makers, and asked for pictures that come out alike: no animations, light, UTC.
import type { Browser, BrowserContext, chromium } from 'playwright-core';
import { findProgram } from '../../program.js';
import { failure } from '../programs.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
export const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
];

/** $CHROME, else the first of its names on PATH. Throws a `Failure` that names Debian's package. */
function findBrowser(): string {
  const stated = process.env['CHROME'];
  for (const name of stated ? [stated] : NAMES) {
    const file = findProgram(name, process.cwd());
    if (file !== null) return file;
  }
  throw failure(`${stated ?? 'chromium'} is not there; Debian has it in the package chromium`);
}

export async function launch(): Promise<Browser> {
  const executablePath = findBrowser();
  // Loading it takes half a second, so it is not a part of the bundle.
  const playwright = require('playwright-core') as { chromium: typeof chromium };
  try {
    // Chromium's own sandbox does not work for root.
    const chromiumSandbox = process.getuid?.() !== 0;
    return await playwright.chromium.launch({ executablePath, args: QUIET, chromiumSandbox });
  } catch (error) {
    throw failure(`${executablePath} cannot be started: ${firstLine(error)}`);
  }
}

export const openContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({
    reducedMotion: 'reduce',
    colorScheme: 'light',
    timezoneId: 'UTC',
    locale: 'en-GB',
    // What one visit stored must not be what the next one shows.
    serviceWorkers: 'block',
    acceptDownloads: false,
  });

export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.replace(/^[\w.]+: /, '');
