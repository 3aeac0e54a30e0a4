// The renderer that draws a comparison, run by itself: pictures of any shape, and wrong usage.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DIST, run } from '../helpers/cli.js';
import { png, temporary, write } from '../helpers/project.js';

const compare = (cwd: string, ...args: string[]) =>
  run([process.execPath, join(DIST, 'renderers/compare.cjs'), ...args], { cwd });
const sizeOf = (file: string) => {
  const bytes = readFileSync(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] as const;
};

describe('the picture of a comparison fits a hero, whatever the shape', () => {
  test.each([
    [1, 1],
    [1, 4000],
    [4000, 1],
    [300, 7],
    [960, 1280],
    [1280, 960],
    [1500, 1500],
  ])('%i × %i', async (width, height) => {
    const cwd = temporary();
    write(cwd, { 'a.png': png(width, height, 10), 'b.png': png(width, height, 200) });
    const { code, stdout } = await compare(cwd, '--before', 'a.png', '--after', 'b.png', '--out', 'out');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ width, height, padded: false, count: width * height });
    for (const [name, most] of [
      ['render.png', 1280],
      ['changes.png', 1280],
      ['thumb.png', 320],
    ] as const) {
      const longest = Math.max(...sizeOf(join(cwd, 'out', name)));
      expect(longest, name).toBeLessThanOrEqual(most);
      if (name === 'render.png') expect(longest).toBeGreaterThan(400);
    }
  });
});

test.each([
  [[], 'expected --before PICTURE'],
  [['--before', 'a', '--after', 'b', '--out', 'o', '--threshold', '7'], 'must be a number from 0 to 1'],
])('wrong usage %j', async (args, message) => {
  const { code, stderr } = await compare(temporary(), ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
