// preview.config.json: what is refused, with the path in the file and what was expected.
import { describe, expect, test } from 'vitest';
import { checkConfig, checkRecipe, configJsonSchema } from '../../src/config.js';
import type { PreviewError } from '../../src/errors.js';

const whole = {
  $schema: './x.json',
  software: 'openscad',
  default_recipe: 'quick',
  recipes: {
    quick: {
      description: 'One isometric picture',
      uses: 'openscad',
      sources: ['rover.scad', 'parts/**/*.scad'],
      with: { source: 'rover.scad', width: 960, height: 720, fast: true },
      run: [['openscad', '-o', '{out}/render.png', '--imgsize={width},{height}', '{source}']],
      artifacts: [
        { path: 'render.png', role: 'hero', label: 'Isometric' },
        { path: 'views/*.png', role: 'gallery' },
      ],
      facts: [{ name: 'facets', from: 'stderr', match: 'Facets: +(\\d+)' }],
      timeout_s: 60,
    },
  },
};

function refusal(value: unknown): PreviewError {
  try {
    checkConfig(value, 'preview.config.json');
  } catch (error) {
    return error as PreviewError;
  }
  throw new Error(`accepted: ${JSON.stringify(value)}`);
}
const withRecipe = (recipe: unknown) => ({ recipes: { quick: recipe } });

test("the protocol's own example, the empty config and every single part are accepted", () => {
  expect(checkConfig(whole, 'x')).toEqual(whole);
  expect(checkConfig({}, 'x')).toEqual({});
  for (const key of Object.keys(whole) as (keyof typeof whole)[])
    expect(checkConfig({ [key]: whole[key] }, 'x')).toBeTruthy();
  expect(checkRecipe({ artifacts: [{ path: '{project}/out/*.png', role: 'gallery' }] }, 'x')).toBeTruthy();
  expect(checkConfig(withRecipe({ sources: ['a..b/x..svg', '..hidden'] }), 'x')).toBeTruthy();
});

describe('refused, naming the path in the file and what was expected', () => {
  test.each<[string, unknown, RegExp]>([
    ['an array', [], /it: expected object/],
    ['null', null, /it: expected object/],
    ['an unknown key', { softwear: 'x' }, /unknown key "softwear"/],
    ['two unknown keys', { a: 1, b: 2 }, /unknown keys "a", "b"/],
    ['an unknown key in a recipe', withRecipe({ runn: [] }), /recipes\.quick: unknown key "runn"/],
    [
      'an unknown key in a rule',
      withRecipe({ artifacts: [{ path: 'x', role: 'hero', lable: 'y' }] }),
      /recipes\.quick\.artifacts\.0: unknown key "lable"/,
    ],
    ['a number for software', { software: 7 }, /software: expected string/],
    ['a text for recipes', { recipes: 'x' }, /recipes: expected (object|record)/],
    ['a text for run', withRecipe({ run: 'openscad x' }), /recipes\.quick\.run: expected array/],
    ['a text for an argv', withRecipe({ run: ['openscad x'] }), /recipes\.quick\.run\.0: expected array/],
    [
      'a number in an argv',
      withRecipe({ run: [['openscad', 3]] }),
      /recipes\.quick\.run\.0\.1: expected string/,
    ],
    ['a text for timeout_s', withRecipe({ timeout_s: '60' }), /recipes\.quick\.timeout_s: expected number/],
    [
      'an unknown role',
      withRecipe({ artifacts: [{ path: 'x', role: 'heroes' }] }),
      /recipes\.quick\.artifacts\.0\.role: expected one of hero, /,
    ],
    [
      'a rule without a path',
      withRecipe({ artifacts: [{ role: 'hero' }] }),
      /recipes\.quick\.artifacts\.0\.path: expected string/,
    ],
    ['a list in with', withRecipe({ with: { x: [1] } }), /recipes\.quick\.with\.x: /],
    [
      'a source that leaves the project',
      withRecipe({ sources: ['ok', '../x'] }),
      /recipes\.quick\.sources\.1: expected a path inside the project, got "\.\.\/x"/,
    ],
    [
      'one that leaves it in the middle',
      withRecipe({ sources: ['a/../../x'] }),
      /recipes\.quick\.sources\.0: /,
    ],
    [
      'an absolute source',
      withRecipe({ sources: ['/etc/passwd'] }),
      /recipes\.quick\.sources\.0: expected a path inside the project/,
    ],
    [
      'an absolute artifact',
      withRecipe({ artifacts: [{ path: '/etc/passwd', role: 'hero' }] }),
      /recipes\.quick\.artifacts\.0\.path: expected a path inside the project, got "\/etc\/passwd"/,
    ],
    [
      'an artifact that leaves the project',
      withRecipe({ artifacts: [{ path: '{project}/../x', role: 'hero' }] }),
      /recipes\.quick\.artifacts\.0\.path: /,
    ],
    ['an exclude that leaves the project', withRecipe({ exclude: ['../x'] }), /recipes\.quick\.exclude\.0: /],
    [
      'a fact from a file that leaves {out}',
      withRecipe({ facts: [{ name: 'x', from: '../../secret', match: '.' }] }),
      /recipes\.quick\.facts\.0\.from: /,
    ],
    [
      'a bad regular expression',
      withRecipe({ facts: [{ name: 'x', from: 'stdout', match: '(' }] }),
      /recipes\.quick\.facts\.0\.match: expected a regular expression/,
    ],
  ])('%s', (_name, value, expected) => {
    const error = refusal(value);
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
    expect(error.message).toMatch(/^preview\.config\.json: /);
    expect(error.message).toMatch(expected);
  });

  test.each<[string, unknown, string]>([
    ['a number for software', { software: 7 }, 'got 7'],
    ['an array for the whole', [], 'got []'],
    ['a text for run', withRecipe({ run: 'openscad x' }), 'got "openscad x"'],
    ['an unknown role', withRecipe({ artifacts: [{ path: 'x', role: 'heroes' }] }), 'got "heroes"'],
  ])('says what came: %s', (_name, value, came) => expect(refusal(value).message).toContain(came));

  test.each<[string, unknown, RegExp]>([
    ['an empty argv', withRecipe({ run: [[]] }), /recipes\.quick\.run\.0: expected/],
    [
      'an empty path',
      withRecipe({ artifacts: [{ path: '', role: 'hero' }] }),
      /recipes\.quick\.artifacts\.0\.path: expected/,
    ],
    ['a timeout of 0', withRecipe({ timeout_s: 0 }), /recipes\.quick\.timeout_s: expected/],
    [
      'a limit of 1.5',
      withRecipe({ artifacts: [{ path: 'x', role: 'hero', limit: 1.5 }] }),
      /recipes\.quick\.artifacts\.0\.limit: expected/,
    ],
    ["a recipe's name with a slash", { recipes: { 'a/b': {} } }, /recipes\.a\/b: expected/],
  ])('says what was expected: %s', (_name, value, expected) =>
    expect(refusal(value).message).toMatch(expected),
  );
});

test('the JSON Schema is that of the same keys, with descriptions', () => {
  const schema = configJsonSchema() as { additionalProperties: boolean; properties: Record<string, any> };
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(schema.properties).sort()).toEqual(['$schema', 'default_recipe', 'recipes', 'software']);
  const recipe = schema.properties['recipes'].additionalProperties;
  expect(Object.keys(recipe.properties)).toEqual(
    expect.arrayContaining(['uses', 'sources', 'with', 'run', 'artifacts', 'facts', 'timeout_s']),
  );
  expect(recipe.properties.run.description).toMatch(/without a shell/);
});
