// What a glance tells of pictures: real drawings by resvg, ordinary ones among them that must raise no alarm.
import { createHash } from 'node:crypto';
import { Resvg } from '@resvg/resvg-js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Glance, glanceAt } from '../../producer/render/glance.js';
import { glanceOf } from '../../producer/seen.js';

const draw = (body: string, width = 400, height = 300): Glance => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${body}</svg>`;
  const drawn = new Resvg(text).render();
  return glanceAt({ width: drawn.width, height: drawn.height, pixels: drawn.pixels });
};
const page = (body: string, colour = '#ffffff') =>
  draw(`<rect width="400" height="300" fill="${colour}"/>${body}`);
const lines = Array.from(
  { length: 20 },
  (_, n) => `<rect x="20" y="${20 + n * 12}" width="${200 + n * 5}" height="4"/>`,
);

describe('edges at which something is cut', () => {
  test.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['a circle in the middle', '<circle cx="200" cy="150" r="100"/>', []],
    [
      'one that ends a pixel before the border',
      '<rect x="1" y="1" width="398" height="298" fill="teal"/>',
      [],
    ],
    ['a circle over the left edge', '<circle cx="0" cy="150" r="50"/>', ['left']],
    ['one over the right edge', '<circle cx="390" cy="150" r="50"/>', ['right']],
    ['one over a corner', '<circle cx="0" cy="0" r="80"/>', ['top', 'left']],
    [
      'one over two edges apart',
      '<circle cx="0" cy="90" r="40"/><circle cx="200" cy="300" r="40"/>',
      ['bottom', 'left'],
    ],
    ['a thin line that leaves', '<path d="M200 150 L400 160" stroke="black" stroke-width="2"/>', ['right']],
    ['a band from edge to edge', '<rect x="0" y="100" width="400" height="80" fill="teal"/>', []],
    ['a header', '<rect width="400" height="40" fill="teal"/>', []],
    ['a header that a scroll bar ends', '<rect width="385" height="40" fill="teal"/>', []],
    [
      'the same over text that the bottom cuts',
      '<rect width="385" height="40" fill="teal"/><path d="M20 296h6M30 296h12M46 296h3M52 296h9M170 296h20" stroke="black" stroke-width="8"/>',
      [],
    ],
    ['a band that a scroll bar ends', '<rect y="90" width="385" height="40" fill="teal"/>', []],
    [
      'a line of text at the bottom',
      '<path d="M20 296h6M30 296h12M46 296h3M52 296h9M70 296h20" stroke="black" stroke-width="8"/>',
      [],
    ],
    ['a card at the bottom', '<rect x="20" y="250" width="100" height="90"/>', ['bottom']],
    [
      'two thin lines that leave',
      '<path d="M200 150V300M220 150V300" stroke="black" stroke-width="2"/>',
      ['bottom'],
    ],
    ['a side bar', '<rect width="90" height="300" fill="teal"/>', []],
    ['a rule from top to bottom', '<rect x="200" width="2" height="300" fill="#888"/>', []],
    ['a frame', '<rect x=".5" y=".5" width="399" height="299" fill="none" stroke="black"/>', []],
    ['a background with round corners', '<rect width="400" height="300" rx="40" fill="teal"/>', []],
    ['lines of text', lines.join(''), []],
    [
      'a picture that fills all',
      '<linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient><rect width="400" height="300" fill="url(#g)"/>',
      [],
    ],
  ])('%s: %s', (_, body, edges) => {
    expect(page(body).edges).toEqual(edges);
    // On a transparent ground it is the same.
    expect(draw(body).edges).toEqual(edges);
  });

  test('a faint shadow is nothing drawn', () => {
    expect(page('<rect y="100" width="50" height="50" fill="#f2f2f2"/>').edges).toEqual([]);
  });

  test('on a dark background too', () => {
    expect(page('<circle cx="0" cy="150" r="50" fill="orange"/>', '#101820').edges).toEqual(['left']);
    expect(page('<circle cx="200" cy="150" r="50" fill="orange"/>', '#101820').edges).toEqual([]);
  });
});

describe('one colour', () => {
  test.each<[string, string, [number, number]]>([
    ['an empty page', '', [1, 1]],
    ['noise that JPEG leaves', '<rect x="9" y="9" width="200" height="200" fill="#fbfdfc"/>', [1, 1]],
    ['a dot', '<rect x="50" y="50" width="7" height="7"/>', [0.9995, 0.9999]],
    ['a word', '<rect x="50" y="50" width="40" height="8"/>', [0.99, 0.9995]],
    ['half and half', '<rect width="200" height="300"/>', [0.5, 0.5]],
    ['lines of text', lines.join(''), [0.5, 0.95]],
  ])('%s', (_, body, [least, most]) => {
    const { share } = page(body).common;
    expect(share).toBeGreaterThanOrEqual(least);
    expect(share).toBeLessThanOrEqual(most);
  });

  test('the colour is named; all transparent is as blank as can be', () => {
    expect(page('', '#20a060').common).toEqual({ colour: '#20a060', share: 1 });
    expect(draw('').common).toEqual({ colour: '#ffffff', share: 1 });
  });

  test('white on transparent is not white on white', () => {
    expect(draw('<circle cx="200" cy="150" r="100" fill="white"/>').common.share).toBeLessThan(0.9);
  });
});

describe('brightness', () => {
  test.each([
    ['#000000', 0],
    ['#ffffff', 1],
    ['#808080', 0.502],
    ['#00ff00', 0.7152],
  ])('%s', (colour, mean) => {
    expect(page('', colour).mean).toBeCloseTo(mean, 3);
  });
});

describe('tiles', () => {
  const { tiles } = page('');
  test('are 64 pixels, row by row, 8 digits each', () => {
    expect(tiles).toMatchObject({ size: 64, columns: 7, rows: 5 });
    expect(tiles.hashes).toMatch(/^[0-9a-f]{280}$/);
  });

  test('one pixel changes one of them', () => {
    const other = page('<rect x="70" y="130" width="1" height="1"/>').tiles;
    const at = (hashes: string, index: number) => hashes.slice(index * 8, index * 8 + 8);
    const changed = Array.from({ length: 35 }, (_, index) => index).filter(
      (index) => at(tiles.hashes, index) !== at(other.hashes, index),
    );
    expect(changed).toEqual([2 * 7 + 1]);
  });

  test('take a few kilobytes of the largest hero', () => {
    const { tiles } = draw('<circle r="500"/>', 1280, 1280);
    expect(tiles.columns * tiles.rows).toBe(400);
    expect(JSON.stringify(tiles).length).toBeLessThan(3300);
  });
});

describe('a glance from elsewhere', () => {
  const good = page('');
  test('is taken as it is', () => {
    expect(glanceOf(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'glance'],
    ['no tiles', { ...good, tiles: undefined }],
    ['too few hashes', { ...good, tiles: { ...good.tiles, hashes: 'abcd' } }],
    [
      'hashes that are none',
      { ...good, tiles: { ...good.tiles, hashes: good.tiles.hashes.replace(/./, '<') } },
    ],
    ['a colour that is none', { ...good, common: { colour: 'red\u001b[2J', share: 1 } }],
    ['a mean that is no number', { ...good, mean: null }],
  ])('%s is refused', (_, value) => {
    expect(glanceOf(value)).toBeNull();
  });
  test('an edge that is none is left out', () => {
    expect(glanceOf({ ...good, edges: ['left', 'middle', 3] })?.edges).toEqual(['left']);
  });
});

describe('the same as by the plain definition', () => {
  /** Few colours, so that there are runs of them, in a picture that begins anywhere in its memory. */
  const made = fc
    .record({
      width: fc.integer({ min: 1, max: 150 }),
      height: fc.integer({ min: 1, max: 80 }),
      colours: fc.array(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)), { minLength: 1, maxLength: 5 }),
      picks: fc.array(fc.nat(4), { minLength: 1, maxLength: 300, size: 'max' }),
      from: fc.nat(7),
    })
    .map(({ width, height, colours, picks, from }) => {
      const pixels = new Uint8Array(width * height * 4 + from).subarray(from);
      for (let index = 0; index < width * height; index++)
        pixels.set([...colours[picks[index % picks.length]! % colours.length]!, 255], index * 4);
      return { width, height, pixels };
    });

  test('brightness and tiles', () => {
    fc.assert(
      fc.property(made, (picture) => {
        const { width, height, pixels } = picture;
        let luma = 0;
        const tiles = new Map<number, number[]>();
        for (let index = 0; index < width * height; index++) {
          const [red, green, blue] = pixels.subarray(index * 4) as unknown as [number, number, number];
          luma += 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          const [x, y] = [index % width, Math.floor(index / width)];
          const tile = Math.floor(y / 64) * Math.ceil(width / 64) + Math.floor(x / 64);
          const bytes = tiles.get(tile) ?? [];
          bytes.push(...pixels.subarray(index * 4, index * 4 + 4));
          tiles.set(tile, bytes);
        }
        const hashes = [...tiles.values()].map((bytes) =>
          createHash('sha256').update(Uint8Array.from(bytes)).digest('hex').slice(0, 8),
        );
        const glance = glanceAt(picture);
        expect(glance.mean).toBeCloseTo(luma / 255 / width / height, 5);
        expect(glance.tiles.hashes).toBe(hashes.join(''));
      }),
      { numRuns: 60 },
    );
  });
});
