// Pictures compared: counts, boxes and masks, by tables and by properties.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BOXES, boxesOf, NEAR } from '../../../src/compare/boxes.js';
import { comparePixels, type Pixels } from '../../../src/compare/pixels.js';

type Spot = [x: number, y: number, width: number, height: number];
const BLACK = [0, 0, 0, 255] as const;

/** White, with black spots. */
function picture(
  width: number,
  height: number,
  spots: readonly Spot[] = [],
  colour: readonly number[] = BLACK,
): Pixels {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (const [left, top, wide, tall] of spots)
    for (let y = top; y < top + tall; y++)
      for (let x = left; x < left + wide; x++) data.set(colour, (y * width + x) * 4);
  return { width, height, data };
}

describe('count, ratio and boxes', () => {
  test.each<[string, Spot[], number, number[][]]>([
    ['nothing', [], 0, []],
    ['a square', [[10, 20, 5, 4]], 20, [[10, 20, 5, 4]]],
    ['the whole', [[0, 0, 100, 80]], 8000, [[0, 0, 100, 80]]],
    [
      'two apart, the larger one first',
      [
        [10, 10, 4, 4],
        [60, 50, 10, 10],
      ],
      116,
      [
        [60, 50, 10, 10],
        [10, 10, 4, 4],
      ],
    ],
    [
      'two with 8 pixels between them',
      [
        [10, 10, 4, 4],
        [22, 10, 4, 4],
      ],
      32,
      [[10, 10, 16, 4]],
    ],
    [
      'two with 9 pixels between them',
      [
        [10, 10, 4, 4],
        [23, 10, 4, 4],
      ],
      32,
      [
        [10, 10, 4, 4],
        [23, 10, 4, 4],
      ],
    ],
    [
      '8 away in both directions',
      [
        [10, 10, 4, 4],
        [22, 22, 4, 4],
      ],
      32,
      [[10, 10, 16, 16]],
    ],
    [
      'one inside the frame of another',
      [
        [10, 10, 60, 2],
        [10, 10, 2, 60],
        [40, 40, 3, 3],
      ],
      245,
      [[10, 10, 60, 60]],
    ],
    [
      'the first and the last column',
      [
        [0, 40, 2, 2],
        [98, 41, 2, 2],
      ],
      8,
      [
        [0, 40, 2, 2],
        [98, 41, 2, 2],
      ],
    ],
  ])('%s', (_, spots, count, boxes) => {
    const compared = comparePixels(picture(100, 80), picture(100, 80, spots));
    expect(compared).toMatchObject({ width: 100, height: 80, padded: false, count, ratio: count / 8000 });
    expect(compared.boxes.map(({ x, y, width, height }) => [x, y, width, height])).toEqual(boxes);
    expect(compared.boxes.reduce((sum, { pixels }) => sum + pixels, 0)).toBe(count);
  });

  test('more regions than there may be boxes: the last one holds the rest', () => {
    const spots = Array.from(
      { length: 30 },
      (_, n): Spot => [(n % 6) * 30, Math.floor(n / 6) * 30, n < 19 ? 3 : 2, 2],
    );
    const { boxes, count } = comparePixels(picture(200, 200), picture(200, 200, spots));
    expect(boxes).toHaveLength(BOXES);
    expect(boxes.at(-1)).toEqual({ x: 0, y: 90, width: 152, height: 32, pixels: 44 });
    expect(boxes.reduce((sum, { pixels }) => sum + pixels, 0)).toBe(count);
  });

  test('noise all over comes to an end', () => {
    const mask = new Uint8Array(2000 * 2000);
    for (let y = 0; y < 2000; y += 20) for (let x = 0; x < 2000; x += 20) mask[y * 2000 + x] = 1;
    const boxes = boxesOf(mask, 2000);
    expect(boxes.length).toBeLessThanOrEqual(BOXES);
    expect(boxes.reduce((sum, { pixels }) => sum + pixels, 0)).toBe(10_000);
  });
});

describe('what counts as a change', () => {
  test.each<[string, readonly number[], number | undefined, number]>([
    ['a shade that nobody sees', [252, 252, 252, 255], undefined, 0],
    ['the same, when every shade counts', [252, 252, 252, 255], 0, 100],
    ['a light grey', [200, 200, 200, 255], undefined, 100],
    ['the same, when only much counts', [200, 200, 200, 255], 0.5, 0],
    ['a hole', [255, 255, 255, 0], undefined, 100],
  ])('%s', (_, colour, threshold, least) => {
    const spots: Spot[] = [[10, 10, 10, 10]];
    const { count } = comparePixels(picture(40, 40), picture(40, 40, spots, colour), { threshold });
    if (least === 0) expect(count).toBe(0);
    // A hole lies on a ground of several colours, some of which look like the white before.
    else expect(count).toBeGreaterThan(least * 0.8);
  });

  test('anti-aliasing does not', () => {
    const edge = (share: number) => {
      const drawn = picture(40, 40, [[0, 0, 20, 40]]);
      for (let y = 0; y < 40; y++)
        drawn.data.fill(Math.round(255 * share), (y * 40 + 20) * 4, (y * 40 + 20) * 4 + 3);
      return drawn;
    };
    expect(comparePixels(edge(0.3), edge(0.7)).count).toBe(0);
  });
});

describe('sizes that differ', () => {
  test.each<[string, [number, number], [number, number], number, [number, number]]>([
    ['wider', [10, 10], [14, 10], 40, [14, 10]],
    ['lower', [10, 10], [10, 7], 30, [10, 10]],
    // The corner that neither has did not change.
    ['wider and lower', [10, 10], [14, 7], 30 + 28, [14, 10]],
    ['nothing to compare', [0, 0], [3, 2], 6, [3, 2]],
  ])('%s', (_, [aw, ah], [bw, bh], count, [width, height]) => {
    const compared = comparePixels(picture(aw, ah), picture(bw, bh));
    expect(compared).toMatchObject({ padded: true, count, width, height });
    expect(compared.mask).toHaveLength(width * height);
  });

  test('what lies in both is compared as it lies there', () => {
    const [a, b] = [
      picture(30, 30, [[2, 3, 4, 4]]),
      picture(50, 30, [
        [2, 3, 4, 4],
        [10, 10, 2, 2],
      ]),
    ];
    const { boxes, count } = comparePixels(a, b);
    expect(count).toBe(20 * 30 + 4);
    expect(boxes[1]).toEqual({ x: 10, y: 10, width: 2, height: 2, pixels: 4 });
  });
});

test('an array that does not fit and a threshold that is none are refused', () => {
  const good = picture(4, 4);
  expect(() => comparePixels(good, { ...good, data: new Uint8Array(7) })).toThrow(/64 bytes, not 7/);
  expect(() => comparePixels(good, good, { threshold: 1.5 })).toThrow(RangeError);
  expect(() => comparePixels(good, good, { threshold: Number.NaN })).toThrow(RangeError);
});

test('memory that does not lie on a boundary of four bytes, and clamped arrays as browsers have them', () => {
  const plain = picture(9, 7, [[2, 2, 3, 3]]);
  const shifted = { ...plain, data: new Uint8Array([0, ...plain.data]).subarray(1) };
  const clamped = { ...plain, data: new Uint8ClampedArray(plain.data) };
  expect(comparePixels(shifted, clamped).count).toBe(0);
  expect(comparePixels(picture(9, 7), shifted).count).toBe(9);
});

describe('properties', () => {
  const sizes = fc.record({
    width: fc.integer({ min: 1, max: 40 }),
    height: fc.integer({ min: 1, max: 40 }),
  });
  const pixels = sizes.chain(({ width, height }) =>
    fc
      .uint8Array({ minLength: width * height, maxLength: width * height })
      // Few colours, so that pictures have much in common.
      .map((values): Pixels => {
        const data = new Uint8Array(values.length * 4);
        values.forEach((value, index) => {
          data.set(
            [value & 3 ? 255 : 0, value & 4 ? 200 : 255, value & 8 ? 90 : 255, value === 255 ? 128 : 255],
            index * 4,
          );
        });
        return { width, height, data };
      }),
  );

  test('a picture does not differ from itself', () => {
    fc.assert(
      fc.property(pixels, (one) => {
        expect(comparePixels(one, { ...one, data: one.data.slice() }, { threshold: 0 })).toMatchObject({
          count: 0,
          ratio: 0,
          boxes: [],
        });
      }),
    );
  });

  test('the order does not matter', () => {
    fc.assert(
      fc.property(pixels, pixels, (a, b) => {
        const [there, back] = [comparePixels(a, b), comparePixels(b, a)];
        expect(back.count).toBe(there.count);
        expect(back.boxes).toEqual(there.boxes);
        expect(Buffer.compare(back.mask, there.mask)).toBe(0);
      }),
    );
  });

  test('the count is that of the mask, and the boxes hold just that', () => {
    fc.assert(
      fc.property(pixels, pixels, (a, b) => {
        const { count, mask, ratio, boxes, width, height } = comparePixels(a, b);
        expect(mask.reduce((sum, each) => sum + each, 0)).toBe(count);
        expect(ratio).toBeCloseTo(count / (width * height));
        expect(boxes.reduce((sum, box) => sum + box.pixels, 0)).toBe(count);
      }),
    );
  });

  test('every changed pixel is in a box, no box is larger than it must be, and boxes keep apart', () => {
    const masks = fc.record({
      width: fc.integer({ min: 1, max: 120 }),
      spots: fc.array(fc.tuple(fc.nat(119), fc.nat(119)), { maxLength: 40 }),
    });
    fc.assert(
      fc.property(masks, ({ width, spots }) => {
        const mask = new Uint8Array(width * 120);
        for (const [x, y] of spots) mask[y * width + (x % width)] = 1;
        const boxes = boxesOf(mask, width);
        const within = ({ x, y, width, height }: (typeof boxes)[number], px: number, py: number) =>
          px >= x && px < x + width && py >= y && py < y + height;
        const set = [...mask.keys()].filter((index) => mask[index]);
        for (const index of set)
          expect(boxes.some((box) => within(box, index % width, Math.floor(index / width)))).toBe(true);
        const last = boxes.length === BOXES ? boxes.slice(0, -1) : boxes;
        for (const box of last) {
          const inside = set.filter((index) => within(box, index % width, Math.floor(index / width)));
          expect(inside).toHaveLength(box.pixels);
          const xs = inside.map((index) => index % width);
          expect([Math.min(...xs), Math.max(...xs)]).toEqual([box.x, box.x + box.width - 1]);
        }
        for (const a of last)
          for (const b of last) {
            if (a === b) continue;
            const gap = Math.max(
              a.x - b.x - b.width,
              b.x - a.x - a.width,
              a.y - b.y - b.height,
              b.y - a.y - a.height,
            );
            expect(gap).toBeGreaterThan(NEAR);
          }
      }),
    );
  });
});
