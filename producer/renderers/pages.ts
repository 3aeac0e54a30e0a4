// Draws the pages of PDFs, a program of its own.
//   pages.cjs --out DIR -- a.pdf b.pdf …
// Exit 0 with pictures and preview.json in DIR; 1 where nothing can be shown.
import { parseArgs } from 'node:util';
import { counted } from '../render/names.js';
import { showPages } from '../render/pages.js';
import { failure, renderer } from '../render/programs.js';
import { writeReport } from '../render/report.js';

renderer('pages', async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } });
  if (!values.out) throw failure('expected --out DIR');
  const { opened, ...shown } = await showPages(
    positionals.map((path) => ({ file: path, label: path })),
    values.out,
  );
  const pages = opened.reduce((sum, document) => sum + document.pages, 0);
  const what = opened.length === 1 ? opened[0]!.label : counted(opened.length, 'PDF');
  writeReport(values.out, {
    headline: `${what}: ${counted(pages, 'page')}, ${shown.facts['page_size']}`,
    next_actions: [],
    ...shown,
  });
});
