// Every built-in recipe of documents, films and pages where its program is missing: recorded, exit 4, the package named.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith } from './program.js';

test.each([
  ['graphviz', 'a.dot', 'dot', 'graphviz'],
  ['inkscape', 'a.svg', 'inkscape', 'inkscape'],
  ['pdf', 'a.pdf', 'pdftoppm', 'poppler-utils'],
  ['latex', 'a.tex', 'pdflatex', 'texlive-latex-base'],
  ['office', 'a.odt', 'soffice', 'libreoffice'],
  ['video', 'a.mp4', 'ffmpeg', 'ffmpeg'],
  ['audio', 'a.wav', 'ffmpeg', 'ffmpeg'],
  ['mlt', 'a.mlt', 'melt', 'melt'],
  ['notebook', 'a.ipynb', 'jupyter-nbconvert', 'jupyter-nbconvert'],
  ['web', 'index.html', 'chromium', 'chromium'],
  ['web-url', 'index.html', 'chromium', 'chromium'],
])('%s without its program', async (recipe, source, program, debian) => {
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
    `renderer_missing: ${program} is not there; Debian has it in the package ${debian}`,
  ]);
});
