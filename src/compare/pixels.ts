// Two pictures compared pixel by pixel. Pure: arrays in, numbers and a mask out; runs in a browser too, where
// `ImageData` is a picture as it is.
import pixelmatch from 'pixelmatch';
import { type Box, boxesOf } from './boxes.js';

/** RGBA, 8 bits, colours not multiplied by alpha, row by row. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array | Uint8ClampedArray;
}

export interface CompareOptions {
  /** How far two colours may be apart and still count as equal: 0 none, 1 black from white. */
  threshold?: number | undefined;
}

export interface Comparison {
  /** Of the canvas that holds both pictures, their top left corners together. */
  width: number;
  height: number;
  /** True where the sizes differ: what only one picture has counts as changed. */
  padded: boolean;
  count: number;
  /** `count` by all pixels of the canvas. */
  ratio: number;
  boxes: Box[];
  /** A byte for each pixel of the canvas, 1 where it changed. */
  mask: Uint8Array;
}

/** pixelmatch's own default: a distance in OKLab, just beyond what is seen at a glance. */
export const THRESHOLD = 0.1;

/** So many rows are compared at a time, with as many beside them as pixelmatch looks at around a pixel. */
const BAND = 128;
const AROUND = 2;

/**
 * Which pixels differ. pixelmatch decides; a pixel that differs only by anti-aliasing does not count.
 * @throws RangeError for an array that does not fit its size, or a threshold outside of 0 to 1.
 */
export function comparePixels(a: Pixels, b: Pixels, options: CompareOptions = {}): Comparison {
  const work = compareInBands(a, b, options);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** As `comparePixels`, stopping after each band of rows with the share that is done: a page must not stand still. */
export function* compareInBands(
  a: Pixels,
  b: Pixels,
  { threshold = THRESHOLD }: CompareOptions = {},
): Generator<number, Comparison, void> {
  for (const { width, height, data } of [a, b])
    if (data.length !== width * height * 4)
      throw new RangeError(
        `${width} × ${height} pixels take ${width * height * 4} bytes, not ${data.length}`,
      );
  if (!(threshold >= 0 && threshold <= 1)) throw new RangeError(`the threshold is 0 to 1, not ${threshold}`);
  const width = Math.max(a.width, b.width);
  const height = Math.max(a.height, b.height);
  const mask = new Uint8Array(width * height);
  const common = { width: Math.min(a.width, b.width), height: Math.min(a.height, b.height) };
  let count = 0;
  for (let top = 0; top < height; top += BAND) {
    const bottom = Math.min(height, top + BAND);
    const [from, to] = [Math.max(0, top - AROUND), Math.min(common.height, bottom + AROUND)];
    const rows = Math.max(0, to - from);
    const matched = new Uint8Array(common.width * rows * 4);
    if (matched.length > 0) {
      const part = (of: Pixels) => crop(of, from, common.width, rows);
      pixelmatch(part(a), part(b), matched, common.width, rows, { threshold, diffMask: true });
    }
    for (let y = top; y < bottom; y++) {
      for (let x = 0; x < width; x++) {
        const changed =
          x < common.width && y < common.height
            ? matched[((y - from) * common.width + x) * 4 + 3] !== 0
            : holds(a, x, y) || holds(b, x, y);
        if (!changed) continue;
        mask[y * width + x] = 1;
        count++;
      }
    }
    yield bottom / height;
  }
  return {
    width,
    height,
    padded: a.width !== b.width || a.height !== b.height,
    count,
    ratio: mask.length === 0 ? 0 : count / mask.length,
    boxes: count === 0 ? [] : boxesOf(mask, width),
    mask,
  };
}

const holds = ({ width, height }: Pixels, x: number, y: number): boolean => x < width && y < height;

/** Rows of a picture, cut at the right. pixelmatch looks at four bytes at a time, so they must lie on such a boundary. */
function crop({ width: own, data }: Pixels, from: number, width: number, rows: number): Pixels['data'] {
  if (own === width && (data.byteOffset + from * own * 4) % 4 === 0)
    return data.subarray(from * own * 4, (from + rows) * own * 4);
  const part = new Uint8Array(width * rows * 4);
  for (let y = 0; y < rows; y++)
    part.set(data.subarray((from + y) * own * 4, ((from + y) * own + width) * 4), y * width * 4);
  return part;
}
