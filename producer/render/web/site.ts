// A folder as a web site without a server: the browser's requests are answered from its files, so that no port is opened
// and the address is the same each time. No path leaves the folder, by a link least of all (I9).
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { BrowserContext, Route } from 'playwright-core';

/** Browsers trust localhost as they trust https: what needs a secure context works. */
export const ORIGIN = 'http://localhost';

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  htm: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  webmanifest: 'application/manifest+json',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  wasm: 'application/wasm',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  xml: 'application/xml',
  pdf: 'application/pdf',
};

/** Answers everything on `ORIGIN` from the folder; what goes elsewhere is refused and told to `onOutside`. */
export async function answerFrom(
  context: BrowserContext,
  folder: string,
  onOutside: (url: string) => void,
): Promise<void> {
  const base = realpathSync(folder);
  await context.route('**/*', async (route: Route) => {
    const url = new URL(route.request().url());
    if (url.protocol === 'data:' || url.protocol === 'blob:') return route.continue();
    if (url.origin !== ORIGIN) {
      onOutside(url.href);
      return route.abort('internetdisconnected');
    }
    const file = fileFor(base, url.pathname);
    if (file === null)
      return route.fulfill({
        status: 404,
        contentType: 'text/plain',
        body: `${url.pathname} is not there\n`,
      });
    const contentType = TYPES[extname(file).slice(1).toLowerCase()] ?? 'application/octet-stream';
    return route.fulfill({ status: 200, contentType, body: readFileSync(file) });
  });
}

/** No site shows what begins with a dot, as .git, .env and recordings do; but for what is meant to be shown. */
const isHidden = (path: string): boolean =>
  path.split(sep).some((part) => part.startsWith('.') && part !== '.well-known');

/** The file of the folder that a path of the site stands for, as static servers have it; null where there is none. */
export function fileFor(base: string, pathname: string): string | null {
  let path: string;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    // URIError: `%` and no number.
    return null;
  }
  if (path.includes('\0') || path.includes('\\')) return null;
  for (const candidate of [path, join(path, 'index.html'), `${path}.html`]) {
    const whole = join(base, candidate);
    try {
      // `..` and links are resolved first: what counts is where the file really lies.
      const real = realpathSync(whole);
      if (real.startsWith(base + sep) && !isHidden(real.slice(base.length)) && statSync(real).isFile())
        return real;
    } catch {
      // ENOENT or ENOTDIR: the next candidate.
    }
  }
  return null;
}
