// Which files of a folder the pages drawn by `web` may ask for.
import { realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileFor } from '../../producer/render/web/site.js';
import { temporary, write } from '../helpers/project.js';

const base = realpathSync(temporary());
write(base, {
  'site/index.html': 'i',
  'site/about.html': 'a',
  'site/.env': 'KEY=x',
  'site/.preview/session_001/session.json': '{}',
  'site/.well-known/security.txt': 's',
  'secret.txt': 'x',
});
symlinkSync(join(base, 'secret.txt'), join(base, 'site/link.txt'));
symlinkSync(join(base, 'site/.env'), join(base, 'site/plain.txt'));
const site = join(base, 'site');

test.each([
  ['/', 'index.html'],
  ['/about', 'about.html'],
  ['/.well-known/security.txt', '.well-known/security.txt'],
])('%s is shown', (path, file) => {
  expect(fileFor(site, path)).toBe(join(site, file));
});

test.each([
  '/.env',
  '/%2eenv',
  '/.preview/session_001/session.json',
  '/plain.txt',
  '/link.txt',
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..\\secret.txt',
  '/about%00.html',
  '/%',
])('I9 %s is not', (path) => {
  expect(fileFor(site, path)).toBeNull();
});
