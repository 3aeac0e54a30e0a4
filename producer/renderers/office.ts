// Draws documents, sheets and slides by LibreOffice and Poppler, a program of its own.
//   office.cjs --out DIR --tmp DIR -- a.odt b.xlsx …
// Exit 0 with pictures, the PDFs, the sheets' cells as CSV and preview.json in DIR; 1 where nothing can be shown.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { counted, named, numbered, portable } from '../render/names.js';
import { kindOf, office, type Sheet, sheetsOf, toPdf } from '../render/office.js';
import { type Document, showPages } from '../render/pages.js';
import { failure, renderer } from '../render/programs.js';
import { writeReport } from '../render/report.js';

const MOST = 8;

renderer('office', async () => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: text, tmp: text } });
  const { out, tmp } = values;
  if (!out || !tmp) throw failure('expected --out DIR and --tmp DIR');
  const files = positionals.slice(0, MOST);
  const soffice = office(tmp);
  const pdfs = await toPdf(soffice, files, tmp);
  const warnings: string[] = [];
  const labels: Record<string, string> = {};
  const documents: Document[] = [];
  for (const [index, path] of files.entries()) {
    const pdf = pdfs[index];
    if (!pdf) {
      warnings.push(`unreadable: ${path}: LibreOffice cannot open it`);
      continue;
    }
    documents.push({ file: pdf, label: path, noun: kindOf(path) });
    const copy = `pdf/${numbered(index)}-${portable(path)}.pdf`;
    mkdirSync(join(out, 'pdf'), { recursive: true });
    copyFileSync(pdf, join(out, copy));
    labels[copy] = `${path} as PDF`;
  }
  if (documents.length === 0) throw failure(`LibreOffice can open none of ${named(positionals)}`);
  const sheets: (Sheet & { of: string })[] = [];
  for (const [index, path] of files.entries()) {
    if (!pdfs[index] || kindOf(path) !== 'sheet') continue;
    const found = await sheetsOf(soffice, path, join(tmp, `csv-${index}`));
    sheets.push(...found.map((sheet) => ({ ...sheet, of: path })));
  }
  mkdirSync(join(out, 'sheets'), { recursive: true });
  for (const [index, { name, of, csv, errors }] of sheets.entries()) {
    const file = `sheets/${numbered(index)}-${portable(`${name}.csv`, 'sheet')}.csv`;
    writeFileSync(join(out, file), csv);
    labels[file] = `${of}, sheet ${name}`;
    if (errors.length > 0)
      warnings.push(
        `formula_error: ${of}, sheet ${name}: ${named(errors.map(({ cell, says }) => `${says} in ${cell}`))}`,
      );
  }
  if (positionals.length > MOST)
    warnings.push(`left_out: ${positionals.length - MOST} more files are not shown`);
  const { opened, ...shown } = await showPages(documents, out);
  const errors = sheets.reduce((sum, sheet) => sum + sheet.errors.length, 0);
  const facts = {
    ...shown.facts,
    ...(sheets.length > 0 ? { sheets: sheets.length, formula_errors: errors } : {}),
  };
  const what = opened.length === 1 ? opened[0]!.label : counted(opened.length, 'document');
  const pages = ['page', 'slide', 'sheet'].flatMap((noun) => {
    const count = opened.filter((each) => each.noun === noun).reduce((sum, each) => sum + each.pages, 0);
    return count > 0 ? [counted(count, noun)] : [];
  });
  writeReport(out, {
    headline: `${what}: ${pages.join(', ')}${errors > 0 ? `, ${counted(errors, 'formula error')}` : ''}`,
    facts,
    warnings: [...warnings, ...shown.warnings],
    labels: { ...labels, ...shown.labels },
    next_actions: errors > 0 ? ['mend the formulas that show an error'] : [],
  });
});
