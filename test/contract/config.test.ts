// A broken preview.config.json: exit 2 before anything is recorded, naming the file, the path in it and what was expected.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { done, errorOf, preview, shell } from '../helpers/cli.js';
import { config, makeProject, RECIPES, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const withRecipe = (change: object) => JSON.stringify({ recipes: { quick: { ...RECIPES.copy, ...change } } });

describe.concurrent('broken', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['an unknown key', '{"softwear":"x"}', /unknown key "softwear"/],
    ['an unknown key in a recipe', withRecipe({ runn: [] }), /recipes\.quick: unknown key "runn"/],
    ['a wrong type', withRecipe({ timeout_s: '60' }), /recipes\.quick\.timeout_s: expected number/],
    ['a text for run', withRecipe({ run: 'cp a b' }), /recipes\.quick\.run: expected array/],
    [
      'a source outside',
      withRecipe({ sources: ['../x'] }),
      /recipes\.quick\.sources\.0: expected a path inside the project, got "\.\.\/x"/,
    ],
    [
      'an absolute artifact',
      withRecipe({ artifacts: [{ path: '/etc/passwd', role: 'hero' }] }),
      /recipes\.quick\.artifacts\.0\.path: expected a path inside the project/,
    ],
    [
      'an unknown role',
      withRecipe({ artifacts: [{ path: 'x', role: 'heroes' }] }),
      /recipes\.quick\.artifacts\.0\.role: expected one of hero/,
    ],
    [
      'a bad regular expression',
      withRecipe({ facts: [{ name: 'x', from: 'stdout', match: '(' }] }),
      /recipes\.quick\.facts\.0\.match: expected a regular expression/,
    ],
    ['an array', '[]', /expected object/],
    ['no JSON', '{"software": openscad}', /not JSON/],
    ['JSON with a comment', '{ // hi\n}', /not JSON/],
    ['an empty file', '', /not JSON/],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /not JSON/],
  ])('%s', async (_name, content, expected) => {
    const project = makeProject();
    write(project, { 'preview.config.json': content });
    for (const args of [['capture'], ['recipes'], ['live', 'start']]) {
      const outcome = await preview(project, [...args, '--json']);
      const error = errorOf(outcome);
      expect([outcome.code, outcome.stdout, error.code]).toEqual([2, '', 'config_invalid']);
      expect(error.message).toContain(join(project, 'preview.config.json'));
      expect(error.message).toMatch(expected);
      expect(error.hint).not.toBe('');
    }
    expect(existsSync(join(project, '.preview'))).toBe(false);
  });

  test('a folder called preview.config.json is told, not thrown about', async () => {
    const project = makeProject();
    const other = join(project, 'sub');
    write(other, { 'preview.config.json/x': '' });
    const outcome = await preview(other, ['capture', '--json']);
    expect([1, 2]).toContain(outcome.code);
    expect(errorOf(outcome).message).toContain(join(other, 'preview.config.json'));
  });
});

describe('accepted', () => {
  test('a byte order mark, and a $schema', async () => {
    const project = makeProject();
    write(project, {
      'preview.config.json': `\ufeff${JSON.stringify({ $schema: './x.json', ...config() })}\r\n`,
    });
    expect(await done(preview(project, ['capture', '--json']))).toMatchObject({ status: 'ok' });
  });

  test('a recipe that uses a built-in one, or is named as one', async () => {
    const project = makeProject();
    write(project, {
      'a.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
      'preview.config.json': JSON.stringify({ recipes: { svg: { uses: 'svg', sources: ['a.svg'] } } }),
    });
    expect(
      (await done(preview(project, ['recipes', '--json'])))['recipes'].filter(
        (recipe: any) => recipe.name === 'svg',
      ),
    ).toHaveLength(1);
    expect(await done(preview(project, ['capture', '--json']))).toMatchObject({
      artifact_count: expect.any(Number),
    });
  });

  test('a default that is no recipe, and a recipe that uses none, are told', async () => {
    for (const content of [
      { default_recipe: 'gone', recipes: { quick: RECIPES.copy } },
      { recipes: { quick: { uses: 'gone' } } },
      { recipes: { quick: { uses: 'quick' } } },
    ]) {
      const project = makeProject();
      write(project, { 'preview.config.json': JSON.stringify(content) });
      const outcome = await preview(project, ['capture', '--json']);
      expect([outcome.code, errorOf(outcome).code, outcome.stdout]).toEqual([2, 'recipe_unknown', '']);
    }
  });
});

test('a pipe or a device in its place is told, not read', async () => {
  for (const make of ['mkfifo preview.config.json', 'ln -s /dev/zero preview.config.json']) {
    const project = makeProject();
    await shell(`rm preview.config.json; ${make}`, { cwd: project });
    const outcome = await preview(project, ['capture', '--json']);
    expect([outcome.code, errorOf(outcome)]).toEqual([
      2,
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining('it is no regular file'),
      }),
    ]);
    expect(existsSync(join(project, '.preview'))).toBe(false);
  }
});

test('recipes that use each other are told so', async () => {
  const project = makeProject(undefined, { a: { uses: 'b' }, b: { uses: 'a' } });
  expect(errorOf(await preview(project, ['capture', '--json'])).message).toBe(
    'the recipe "a" uses itself: a uses b uses a',
  );
});

test('facts, with, several commands and placeholders', async () => {
  const project = makeProject(undefined, {
    quick: {
      sources: ['a.png'],
      with: { name: 'render', size: 7, fast: true },
      run: [
        ['sh', '-c', 'echo "size {size} {fast} {unknown} $0" && echo "Facets:   412" >&2', '{sources}'],
        ['cp', '{project}/a.png', '{out}/{name}.png'],
        ['cp', '{out}/{name}.png', '{out}/thumb.png'],
      ],
      facts: [
        { name: 'facets', from: 'stderr', match: 'Facets: +(\\d+)' },
        { name: 'said', from: 'stdout', match: '^size .*$' },
        { name: 'absent', from: 'stdout', match: 'nothing' },
      ],
      artifacts: [
        { path: 'render.png', role: 'hero' },
        { path: 'thumb.png', role: 'thumb' },
      ],
    },
  });
  const result = await done(preview(project, ['capture', '--json']));
  const summary = readJson(result['summary_path']);
  const manifest = readJson(result['manifest_path']);
  expect(summary['facts']).toEqual({ facets: 412, said: 'size 7 true {unknown} a.png' });
  expect(manifest['generator'].command).toHaveLength(3);
});
