// The warnings that a capture gives about its picture, from real SVG files drawn by the built program.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { documentOf, done, preview } from '../helpers/cli.js';
import { png, temporary, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const svg = (body: string, root = 'width="640" height="480"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${root}>${body}</svg>\n`;
const PLAN = svg(
  '<rect width="640" height="480" fill="#eef"/><circle cx="320" cy="240" r="90" fill="teal"/>',
);

let project: string;
beforeEach(() => {
  project = join(temporary(), 'project');
  write(project, { 'plan.svg': PLAN });
});
const capture = (...args: string[]) => done(preview(project, ['capture', '--json', ...args]));
async function drawn(body: string) {
  write(project, { 'plan.svg': body });
  return capture();
}
const codes = ({ warnings }: Record<string, any>) =>
  warnings.map((warning: string) => warning.slice(0, warning.indexOf(':')));

describe('a picture by itself', () => {
  test('an ordinary drawing with a background that fills it: no word', async () => {
    const result = await capture();
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    const { metrics } = readJson(result['manifest_path']);
    expect(metrics['picture']).toMatchObject({ width: 640, height: 480, edges: [] });
    expect(metrics['picture'].common.colour).toBe('#eeeeff');
    expect(metrics['tiles']).toMatchObject({ size: 64, columns: 10, rows: 8 });
    expect(metrics['tiles'].hashes).toMatch(/^[0-9a-f]{640}$/);
  });

  test('a blank one is ok and says so', async () => {
    const result = await drawn(svg('<rect width="640" height="480" fill="#336699"/>'));
    expect(result['status']).toBe('ok');
    expect(result['warnings']).toEqual(['picture_blank: all of the picture is one colour, #336699']);
  });

  test('nearly blank', async () => {
    const result = await drawn(
      svg('<rect width="640" height="480" fill="white"/><rect width="3" height="3" x="90" y="90"/>'),
    );
    expect(result['warnings']).toEqual(['picture_blank: 99.99% of the picture is one colour, #ffffff']);
  });

  test('a short heading on a large page is not nearly blank; one letter is', async () => {
    const page = (text: string, px: number) =>
      drawn(
        `<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="800"><text x="9" y="40" font-size="${px}" font-family="DejaVu Sans">${text}</text></svg>\n`,
      );
    for (const [text, px] of [
      ['Hi', 20],
      ['Hello', 12],
    ] as const)
      expect(codes(await page(text, px)), text).not.toContain('picture_blank');
    expect(codes(await page('i', 20))).toContain('picture_blank');
  });

  test('an SVG that draws nothing', async () => {
    expect(codes(await drawn(svg('<g/>')))).toEqual(['nothing_drawn', 'picture_blank']);
  });

  test('a drawing over the border names the edges', async () => {
    const result = await drawn(svg('<circle cx="630" cy="240" r="90"/><circle cx="320" cy="470" r="40"/>'));
    expect(result).toMatchObject({
      status: 'ok',
      warnings: [
        'picture_touches_border: what is drawn reaches the right and bottom edges and may be cut off there',
      ],
    });
  });

  test('several drawings on a sheet: no word', async () => {
    write(project, { 'a.svg': svg('<circle cx="630" cy="240" r="90"/>') });
    expect((await capture())['warnings']).toEqual([]);
  });
});

describe('against the picture before', () => {
  test('sources that change nothing to see', async () => {
    await capture();
    const result = await drawn(PLAN.replace('<circle', '<!-- round --><circle'));
    expect(result).toMatchObject({ status: 'ok', cached: false });
    expect(result['warnings']).toEqual([
      'picture_unchanged: the sources changed since bundle_001, the picture is the same, pixel by pixel',
    ]);
  });

  test('not where the sources are as they were', async () => {
    await capture();
    expect((await capture('--force'))['warnings']).toEqual([]);
  });

  test('one pixel is a change', async () => {
    await capture();
    const result = await drawn(PLAN.replace('</svg>', '<rect x="600" y="400" width="1" height="1"/></svg>'));
    expect(result['warnings']).toEqual([]);
  });

  test('darker and brighter', async () => {
    const filled = (colour: string) =>
      svg(`<rect width="640" height="480" fill="${colour}"/><circle cx="320" cy="240" r="90" fill="red"/>`);
    expect((await drawn(filled('#ddd')))['warnings']).toEqual([]);
    expect((await drawn(filled('#aaa')))['warnings']).toEqual([]);
    expect((await drawn(filled('#222')))['warnings']).toEqual([
      'picture_darker: the picture is far darker than in bundle_002: 63% of white then, 14% now',
    ]);
    expect(codes(await drawn(filled('white')))).toEqual(['picture_brighter']);
  });

  test('a failed step in between is passed over', async () => {
    await capture();
    write(project, { 'plan.svg': '<svg' });
    documentOf(await preview(project, ['capture', '--json']));
    const result = await drawn(`${PLAN}<!-- again -->\n`);
    expect(result['warnings']).toEqual([expect.stringMatching(/^picture_unchanged: .* since bundle_001,/)]);
  });

  test('a picture of another recipe is none to compare with', async () => {
    await capture();
    write(project, { 'shot.png': png(640, 480, 9), 'shot.txt': 'dark' });
    const result = await capture('--recipe', 'files');
    expect(result['render']).toMatch(/\.png$/);
    expect(result['warnings']).toEqual([]);
  });
});

describe('pictures that a program made', () => {
  const shot = {
    default_recipe: 'shot',
    recipes: {
      shot: {
        sources: ['shot.*'],
        run: [['sh', '-c', 'cp shot.* "$PREVIEW_OUT"; cp shot.* "$PREVIEW_OUT/thumb.png"']],
        artifacts: [
          { path: 'shot.*', role: 'hero' },
          { path: 'thumb.png', role: 'thumb' },
        ],
      },
    },
  };
  const taken = async (name: string, content: string | Buffer) => {
    rmSync(join(project, 'plan.svg'));
    write(project, { [name]: content, 'preview.config.json': JSON.stringify(shot) });
    return capture();
  };

  test('one with a thumbnail of its own is looked at too', async () => {
    const result = await taken('shot.png', png(640, 480, 40));
    expect(result['warnings']).toEqual([]);
    expect(readJson(result['manifest_path'])['metrics']['tiles']).toMatchObject({ columns: 10, rows: 8 });
  });

  test('one over 1280 px: what is told is of the picture shown', async () => {
    const result = await taken('shot.png', png(2560, 1280, 40));
    expect(readJson(result['manifest_path'])['metrics']['picture']).toMatchObject({
      width: 1280,
      height: 640,
    });
    expect(result['warnings']).toEqual([]);
  });

  test('one that cannot be decoded: said once, and ok', async () => {
    const result = await taken('shot.png', png(640, 480).subarray(0, 60));
    expect(result['status']).toBe('ok');
    expect(result['warnings']).toEqual(['picture_unread: the picture could not be looked at: it is damaged']);
    expect(readJson(result['manifest_path'])['metrics']).toBeUndefined();
  });

  test('a glance that a recipe leaves for another picture is not believed', async () => {
    rmSync(join(project, 'plan.svg'));
    const run = [
      [
        'sh',
        '-c',
        `cp shot.png "$PREVIEW_OUT"; cp shot.png "$PREVIEW_OUT/thumb.png"; echo '{"sha256":"sha256:0","glance":{}}' > "$PREVIEW_OUT/glance.json"`,
      ],
    ];
    const recipes = {
      shot: {
        ...shot.recipes.shot,
        artifacts: [
          { path: 'shot.png', role: 'hero' },
          { path: 'thumb.png', role: 'thumb' },
        ],
        run,
      },
    };
    write(project, { 'shot.png': png(64, 64), 'preview.config.json': JSON.stringify({ ...shot, recipes }) });
    const result = await capture();
    expect(readJson(result['manifest_path'])['metrics']['picture']).toMatchObject({ width: 64, height: 64 });
  });
});
