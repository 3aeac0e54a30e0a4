// Every built-in recipe of documents, films and pages where its program is missing: recorded, exit 4, the package named.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith } from './program.js';

test.each([
  ['graphviz', 'a.dot', 'dot and gc', 'graphviz'],
  ['inkscape', 'a.svg', 'inkscape', 'inkscape'],
  ['pdf', 'a.pdf', 'pdftoppm and pdfinfo', 'poppler-utils'],
  ['latex', 'a.tex', 'pdflatex and pdftoppm', 'texlive-latex-base poppler-utils'],
  ['office', 'a.odt', 'soffice and pdftoppm', 'libreoffice poppler-utils'],
  ['video', 'a.mp4', 'ffmpeg and ffprobe', 'ffmpeg'],
  ['audio', 'a.wav', 'ffmpeg and ffprobe', 'ffmpeg'],
  ['mlt', 'a.mlt', 'melt', 'melt'],
  [
    'notebook',
    'a.ipynb',
    'jupyter-nbconvert, chromium and pdftoppm',
    'jupyter-nbconvert chromium poppler-utils',
  ],
  ['web', 'index.html', 'chromium', 'chromium'],
  ['web-url', 'index.html', 'chromium', 'chromium'],
])('%s without its program', async (recipe, source, programs, debian) => {
  const folder = temporary();
  write(folder, { [`project/${source}`]: 'x' });
  const PATH = join(folder, 'empty');
  mkdirSync(PATH);
  const { result } = await captureWith(join(folder, 'project'), recipe, {
    env: { PATH, TMPDIR: '/tmp' },
    code: 4,
  });
  expect(result).toMatchObject({ status: 'error', render: null });
  expect(result['warnings']).toEqual([
    programs.includes(' and ')
      ? `renderer_missing: ${programs} are not there; Debian has them in the package${debian.includes(' ') ? 's' : ''} ${debian}`
      : `renderer_missing: ${programs} is not there; Debian has it in the package ${debian}`,
  ]);
});
