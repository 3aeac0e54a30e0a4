// The page as a file: it does what it does with a server behind it, from a disk and without any.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll } from 'vitest';
import { previews } from '../helpers/children.js';
import { browserPages, pageTest } from '../helpers/page.js';
import { temporary } from '../helpers/project.js';
import { recordKinds } from '../helpers/recorded.js';
import { pageCases } from './cases.js';

const pages = browserPages();
let url = '';

beforeAll(async () => {
  const folder = temporary();
  const session = await recordKinds(join(folder, '.preview'));
  // H07: spaces and signs in the path are no obstacle.
  const file = join(folder, 'a page #1 100%.html');
  const { code, stderr } = await previews(folder, 'html', session, '-o', file);
  if (code !== 0) throw new Error(`previews html ended with ${code}: ${stderr}`);
  url = pathToFileURL(file).href;
}, 120_000);

pageCases({
  name: 'exported',
  test: pageTest(pages),
  open: (hash = '', view) => pages.open(url + hash, view),
});
