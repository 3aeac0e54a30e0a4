// Which parts changed, from tile hashes alone.
import { expect, test } from 'vitest';
import { changedTiles, sameTiles, type Tiled } from '../../../src/compare/tiles.js';

/** A picture whose tiles hash to the given letters, eight of each. */
const tiled = (width: number, height: number, letters: string): Tiled => ({
  width,
  height,
  tiles: {
    size: 64,
    columns: Math.ceil(width / 64),
    rows: Math.ceil(height / 64),
    hashes: [...letters].map((letter) => letter.repeat(8)).join(''),
  },
});

const rect = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });

test.each<[string, Tiled, Tiled, ReturnType<typeof rect>[]]>([
  ['the same', tiled(130, 64, 'abc'), tiled(130, 64, 'abc'), []],
  ['one in the middle', tiled(130, 64, 'abc'), tiled(130, 64, 'axc'), [rect(64, 0, 64, 64)]],
  ['the cut one at the end', tiled(130, 64, 'abc'), tiled(130, 64, 'abx'), [rect(128, 0, 2, 64)]],
  ['wider', tiled(64, 64, 'a'), tiled(100, 64, 'ab'), [rect(64, 0, 36, 64)]],
  [
    'a cut tile that grew, with the same hash',
    tiled(100, 64, 'ab'),
    tiled(110, 64, 'ab'),
    [rect(64, 0, 46, 64)],
  ],
  ['lower', tiled(64, 128, 'ab'), tiled(64, 64, 'a'), [rect(0, 64, 64, 64)]],
])('%s', (_, a, b, rects) => {
  expect(changedTiles(a, b)).toEqual(rects);
  expect(changedTiles(b, a)).toEqual(rects);
  expect(sameTiles(a, b)).toBe(rects.length === 0);
});

test('tiles of another size cannot be compared', () => {
  const a = tiled(100, 90, 'abcd');
  const b = { ...a, tiles: { ...a.tiles, size: 32 } };
  expect(changedTiles(a, b)).toEqual([rect(0, 0, 100, 90)]);
  expect(sameTiles(a, b)).toBe(false);
});
