// Finishes a picture that some program made, a program of its own: looks at it, makes a thumbnail, and a smaller copy
// where it is too large. It is decoded once.
//   finish.cjs --in HERO --out DIR [--size 1280] [--thumb 320] [--no-thumb]
//   finish.cjs --wait   the same, its arguments as a JSON list on standard input
// Prints one line of JSON; exit 0 even where the picture cannot be read (`thumb` is false and `reason`
// says why), 2 for wrong usage. The picture is untrusted.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pixels } from '../render/arguments.js';
import { type Glance, glanceAt } from '../render/glance.js';
import { loadPicture } from '../render/load.js';
import { coverageOf, type Ground, onGround, type Picture, shrink } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import { fromRows } from '../render/pngread.js';
import { isUnreadable } from '../render/xml.js';

/** What is printed. `width` and `height` are the picture's own, 0 where they are not known; `glance` is of what is shown. */
type Finished = {
  width: number;
  height: number;
  scaled: boolean;
  thumb: boolean;
  glance?: Glance;
  reason?: string;
};
type Options = { in: string; out: string; size: number; thumb: number | null };

async function main(): Promise<number> {
  let options: Options;
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: process.argv[2] === '--wait' ? await awaitedArgs() : process.argv.slice(2),
      options: { in: text, out: text, size: text, thumb: text, 'no-thumb': { type: 'boolean' } },
    });
    if (!values.in || !values.out) throw new Error('expected --in PICTURE and --out DIR');
    const [size, thumb] = [pixels('size', values.size, 1280), pixels('thumb', values.thumb, 320)];
    options = { in: values.in, out: values.out, size, thumb: values['no-thumb'] ? null : thumb };
  } catch (error) {
    process.stderr.write(`finish: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  process.stdout.write(`${JSON.stringify(await finish(options))}\n`);
  return 0;
}

/** The arguments as a line of JSON on standard input: who started this did not know them yet. */
async function awaitedArgs(): Promise<string[]> {
  let text = '';
  const read = async () => {
    for await (const piece of process.stdin) text += piece;
  };
  await Promise.all([read(), practise(() => text !== '')]);
  return JSON.parse(text);
}

async function finish(options: Options): Promise<Finished> {
  try {
    const { width, height, picture, ground } = await loadPicture(options.in, options.size);
    mkdirSync(options.out, { recursive: true });
    const scaled = Math.max(width, height) > options.size;
    const shown = shrink(picture, options.size);
    if (scaled) writeFileSync(join(options.out, 'scaled.png'), encodePng(shown));
    if (options.thumb !== null)
      writeFileSync(join(options.out, 'thumb.png'), thumbOf(picture, options.thumb, ground));
    return { width, height, scaled, thumb: options.thumb !== null, glance: glanceAt(shown, ground) };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { width = 0, height = 0 } = error as { width?: number; height?: number };
    return { width, height, scaled: false, thumb: false, reason: error.unreadable };
  }
}

const thumbOf = (picture: Picture, longest: number, ground: Ground): Buffer =>
  encodePng(onGround(shrink(picture, longest), ground));

/** So many rounds with a picture so small: enough for what is done with each pixel to become machine code. */
const PRACTICE = { rounds: 4, side: 64 };

/** Practises while there is nothing else to do: the first large picture takes twice as long without. */
async function practise(until: () => boolean): Promise<void> {
  const { rounds, side } = PRACTICE;
  for (let round = 0; round < rounds && !until(); round++) {
    for (const channels of [3, 4] as const) {
      const stride = side * channels + 1;
      // Every filter in turn, and bytes of no pattern.
      const rows = Buffer.alloc(stride * side);
      for (let at = 0; at < rows.length; at++)
        rows[at] = at % stride === 0 ? (at / stride) % 5 : (at * at) >> 5;
      const picture = fromRows(rows, side, side, channels)!;
      thumbOf(picture, side / 3, coverageOf(picture).ground);
      glanceAt(picture);
    }
    await new Promise(setImmediate);
  }
}

main().then((code) => {
  process.exitCode = code;
});
