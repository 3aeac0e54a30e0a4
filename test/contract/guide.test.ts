// A program never seen before gets its recipe by following guides/recipes.md word for word: what the guide shows is
// written to a folder and done as it stands there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { done, preview, previews, REPOSITORY } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const guide = readFileSync(join(REPOSITORY, 'guides/recipes.md'), 'utf8');

/** The indented block behind these words of the guide, without its indentation. */
function blockAfter(words: string): string {
  const at = guide.indexOf(words);
  expect(at, `the guide says ${JSON.stringify(words)}`).toBeGreaterThan(-1);
  const [, indent, rest] = /\n\n( {4,})(\S[\s\S]*?)(?=\n\n|$)/.exec(guide.slice(at))!;
  const lines = `${indent}${rest}`.split('\n');
  expect(lines.every((line) => line.startsWith(indent!))).toBe(true);
  return `${lines.map((line) => line.slice(indent!.length)).join('\n')}\n`;
}

const folder = join(temporary(), 'tower');
const config = blockAfter('Replace the output by `{out}/render.png`:');
beforeAll(() =>
  write(folder, {
    'tower.csv': blockAfter('In a folder with this `tower.csv`:'),
    'tower.gp': blockAfter('and this `tower.gp`:'),
    'preview.config.json': config,
  }),
);

test('its recipe has at most ten lines', () => {
  const recipe = /"plot": \{\n([\s\S]*?)\n {4}\}/.exec(config)![1]!;
  expect(recipe.split('\n').length).toBeLessThanOrEqual(10);
});

test('captures, reuses, shows a change, and records what goes wrong', async () => {
  const capture = () => preview(folder, ['capture', '--json']);
  const first = await done(capture());
  expect(first).toMatchObject({ status: 'ok', cached: false, warnings: [] });
  const summary = readJson(first['summary_path']);
  expect(summary).toMatchObject({ headline: 'plot: 1 file rendered', facts: { slope: 1.5 } });
  expect(readJson(first['manifest_path'])['generator'].backend).toMatch(/^gnuplot \d/);
  const shown = await previews(folder, ['inspect', 'step-0001']);
  expect(shown.stdout).toContain('plot: 1 file rendered\n  slope: 1.5\n');
  expect(shown.stdout).toMatch(/hero +\S+render\.png +640 × 480/);
  expect((await done(capture()))['cached']).toBe(true);
  write(folder, { 'tower.csv': '1,2\n2,4\n3,6\n' });
  const changed = await done(capture());
  expect(readJson(changed['summary_path'])['facts'].slope).toBeCloseTo(2, 5);
  write(folder, { 'tower.gp': 'plot "nowhere.csv"\n' });
  const broken = await done(capture(), 4);
  expect(broken['warnings'][0]).toMatch(/^renderer_failed: gnuplot ended with exit code 1/);
});
