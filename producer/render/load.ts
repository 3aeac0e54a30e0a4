// Loads a picture file of any kind resvg reads, by wrapping it in an SVG. Its size is read before a
// pixel is decoded.
import { imageSize } from 'image-size';
import { FONT_FOLDER, systemFonts } from './arguments.js';
import { draw, heroLongest, measure } from './draw.js';
import { IMAGE_PIXELS } from './embedded.js';
import { openFonts } from './fonts.js';
import { coverageOf, type Ground, type Picture } from './picture.js';
import { readPlainPng } from './pngread.js';
import { prepareSvg } from './prepare.js';
import { readCapped, svgText } from './source.js';
import { unreadable } from './xml.js';

const FILE_BYTES = 64 * 1024 * 1024;
/** A drawing has no size of its own that must be kept: it is drawn no larger than this. */
const SVG_LONGEST = 4096;
/** resvg makes a picture smaller roughly, `shrink` well but slowly: resvg goes as far as twice the size. */
const SPARE = 2;

const MEDIA: Record<string, string> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif' };

/** How each EXIF orientation turns a picture of w × h, as an SVG transform (CIPA DC-008, 4.6.5). */
const TURNS: Record<number, (w: number, h: number) => string> = {
  2: (w) => `-1 0 0 1 ${w} 0`,
  3: (w, h) => `-1 0 0 -1 ${w} ${h}`,
  4: (_, h) => `1 0 0 -1 0 ${h}`,
  5: () => '0 1 1 0 0 0',
  6: (_, h) => `0 1 -1 0 ${h} 0`,
  7: (w, h) => `0 -1 -1 0 ${h} ${w}`,
  8: (w) => `0 -1 1 0 0 ${w}`,
};

/** A picture upright, with the size it has by its own word and the ground it is seen on; `picture` may be smaller than that. */
export type Loaded = { width: number; height: number; picture: Picture; ground: Ground };

/** Throws an `Unreadable`, with `width` and `height` where those are known. `size` is what is wanted of it, `most` how many pixels are decoded. */
export async function loadPicture(path: string, size: number, most = IMAGE_PIXELS): Promise<Loaded> {
  const bytes = readCapped(path, FILE_BYTES);
  if (isSvg(bytes)) return loadSvg(path, bytes, size);
  let found: ReturnType<typeof imageSize>;
  try {
    found = imageSize(bytes);
  } catch {
    // TypeError: no kind of picture that image-size knows, or a damaged one.
    throw unreadable(bytes.length === 0 ? 'the file is empty' : 'it is no picture that can be read');
  }
  const turn = TURNS[found.orientation ?? 1];
  const turned = (found.orientation ?? 1) >= 5;
  const [width, height] = turned ? [found.height, found.width] : [found.width, found.height];
  const refuse = (reason: string) => ({ ...unreadable(reason), width, height });
  const media = MEDIA[found.type ?? ''];
  if (!media)
    throw refuse(found.type === 'svg' ? 'it is not XML' : `resvg does not read ${found.type?.toUpperCase()}`);
  if (!(width > 0 && height > 0)) throw refuse('its width or height is zero');
  if (width * height > most)
    throw refuse(`${width} × ${height} is more than the ${most / 1e6} megapixels that are decoded`);
  const plain = media === MEDIA['png'] && !turn && Math.max(width, height) <= SPARE * size;
  const read = plain ? readPlainPng(bytes) : null;
  if (read) return { width, height, picture: read, ground: coverageOf(read).ground };
  const matrix = turn ? ` transform="matrix(${turn(found.width, found.height)})"` : '';
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${found.width}" height="${found.height}"${matrix} href="data:${media};base64,${bytes.toString('base64')}"/></svg>`;
  const drawing = { name: path, text, fontFiles: [], width, height };
  const picture = await draw(drawing, Math.min(SPARE * size, Math.max(width, height)));
  // resvg leaves out, silently, a picture that it cannot decode.
  const { empty, ground } = coverageOf(picture);
  if (empty && !(media === MEDIA['png'] && (await isPng(bytes))))
    throw refuse(media === MEDIA['png'] ? 'it is damaged' : 'it is damaged, or wholly transparent');
  return { width, height, picture, ground };
}

/** Whether it can be decoded at all: a wholly transparent picture is one too. */
async function isPng(bytes: Buffer): Promise<boolean> {
  const { PNG } = await import('pngjs');
  try {
    PNG.sync.read(bytes);
    return true;
  } catch {
    // Whatever pngjs complains of: the picture is damaged.
    return false;
  }
}

async function loadSvg(path: string, bytes: Buffer, size: number): Promise<Loaded> {
  const prepared = prepareSvg(svgText(bytes), openFonts(FONT_FOLDER, { system: systemFonts() }));
  const drawing = measure({ name: path, ...prepared });
  const picture = await draw(drawing, heroLongest(drawing, Math.min(size, SVG_LONGEST)));
  const { ground } = coverageOf(picture);
  return { width: Math.round(drawing.width), height: Math.round(drawing.height), picture, ground };
}

/** By content: a gzip or the first tag of XML. image-size would want a size in the SVG itself. */
function isSvg(bytes: Buffer): boolean {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return true;
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\0?\s*\0?</.test(bytes.subarray(0, 64).toString('latin1'));
}
