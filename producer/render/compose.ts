// The picture of a comparison: what changed, large, with before and after beside it. What stayed is pale grey, what
// changed keeps its light and shade in one strong colour, and boxes find what is a few pixels small.
import type { Box } from '../../src/compare/boxes.js';
import { percent } from '../../src/compare/percent.js';
import type { Comparison } from '../../src/compare/pixels.js';
import { drawOwn } from './draw.js';
import type { Fonts } from './fonts.js';
import { fitted, type Picture, paste, shrink } from './picture.js';
import { visible } from './prepare.js';
import { escapeXml } from './xml.js';

/** Both pictures, opaque, and what comparing them gave. */
export interface Compared {
  before: Picture;
  after: Picture;
  result: Comparison;
}

export interface Captions {
  before: string;
  after: string;
}

type Panel = { left: number; top: number; width: number; height: number };
type Layout = { width: number; height: number; changes: Panel; before: Panel; after: Panel };

const MARGIN = 20;
const GAP = 16;
const CAPTION = 30;
/** A picture of a few pixels is enlarged so far, by whole steps, that its pixels can be told apart. */
const LEAST = 480;
/** Beyond this ratio of width to height the panels lie under each other, below the other beside each other. */
const [WIDE, TALL] = [2.6, 0.75];
const COLOUR = '#e6005c';
/** From what is darkest to what is lightest among the changed pixels. */
const [DEEP, BRIGHT] = [
  [146, 0, 72],
  [255, 82, 140],
] as const;
/** How much of its light and shade an unchanged pixel keeps. */
const PALE = 0.3;

/** The changes alone: `after`, and where it has nothing `before`, no larger than `longest`. */
export function changesOf({ before, after, result }: Compared, longest: number): Picture {
  const canvas = blank(result.width, result.height);
  paste(canvas, before, 0, 0);
  paste(canvas, after, 0, 0);
  const size = Math.min(longest, Math.max(result.width, result.height));
  return tinted(resized(canvas, size), resized(maskPicture(result), size));
}

/** The whole comparison, at most `limit` pixels on its longest side. */
export async function composed(
  compared: Compared,
  captions: Captions,
  limit: number,
  fonts: Fonts,
): Promise<Picture> {
  const { before, after, result } = compared;
  const layout = layoutFor(result, limit);
  const text = pageText(layout, result, captions);
  const letters = new Set([...captions.before, ...captions.after].map((char) => char.codePointAt(0)!));
  const { files } = fonts.files(new Set(['DejaVu Sans']), visible(letters));
  const page = await drawOwn(text, layout, files);
  const onto = (panel: Panel, picture: Picture) =>
    paste(page, resized(picture, Math.max(panel.width, panel.height)), panel.left, panel.top);
  onto(layout.before, padded(before, result));
  onto(layout.after, padded(after, result));
  onto(layout.changes, enlargedChanges(compared, Math.max(layout.changes.width, layout.changes.height)));
  over(page, await drawOwn(outlines(layout, result), layout));
  return page;
}

function enlargedChanges(compared: Compared, longest: number): Picture {
  return resized(changesOf(compared, longest), longest);
}

/** Where each panel lies: all three the same shape, the changes largest where the shape allows it. */
function layoutFor({ width, height }: Comparison, limit: number): Layout {
  // Sizes are rounded, up to twice on the way across.
  const across = limit - 2 * MARGIN - 2;
  const down = limit - 2 * MARGIN - CAPTION - 2;
  const shape = width / height;
  const panel = (left: number, top: number, scale: number): Panel => ({
    left,
    top,
    ...fitted(width, height, Math.max(width, height) * scale),
  });
  if (shape > WIDE) {
    const scale = stepped(Math.min(across / width, (down - 2 * (CAPTION + GAP)) / 3 / height), width, height);
    const row = Math.round(height * scale) + CAPTION + GAP;
    const [before, after, changes] = [0, 1, 2].map((n) =>
      panel(MARGIN, MARGIN + CAPTION + n * row, scale),
    ) as [Panel, Panel, Panel];
    return around({ before, after, changes });
  }
  if (shape < TALL) {
    const scale = stepped(Math.min((across - 2 * GAP) / 3 / width, down / height), width, height);
    const column = Math.round(width * scale) + GAP;
    const [before, after, changes] = [0, 1, 2].map((n) =>
      panel(MARGIN + n * column, MARGIN + CAPTION, scale),
    ) as [Panel, Panel, Panel];
    return around({ before, after, changes });
  }
  // The two small ones with their captions are together as high as the large one.
  const lost = (CAPTION + GAP / 2) / 2 / height;
  const scale = stepped(Math.min((across - GAP + lost * width) / 1.5 / width, down / height), width, height);
  const small = scale / 2 - lost;
  const changes = panel(MARGIN, MARGIN + CAPTION, scale);
  const beside = changes.left + changes.width + GAP;
  const before = panel(beside, changes.top, small);
  const after = panel(beside, changes.top + changes.height, small);
  after.top -= after.height;
  return around({ before, after, changes });
}

/** Above 1 only whole steps, and no more of them than it takes. */
function stepped(scale: number, width: number, height: number): number {
  if (scale < 1) return scale;
  return Math.max(1, Math.min(Math.floor(scale), Math.ceil(LEAST / Math.max(width, height))));
}

function around(panels: Pick<Layout, 'before' | 'after' | 'changes'>): Layout {
  const all = Object.values(panels);
  return {
    ...panels,
    width: Math.max(...all.map(({ left, width }) => left + width)) + MARGIN,
    height: Math.max(...all.map(({ top, height }) => top + height)) + MARGIN,
  };
}

function pageText(layout: Layout, result: Comparison, captions: Captions): string {
  const frame = ({ left, top, width, height }: Panel) =>
    `<rect x="${left - 0.5}" y="${top - 0.5}" width="${width + 1}" height="${height + 1}" fill="#fff" stroke="#dadce0"/>`;
  const many = result.count.toLocaleString('en-US');
  const changed =
    result.count === 0
      ? 'not one pixel'
      : `${many} ${result.count === 1 ? 'pixel' : 'pixels'}, ${percent(result.ratio)}`;
  return `${svgOf(layout)}<rect width="100%" height="100%" fill="#f1f3f4"/>${[
    frame(layout.changes) + caption(layout.changes, 'Changed', changed),
    frame(layout.before) + caption(layout.before, 'Before', captions.before),
    frame(layout.after) + caption(layout.after, 'After', captions.after),
  ].join('')}</svg>`;
}

const svgOf = ({ width, height }: Layout): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`;

function caption({ left, top, width }: Panel, title: string, rest: string): string {
  // The mean advance of DejaVu Sans, in its size.
  const room = Math.floor(width / (13 * 0.62)) - title.length - 3;
  const letters = [...rest];
  const cut = room < 4 ? '' : letters.length > room ? `${letters.slice(0, room - 1).join('')}…` : rest;
  const font = `font-family="'DejaVu Sans'" font-size="13"`;
  return `<text x="${left}" y="${top - 10}" ${font} fill="#3c4043"><tspan font-weight="bold" fill="#202124">${title}</tspan>  <tspan dx="6">${escapeXml(cut)}</tspan></text>`;
}

/** Boxes over all three panels, each with some air; one that holds nearly all would only be a second frame. */
function outlines(layout: Layout, result: Comparison): string {
  const shown = result.boxes.filter((box) => box.width * box.height < 0.9 * result.width * result.height);
  const draw = (panel: Panel, style: string) =>
    shown.map((box) => outline(box, panel, result, style)).join('');
  const light = `stroke="#fff" stroke-opacity=".85" stroke-width="4"`;
  return `${svgOf(layout)}<g fill="none">${draw(layout.changes, light)}${draw(layout.changes, `stroke="${COLOUR}" stroke-width="2"`)}${[
    layout.before,
    layout.after,
  ]
    .map((panel) => draw(panel, `stroke="${COLOUR}" stroke-opacity=".8" stroke-width="1"`))
    .join('')}</g></svg>`;
}

function outline(box: Box, panel: Panel, { width, height }: Comparison, style: string): string {
  const [sx, sy] = [panel.width / width, panel.height / height];
  const air = 4;
  const clamp = (value: number, most: number) => Math.round(Math.min(most, Math.max(0, value)));
  const left = clamp(box.x * sx - air, panel.width - 2);
  const top = clamp(box.y * sy - air, panel.height - 2);
  const right = clamp((box.x + box.width) * sx + air, panel.width);
  const bottom = clamp((box.y + box.height) * sy + air, panel.height);
  return `<rect x="${panel.left + left + 0.5}" y="${panel.top + top + 0.5}" width="${right - left - 1}" height="${bottom - top - 1}" rx="2" ${style}/>`;
}

function blank(width: number, height: number): Picture {
  return { width, height, pixels: new Uint8Array(width * height * 4).fill(255) };
}

/** A picture on the canvas that holds both, in its top left corner. */
function padded(picture: Picture, { width, height }: Comparison): Picture {
  if (picture.width === width && picture.height === height) return picture;
  const canvas = blank(width, height);
  // What is not there is neither white nor black.
  for (let at = 0; at < canvas.pixels.length; at += 4) canvas.pixels.set([232, 234, 237], at);
  paste(canvas, picture, 0, 0);
  return canvas;
}

function maskPicture({ width, height, mask }: Comparison): Picture {
  const pixels = new Uint8Array(mask.length * 4);
  for (let index = 0; index < mask.length; index++)
    if (mask[index]) pixels.fill(255, index * 4, index * 4 + 4);
  return { width, height, pixels };
}

function resized(picture: Picture, longest: number): Picture {
  return Math.max(picture.width, picture.height) < longest
    ? enlarged(picture, longest)
    : shrink(picture, longest);
}

/** Every pixel as a square, so that a single one can be seen. */
function enlarged(picture: Picture, longest: number): Picture {
  const { width, height } = fitted(picture.width, picture.height, longest);
  const from = new Uint32Array(Uint8Array.from(picture.pixels).buffer);
  const words = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y * picture.height) / height) * picture.width;
    for (let x = 0; x < width; x++)
      words[y * width + x] = from[row + Math.floor((x * picture.width) / width)]!;
  }
  return { width, height, pixels: new Uint8Array(words.buffer) };
}

/** Pale where nothing changed, in colour where something did: the more of a pixel changed, the stronger. */
function tinted({ width, height, pixels }: Picture, { pixels: mask }: Picture): Picture {
  const out = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at += 4) {
    const light = (0.2126 * pixels[at]! + 0.7152 * pixels[at + 1]! + 0.0722 * pixels[at + 2]!) / 255;
    const pale = 255 - (1 - light) * 255 * PALE;
    const share = mask[at]! / 255;
    const strength = share === 0 ? 0 : 0.5 + 0.5 * share;
    for (let part = 0; part < 3; part++) {
      const colour = DEEP[part]! + (BRIGHT[part]! - DEEP[part]!) * light;
      out[at + part] = Math.round(pale + (colour - pale) * strength);
    }
    out[at + 3] = 255;
  }
  return { width, height, pixels: out };
}

/** Lays a drawing, whose colours are multiplied by alpha, over an opaque page of its size. */
function over(page: Picture, drawing: Picture): void {
  for (let at = 0; at < page.pixels.length; at += 4) {
    const alpha = drawing.pixels[at + 3]!;
    if (alpha === 0) continue;
    for (let part = at; part < at + 3; part++)
      page.pixels[part] = drawing.pixels[part]! + Math.round((page.pixels[part]! * (255 - alpha)) / 255);
  }
}
