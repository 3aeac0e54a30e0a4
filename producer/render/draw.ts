// Draws a prepared SVG with resvg, at a size that is chosen before any pixel is allocated.
import { Resvg } from '@resvg/resvg-js';
import { DEFAULT_FAMILY } from './fonts.js';
import { fitted, type Picture } from './picture.js';
import type { Prepared } from './prepare.js';
import { unreadable } from './xml.js';

/** What drew it, as a manifest's `backend` names it. The version is package.json's exact one. */
export const BACKEND = 'resvg-js 2.6.2';

/** A small drawing, an icon say, is drawn at least this large. */
const LEAST = 512;

export type Drawable = Pick<Prepared, 'text' | 'fontFiles'>;

/** The size an SVG has by its own word, in pixels. Throws an `Unreadable` with the parser's reason. */
export function naturalSize(svg: Drawable): { width: number; height: number } {
  const { width, height } = parse(svg);
  if (!(width > 0 && height > 0)) throw unreadable('its width or height is zero');
  return { width, height };
}

/** How long the longest side of a drawing of that size is to be: whole multiples keep an icon's pixel grid. */
export function heroLongest(size: { width: number; height: number }, limit: number): number {
  const longest = Math.max(size.width, size.height);
  return Math.round(Math.min(limit, longest < LEAST ? longest * Math.ceil(LEAST / longest) : longest));
}

/** Draws on a transparent ground, `longest` pixels on the longest side. `size` is the natural one. */
export function drawSvg(svg: Drawable, size: { width: number; height: number }, longest: number): Picture {
  const { width, height } = fitted(size.width, size.height, longest);
  const wide = size.width >= size.height;
  // A line 1 px by 100000 would come out 0 px wide, which resvg refuses: it is widened to 1.
  const thin = Math.min(size.width, size.height) * (longest / Math.max(size.width, size.height)) < 1;
  const page = { ...svg, text: thin ? onPage(svg.text, size, width, height) : svg.text };
  const image = parse(page, { mode: wide ? 'width' : 'height', value: wide ? width : height }).render();
  return { width: image.width, height: image.height, pixels: image.pixels };
}

function onPage(
  text: string,
  size: { width: number; height: number },
  width: number,
  height: number,
): string {
  const box = `viewBox="0 0 ${size.width} ${size.height}" preserveAspectRatio="none"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${box}>${text}</svg>`;
}

function parse({ text, fontFiles }: Drawable, fitTo?: { mode: 'width' | 'height'; value: number }): Resvg {
  try {
    return new Resvg(text, {
      font: { loadSystemFonts: false, fontFiles, defaultFontFamily: DEFAULT_FAMILY },
      fitTo,
      logLevel: 'off',
    });
  } catch (error) {
    throw unreadable(inWords(error instanceof Error ? error.message : String(error)));
  }
}

function inWords(message: string): string {
  const cause = message.replace(/^SVG data parsing failed cause /, '');
  if (cause === 'the document does not have a root node')
    return "its root is not an <svg> in SVG's namespace";
  if (cause === 'SVG has an invalid size') return 'its width or height is zero';
  return cause === message ? message : `not well-formed XML: ${cause}`;
}
