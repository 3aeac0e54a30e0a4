// Which steps changed a place, from tiles alone, against a look at every pixel.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Change,
  changesBack,
  changesOn,
  clipped,
  type Pictured,
  tilesAround,
} from '../../../src/compare/blame.js';
import type { Rect } from '../../../src/compare/boxes.js';
import { changedTiles, type Tiled } from '../../../src/compare/tiles.js';

/** A picture whose tiles hash to the given letters, eight of each. */
const tiled = (letters: string, width = 64 * letters.length, height = 64): Tiled => ({
  width,
  height,
  tiles: {
    size: 64,
    columns: Math.ceil(width / 64),
    rows: Math.ceil(height / 64),
    hashes: [...letters].map((letter) => letter.repeat(8)).join(''),
  },
});
const at = (x: number, y = 0, width = 1, height = 1): Rect => ({ x, y, width, height });
const steps = (...letters: (string | null)[]): Pictured[] =>
  letters.map((each, n) => ({ index: n + 1, tiled: each === null ? null : tiled(each) }));
const told = ({ index, before, kind }: Change): string => `${index} ${kind} ${before ?? '-'}`;
const back = (all: Pictured[], region: Rect) => [...changesBack([...all].reverse(), region)].map(told);
const on = (all: Pictured[], region: Rect) => [...changesOn(all, region)].map(told);

test.each<[string, Pictured[], Rect, string[]]>([
  ['nothing at all', [], at(0), []],
  ['no picture', steps(null, null), at(0), []],
  ['one picture', steps('ab'), at(0), ['1 first -']],
  ['never changed', steps('ab', 'ab', 'ax'), at(0), ['1 first -']],
  ['changed once', steps('ab', 'xb', 'xb'), at(63), ['2 changed 1', '1 first -']],
  ['the tile beside it', steps('ab', 'xb', 'xb'), at(64), ['1 first -']],
  ['a place across both', steps('ab', 'xb', 'xy'), at(60, 0, 8), ['3 changed 2', '2 changed 1', '1 first -']],
  ['changed back', steps('a', 'x', 'a'), at(0), ['3 changed 2', '2 changed 1', '1 first -']],
  ['passed over', steps(null, 'a', null, null, 'x', null), at(0), ['5 changed 2', '2 first -']],
  ['another size', steps('a', 'ab', 'ab'), at(0), ['2 resized 1', '1 first -']],
])('%s', (_, all, region, expected) => {
  expect(back(all, region)).toEqual(expected);
  expect(on(all, region)).toEqual(expected.slice(0, -1).reverse());
});

test('no more is read than it takes to find the newest change', () => {
  let read = 0;
  function* newestFirst(): Generator<Pictured> {
    for (const step of steps('a', 'a', 'a', 'x', 'x').reverse()) {
      read++;
      yield step;
    }
  }
  expect(told(changesBack(newestFirst(), at(0)).next().value as Change)).toBe('4 changed 3');
  expect(read).toBe(3);
});

test.each<[Rect, Rect | null]>([
  [at(0), at(0)],
  [at(90, 40, 20, 20), at(90, 40, 10, 20)],
  [at(99, 59, 1, 1), at(99, 59)],
  [at(100, 0), null],
  [at(0, 60), null],
])('the part of %j in a picture of 100 × 60', (region, part) => {
  expect(clipped(region, { width: 100, height: 60 })).toEqual(part);
});

test.each<[Rect, Rect]>([
  [at(0), at(0, 0, 64, 60)],
  [at(63, 0, 2, 1), at(0, 0, 100, 60)],
  [at(99, 59), at(64, 0, 36, 60)],
])('the tiles around %j', (region, around) => {
  expect(tilesAround(tiled('ab', 100, 60), region)).toEqual(around);
});

describe('against brute force', () => {
  const TILE = 4;
  type Grid = { width: number; height: number; pixels: number[] };
  /** Tiles of 4 × 4, hashed by what they hold. */
  const tilesOf = ({ width, height, pixels }: Grid, known: Map<string, string>): Tiled => {
    const [columns, rows] = [Math.ceil(width / TILE), Math.ceil(height / TILE)];
    let hashes = '';
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        let content = '';
        for (let y = row * TILE; y < Math.min(height, (row + 1) * TILE); y++)
          content += `${pixels.slice(y * width + column * TILE, y * width + Math.min(width, (column + 1) * TILE))}|`;
        if (!known.has(content)) known.set(content, known.size.toString(16).padStart(8, '0'));
        hashes += known.get(content);
      }
    return { width, height, tiles: { size: TILE, columns, rows, hashes } };
  };
  const crop = ({ width, height, pixels }: Grid, { x, y, width: w, height: h }: Rect) =>
    Array.from({ length: Math.min(h, height - y) }, (_, row) =>
      pixels.slice((y + row) * width + x, (y + row) * width + Math.min(width, x + w)),
    ).join('|');
  const edit = fc.record({
    x: fc.nat(12),
    y: fc.nat(9),
    w: fc.integer({ min: 1, max: 5 }),
    h: fc.integer({ min: 1, max: 5 }),
    colour: fc.nat(3),
    fails: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    resized: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });

  test('tiles around the place tell exactly the steps at which these tiles changed', () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 25 }), fc.nat(12), fc.nat(9), (edits, x, y) => {
        const known = new Map<string, string>();
        let grid: Grid = { width: 13, height: 10, pixels: new Array(130).fill(0) };
        const grids: (Grid | null)[] = [grid];
        for (const { x: left, y: top, w, h, colour, fails, resized } of edits) {
          const width = resized ? 29 - grid.width : grid.width;
          const pixels = Array.from({ length: width * 10 }, (_, n) => {
            const [px, py] = [n % width, Math.floor(n / width)];
            if (px >= left && px < left + w && py >= top && py < top + h) return colour;
            return px < grid.width ? grid.pixels[py * grid.width + px]! : 0;
          });
          grid = { width, height: 10, pixels };
          grids.push(fails ? null : grid);
        }
        const all = grids.map((each, n) => ({ index: n + 1, tiled: each && tilesOf(each, known) }));
        // What must come out, by looking at every pixel of the tile.
        const expected: string[] = [];
        let before: [number, Grid] | null = null;
        for (const [n, each] of grids.entries()) {
          if (each === null) continue;
          const around = tilesAround(all[n]!.tiled!, at(x, y));
          if (before === null) expected.push(`${n + 1} first -`);
          else if (before[1].width !== each.width) expected.push(`${n + 1} resized ${before[0]}`);
          else if (crop(before[1], around) !== crop(each, around))
            expected.push(`${n + 1} changed ${before[0]}`);
          before = [n + 1, each];
        }
        expect(back(all, at(x, y))).toEqual(expected.reverse());
        expect(on(all, at(x, y))).toEqual(expected.slice(0, -1).reverse());
      }),
    );
  });

  test('looking within a place finds the tiles of the whole that touch it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(2), { minLength: 130, maxLength: 130 }),
        fc.array(fc.nat(2), { minLength: 130, maxLength: 130 }),
        fc.tuple(fc.nat(12), fc.nat(9), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 })),
        (one, two, [x, y, width, height]) => {
          const known = new Map<string, string>();
          const [a, b] = [one, two].map((pixels) => tilesOf({ width: 13, height: 10, pixels }, known)) as [
            Tiled,
            Tiled,
          ];
          const touches = (rect: Rect) =>
            rect.x < x + width && x < rect.x + rect.width && rect.y < y + height && y < rect.y + rect.height;
          expect(changedTiles(a, b, { x, y, width, height })).toEqual(changedTiles(a, b).filter(touches));
        },
      ),
    );
  });
});
