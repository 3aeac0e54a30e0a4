// The contact sheet: several drawings on one page, each in a cell of its own with its file's name.
// Cells depend on how many there are and nothing else, so an edit shows at the place it was before.
import { type Drawing, draw, drawOwn } from './draw.js';
import type { Entry } from './entry.js';
import type { Fonts } from './fonts.js';
import { coverageOf, type Ground, onGround, type Picture, paste } from './picture.js';
import { visible } from './prepare.js';
import { escapeXml } from './xml.js';

/** The most drawings on a sheet. */
export const CELLS = 12;

export type Box = { left: number; top: number; width: number; height: number };

export const GAP = 24;
export const CAPTION = 30;
const LETTER = 12;
// The advance of every letter of DejaVu Sans Mono, in its size.
const ADVANCE = 0.602;

/** The sheet for `entries` (the first 12 are drawn; `more` says how many are not), `width` pixels wide. */
export async function contactSheet(
  entries: readonly Entry[],
  width: number,
  fonts: Fonts,
  background?: Ground,
): Promise<Picture> {
  const shown = entries.slice(0, CELLS);
  const more = entries.length - shown.length;
  const columns = shown.length <= 4 ? (shown.length === 3 ? 3 : 2) : shown.length <= 6 ? 3 : 4;
  const rows = Math.ceil(shown.length / columns);
  const cell = Math.floor((width - GAP * (columns + 1)) / columns);
  const tall = Math.floor(cell * 0.75);
  const boxes = shown.map((_, index): Box => {
    const left = GAP + (index % columns) * (cell + GAP);
    return {
      left,
      top: GAP + Math.floor(index / columns) * (tall + CAPTION + GAP / 2),
      width: cell,
      height: tall,
    };
  });
  const height = GAP + rows * (tall + CAPTION + GAP / 2) + (more > 0 ? CAPTION : GAP / 4);
  const last =
    more > 0
      ? label(`and ${more} more`, { left: GAP, top: height - CAPTION - GAP / 2, width, height: 0 }, '#5f6368')
      : '';
  const drawn = shown.map((entry, index) => backdrop(entry, boxes[index]!)).join('');
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#f1f3f4"/>${drawn}${last}</svg>`;
  const letters = new Set(
    [...shown.map((entry) => entry.path + ('reason' in entry ? entry.reason : '')).join('')].map(
      (char) => char.codePointAt(0)!,
    ),
  );
  const { files } = fonts.files(new Set(['DejaVu Sans Mono']), visible(letters));
  const page = await drawOwn(text, { width, height }, files);
  for (const [index, entry] of shown.entries()) {
    if (entry.state === 'readable') await place(page, entry.readable.drawing, boxes[index]!, background);
  }
  return page;
}

/** Draws one into its box, centred, as large as fits with a margin. */
async function place(page: Picture, drawing: Drawing, box: Box, background?: Ground): Promise<void> {
  const margin = Math.round(box.height / 14);
  const scale = Math.min(
    (box.width - 2 * margin) / drawing.width,
    (box.height - 2 * margin) / drawing.height,
  );
  const longest = Math.max(1, Math.round(Math.max(drawing.width, drawing.height) * scale));
  const picture = await draw(drawing, longest);
  const ground = background ?? coverageOf(picture).ground;
  // The whole cell gets the ground, so that it reads as paper and not as part of the drawing.
  const paper = {
    width: box.width - 2,
    height: box.height - 2,
    pixels: new Uint8Array((box.width - 2) * (box.height - 2) * 4),
  };
  const left = Math.round((paper.width - picture.width) / 2);
  const top = Math.round((paper.height - picture.height) / 2);
  paste(paper, picture, left, top);
  paste(page, onGround(paper, ground), box.left + 1, box.top + 1);
}

function backdrop(entry: Entry, box: Box): string {
  const { left, top, width, height } = box;
  const frame = (fill: string, stroke: string) =>
    `<rect x="${left + 0.5}" y="${top + 0.5}" width="${width - 1}" height="${height - 1}" fill="${fill}" stroke="${stroke}"/>`;
  const name = label(entry.path, { ...box, top: top + height }, '#3c4043');
  if (entry.state !== 'broken') return frame('#fff', '#dadce0') + name;
  const at = (line: number): Box => ({
    left: left + 16,
    top: top + height / 2 - 44 + 20 * line,
    width: width - 32,
    height: 0,
  });
  const reason = lines(entry.reason, width - 32).map((line, index) => label(line, at(index + 1), '#80504c'));
  return `${frame('#fcf3f2', '#e6b8b4')}${label('cannot be drawn', at(0), '#b3261e')}${reason.join('')}${name}`;
}

const lettersIn = (width: number): number => Math.floor(width / (LETTER * ADVANCE));

/** `text` broken at spaces into at most 3 lines of `width`; the last holds the rest. */
function lines(text: string, width: number): string[] {
  const out = [''];
  for (const word of text.split(' ')) {
    const longer = `${out.at(-1)} ${word}`.trim();
    if (longer.length <= lettersIn(width) || out.length === 3) out[out.length - 1] = longer;
    else out.push(word);
  }
  return out;
}

/** One line of text under `top`, cut in its middle to the box's width: a path says most at its ends. */
export function label(text: string, { left, top, width }: Box, colour: string): string {
  const letters = [...text];
  const room = lettersIn(width);
  const start = Math.floor(room / 3);
  const cut = [...letters.slice(0, start), '…', ...letters.slice(letters.length - room + start + 1)];
  const said = escapeXml((letters.length > room ? cut : letters).join(''));
  const font = `font-family="'DejaVu Sans Mono'" font-size="${LETTER}"`;
  return `<text x="${left}" y="${top + 20}" ${font} fill="${colour}">${said}</text>`;
}
