// Compares two pictures, a program of its own, for both are untrusted.
//   compare.cjs --before A --after B [--out DIR] [--threshold 0.1] [--before-name TEXT] [--after-name TEXT]
//   compare.cjs --region X,Y,W,H -- PICTURE…   a hash of what each shows there, as its tiles are hashed
// Prints one line of JSON; exit 0 even where one cannot be read (`unread` says which and why), 2 for wrong usage.
// In DIR: render.png (the whole comparison), thumb.png, changes.png (the changes alone).
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { comparePixels, type Pixels, THRESHOLD } from '../../src/compare/pixels.js';
import { LIMITS } from '../../src/version.js';
import { FONT_FOLDER, systemFonts } from '../render/arguments.js';
import { changesOf, composed } from '../render/compose.js';
import { openFonts } from '../render/fonts.js';
import { type Loaded, loadPicture } from '../render/load.js';
import { onGround, type Picture, shrink } from '../render/picture.js';
import { encodePng, straight } from '../render/png.js';
import { isUnreadable } from '../render/xml.js';

/** Of the canvas that holds both: what is decoded and drawn of it takes some 25 bytes a pixel. */
const PIXELS = 24_000_000;
const SIDES = ['before', 'after'] as const;
type Side = (typeof SIDES)[number];
type Options = {
  before: string;
  after: string;
  out: string | undefined;
  threshold: number;
  names: Record<Side, string>;
};
type Places = { region: [x: number, y: number, width: number, height: number]; pictures: string[] };

async function main(): Promise<number> {
  let options: Options | Places;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`compare: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  process.stdout.write(
    `${JSON.stringify('region' in options ? await hashPlaces(options) : await compare(options))}\n`,
  );
  return 0;
}

function readOptions(): Options | Places {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      region: text,
      before: text,
      after: text,
      out: text,
      threshold: text,
      'before-name': text,
      'after-name': text,
    },
  });
  const { before, after, out, region } = values;
  if (region !== undefined) {
    const numbers = region.split(',').map(Number);
    if (numbers.length !== 4 || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
      throw new Error('--region must be X,Y,WIDTH,HEIGHT');
    return { region: numbers as Places['region'], pictures: positionals };
  }
  if (!before || !after || positionals.length > 0)
    throw new Error('expected --before PICTURE and --after PICTURE');
  const threshold = values.threshold === undefined ? THRESHOLD : Number(values.threshold);
  if (!(threshold >= 0 && threshold <= 1)) throw new Error('--threshold must be a number from 0 to 1');
  return {
    before,
    after,
    out,
    threshold,
    names: { before: values['before-name'] ?? '', after: values['after-name'] ?? '' },
  };
}

async function compare(options: Options): Promise<object> {
  const loaded = {} as Record<Side, Loaded>;
  const unread: Partial<Record<Side, string>> = {};
  for (const side of SIDES) {
    try {
      loaded[side] = await loadPicture(options[side], Number.MAX_SAFE_INTEGER, PIXELS);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      unread[side] = error.unreadable;
    }
  }
  if (unread.before !== undefined || unread.after !== undefined) return { unread };
  const { before, after } = loaded;
  const [width, height] = [
    Math.max(before.picture.width, after.picture.width),
    Math.max(before.picture.height, after.picture.height),
  ];
  if (width * height > PIXELS)
    return {
      unread: {
        after: `with the other it spans ${width} × ${height}, more than the ${PIXELS / 1e6} megapixels that are compared`,
      },
    };
  const result = comparePixels(pixelsOf(before), pixelsOf(after), options);
  const { mask: _, ...told } = result;
  const report = { ...told, before: sizeOf(before), after: sizeOf(after) };
  if (options.out === undefined) return report;
  const { out } = options;
  const compared = { before: laid(before), after: laid(after), result };
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  const page = await composed(compared, options.names, LIMITS.heroPixels, fonts);
  mkdirSync(out, { recursive: true });
  const write = (name: string, picture: Picture) => writeFileSync(join(out, name), encodePng(picture));
  write('render.png', page);
  write('thumb.png', shrink(page, LIMITS.thumbPixels));
  write('changes.png', changesOf(compared, LIMITS.heroPixels));
  return report;
}

/** As `finish` sees a hero before it hashes its tiles, so that equal tiles mean an equal place. */
async function hashPlaces({ region: [x, y, width, height], pictures }: Places): Promise<object> {
  const told = [];
  for (const path of pictures) {
    try {
      const { picture } = await loadPicture(path, LIMITS.heroPixels);
      const shown = shrink(picture, LIMITS.heroPixels);
      const [right, bottom] = [Math.min(shown.width, x + width), Math.min(shown.height, y + height)];
      const hash = createHash('sha256').update(`${right} ${bottom} `);
      for (let row = y; row < bottom && x < right; row++)
        hash.update(shown.pixels.subarray((row * shown.width + x) * 4, (row * shown.width + right) * 4));
      told.push({ width: shown.width, height: shown.height, place: hash.digest('hex') });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      told.push({ unread: error.unreadable });
    }
  }
  return { pictures: told };
}

/** PNG's way: colours not multiplied by alpha. */
const pixelsOf = ({ picture: { width, height, pixels } }: Loaded): Pixels => ({
  width,
  height,
  data: straight(pixels),
});
const laid = ({ picture, ground }: Loaded): Picture => onGround(picture, ground);
const sizeOf = ({ picture: { width, height } }: Loaded) => ({ width, height });

main().then((code) => {
  process.exitCode = code;
});
