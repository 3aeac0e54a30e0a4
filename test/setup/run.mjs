// `npm test`: installs what the tests need from Debian where it is missing and may be installed, builds, runs all
// tests but the benchmark, and ends with the line `N passed, N failed`.
import { readFileSync } from 'node:fs';
import { install } from './install.mjs';
import { buildAndTest } from './vitest.mjs';

install(JSON.parse(readFileSync(new URL('packages.json', import.meta.url), 'utf8')));
buildAndTest(process.argv.slice(2));
