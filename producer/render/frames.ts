// The frames of a time-lapse: a step's picture, as large as fits, and beside it (or below, in an upright film) which
// step it is, how it came out, its command, and the few before it.

import type { FilmFrame as Frame, Tone } from '../../src/filmframe.js';
import { drawOwn } from './draw.js';
import type { Fonts } from './fonts.js';
import { type Picture, paste } from './picture.js';
import { fitInto } from './scale.js';
import type { Cell, Colour } from './screen.js';
import { screenSvg } from './screensvg.js';
import { lineOf, linesOf, type Span } from './words.js';

export interface Size {
  width: number;
  height: number;
}

const TONES: Record<Tone, [number, number, number]> = {
  green: [0x8f, 0xc1, 0x73],
  yellow: [0xdc, 0xb8, 0x66],
  red: [0xff, 0x7b, 0x86],
};
const PALE: Colour = [0x9a, 0xa1, 0xad];
const PANEL = '#181a1f';
const STAGE: [number, number, number] = [0x0e, 0x10, 0x13];

/** A cell and the margin of `screenSvg`, in its own pixels. */
const CELL = { width: 12, height: 23, margin: 14 };
/** Lines of the film in which letters have their full size of 20; they are no smaller than `LEAST` of it. */
const FULL = 940;
const LEAST = 0.55;
/** The step's number and outcome, unless the panel is so narrow that they would be cut. */
const LARGE = 1.7;
const NARROW = { columns: 30, large: 1.1 };

interface Layout {
  scale: number;
  stage: { left: number; top: number; width: number; height: number };
  panel: { left: number; top: number; width: number; height: number };
  bar: number;
}

/** Side by side, or in an upright film one below the other. */
export function layoutOf({ width, height }: Size): Layout {
  const scale = Math.max(LEAST, Math.min(width, height) / FULL);
  const bar = Math.max(4, Math.round(8 * scale));
  const room = height - bar;
  if (width >= height) {
    const panel = Math.round(Math.min(width * 0.45, Math.max(width * 0.31, 300 * scale)));
    return {
      scale,
      bar,
      stage: { left: 0, top: 0, width: width - panel, height: room },
      panel: { left: width - panel, top: 0, width: panel, height: room },
    };
  }
  const panel = Math.round(room * 0.42);
  return {
    scale,
    bar,
    stage: { left: 0, top: 0, width, height: room - panel },
    panel: { left: 0, top: room - panel, width, height: panel },
  };
}

/** What is seen of the step: its picture, or the one before it dimmed, and why. */
export interface Seen {
  picture: Picture | null;
  /** Why `picture` is not this step's; null where it is. */
  kept: string | null;
}

/** The picture as it is shown in the film, for one that is shown again. */
export const staged = (picture: Picture, size: Size): Picture => {
  const { stage, scale } = layoutOf(size);
  const margin = 2 * Math.round(24 * scale);
  return fitInto(picture, stage.width - margin, stage.height - margin);
};

/** Draws a frame; `picture` as `staged` made it. */
export async function drawFrame(
  frame: Frame,
  { picture, kept }: Seen,
  size: Size,
  fonts: Fonts,
): Promise<Picture> {
  const layout = layoutOf(size);
  const page: Picture = { ...size, pixels: new Uint8Array(size.width * size.height * 4) };
  fill(page, { left: 0, top: 0, ...size }, STAGE);
  const { stage, panel, bar } = layout;
  if (picture) {
    const left = stage.left + Math.round((stage.width - picture.width) / 2);
    const top = stage.top + Math.round((stage.height - picture.height) / 2);
    paste(page, kept === null ? picture : dimmed(picture), left, top);
  }
  const failed = frame.outcome.tone === 'red';
  if (failed) border(page, stage, TONES.red, Math.max(3, Math.round(6 * layout.scale)));
  if (kept !== null || picture === null) await caption(page, layout, kept ?? 'no picture yet', failed, fonts);
  paste(page, await panelOf(frame, layout, fonts), panel.left, panel.top);
  const at = Math.max(bar, Math.round(size.width * frame.done));
  fill(page, { left: 0, top: size.height - bar, width: size.width, height: bar }, [0x2a, 0x2e, 0x36]);
  fill(page, { left: 0, top: size.height - bar, width: at, height: bar }, TONES[frame.outcome.tone]);
  return page;
}

type Place = { left: number; top: number; width: number; height: number };

function fill(
  page: Picture,
  { left, top, width, height }: Place,
  [red, green, blue]: [number, number, number],
): void {
  const words = new Uint32Array(page.pixels.buffer);
  const [colour] = new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer);
  for (let y = top; y < top + height; y++)
    words.fill(colour!, y * page.width + left, y * page.width + left + width);
}

function border(page: Picture, place: Place, colour: [number, number, number], thick: number): void {
  const { left, top, width, height } = place;
  fill(page, { left, top, width, height: thick }, colour);
  fill(page, { left, top: top + height - thick, width, height: thick }, colour);
  fill(page, { left, top, width: thick, height }, colour);
  fill(page, { left: left + width - thick, top, width: thick, height }, colour);
}

/** How much of a picture is left that is no longer this step's. */
const DIM = 0.28;

function dimmed({ width, height, pixels }: Picture): Picture {
  const out = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 4) {
    for (let part = 0; part < 3; part++)
      out[at + part] = Math.round(STAGE[part]! + (pixels[at + part]! - STAGE[part]!) * DIM);
    out[at + 3] = 255;
  }
  return { width, height, pixels: out };
}

/** Words in the middle of the stage. */
async function caption(
  page: Picture,
  layout: Layout,
  words: string,
  failed: boolean,
  fonts: Fonts,
): Promise<void> {
  const { stage, scale } = layout;
  const most = Math.floor((stage.width - 4 * CELL.margin) / (CELL.width * scale));
  const fore = failed ? TONES.red : PALE;
  const cells = lineOf([{ text: ` ${words} `, fore }], most);
  const columns = cells.reduce((sum, { width }) => sum + width, 0);
  const size = {
    width: Math.round((columns * CELL.width + 2 * CELL.margin) * scale),
    height: Math.round((CELL.height + 2 * CELL.margin) * scale),
  };
  const { body, files } = block([cells], columns, { left: 0, top: 0, scale }, fonts);
  const drawn = await drawOwn(svgOf(size, PANEL, body), size, files);
  const left = stage.left + Math.round((stage.width - drawn.width) / 2);
  paste(page, drawn, left, stage.top + Math.round((stage.height - drawn.height) / 2));
}

const svgOf = ({ width, height }: Size, ground: string, body: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${ground}"/>${body}</svg>`;

/** Lines of cells at a place, with the screen's own margin around them. */
function block(
  lines: Cell[][],
  columns: number,
  { left, top, scale }: { left: number; top: number; scale: number },
  fonts: Fonts,
): { body: string; files: string[]; height: number } {
  const { svg, height, fontFiles } = screenSvg({ columns, rows: lines.length, lines }, fonts);
  const body = `<g transform="translate(${left} ${top}) scale(${scale})">${svg}</g>`;
  return { body, files: fontFiles, height: height * scale };
}

async function panelOf(frame: Frame, { panel, scale }: Layout, fonts: Fonts): Promise<Picture> {
  const inset = Math.round(14 * scale);
  const across = panel.width - 2 * inset;
  const columnsAt = (size: number) => Math.max(8, Math.floor(across / size / CELL.width - 2.4));
  const columns = columnsAt(scale);
  const enlarged = scale * (columns < NARROW.columns ? NARROW.large : LARGE);
  const large = columnsAt(enlarged);
  const { tone, text } = frame.outcome;
  const head = [lineOf([{ text: frame.title, fore: PALE }], columns)];
  const number = [
    lineOf(
      [
        { text: frame.step, bold: true },
        { text: ` ${frame.of}`, fore: PALE, dim: true },
      ],
      large,
    ),
    ...linesOf({ text, fore: TONES[tone], bold: true }, large, 2),
  ];
  const command: Span = { text: frame.command, bold: true };
  const rows = Math.floor(panel.height / (CELL.height * scale));
  const now = [
    lineOf([{ text: frame.when, fore: PALE }], columns),
    [],
    ...linesOf(command, columns, Math.max(2, Math.min(9, Math.floor(rows / 4)))),
    ...(frame.headline ? [[], ...linesOf({ text: frame.headline, fore: PALE }, columns, 3)] : []),
  ];
  const parts: string[] = [];
  const files = new Set<string>();
  let top = inset;
  const put = (lines: Cell[][], size: number) => {
    // Larger letters have a larger margin, and begin where the others do.
    const left = inset - CELL.margin * (size - scale);
    const made = block(lines, lines === number ? large : columns, { left, top, scale: size }, fonts);
    parts.push(made.body);
    for (const file of made.files) files.add(file);
    // The margins of neighbours lie over each other.
    top += made.height - CELL.margin * size;
  };
  put(head, scale);
  put(number, enlarged);
  put(now, scale);
  const room = Math.floor((panel.height - inset - top) / (CELL.height * scale)) - 3;
  const before = frame.before.slice(0, Math.max(0, room));
  if (before.length > 0) {
    const y = Math.round(top + CELL.margin * scale);
    parts.push(
      `<rect x="${2 * inset}" y="${y}" width="${panel.width - 4 * inset}" height="${Math.max(1, scale)}" fill="#353a44"/>`,
    );
    top = y + Math.round(4 * scale);
    put(
      before.map((each, index) =>
        lineOf(
          [
            { text: `${each.mark} `, fore: TONES[each.tone] },
            { text: `${each.step} `, fore: PALE, dim: true },
            { text: each.command, fore: PALE, dim: index > 1 },
          ],
          columns,
        ),
      ),
      scale,
    );
  }
  return drawOwn(svgOf(panel, PANEL, parts.join('')), panel, [...files]);
}
