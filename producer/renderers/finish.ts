// Finishes a picture that some program made, a program of its own: a thumbnail, and a smaller copy
// where it is too large.
//   finish.cjs --in HERO --out DIR [--size 1280] [--thumb 320]
// Prints one line of JSON; exit 0 even where the picture cannot be read (`thumb` is false and `reason`
// says why), 2 for wrong usage. The picture is untrusted.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pixels } from '../render/arguments.js';
import { loadPicture } from '../render/load.js';
import { coverageOf, onGround, shrink } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import { isUnreadable } from '../render/xml.js';

/** What is printed. `width` and `height` are the picture's own, 0 where they are not known. */
type Finished = { width: number; height: number; scaled: boolean; thumb: boolean; reason?: string };

async function main(): Promise<number> {
  let options: { in: string; out: string; size: number; thumb: number };
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { in: text, out: text, size: text, thumb: text } });
    if (!values.in || !values.out) throw new Error('expected --in PICTURE and --out DIR');
    const [size, thumb] = [pixels('size', values.size, 1280), pixels('thumb', values.thumb, 320)];
    options = { in: values.in, out: values.out, size, thumb };
  } catch (error) {
    process.stderr.write(`finish: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  process.stdout.write(`${JSON.stringify(await finish(options))}\n`);
  return 0;
}

async function finish(options: { in: string; out: string; size: number; thumb: number }): Promise<Finished> {
  try {
    const { width, height, picture } = await loadPicture(options.in, options.size);
    mkdirSync(options.out, { recursive: true });
    const small = shrink(picture, options.thumb);
    writeFileSync(join(options.out, 'thumb.png'), encodePng(onGround(small, coverageOf(picture).ground)));
    const scaled = Math.max(width, height) > options.size;
    if (scaled) writeFileSync(join(options.out, 'scaled.png'), encodePng(shrink(picture, options.size)));
    return { width, height, scaled, thumb: true };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { width = 0, height = 0 } = error as { width?: number; height?: number };
    return { width, height, scaled: false, thumb: false, reason: error.unreadable };
  }
}

main().then((code) => {
  process.exitCode = code;
});
