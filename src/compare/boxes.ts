// Rectangles around what changed: the connected regions of a mask, those that lie close together as one. Runs in a
// browser too.

/** A rectangle in pixels, its corner at the top left. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A changed region: its rectangle, and how many pixels in it changed. */
export interface Box extends Rect {
  pixels: number;
}

/** Regions with at most so many pixels between them count as one. */
export const NEAR = 8;
/** At most so many boxes; the last one holds all the rest. */
export const BOXES = 20;
/** Beyond so many regions, as noise has them, the cells they are found by are made larger. */
const REGIONS = 2000;

/** Edges of a region, inclusive, while it grows. */
interface Region {
  left: number;
  top: number;
  right: number;
  bottom: number;
  pixels: number;
}

/**
 * Boxes around the set bytes of `mask` (`width` a row), each at least `NEAR` away from the others, the ones with most
 * changed pixels first. Where there are more than `BOXES`, the last one holds all that are left.
 */
export function boxesOf(mask: Uint8Array, width: number): Box[] {
  let cell = NEAR;
  let regions = regionsOf(mask, width, cell);
  while (regions.length > REGIONS) {
    cell *= 2;
    regions = regionsOf(mask, width, cell);
  }
  const boxes = apart(regions).sort((a, b) => b.pixels - a.pixels || a.top - b.top || a.left - b.left);
  if (boxes.length > BOXES) boxes.push(boxes.splice(BOXES - 1).reduce(joined));
  return boxes.map(({ left, top, right, bottom, pixels }) => ({
    x: left,
    y: top,
    width: right - left + 1,
    height: bottom - top + 1,
    pixels,
  }));
}

/** Connected regions, by cells: two neighbouring cells are connected where what changed in them lies near. */
function regionsOf(mask: Uint8Array, width: number, size: number): Region[] {
  const columns = Math.ceil(width / size);
  const cells = new Map<number, Region>();
  // Neighbours mostly share a cell, which then need not be looked up.
  let lastKey = -1;
  let cell: Region = { left: 0, top: 0, right: 0, bottom: 0, pixels: 0 };
  for (let index = 0; index < mask.length; index++) {
    if (mask[index] === 0) continue;
    const x = index % width;
    const y = (index - x) / width;
    const key = Math.floor(y / size) * columns + Math.floor(x / size);
    if (key !== lastKey) {
      cell = cells.get(key) ?? { left: x, top: y, right: x, bottom: y, pixels: 0 };
      cells.set(key, cell);
      lastKey = key;
    }
    include(cell, x, y);
  }
  const found: Region[] = [];
  const done = new Set<number>();
  for (const [start, first] of cells) {
    if (done.has(start)) continue;
    done.add(start);
    let region = first;
    const waiting = [start];
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const here = cells.get(key)!;
      if (key !== start) region = joined(region, here);
      const column = key % columns;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          if (column + dx < 0 || column + dx >= columns) continue;
          const next = key + dy * columns + dx;
          const there = cells.get(next);
          if (there === undefined || done.has(next) || !isNear(here, there)) continue;
          done.add(next);
          waiting.push(next);
        }
      }
    }
    found.push(region);
  }
  return found;
}

function include(region: Region, x: number, y: number): void {
  if (x < region.left) region.left = x;
  if (x > region.right) region.right = x;
  if (y > region.bottom) region.bottom = y;
  region.pixels++;
}

const joined = (a: Region, b: Region): Region => ({
  left: Math.min(a.left, b.left),
  top: Math.min(a.top, b.top),
  right: Math.max(a.right, b.right),
  bottom: Math.max(a.bottom, b.bottom),
  pixels: a.pixels + b.pixels,
});

const isNear = (a: Region, b: Region): boolean =>
  Math.max(a.left - b.right, b.left - a.right) - 1 <= NEAR &&
  Math.max(a.top - b.bottom, b.top - a.bottom) - 1 <= NEAR;

/** The regions, those whose rectangles lie near each other joined, until none do. */
function apart(regions: readonly Region[]): Region[] {
  const settled: Region[] = [];
  const waiting = [...regions];
  for (let region = waiting.pop(); region !== undefined; region = waiting.pop()) {
    const at = settled.findIndex((other) => isNear(region!, other));
    if (at < 0) settled.push(region);
    // What has grown may reach others now.
    else waiting.push(joined(region, settled.splice(at, 1)[0]!));
  }
  return settled;
}
