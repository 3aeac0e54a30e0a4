// What a project without a config is taken for, by its files: what `preview init` writes down.
import { expect, test } from 'vitest';
import { done, preview } from '../helpers/cli.js';
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
