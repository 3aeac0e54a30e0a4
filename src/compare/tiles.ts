// What of a picture changed, told from the hashes of its tiles alone: nothing is decoded. Runs in a browser too.
import { isObject } from '../object.js';
import type { Rect } from './boxes.js';

/** Side of a tile in pixels. Those at the right and bottom edge are what is left. */
export const TILE = 64;
/** Hex digits of SHA-256 that are kept of each tile: a change is missed once in four thousand million. */
export const TILE_HEX = 8;

/** The tiles of a picture, row by row; `hashes` holds `TILE_HEX` digits of each, without a gap. */
export interface Tiles {
  size: number;
  columns: number;
  rows: number;
  hashes: string;
}

/** A picture's size and tiles, as a manifest's `metrics.picture` and `metrics.tiles` have them. */
export interface Tiled {
  width: number;
  height: number;
  tiles: Tiles;
}

/** The tiles that a manifest keeps of its picture, or null where it has none that can be used. */
export function tiledOf(metrics: unknown): Tiled | null {
  if (!isObject(metrics)) return null;
  const { picture, tiles } = metrics;
  if (!isObject(picture) || !isObject(tiles)) return null;
  const numbers = [picture['width'], picture['height'], tiles['size'], tiles['columns'], tiles['rows']];
  if (!numbers.every((value) => Number.isSafeInteger(value) && Number(value) > 0)) return null;
  const [width, height, size, columns, rows] = numbers as [number, number, number, number, number];
  // A made-up size must not make us count tiles for ever, nor may hashes be missing: they would count as equal.
  if (
    typeof tiles['hashes'] !== 'string' ||
    width * height > 1e9 ||
    columns * rows > 1e5 ||
    columns !== Math.ceil(width / size) ||
    rows !== Math.ceil(height / size) ||
    tiles['hashes'].length !== columns * rows * TILE_HEX
  )
    return null;
  return { width, height, tiles: { size, columns, rows, hashes: tiles['hashes'] } };
}

/** Whether two pictures are the same, pixel by pixel, as far as their tiles tell. */
export const sameTiles = (a: Tiled, b: Tiled): boolean =>
  a.width === b.width &&
  a.height === b.height &&
  a.tiles.size === b.tiles.size &&
  a.tiles.hashes === b.tiles.hashes;

/**
 * The tiles that differ, in the pixels of the larger of both sizes; a tile that only one picture has differs.
 * Tiles of different sizes cannot be compared: then the whole picture is one rectangle. With `within`, only the tiles
 * that touch it are looked at.
 */
export function changedTiles(a: Tiled, b: Tiled, within?: Rect): Rect[] {
  const width = Math.max(a.width, b.width);
  const height = Math.max(a.height, b.height);
  const { size } = a.tiles;
  if (size !== b.tiles.size || !(size > 0)) return [{ x: 0, y: 0, width, height }];
  const rects: Rect[] = [];
  const [left, top] = within ? [Math.floor(within.x / size), Math.floor(within.y / size)] : [0, 0];
  const right = within ? Math.min(width, within.x + within.width) : width;
  const bottom = within ? Math.min(height, within.y + within.height) : height;
  for (let row = Math.max(0, top); row * size < bottom; row++) {
    for (let column = Math.max(0, left); column * size < right; column++) {
      // A tile at an edge that moved covers other pixels, whatever its hash.
      const same =
        extent(a, column, row) === extent(b, column, row) &&
        hashAt(a, column, row) === hashAt(b, column, row);
      if (same) continue;
      const [x, y] = [column * size, row * size];
      rects.push({ x, y, width: Math.min(size, width - x), height: Math.min(size, height - y) });
    }
  }
  return rects;
}

const extent = ({ width, height, tiles: { size } }: Tiled, column: number, row: number): string =>
  `${Math.min(size, width - column * size)}×${Math.min(size, height - row * size)}`;

function hashAt({ tiles: { columns, rows, hashes } }: Tiled, column: number, row: number): string {
  if (column >= columns || row >= rows) return '';
  const at = (row * columns + column) * TILE_HEX;
  return hashes.slice(at, at + TILE_HEX);
}

/** Tiles that lie side by side as one rectangle: first those of a row, then equal ones below each other. */
export function joinedTiles(tiles: readonly Rect[]): Rect[] {
  const runs: Rect[] = [];
  for (const tile of tiles) {
    const last = runs.at(-1);
    if (last && last.y === tile.y && last.x + last.width === tile.x && last.height === tile.height)
      last.width += tile.width;
    else runs.push({ ...tile });
  }
  const joined: Rect[] = [];
  for (const run of runs) {
    const above = joined.find(
      (each) => each.x === run.x && each.width === run.width && each.y + each.height === run.y,
    );
    if (above) above.height += run.height;
    else joined.push(run);
  }
  return joined;
}
