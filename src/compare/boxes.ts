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

/** Regions within so many pixels of each other count as one. */
export const NEAR = 8;
/** At most so many boxes; the last one holds all the rest. */
export const BOXES = 20;
