// The pixels of two pictures, compared in the page a band of rows at a time.
import { type Comparison, compareInBands, type Pixels } from '../../src/compare/pixels.js';

/** Between two bands the page may draw and answer once so many ms have passed. */
const TURN_MS = 12;
/** Rows of a picture that are read at a time. */
const ROWS = 128;

/** Loads a picture and reads its pixels. Rejects where it is none, or where the browser does not give them away. */
async function pixelsOf(url: string, signal: AbortSignal): Promise<Pixels> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  // Decoded beside the page; a drawing without a size of its own is drawn as it is.
  const decoded = await createImageBitmap(image).catch(() => image);
  const canvas = new OffscreenCanvas(width, Math.min(height, ROWS));
  const pen = canvas.getContext('2d', { willReadFrequently: true })!;
  const data = new Uint8Array(width * height * 4);
  const rest = rests(signal);
  for (let top = 0; top < height; top += ROWS) {
    const rows = Math.min(ROWS, height - top);
    pen.clearRect(0, 0, width, rows);
    pen.drawImage(decoded, 0, -top);
    data.set(pen.getImageData(0, 0, width, rows).data, top * width * 4);
    await rest();
  }
  if (decoded instanceof ImageBitmap) decoded.close();
  return { width, height, data };
}

/** Lets the page draw and answer once it has worked for `TURN_MS`. Rejects after an abort. */
function rests(signal: AbortSignal): () => Promise<void> {
  let began = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - began < TURN_MS) return;
    await new Promise((resume) => setTimeout(resume));
    began = performance.now();
  };
}

/** Compares two pictures; an abort ends it. Rejects as `pixelsOf` does. */
export async function comparePictures(
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<Comparison> {
  const [a, b] = [await pixelsOf(before, signal), await pixelsOf(after, signal)];
  const work = compareInBands(a, b);
  const rest = rests(signal);
  for (;;) {
    await rest();
    const { done, value } = work.next();
    if (done) return value;
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
