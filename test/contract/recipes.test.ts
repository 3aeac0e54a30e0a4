// Every built-in recipe: valid, short, in the guide, and its programs named with their Debian packages.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRecipe } from '../../src/config.js';
import { REPOSITORY } from '../helpers/cli.js';

const folder = join(REPOSITORY, 'producer/recipes');
const guide = readFileSync(join(REPOSITORY, 'guides/recipes.md'), 'utf8');
const recipes = readdirSync(folder).map((name) => ({
  name: basename(name, '.json'),
  text: readFileSync(join(folder, name), 'utf8'),
}));

test('there are recipes', () => expect(recipes.length).toBeGreaterThan(10));

describe.each(recipes)('$name', ({ name, text }) => {
  test('is valid, at most thirty lines, and described in one', () => {
    const recipe = checkRecipe(JSON.parse(text), name);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
    expect(recipe.description).toMatch(/^\S.{10,110}$/);
  });

  test('has a row in the guide', () => {
    expect(guide).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\|`, 'm'));
  });

  test('names the Debian package of every program that it needs', () => {
    for (const { program, debian } of checkRecipe(JSON.parse(text), name).needs ?? [])
      expect(debian, program).toMatch(/^[a-z0-9][a-z0-9+.-]+$/);
  });
});
