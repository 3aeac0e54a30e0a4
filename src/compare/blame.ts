// Where a place of a picture came from: which steps changed it, told from the hashes of its tiles alone. Runs in a
// browser too. Which steps are handed over (those of one recipe) is for others to say.
import type { Rect } from './boxes.js';
import { changedTiles, type Tiled } from './tiles.js';

/** A step and the tiles of its picture; one without is passed over. */
export interface Pictured {
  index: number;
  tiled: Tiled | null;
}

export interface Change {
  /** The step at which it changed. */
  index: number;
  /** The step whose picture it was compared with: the newest one before it. Null for the first picture there is. */
  before: number | null;
  kind: 'changed' | 'resized' | 'first';
  /** The tiles of the place that changed, all of the place's for the first picture; exact to tiles. */
  tiles: Rect[];
}

/**
 * Every step that changed `region`, the newest first, and at the end the first picture. Takes no more of `newestFirst`
 * than it is asked for. A picture of another size counts as changed everywhere.
 */
export function* changesBack(newestFirst: Iterable<Pictured>, region: Rect): Generator<Change> {
  let later: (Pictured & { tiled: Tiled }) | null = null;
  for (const { index, tiled } of newestFirst) {
    if (tiled === null) continue;
    const change: Change | null = later && changeBetween({ index, tiled }, later, region);
    if (change) yield change;
    later = { index, tiled };
  }
  if (later)
    yield { index: later.index, before: null, kind: 'first', tiles: [tilesAround(later.tiled, region)] };
}

/** Every step that changed `region`, the oldest first; the first picture is what is compared with. */
export function* changesOn(oldestFirst: Iterable<Pictured>, region: Rect): Generator<Change> {
  let earlier: (Pictured & { tiled: Tiled }) | null = null;
  for (const { index, tiled } of oldestFirst) {
    if (tiled === null) continue;
    const now = { index, tiled };
    const change: Change | null = earlier && changeBetween(earlier, now, region);
    if (change) yield change;
    earlier = now;
  }
}

/** How a place changed from one picture to the next, or null where it did not. */
export function changeBetween(
  before: Pictured & { tiled: Tiled },
  after: Pictured & { tiled: Tiled },
  region: Rect,
): Change | null {
  const [a, b] = [before.tiled, after.tiled];
  const named = { index: after.index, before: before.index };
  if (a.width !== b.width || a.height !== b.height)
    return { ...named, kind: 'resized', tiles: [tilesAround(b, region)] };
  // Most pictures are as the one before.
  if (a.tiles.size === b.tiles.size && a.tiles.hashes === b.tiles.hashes) return null;
  const tiles = changedTiles(a, b, region);
  return tiles.length === 0 ? null : { ...named, kind: 'changed', tiles };
}

/** `region` made as large as the tiles it touches: what an answer is exact to. */
export function tilesAround({ width, height, tiles: { size } }: Tiled, region: Rect): Rect {
  const x = Math.floor(region.x / size) * size;
  const y = Math.floor(region.y / size) * size;
  const right = Math.min(width, Math.ceil((region.x + region.width) / size) * size);
  const bottom = Math.min(height, Math.ceil((region.y + region.height) / size) * size);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}

/** The part of `region` that lies in a picture of this size, or null where none does. */
export function clipped(region: Rect, { width, height }: { width: number; height: number }): Rect | null {
  const right = Math.min(width, region.x + region.width);
  const bottom = Math.min(height, region.y + region.height);
  if (!(region.x >= 0 && region.y >= 0 && right > region.x && bottom > region.y)) return null;
  return { x: region.x, y: region.y, width: right - region.x, height: bottom - region.y };
}
