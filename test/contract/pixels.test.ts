// Changed pixels as `previews diff` counts them, against ImageMagick on fifty pairs made for it. ImageMagick's AE counts
// every pixel that differs at all; ours leaves out what differs by anti-aliasing alone.
import { join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { PNG } from 'pngjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession, publish } from '../../src/index.js';
import { DIST, done, previews, run } from '../helpers/cli.js';
import { type Canvas, type Colour, canvas, copyOf, fill, pngOf } from '../helpers/pictures.js';
import { temporary, write } from '../helpers/project.js';

type Pair = [name: string, before: Canvas, after: Canvas];

const WHITE: Colour = [255, 255, 255, 255];
const NAVY: Colour = [20, 30, 90, 255];
const ORANGE: Colour = [250, 130, 10, 255];
const CLEAR: Colour = [0, 0, 0, 0];

/** A picture with rectangles in it. */
function boxes(
  ground: Colour,
  ...all: [x: number, y: number, width: number, height: number, colour: Colour][]
): Canvas {
  const picture = canvas(220, 160, ground);
  for (const box of all) fill(picture, ...box);
  return picture;
}

/** Hard edges and plain colours: both must count the same. */
function hardPairs(): Pair[] {
  const pairs: Pair[] = [];
  const base = boxes(WHITE, [20, 20, 60, 40, NAVY]);
  for (const [width, height] of [
    [1, 1],
    [1, 30],
    [30, 1],
    [2, 2],
    [3, 3],
    [64, 64],
    [90, 7],
  ] as const) {
    const after = copyOf(base);
    fill(after, 110, 70, width, height, ORANGE);
    pairs.push([`${width} × ${height} added`, base, after]);
  }
  for (const [dx, dy] of [
    [1, 0],
    [0, 1],
    [5, 3],
    [100, 80],
  ] as const)
    pairs.push([`moved by ${dx}, ${dy}`, base, boxes(WHITE, [20 + dx, 20 + dy, 60, 40, NAVY])]);
  pairs.push(['recoloured', base, boxes(WHITE, [20, 20, 60, 40, ORANGE])]);
  pairs.push(['everything', base, boxes(ORANGE, [20, 20, 60, 40, WHITE])]);
  pairs.push(['nothing', base, copyOf(base)]);
  pairs.push(['removed', base, boxes(WHITE)]);
  pairs.push([
    'at every edge',
    base,
    boxes(WHITE, [20, 20, 60, 40, NAVY], [0, 0, 5, 160, NAVY], [215, 0, 5, 160, NAVY]),
  ]);
  pairs.push([
    'at every corner',
    base,
    boxes(WHITE, [20, 20, 60, 40, NAVY], [0, 0, 4, 4, NAVY], [216, 156, 4, 4, NAVY]),
  ]);
  const many = copyOf(base);
  for (let n = 0; n < 40; n++) fill(many, (n * 53) % 210, (n * 29) % 150, 4, 4, n % 2 ? ORANGE : NAVY);
  pairs.push(['forty squares', base, many]);
  // Transparent pictures.
  const clear = boxes(CLEAR, [20, 20, 60, 40, NAVY]);
  pairs.push([
    'transparent: one added',
    clear,
    boxes(CLEAR, [20, 20, 60, 40, NAVY], [110, 70, 30, 20, ORANGE]),
  ]);
  pairs.push(['transparent: moved', clear, boxes(CLEAR, [25, 30, 60, 40, NAVY])]);
  pairs.push(['transparent: removed', clear, boxes(CLEAR)]);
  pairs.push(['transparent: filled', clear, boxes(ORANGE, [20, 20, 60, 40, NAVY])]);
  pairs.push(['transparent: another colour', clear, boxes(CLEAR, [20, 20, 60, 40, ORANGE])]);
  pairs.push(['inverted', base, boxes(NAVY, [20, 20, 60, 40, WHITE])]);
  pairs.push(['transparent: nothing', clear, copyOf(clear)]);
  pairs.push(['transparent: a hole', boxes(NAVY), boxes(NAVY, [50, 50, 40, 40, CLEAR])]);
  return pairs;
}

/** Drawn with soft edges, navy on white. */
function drawn(body: string): Canvas {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="220" height="160"><rect width="220" height="160" fill="#fff"/><g fill="rgb(20,30,90)" stroke="none">${body}</g></svg>`;
  const font = {
    loadSystemFonts: false,
    fontFiles: [join(DIST, 'fonts/DejaVuSans.ttf')],
    defaultFontFamily: 'DejaVu Sans',
  };
  const { width, height, data } = PNG.sync.read(Buffer.from(new Resvg(svg, { font }).render().asPng()));
  return { width, height, data: Uint8Array.from(data) };
}

const circle = (x: number, y: number, r: number, more = '') =>
  `<circle cx="${x}" cy="${y}" r="${r}" ${more}/>`;
const star = (x: number, y: number, turn = 0) =>
  `<path transform="translate(${x} ${y}) rotate(${turn})" d="M0-50 12-16 48-16 19 6 30 40 0 20-30 40-19 6-48-16-12-16Z"/>`;
const line = (x: number, width = 9) =>
  `<path d="M${x} 150 L${x + 90} 12" stroke="rgb(20,30,90)" stroke-width="${width}"/>`;
const words = (text: string, x = 12, y = 90, size = 44) =>
  `<text x="${x}" y="${y}" font-size="${size}">${text}</text>`;

/** Soft edges: shapes and texts that moved, grew, turned or changed. */
function softPairs(): Pair[] {
  const pair = (name: string, before: string, after: string): Pair => [name, drawn(before), drawn(after)];
  return [
    pair('circle moved by 1', circle(90, 80, 50), circle(91, 80, 50)),
    pair('circle moved by half', circle(90, 80, 50), circle(90.5, 80, 50)),
    pair('circle moved by 20', circle(90, 80, 50), circle(110, 80, 50)),
    pair('circle moved away', circle(50, 50, 30), circle(170, 110, 30)),
    pair('circle grew', circle(100, 80, 40), circle(100, 80, 47)),
    pair('circle grew by half', circle(100, 80, 40), circle(100, 80, 40.5)),
    pair('circle gone', circle(100, 80, 40), ''),
    pair('small circle', circle(100, 80, 4), circle(106, 80, 4)),
    pair('star moved', star(100, 80), star(108, 84)),
    pair('star turned', star(100, 80), star(100, 80, 18)),
    pair('star turned a little', star(100, 80), star(100, 80, 2)),
    pair('star beside it', star(60, 80), star(60, 80) + star(160, 80)),
    pair('line moved', line(30), line(60)),
    pair('line thicker', line(40), line(40, 20)),
    pair('thin line moved', line(40, 1.5), line(70, 1.5)),
    pair('text changed', words('Preview'), words('Previous')),
    pair('text moved', words('Preview'), words('Preview', 22)),
    pair('text moved by half', words('Preview'), words('Preview', 12.5)),
    pair('text larger', words('Cape', 12, 90, 50), words('Cape', 12, 90, 60)),
    pair('small text changed', words('one two three', 12, 90, 14), words('one six three', 12, 90, 14)),
    pair('text gone', words('Preview'), ''),
    pair('text and shape', words('A', 20, 120, 100), words('A', 20, 120, 100) + circle(170, 60, 30)),
    pair('nothing', star(100, 80) + words('same', 12, 150, 20), star(100, 80) + words('same', 12, 150, 20)),
    pair('edges alone', star(100, 80), star(100, 80).replace('<path', '<path shape-rendering="crispEdges"')),
  ];
}

/** Pixels that differ at all and are neither ground nor ink in one of the two: those an edge passes through. */
function rimOf(before: Canvas, after: Canvas): number {
  const plain = ({ data }: Canvas, at: number) =>
    [WHITE, NAVY].some((colour) => colour.every((part, n) => data[at + n] === part));
  let count = 0;
  for (let at = 0; at < before.data.length; at += 4) {
    const differs = [0, 1, 2, 3].some((n) => before.data[at + n] !== after.data[at + n]);
    if (differs && !(plain(before, at) && plain(after, at))) count++;
  }
  return count;
}

/** ImageMagick's count of pixels that differ at all. */
async function absoluteError(folder: string, before: Canvas, after: Canvas): Promise<number> {
  write(folder, { 'a.png': pngOf(before), 'b.png': pngOf(after) });
  const { code, stderr } = await run(['compare', '-metric', 'AE', 'a.png', 'b.png', 'null:'], {
    cwd: folder,
  });
  // 1: they differ.
  expect([0, 1]).toContain(code);
  expect(stderr.trim()).toMatch(/^[\d.e+]+/);
  return Number.parseFloat(stderr);
}

const [hard, soft] = [hardPairs(), softPairs()];
let session: string;
/** Each pair is two steps. */
beforeAll(async () => {
  const opened = await openSession({ root: join(temporary(), '.preview'), env: {} });
  for (const [name, before, after] of [...hard, ...soft])
    for (const picture of [before, after])
      await publish(opened, {
        headline: name,
        artifacts: [{ content: pngOf(picture), role: 'hero', name: 'picture.png' }],
      });
  session = opened.dir;
}, 60_000);
const counted = async (pair: number): Promise<number> => {
  const [a, b] = [2 * pair + 1, 2 * pair + 2].map((n) => `${session}/step-${String(n).padStart(4, '0')}`);
  const result = await done(previews(session, ['diff', a!, b!, '--json']));
  expect(result['exact']).toBe('pixel');
  expect(result['changed_ratio']).toBeCloseTo(result['changed_pixels'] / (220 * 160), 5);
  return result['changed_pixels'];
};

test('there are fifty pairs', () => {
  expect(hard.length + soft.length).toBe(50);
});

describe('hard edges: the same count', () => {
  test.each(hard.map(([name, before, after], n) => [name, n, before, after] as const))(
    '%s',
    async (_, n, before, after) => {
      expect(await counted(n)).toBe(await absoluteError(temporary(), before, after));
    },
  );
});

describe('soft edges: less by no more than the pixels that an edge passes through', () => {
  test.each(soft.map(([name, before, after], n) => [name, n, before, after] as const))(
    '%s',
    async (_, n, before, after) => {
      const [ours, theirs] = [
        await counted(hard.length + n),
        await absoluteError(temporary(), before, after),
      ];
      const rim = rimOf(before, after);
      expect(ours).toBeLessThanOrEqual(theirs);
      expect(ours).toBeGreaterThanOrEqual(theirs - rim);
    },
  );
});

test('half transparent: no more than differ, and most of them', async () => {
  // It is laid on a pattern before its colours are compared, and a step of the pattern may look like an edge.
  const [before, after] = [
    boxes(CLEAR, [20, 20, 60, 40, NAVY]),
    boxes(CLEAR, [20, 20, 60, 40, [20, 30, 90, 128]]),
  ];
  const folder = temporary();
  const theirs = await absoluteError(folder, before, after);
  const opened = await openSession({ root: join(folder, '.preview'), env: {} });
  for (const name of ['a.png', 'b.png'])
    await publish(opened, { headline: name, artifacts: [{ file: join(folder, name), role: 'hero', name }] });
  const { changed_pixels } = await done(previews(folder, ['diff', '1', '2', '--json']));
  expect(theirs).toBe(60 * 40);
  expect(changed_pixels).toBeLessThanOrEqual(theirs);
  expect(changed_pixels).toBeGreaterThan(theirs * 0.8);
});
