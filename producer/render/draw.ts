// Draws a prepared SVG with resvg, at a size that is chosen before any pixel is allocated, and within a
// bound of memory.
import { writeSync } from 'node:fs';
import { Resvg, type ResvgRenderOptions, renderAsync } from '@resvg/resvg-js';

import { neutralise } from '../../src/text.js';
import { DEFAULT_FAMILY } from './fonts.js';
import { fitted, type Picture } from './picture.js';
import { hasLayers, tame } from './tame.js';
import { unreadable } from './xml.js';

/** What drew it, as a manifest's `backend` names it. The version is package.json's exact one. */
export const BACKEND = 'resvg-js 2.6.2';

/** A small drawing, an icon say, is drawn at least this large. */
const LEAST = 512;
const MEMORY_MB = 1500;
const WATCH_MS = 20;

export type Size = { width: number; height: number };
/** SVG text that is safe to draw, what to draw its text with, and the name that messages give it. */
export type Source = { name: string; text: string; fontFiles: string[] };
/** A source with the size it has by its own word, in pixels. */
export type Drawing = Source & Size;

/** Measures a source. Throws an `Unreadable` with the parser's reason. */
export function measure(source: Source): Drawing {
  let resvg: Resvg;
  try {
    resvg = new Resvg(source.text, optionsFor(source));
  } catch (error) {
    throw inWords(error);
  }
  const { width, height } = resvg;
  if (!(width > 0 && height > 0)) throw unreadable('its width or height is zero');
  const tamed = hasLayers(source.text) ? tame(resvg.toString(), { width, height }) : undefined;
  // In resvg's normal form all text has become paths.
  return tamed ? { ...source, text: tamed, fontFiles: [], width, height } : { ...source, width, height };
}

/** How long the longest side of a drawing is to be: whole multiples keep an icon's pixel grid. */
export function heroLongest(size: Size, limit: number): number {
  const longest = Math.max(size.width, size.height);
  return Math.round(Math.min(limit, longest < LEAST ? longest * Math.ceil(LEAST / longest) : longest));
}

/** Draws on a transparent ground, `longest` pixels on the longest side. */
export async function draw(drawing: Drawing, longest: number): Promise<Picture> {
  const size = fitted(drawing.width, drawing.height, longest);
  const wide = drawing.width >= drawing.height;
  // A line 1 px by 100000 would come out 0 px wide, which resvg refuses: it is widened to 1.
  const thin = Math.min(drawing.width, drawing.height) * longest < Math.max(drawing.width, drawing.height);
  const fitTo = wide
    ? ({ mode: 'width', value: size.width } as const)
    : ({ mode: 'height', value: size.height } as const);
  const guard = watchMemory(drawing.name);
  try {
    const text = thin ? stretched(drawing, size) : drawing.text;
    const { width, height, pixels } = await renderAsync(text, { ...optionsFor(drawing), fitTo });
    return { width, height, pixels };
  } catch (error) {
    throw inWords(error);
  } finally {
    guard.close();
  }
}

/** Draws text of our own making, which is as large as it says. */
export const drawOwn = (text: string, size: Size, fontFiles: string[] = []): Promise<Picture> =>
  draw({ name: 'the page', text, fontFiles, ...size }, Math.max(size.width, size.height));

/** A CSS colour's red, green and blue, or undefined where it is none or lets something through. */
export function colourOf(css: string): [number, number, number] | undefined {
  try {
    const dot = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
    const { pixels } = new Resvg(dot, { font: { loadSystemFonts: false }, background: css }).render();
    return pixels[3] === 255 ? [pixels[0]!, pixels[1]!, pixels[2]!] : undefined;
  } catch {
    // "invalid value": no colour.
    return undefined;
  }
}

function stretched({ text, ...natural }: Drawing, { width, height }: Size): string {
  const box = `viewBox="0 0 ${natural.width} ${natural.height}" preserveAspectRatio="none"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${box}>${text}</svg>`;
}

const optionsFor = ({ fontFiles }: Source): ResvgRenderOptions => ({
  font: { loadSystemFonts: false, fontFiles, defaultFontFamily: DEFAULT_FAMILY },
  logLevel: 'off',
});

/**
 * Ends this process where a drawing takes too much memory: a <pattern> of a few bytes can ask for
 * hundreds of gigabytes, and resvg has no bound of its own.
 */
function watchMemory(name: string): { close(): void } {
  // For whoever draws larger things, or has less memory.
  const limit = Number(process.env.PREVIEW_RENDER_MEMORY_MB) || MEMORY_MB;
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() < limit * 1e6) return;
    writeSync(2, `${neutralise(name)}: drawing it takes more than ${limit} MB of memory\n`);
    // An ordinary exit would wait for resvg's thread, which is the one to be stopped.
    process.kill(process.pid, 'SIGKILL');
  }, WATCH_MS);
  return { close: () => clearInterval(timer) };
}

function inWords(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  const cause = message.replace(/^SVG data parsing failed cause /, '');
  if (cause === 'the document does not have a root node')
    return unreadable("its root is not an <svg> in SVG's namespace");
  if (cause === 'SVG has an invalid size') return unreadable('its width or height is zero');
  return unreadable(cause === message ? message : `not well-formed XML: ${cause}`);
}
