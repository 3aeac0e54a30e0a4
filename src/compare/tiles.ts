// What of a picture changed, told from the hashes of its tiles alone: nothing is decoded. Runs in a browser too.
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

/** Whether two pictures are the same, pixel by pixel, as far as their tiles tell. */
export const sameTiles = (a: Tiled, b: Tiled): boolean =>
  a.width === b.width &&
  a.height === b.height &&
  a.tiles.size === b.tiles.size &&
  a.tiles.hashes === b.tiles.hashes;

/**
 * The tiles that differ, in the pixels of the larger of both sizes; a tile that only one picture has differs.
 * Tiles of different sizes cannot be compared: then the whole picture is one rectangle.
 */
export function changedTiles(a: Tiled, b: Tiled): Rect[] {
  const width = Math.max(a.width, b.width);
  const height = Math.max(a.height, b.height);
  const { size } = a.tiles;
  if (size !== b.tiles.size || !(size > 0)) return [{ x: 0, y: 0, width, height }];
  const rects: Rect[] = [];
  for (let row = 0; row * size < height; row++) {
    for (let column = 0; column * size < width; column++) {
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
