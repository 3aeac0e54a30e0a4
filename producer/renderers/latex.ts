// Typesets LaTeX documents and draws their pages, a program of its own.
//   latex.cjs --out DIR --tmp DIR [--first main.tex] -- files of the project
// Exit 0 with pictures, the PDF and preview.json in DIR; 1 where a document has an error or there is none.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { counted, named, numbered, portable } from '../render/names.js';
import { type Document, showPages } from '../render/pages.js';
import { failure, renderer } from '../render/programs.js';
import { writeReport } from '../render/report.js';
import { isDocument, type Remarks, typeset } from '../render/tex.js';

const MOST = 4;
/** Less is seen by nobody: a hundredth of an inch. */
const NOTICED_POINTS = 0.75;

renderer('latex', async () => {
  const text = { type: 'string' } as const;
  const options = { out: text, tmp: text, first: text };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const { out, tmp, first } = values;
  if (!out || !tmp) throw failure('expected --out DIR and --tmp DIR');
  const all = positionals.filter((path) => path.endsWith('.tex') && isDocument(path));
  const found = [...all.filter((path) => path === first), ...all.filter((path) => path !== first)];
  if (found.length === 0) throw failure('no .tex file here has a \\documentclass');
  const warnings: string[] = [];
  const labels: Record<string, string> = {};
  const documents: Document[] = [];
  const counts = { overfull: 0, undefined: 0 };
  let backend = '';
  for (const [index, path] of found.slice(0, MOST).entries()) {
    const { pdf, engine, remarks } = await typeset(path, join(tmp, `tex-${index}`));
    backend = engine;
    documents.push({ file: pdf, label: path });
    const copy = `pdf/${numbered(index)}-${portable(path)}.pdf`;
    mkdirSync(join(out, 'pdf'), { recursive: true });
    copyFileSync(pdf, join(out, copy));
    labels[copy] = `${path} as PDF`;
    const wide = remarks.overfull.filter(({ points }) => points >= NOTICED_POINTS);
    counts.overfull += wide.length;
    counts.undefined += remarks.references.length + remarks.citations.length;
    warnings.push(...inWords(path, { ...remarks, overfull: wide }));
  }
  if (found.length > MOST)
    warnings.push(
      `left_out: ${named(found.slice(MOST))} ${found.length === MOST + 1 ? 'is' : 'are'} not shown`,
    );
  const { opened, ...shown } = await showPages(documents, out);
  const pages = opened.reduce((sum, { pages }) => sum + pages, 0);
  const what = opened.length === 1 ? opened[0]!.label : counted(opened.length, 'document');
  const flaws = [
    ...(counts.undefined > 0 ? [`${counted(counts.undefined, 'reference')} undefined`] : []),
    ...(counts.overfull > 0 ? [`${counted(counts.overfull, 'line')} too wide`] : []),
  ];
  writeReport(out, {
    headline: [`${what}: ${counted(pages, 'page')}`, ...flaws].join(', '),
    facts: {
      ...shown.facts,
      overfull_boxes: counts.overfull,
      undefined_references: counts.undefined,
      engine: backend,
    },
    warnings: [...warnings, ...shown.warnings],
    labels: { ...labels, ...shown.labels },
    next_actions: counts.undefined > 0 ? ['define what is referred to, or mend the names'] : [],
  });
});

function inWords(path: string, { overfull, references, citations, others }: Remarks): string[] {
  return [
    ...(references.length > 0 ? [`undefined_reference: ${path}: ${named(references)}`] : []),
    ...(citations.length > 0 ? [`undefined_citation: ${path}: ${named(citations)}`] : []),
    ...overfull
      .slice(0, 4)
      .map(({ where, points }) => `overfull_box: ${path}: ${where}, ${points.toFixed(1)} pt too wide`),
    ...(overfull.length > 4 ? [`overfull_box: ${path}: ${overfull.length - 4} more`] : []),
    ...others.slice(0, 5).map((says) => `latex_warning: ${path}: ${says}`),
  ];
}
