// The pixels of two pictures, compared in the page a band of rows at a time.
import { type Comparison, compareInBands, type Pixels } from '../../src/compare/pixels.js';

/** Between two bands the page may draw and answer once so many ms have passed. */
const TURN_MS = 12;

/** Loads a picture and reads its pixels. Rejects where it is none, or where the browser does not give them away. */
async function pixelsOf(url: string): Promise<Pixels> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  const canvas = new OffscreenCanvas(width, height);
  const pen = canvas.getContext('2d', { willReadFrequently: true })!;
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  return { width, height, data: new Uint8Array(data.buffer) };
}

/** Compares two pictures; an abort ends it. Rejects as `pixelsOf` does. */
export async function comparePictures(
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<Comparison> {
  const [a, b] = await Promise.all([pixelsOf(before), pixelsOf(after)]);
  const work = compareInBands(a, b);
  let began = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - began < TURN_MS) continue;
    await new Promise((resume) => setTimeout(resume));
    began = performance.now();
  }
}

/** The changed pixels as a picture of their own: opaque where one changed, clear elsewhere. */
export function drawMask(
  canvas: HTMLCanvasElement,
  { width, height, mask }: Comparison,
  colour: string,
): void {
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext('2d')!;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  const image = pen.createImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  // Little-endian, as every machine with a browser is.
  const word = (255 << 24) | (blue! << 16) | (green! << 8) | red!;
  for (let at = 0; at < mask.length; at++) if (mask[at]) words[at] = word;
  pen.clearRect(0, 0, 1, 1);
  pen.putImageData(image, 0, 0);
}
