// The recipe `office` on templates that LibreOffice ships, and on a sheet with a formula that fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

const TEMPLATES = '/usr/lib/libreoffice/share/template/common';
const programs = {
  'libreoffice-writer': '/usr/lib/libreoffice/program/libswlo.so',
  'libreoffice-calc': '/usr/lib/libreoffice/program/libsclo.so',
  'libreoffice-impress': `${TEMPLATES}/presnt/Inspiration.otp`,
  'poppler-utils': 'pdftoppm',
};

const cell = (value: string) => `<table:table-cell${value}</table:table-cell>`;
const number = (value: number) =>
  cell(` office:value-type="float" office:value="${value}"><text:p>${value}</text:p>`);
const formula = (text: string) => cell(` table:formula="of:=${text}">`);
const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`;
const table = (name: string, ...rows: string[]) =>
  `<table:table table:name="${name}">${rows.join('')}</table:table>`;
/** A flat OpenDocument spreadsheet. */
const sheet = (...tables: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body></office:document>`;

withPrograms('office', programs, () => {
  test('slides and a letter side by side, counted, with their PDFs', async () => {
    const project = join(temporary(), 'project');
    write(project, {
      'deck.otp': readFileSync(`${TEMPLATES}/presnt/Inspiration.otp`),
      'letter.ott': readFileSync(`${TEMPLATES}/officorr/Modern_business_letter_serif.ott`),
    });
    const { result, manifest, summary, facts, of, file } = await captureWith(project, 'office');
    expect(result['status']).toBe('ok');
    expect(manifest['generator'].backend).toMatch(/LibreOffice/);
    expect(summary['headline']).toMatch(/^2 documents: 1 page, \d+ slides?$/);
    expect(facts['files']).toBe(2);
    expect(of('gallery')[0]).toMatchObject({ label: expect.stringMatching(/^deck\.otp/) });
    expect(of('gallery').at(-1)).toMatchObject({ label: 'letter.ott' });
    expect(of('render-output').filter(({ media_type }) => media_type === 'application/pdf')).toHaveLength(2);
    const hero = look(file(of('hero')[0]!));
    expect(Math.max(hero.width, hero.height)).toBeLessThanOrEqual(1280);
    expect(hero.colours).toBeGreaterThan(30);
    expect(look(file(of('gallery').at(-1)!))).toMatchObject({ width: 906, height: 1280 });
  });

  test('every sheet whole, its cells as CSV, and formulas that fail by cell', async () => {
    const project = join(temporary(), 'project');
    write(project, {
      'book.fods': sheet(
        table('Prices', row(number(4), number(3)), row(number(8), formula('[.A2]/0'))),
        table('Sum', row(formula('SUM([$Prices.A1:.A2])'))),
      ),
    });
    const { result, facts, of, file } = await captureWith(project, 'office');
    expect(facts).toMatchObject({ sheets: 2, formula_errors: 1 });
    expect(result['warnings']).toEqual(['formula_error: book.fods, sheet Prices: #DIV/0! in B2']);
    const csv = of('render-output').filter(({ media_type }) => media_type === 'text/csv');
    expect(csv.map((artifact) => [artifact['label'], readFileSync(file(artifact), 'utf8').trim()])).toEqual([
      ['book.fods, sheet Prices', '4,3\n8,#DIV/0!'],
      ['book.fods, sheet Sum', '12'],
    ]);
    expect(of('gallery').map(({ label }) => label)).toEqual([
      'book.fods, sheet 1 of 2',
      'book.fods, sheet 2 of 2',
    ]);
  });
});
