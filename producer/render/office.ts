// LibreOffice without a window: documents to PDF, and every sheet of a spreadsheet to CSV, which has what its cells show.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failure, start } from './programs.js';

const SHEETS = new Set(['.ods', '.ots', '.fods', '.xls', '.xlsx', '.xlsm', '.xltx']);
const SLIDES = new Set(['.odp', '.otp', '.fodp', '.ppt', '.pptx', '.pps', '.ppsx', '.potx']);

export type Kind = 'sheet' | 'slide' | 'page';

export function kindOf(path: string): Kind {
  const ext = extname(path).toLowerCase();
  return SHEETS.has(ext) ? 'sheet' : SLIDES.has(ext) ? 'slide' : 'page';
}

/** A sheet whole on one page, whatever paper it would be printed on: what is seen is the sheet, not its cuts. */
const ONE_PAGE = 'pdf:calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}';
/** Comma, quotes, UTF-8, from line 1, texts quoted as needed, as shown, no formulas, every sheet (-1). */
const ALL_SHEETS = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1';

export type Office = (files: readonly string[], filter: string, folder: string) => Promise<void>;

/** LibreOffice with a profile of its own below `tmp`, so that it never meets another one that runs. */
export function office(tmp: string): Office {
  const profile = `-env:UserInstallation=${pathToFileURL(join(tmp, 'office'))}`;
  return async (files, filter, folder) => {
    mkdirSync(folder, { recursive: true });
    const argv = [
      'soffice',
      profile,
      '--headless',
      '--norestore',
      '--convert-to',
      filter,
      '--outdir',
      folder,
    ];
    const { code, stdout, stderr } = await start([...argv, ...files]);
    if (code !== 0) throw failure(`soffice ended with exit code ${code}: ${stderr.trim() || stdout.trim()}`);
  };
}

/** Each file as a PDF below `tmp`; null for those that LibreOffice does not read (it ends well all the same). */
export async function toPdf(soffice: Office, files: readonly string[], tmp: string) {
  const stem = (file: string) => basename(file, extname(file));
  // A start takes seconds: one for all of a kind, as long as no two would be written to the same file.
  const batches = new Map<string, string[]>();
  const pdfs = files.map((file) => {
    const filter = kindOf(file) === 'sheet' ? ONE_PAGE : 'pdf';
    for (let round = 0; ; round++) {
      const key = `${round} ${filter}`;
      const batch = batches.get(key) ?? [];
      if (batch.some((other) => stem(other) === stem(file))) continue;
      batches.set(key, [...batch, file]);
      return join(tmp, `pdf-${[...batches.keys()].indexOf(key)}`, `${stem(file)}.pdf`);
    }
  });
  for (const [index, [key, batch]] of [...batches].entries())
    await soffice(batch, key.replace(/^\d+ /, ''), join(tmp, `pdf-${index}`));
  return pdfs.map((pdf) => (existsSync(pdf) ? pdf : null));
}

export type Sheet = { name: string; csv: string; errors: { cell: string; says: string }[] };

/** The sheets of a spreadsheet, hidden ones too, as the text that their cells show. */
export async function sheetsOf(soffice: Office, file: string, folder: string): Promise<Sheet[]> {
  await soffice([file], ALL_SHEETS, folder);
  const stem = `${basename(file, extname(file))}-`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(stem) && name.endsWith('.csv'))
    .map((name) => {
      const csv = readFileSync(join(folder, name), 'utf8');
      return { name: name.slice(stem.length, -'.csv'.length), csv, errors: errorsIn(csv) };
    });
}

const ERROR = /^(#REF!|#NAME\?|#VALUE!|#DIV\/0!|#N\/A|#NUM!|#NULL!|Err:\d+)$/;

function errorsIn(csv: string): Sheet['errors'] {
  return rowsOf(csv).flatMap((row, y) =>
    row.flatMap((says, x) => (ERROR.test(says) ? [{ cell: `${column(x)}${y + 1}`, says }] : [])),
  );
}

/** RFC 4180. */
function rowsOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',' && end !== '') rows.push([]);
  }
  return rows;
}

/** 0 is A, 26 is AA. */
const column = (index: number): string =>
  (index >= 26 ? column(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26));
