// What a project without a config is taken for, by its files: what `preview init` writes down.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { done, errorOf, preview } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';

test.each([
  ['openscad', ['part.scad', 'part.stl']],
  ['mlt', ['film.mlt', 'shot.mp4', 'index.html']],
  ['latex', ['paper/main.tex', 'paper/main.pdf', 'paper/plot.svg']],
  ['notebook', ['study.ipynb', 'index.html']],
  ['graphviz', ['deps.gv', 'deps.svg']],
  ['web', ['site/index.html', 'site/logo.svg', 'site/photo.png']],
  ['svg', ['logo.svg', 'letter.odt']],
  ['office', ['letter.odt', 'letter.pdf', 'logo.png']],
  ['video', ['film.mp4', 'sound.wav']],
  ['audio', ['sound.wav', 'notes.pdf']],
  ['pdf', ['notes.pdf', 'notes.txt']],
  // Beside pictures these are what a command produced, and `files` shows all of it.
  ['files', ['plot.png', 'film.mp4', 'sound.wav', 'notes.pdf']],
  ['files', ['page.html', 'notes.txt']],
])('%s: %j', async (recipe, files) => {
  const project = temporary();
  write(project, Object.fromEntries(files.map((name) => [name, 'x'])));
  expect(await done(preview(project, ['init', '--json']))).toMatchObject({ uses: recipe });
});

test('I10 a folder of more than 50,000 files that nothing marks as a project is refused, until something does', async () => {
  const home = temporary();
  writeFileSync(join(home, 'notes.txt'), 'x');
  for (let folder = 0; folder < 501; folder++) {
    const dir = join(home, `Documents/${folder}`);
    mkdirSync(dir, { recursive: true });
    for (let file = 0; file < 100; file++) writeFileSync(join(dir, `${file}`), '');
  }
  const refused = await preview(home, ['capture', '--json']);
  expect([refused.code, existsSync(join(home, '.preview'))]).toEqual([2, false]);
  expect(errorOf(refused)).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/holds more than 50000 files and nothing says that it is a project/),
    hint: expect.stringMatching(/preview init/),
  });
  // A command is run all the same, and its record says why there is no picture.
  const run = await preview(home, ['run', '--', 'sh', '-c', 'echo hi; exit 3']);
  expect([run.code, run.stdout, run.stderr]).toEqual([
    3,
    'hi\n',
    expect.stringMatching(/warning: usage: .*50000/),
  ]);
  await done(preview(home, ['init', '--json']));
  expect((await preview(home, ['capture', '--json'])).code).toBe(0);
});
