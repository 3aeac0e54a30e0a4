// The recipes `pdf` and `latex` on documents that TeX Live ships, and on some with flaws.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

const SAMPLE = '/usr/share/texlive/texmf-dist/tex/latex/base/small2e.tex';

/** A PDF of pages with one line each, as small as they come; an empty line leaves its page blank. */
function pdf(lines: string[], size = '595 842'): string {
  const objects = ['<</Type/Catalog/Pages 2 0 R>>', '', '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'];
  const kids: string[] = [];
  for (const line of lines) {
    const content = line ? `BT /F 60 Tf 60 400 Td (${line}) Tj ET` : '';
    objects.push(`<</Length ${content.length}>>stream\n${content}\nendstream`);
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${size}]/Contents ${objects.length} 0 R/Resources<</Font<</F 3 0 R>>>>>>`,
    );
    kids.push(`${objects.length} 0 R`);
  }
  objects[1] = `<</Type/Pages/Count ${kids.length}/Kids[${kids.join(' ')}]>>`;
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, n) => {
    const at = text.length;
    text += `${n + 1} 0 obj${object}\nendobj\n`;
    return at;
  });
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}

const projectOf = (files: Record<string, string | Uint8Array>) => {
  const project = join(temporary(), 'project');
  write(project, files);
  return project;
};

withPrograms('pdf', { 'poppler-utils': 'pdftoppm' }, () => {
  test('one page is the picture; its size and words are facts, its text is kept', async () => {
    const { result, facts, of, file, summary } = await captureWith(
      projectOf({ 'note.pdf': pdf(['Hello']) }),
      'pdf',
    );
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(summary['headline']).toBe('note.pdf: 1 page, 210 × 297 mm (A4)');
    expect(facts).toEqual({ pages: 1, page_size: '210 × 297 mm (A4)', words: 1 });
    const { width, height, inked, reach } = look(file(of('hero')[0]!));
    expect([width, height]).toEqual([905, 1280]);
    expect(inked).toBeGreaterThan(0.002);
    expect(reach.x).toBeGreaterThan(0.15);
    expect(readFileSync(file(of('render-output')[0]!), 'utf8')).toContain('Hello');
    expect(of('gallery')).toEqual([]);
  });

  test('of several pages eight are shown side by side, and what is left out or blank is said', async () => {
    const lines = Array.from({ length: 12 }, (_, n) => (n === 2 ? '' : `Page ${n + 1}`));
    const { result, facts, of, file } = await captureWith(projectOf({ 'book.pdf': pdf(lines) }), 'pdf');
    expect(facts).toMatchObject({ pages: 12 });
    expect(result['warnings']).toEqual([
      'left_out: book.pdf has 12 pages; the first 8 are shown',
      'blank_page: nothing is on book.pdf, page 3 of 12',
    ]);
    expect(of('gallery').map(({ label }) => label)).toEqual(
      Array.from({ length: 8 }, (_, n) => `book.pdf, page ${n + 1} of 12`),
    );
    const sheet = look(file(of('hero')[0]!));
    expect(Math.max(sheet.width, sheet.height)).toBeLessThanOrEqual(1280);
    expect(sheet.width).toBeGreaterThan(1200);
    expect(sheet.reach.x).toBeGreaterThan(0.75);
  });

  test('several files share the eight pages; one that is damaged is named', async () => {
    const project = projectOf({
      'a.pdf': pdf(['A1', 'A2']),
      'b.pdf': pdf(['B1'], '842 595'),
      'c.pdf': '%PDF-1.4\nnothing of the kind',
    });
    const { result, facts, of } = await captureWith(project, 'pdf');
    expect(facts).toMatchObject({ files: 2, pages: 3, page_size: '210 × 297 mm (A4), 297 × 210 mm (A4)' });
    expect(result['warnings']).toEqual([expect.stringMatching(/^unreadable: c\.pdf: Syntax Error/)]);
    expect(of('gallery').map(({ label }) => label)).toEqual([
      'a.pdf, page 1 of 2',
      'a.pdf, page 2 of 2',
      'b.pdf',
    ]);
  });

  test('a file that is no PDF is an error with the words of Poppler', async () => {
    const { result } = await captureWith(projectOf({ 'a.pdf': 'junk' }), 'pdf', { code: 4 });
    expect(result['warnings'][0]).toMatch(
      /^renderer_failed: pdf ended with exit code 1: pages: a\.pdf: Syntax/,
    );
  });
});

withPrograms('latex', { 'texlive-latex-base': 'pdflatex', 'poppler-utils': 'pdftoppm' }, () => {
  test("LaTeX's own sample is typeset, and set again only when it changed", async () => {
    const project = projectOf({ 'paper.tex': readFileSync(SAMPLE) });
    const { result, facts, of, file } = await captureWith(project, 'latex');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(facts).toMatchObject({ pages: 1, overfull_boxes: 0, undefined_references: 0, engine: 'pdflatex' });
    expect(of('render-output').map(({ media_type }) => media_type)).toEqual([
      'application/pdf',
      'text/plain',
    ]);
    expect(look(file(of('hero')[0]!)).inked).toBeGreaterThan(0.01);
    expect((await captureWith(project, 'latex')).result['cached']).toBe(true);
  });

  test('references and a bibliography settle; what is undefined or too wide is said, with its lines', async () => {
    const project = projectOf({
      'main.tex': `\\documentclass{article}\\begin{document}
See Section~\\ref{sec:two}, \\ref{sec:none} and \\cite{knuth}.\n
${'W'.repeat(60)}\n
\\include{part/two}\\bibliographystyle{plain}\\bibliography{refs}\\end{document}`,
      'part/two.tex': '\\section{Two}\\label{sec:two}Text.',
      'refs.bib': '@book{knuth, author={D. Knuth}, title={The TeXbook}, publisher={AW}, year=1984}',
    });
    const { result, facts, of, file } = await captureWith(project, 'latex');
    expect(facts).toMatchObject({ pages: 3, undefined_references: 1, overfull_boxes: 1 });
    expect(result['warnings']).toEqual([
      'undefined_reference: main.tex: sec:none',
      expect.stringMatching(/^overfull_box: main\.tex: lines 4–5, \d+\.\d pt too wide$/),
    ]);
    const text = readFileSync(file(of('render-output').find(({ kind }) => kind === 'text')!), 'utf8');
    expect(text).toMatch(/See Section 1, \?\? and \[1\]/);
    expect(text).toContain('The TeXbook');
  });

  test("a mistake is an error with TeX's words, the file and the line", async () => {
    const project = projectOf({
      'a.tex': '\\documentclass{article}\n\\begin{document}\n\\wrong here\n\\end{document}',
    });
    const { result } = await captureWith(project, 'latex', { code: 4 });
    expect(result['warnings'][0]).toMatch(/a\.tex:3: Undefined control sequence\. \\wrong/);
  });
});
