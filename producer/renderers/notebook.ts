// Shows Jupyter notebooks, a program of its own: nbconvert makes HTML of them, Chromium pages, Poppler pictures.
//   notebook.cjs --out DIR --tmp DIR [--run=true] -- a.ipynb b.ipynb …
// As they are saved unless told to execute them. Exit 0 with pictures, the HTML and preview.json in DIR; 1 where nothing
// can be shown.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { type Cells, cellsOf } from '../render/cells.js';
import { forEachParallel } from '../render/child.js';
import { counted, named, numbered, portable } from '../render/names.js';
import { type Document, showPages } from '../render/pages.js';
import { failure, renderer, start } from '../render/programs.js';
import { writeReport } from '../render/report.js';
import { launch, openContext } from '../render/web/browser.js';

const MOST = 8;
const CELL_S = 120;

type Shown = { path: string; html: string; cells: Cells };

renderer('notebook', async () => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: text, tmp: text, run: text },
  });
  const { out, tmp } = values;
  if (!out || !tmp) throw failure('expected --out DIR and --tmp DIR');
  const execute = values.run === 'true';
  const paths = positionals.filter((path) => path.endsWith('.ipynb'));
  const notebooks = await forEachParallel(paths.slice(0, MOST), (path, index) =>
    convert(path, join(tmp, `notebook-${index}`), execute),
  );
  const browser = await launch();
  const documents: Document[] = [];
  const warnings: string[] = [];
  const labels: Record<string, string> = {};
  mkdirSync(join(out, 'html'), { recursive: true });
  const context = await openContext(browser);
  for (const [index, { path, html, cells }] of notebooks.entries()) {
    const page = await context.newPage();
    await page.goto(pathToFileURL(html).href, { waitUntil: 'load' });
    const pdf = join(tmp, `notebook-${index}.pdf`);
    await page.pdf({ path: pdf, printBackground: true, ...(await paperFor(page)) });
    if (cells.formulas && !(await page.evaluate<boolean>('Boolean(window.MathJax?.Hub)')))
      warnings.push(
        `left_out: ${path}: formulas stand as they are written; typesetting them needs the network`,
      );
    await page.close();
    documents.push({ file: pdf, label: path });
    const copy = `html/${numbered(index)}-${portable(path)}.html`;
    copyFileSync(html, join(out, copy));
    labels[copy] = `${path} as HTML`;
    warnings.push(...remarks(path, cells));
  }
  await browser.close();
  if (paths.length > MOST) warnings.push(`left_out: ${paths.length - MOST} more notebooks are not shown`);
  const { opened, ...shown } = await showPages(documents, out);
  const sum = (of: (cells: Cells) => number) => notebooks.reduce((total, { cells }) => total + of(cells), 0);
  const errors = sum((cells) => cells.errors.length);
  const what = opened.length === 1 ? opened[0]!.label : counted(opened.length, 'notebook');
  const flaws = errors > 0 ? `, ${counted(errors, 'error')}` : '';
  writeReport(out, {
    headline: `${what}: ${counted(
      sum(({ all }) => all),
      'cell',
    )}${flaws}, ${execute ? 'executed' : 'as saved'}`,
    facts: {
      cells: sum(({ all }) => all),
      code_cells: sum(({ code }) => code),
      executed_cells: sum(({ executed }) => executed),
      errors,
      outputs: execute ? 'executed for this picture' : 'as saved',
      ...shown.facts,
    },
    warnings: [...warnings, ...shown.warnings],
    labels: { ...labels, ...shown.labels },
    next_actions: errors > 0 ? ['mend the cells that end with an error'] : [],
    backend: `nbconvert, Chromium ${browser.version()}`,
  });
});

const A4 = { width: 794, height: 1123 };
const MARGIN = 45;

/** A4, or as much of it as a short notebook fills: the rest would be a white page. In pixels of CSS. */
async function paperFor(page: Page) {
  await page.setViewportSize({ width: A4.width, height: 200 });
  await page.emulateMedia({ media: 'print' });
  const tall = await page.evaluate<number>('document.body.scrollHeight');
  const height = Math.min(A4.height, tall + 2 * MARGIN + 8);
  return {
    width: `${A4.width}px`,
    height: `${height}px`,
    margin: { top: `${MARGIN}px`, bottom: `${MARGIN}px` },
  };
}

/** One notebook as HTML. An error in a cell is a part of it; that it could not be run at all is a `Failure`. */
async function convert(path: string, folder: string, execute: boolean): Promise<Shown> {
  mkdirSync(folder, { recursive: true });
  const nbconvert = async (...args: string[]) => {
    const { code, stderr } = await start([
      'jupyter-nbconvert',
      '--log-level=WARN',
      '--output-dir',
      folder,
      ...args,
    ]);
    const last = stderr.trim().split('\n').at(-1) ?? '';
    if (code !== 0) throw failure(`${path}: nbconvert ended with exit code ${code}: ${last}`);
  };
  let source = resolve(path);
  if (execute) {
    await nbconvert(
      '--to',
      'notebook',
      '--execute',
      '--allow-errors',
      `--ExecutePreprocessor.timeout=${CELL_S}`,
      source,
    );
    source = join(folder, basename(path));
  }
  await nbconvert('--to', 'html', '--HTMLExporter.embed_images=True', source);
  const html = join(folder, basename(path).replace(/\.ipynb$/, '.html'));
  return { path, html, cells: cellsOf(readFileSync(source, 'utf8'), path) };
}

function remarks(path: string, { code, executed, errors }: Cells): string[] {
  return [
    ...(errors.length > 0 ? [`cell_error: ${path}: ${named(errors)}`] : []),
    ...(executed < code
      ? [`not_executed: ${path}: ${code - executed} of ${counted(code, 'code cell')} have not been run`]
      : []),
  ];
}
