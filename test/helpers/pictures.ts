// Pictures drawn pixel by pixel, as PNG and with the tiles that a capture would keep of them, and sessions of these.
import { PNG } from 'pngjs';
import { glanceAt } from '../../producer/render/glance.js';
import { metricsOf } from '../../producer/seen.js';
import type { BundleInput } from '../../src/index.js';

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export interface Canvas {
  width: number;
  height: number;
  /** RGBA, not multiplied by alpha. */
  data: Uint8Array;
}

export function canvas(width: number, height: number, colour: Colour = [255, 255, 255, 255]): Canvas {
  const data = new Uint8Array(width * height * 4);
  for (let at = 0; at < data.length; at += 4) data.set(colour, at);
  return { width, height, data };
}

export const copyOf = ({ width, height, data }: Canvas): Canvas => ({ width, height, data: data.slice() });

/** Fills a rectangle; what lies outside is cut off. */
export function fill(on: Canvas, x: number, y: number, width: number, height: number, colour: Colour): void {
  for (let row = Math.max(0, y); row < Math.min(on.height, y + height); row++)
    for (let column = Math.max(0, x); column < Math.min(on.width, x + width); column++)
      on.data.set(colour, (row * on.width + column) * 4);
}

export function pngOf({ width, height, data }: Canvas): Buffer {
  const png = new PNG({ width, height });
  png.data = Buffer.from(data);
  return PNG.sync.write(png);
}

/** Colours multiplied by alpha, as a capture decodes a picture before it hashes its tiles. */
function decoded({ width, height, data }: Canvas) {
  const pixels = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]!;
    for (let part = 0; part < 3; part++) pixels[at + part] = Math.round((data[at + part]! * alpha) / 255);
    pixels[at + 3] = alpha;
  }
  return { width, height, pixels };
}

/** What a bundle that shows this picture has besides its headline. */
export const showing = (
  picture: Canvas,
  recipe = 'draw',
): Pick<BundleInput, 'artifacts' | 'metrics' | 'recipe'> => ({
  recipe,
  artifacts: [{ content: pngOf(picture), role: 'hero', name: 'picture.png' }],
  metrics: metricsOf(glanceAt(decoded(picture) as never)),
});
