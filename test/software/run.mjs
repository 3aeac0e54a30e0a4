// `npm run test:software`: the built-in recipes against their real programs. With `--install` the Debian packages of
// all recipes are installed first; without, a test whose program is missing says so and is skipped.
import { readdirSync, readFileSync } from 'node:fs';
import { install } from '../setup/install.mjs';
import { buildAndTest } from '../setup/vitest.mjs';

const read = (url) => JSON.parse(readFileSync(url, 'utf8'));
const recipes = new URL('../../producer/recipes/', import.meta.url);
const needs = readdirSync(recipes)
  .flatMap((name) => read(new URL(name, recipes)).needs ?? [])
  .filter(({ debian }) => debian);
const args = process.argv.slice(2);

if (args.includes('--install'))
  install([...needs, ...read(new URL('../setup/packages.json', import.meta.url))]);
const named = args.filter((arg) => arg !== '--install');
buildAndTest(named.some((arg) => !arg.startsWith('-')) ? named : ['test/software/', ...named]);
