// What can be told of a picture without knowing what it shows: hashes of its tiles, how bright it is, how much of it
// is one colour, and whether what is drawn is cut at an edge. The thresholds are explained in guides/compare.md.
import { createHash } from 'node:crypto';
import { TILE, TILE_HEX, type Tiled, type Tiles } from '../../src/compare/tiles.js';
import { coverageOf, type Ground, isSolid, onGround, type Picture, WHITE, wordsOf } from './picture.js';

/** A renderer of ours leaves this beside its picture: `sha256` of the hero, and the `glance` at it. */
export const GLANCE_NAME = 'glance.json';

export type Edge = 'top' | 'right' | 'bottom' | 'left';

/** A picture's own account, as a manifest keeps it in `metrics`. */
export interface Glance extends Tiled {
  /** Mean luma (Rec. 709) as shown, 0 black to 1 white. */
  mean: number;
  /** The most common colour, and the share of the picture that has it or nearly so. */
  common: { colour: string; share: number };
  /** Edges at which something drawn on a plain background is cut. */
  edges: Edge[];
}

/** What the checker behind light pictures amounts to: one grey, so that it does not count as drawn. */
const GREY: Ground = [0xa6, 0xac, 0xb2];
/** Per channel; two colours within it look alike, and JPEG's noise stays within it. */
const ALIKE = 12;
/** So many pixels tell the colour of a bin. */
const ENOUGH = 4096;
/** Per channel; less than this away from the background is a shadow or noise, not something drawn. */
const DRAWN = 24;
/** The share of the border that must be background before anything on it counts as cut. */
const PLAIN_BORDER = 0.5;
/** So many pixels next to each other on an edge, and something is cut there. */
const CUT_RUN = 2;
/** What takes so much of an edge lies along it: a header, a side bar. */
const ALONG = 0.8;
/** What takes so much of a row or column is a band across the picture, even where a scroll bar ends it. */
const ACROSS = 0.9;
/** More than so many pieces, none of them longer than so many pixels, are a line of text that a window ends in. */
const [PIECES, LETTER] = [3, 24];

/** Looks at a picture of at least one pixel. `ground` is what a transparent one is shown on, where that is known. */
export function glanceAt(picture: Picture, ground?: Ground): Glance {
  const laid = isSolid(picture)
    ? picture
    : onGround(picture, (ground ?? coverageOf(picture).ground) === 'checker' ? GREY : WHITE);
  const { mean, bins } = survey(laid);
  const { colour, share } = commonest(laid, bins);
  return {
    width: picture.width,
    height: picture.height,
    mean: round(mean),
    common: { colour: hex(colour), share: round(share) },
    edges: cutEdges(laid),
    tiles: tilesOf(picture),
  };
}

/** Row by row, each tile's RGBA hashed as it lies there. */
function tilesOf(picture: Picture): Tiles {
  const { width, height } = picture;
  const words = wordsOf(picture);
  const columns = Math.ceil(width / TILE);
  const rows = Math.ceil(height / TILE);
  const tile = new Uint32Array(TILE * TILE);
  let hashes = '';
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const line = Math.min(TILE, width - column * TILE);
      const lines = Math.min(TILE, height - row * TILE);
      let to = 0;
      for (let y = 0; y < lines; y++) {
        const from = (row * TILE + y) * width + column * TILE;
        for (let x = 0; x < line; x++) tile[to++] = words[from + x]!;
      }
      const digest = createHash('sha256').update(tile.subarray(0, to));
      hashes += digest.digest('hex').slice(0, TILE_HEX);
    }
  }
  return { size: TILE, columns, rows, hashes };
}

const binOf = (red: number, green: number, blue: number): number =>
  ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);

/** Mean luma, and how many pixels lie in each bin of 8 × 8 × 8 colours. Equal neighbours are counted as one run. */
function survey(picture: Picture): { mean: number; bins: Uint32Array } {
  const { pixels } = picture;
  const words = wordsOf(picture);
  const bins = new Uint32Array(1 << 15);
  let reds = 0;
  let greens = 0;
  let blues = 0;
  for (let index = 0; index < words.length; ) {
    const from = index;
    const word = words[from];
    do index++;
    while (index < words.length && words[index] === word);
    const red = pixels[from * 4]!;
    const green = pixels[from * 4 + 1]!;
    const blue = pixels[from * 4 + 2]!;
    reds += red * (index - from);
    greens += green * (index - from);
    blues += blue * (index - from);
    bins[binOf(red, green, blue)]! += index - from;
  }
  const luma = 2126 * reds + 7152 * greens + 722 * blues;
  return { mean: luma / 10_000 / 255 / words.length, bins };
}

type Colour = readonly [red: number, green: number, blue: number];

/** The mean of the first pixels of the fullest bin, and the share of all pixels whose bins lie close to it. */
function commonest({ pixels }: Picture, bins: Uint32Array): { colour: Colour; share: number } {
  let bin = 0;
  for (let each = 1; each < bins.length; each++) if (bins[each]! > bins[bin]!) bin = each;
  let found = 0;
  let reds = 0;
  let greens = 0;
  let blues = 0;
  for (let at = 0; at < pixels.length && found < ENOUGH; at += 4) {
    const red = pixels[at]!;
    const green = pixels[at + 1]!;
    const blue = pixels[at + 2]!;
    if (binOf(red, green, blue) !== bin) continue;
    found++;
    reds += red;
    greens += green;
    blues += blue;
  }
  const colour: Colour = [Math.round(reds / found), Math.round(greens / found), Math.round(blues / found)];
  const near = (part: number, index: number) => Math.abs((part << 3) + 3.5 - colour[index]!) <= ALIKE;
  let total = 0;
  for (let each = 0; each < bins.length; each++)
    if (bins[each]! > 0 && near(each >> 10, 0) && near((each >> 5) & 31, 1) && near(each & 31, 2))
      total += bins[each]!;
  return { colour, share: total / (pixels.length / 4) };
}

const within = ({ pixels }: Picture, at: number, [red, green, blue]: Colour, far: number): boolean =>
  Math.abs(pixels[at]! - red) <= far &&
  Math.abs(pixels[at + 1]! - green) <= far &&
  Math.abs(pixels[at + 2]! - blue) <= far;

/**
 * Edges that something drawn runs into. There must be a plain background: a colour that three corners agree on and
 * that half of the border has. What a design puts there is no cut: a band from edge to edge, which draws both ends of a
 * row (or column) or nearly all of it, and what lies along an edge. Nor is a line of text.
 */
function cutEdges(picture: Picture): Edge[] {
  const { width, height } = picture;
  const at = (x: number, y: number) => (y * width + x) * 4;
  const [right, bottom] = [width - 1, height - 1];
  const background = agreed(picture, [at(0, 0), at(right, 0), at(0, bottom), at(right, bottom)]);
  if (background === null) return [];
  const drawn = (x: number, y: number) => !within(picture, at(x, y), background, DRAWN);
  const sides: Record<Edge, boolean[]> = {
    top: Array.from({ length: width }, (_, x) => drawn(x, 0)),
    right: Array.from({ length: height }, (_, y) => drawn(right, y)),
    bottom: Array.from({ length: width }, (_, x) => drawn(x, bottom)),
    left: Array.from({ length: height }, (_, y) => drawn(0, y)),
  };
  const border = Object.values(sides).flat();
  if (border.filter(Boolean).length > border.length * (1 - PLAIN_BORDER)) return [];
  const isRow = (y: number) => shareOf(width, (x) => drawn(x, y)) >= ACROSS;
  const isColumn = (x: number) => shareOf(height, (y) => drawn(x, y)) >= ACROSS;
  const { top, left } = sides;
  const isBand = {
    top: (x: number) => sides.bottom[x] || isColumn(x),
    bottom: (x: number) => top[x] || isColumn(x),
    left: (y: number) => sides.right[y] || isRow(y),
    right: (y: number) => left[y] || isRow(y),
  };
  return (Object.keys(sides) as Edge[]).filter((edge) => {
    const side = sides[edge];
    if (Math.max(0, ...runsIn(side)) > ALONG * side.length) return false;
    const runs = runsIn(side.map((touches, index) => touches && !isBand[edge](index)));
    const longest = Math.max(0, ...runs);
    return longest >= CUT_RUN && (runs.length <= PIECES || longest > LETTER);
  });
}

function shareOf(length: number, test: (index: number) => boolean): number {
  let count = 0;
  for (let index = 0; index < length; index++) if (test(index)) count++;
  return count / length;
}

/** The colour that at least three of the four corners have, or null. */
function agreed(picture: Picture, corners: number[]): Colour | null {
  for (const corner of corners) {
    const { pixels } = picture;
    const colour: Colour = [pixels[corner]!, pixels[corner + 1]!, pixels[corner + 2]!];
    if (corners.filter((other) => within(picture, other, colour, ALIKE)).length >= 3) return colour;
  }
  return null;
}

/** How long each piece of a line is that is set throughout. */
function runsIn(line: readonly boolean[]): number[] {
  const runs: number[] = [];
  for (const [index, touches] of line.entries()) {
    if (touches && line[index - 1]) runs[runs.length - 1]!++;
    else if (touches) runs.push(1);
  }
  return runs;
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;
const hex = (colour: Colour): string =>
  `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
