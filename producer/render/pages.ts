// PDFs as pictures of their pages, by Poppler: one page whole, several side by side with a picture of each. Says of what
// kind the pages are, which are left out, which are blank, and what Poppler complains of.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutText } from '../../src/text.js';
import { album, writePicture } from './album.js';
import { forEachParallel } from './child.js';
import { loadPicture } from './load.js';
import { counted, named, numbered, portable } from './names.js';
import { type Picture, paste } from './picture.js';
import { type Failure, failure, must, start } from './programs.js';
import type { Report } from './report.js';

/** `label` is what people know the file by; `noun` what they call one of its pages. */
export type Document = { file: string; label: string; noun?: string };
export type Shown = Pick<Report, 'facts' | 'warnings' | 'labels'> & { opened: Opened[] };
type Opened = Document & {
  noun: string;
  pages: number;
  size: string;
  words: number;
  text: string;
  dpi: number;
  cut: number;
};

const SHOWN = 8;
const LONGEST = 1280;
const MARGIN = 20;
/** A sheet has no paper: it is shown as large as fits, and a large one is cut so that its cells can be read. */
const SHEET_SIDE = LONGEST - 2 * MARGIN;
const SHEET_DPI = { least: 110, most: 192 };
const TEXT_BYTES = 512 * 1024;

/** Writes render.png, pages/*.png and text.txt into `out`. Throws a `Failure` where no document can be opened. */
export async function showPages(documents: readonly Document[], out: string): Promise<Shown> {
  const warnings: string[] = [];
  const reasons: string[] = [];
  const results = await forEachParallel(documents.slice(0, SHOWN), async (document) => {
    try {
      return await open(document);
    } catch (error) {
      reasons.push(`${document.label}: ${(error as Failure).failure ?? String(error)}`);
      return null;
    }
  });
  const opened = results.filter((document) => document !== null);
  if (opened.length === 0) throw failure(reasons.join('; ') || 'there is no document');
  for (const reason of reasons) warnings.push(`unreadable: ${reason}`);
  if (documents.length > SHOWN)
    warnings.push(`left_out: ${documents.length - SHOWN} more files are not shown`);
  const quotas = shares(opened.map(({ pages }) => pages));
  for (const [n, { label, pages, noun }] of opened.entries())
    if (quotas[n]! < pages)
      warnings.push(`left_out: ${label} has ${counted(pages, noun)}; the first ${quotas[n]} are shown`);
  for (const { label, cut } of opened)
    if (cut > 0)
      warnings.push(
        `left_out: ${label}: ${counted(cut, 'sheet')} larger than the picture; the top left is shown`,
      );
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  const drawn = (
    await forEachParallel(opened, (document, n) => draw(document, quotas[n]!, n, folder, warnings))
  ).flat();
  const blank = drawn.filter(({ picture }) => isBlank(picture));
  if (blank.length > 0) warnings.push(`blank_page: nothing is on ${named(blank.map(({ label }) => label))}`);
  if (drawn.length === 1) writePicture(join(out, 'render.png'), drawn[0]!.picture);
  else {
    const leaves = drawn.map(({ picture, label, short }) => ({
      picture,
      caption: opened.length > 1 ? label : short,
    }));
    writePicture(join(out, 'render.png'), await album(leaves));
    mkdirSync(join(out, 'pages'), { recursive: true });
    for (const { path, made } of drawn) copyFileSync(made, join(out, path));
  }
  rmSync(folder, { recursive: true });
  const text = opened.map((document) => document.text).join('\n');
  if (text.trim() !== '') writeFileSync(join(out, 'text.txt'), cutText(text, TEXT_BYTES));
  return { opened, facts: factsOf(opened), warnings, labels: labelsOf(opened, drawn) };
}

function labelsOf(
  opened: readonly Opened[],
  drawn: readonly { path: string; label: string }[],
): Report['labels'] {
  if (drawn.length === 1) return { 'render.png': drawn[0]!.label };
  const only = opened.length === 1 ? opened[0] : undefined;
  return {
    'render.png': only ? `${only.label}, ${counted(drawn.length, only.noun)}` : counted(drawn.length, 'page'),
    ...Object.fromEntries(drawn.map(({ path, label }) => [path, label])),
  };
}

function factsOf(opened: readonly Opened[]): Report['facts'] {
  const sum = (of: (document: Opened) => number) => opened.reduce((total, each) => total + of(each), 0);
  const nouns = new Set(opened.map(({ noun }) => noun));
  const pages = nouns.size === 1 ? `${[...nouns][0]}s` : 'pages';
  const sizes = new Set(opened.map(({ size }) => size));
  return {
    ...(opened.length > 1 ? { files: opened.length } : {}),
    [pages]: sum(({ pages }) => pages),
    ...(pages === 'sheets' ? {} : { page_size: [...sizes].join(', ') }),
    words: sum(({ words }) => words),
  };
}

/** How many pages of each are shown: in turn one of each, until there are eight. */
function shares(pages: readonly number[]): number[] {
  const quotas = pages.map(() => 0);
  for (let left = SHOWN; left > 0; ) {
    const before = left;
    for (const [n, count] of pages.entries())
      if (left > 0 && quotas[n]! < count) {
        quotas[n]!++;
        left--;
      }
    if (left === before) break;
  }
  return quotas;
}

async function open(document: Document): Promise<Opened> {
  const { code, stdout, stderr } = await start(['pdfinfo', '-f', '1', '-l', String(SHOWN), document.file]);
  const pages = Number(/^Pages:\s+(\d+)/m.exec(stdout)?.[1] ?? 0);
  if (code !== 0 || pages === 0) throw failure(stderr.trim().split('\n').at(-1) || 'it has no pages');
  const all = [...stdout.matchAll(/^Page\s+\d+ size:\s+(.+)$/gm)].map(([, size]) => size!);
  const sizes = new Set(all.map(inMillimetres));
  const sides = all.map((size) => Math.max(...[...size.matchAll(/[\d.]+/g)].slice(0, 2).map(Number)));
  const fitting = (SHEET_SIDE * 72) / Math.max(...sides);
  const dpi = Math.round(Math.max(SHEET_DPI.least, Math.min(SHEET_DPI.most, fitting)));
  const cut =
    document.noun === 'sheet' ? sides.filter((side) => (side * dpi) / 72 > SHEET_SIDE + dpi / 72) : [];
  const { stdout: text } = await start(['pdftotext', '-layout', document.file, '-']);
  const words = text.split(/\s+/).filter(Boolean).length;
  return { noun: 'page', ...document, pages, size: [...sizes].join(', '), words, text, dpi, cut: cut.length };
}

const cutAt = (dpi: number) => [
  '-r',
  `${dpi}`,
  ...['-x', '0', '-y', '0', '-W', `${SHEET_SIDE}`, '-H', `${SHEET_SIDE}`],
];

/** `595.304 x 841.89 pts (A4)` as `210 × 297 mm (A4)`. */
function inMillimetres(size: string): string {
  const [, width, height, name] = /([\d.]+) x ([\d.]+) pts(?: \((\w+)\))?/.exec(size) ?? [];
  const mm = (points: string | undefined) => Math.round((Number(points) * 25.4) / 72);
  return `${mm(width)} × ${mm(height)} mm${name ? ` (${name})` : ''}`;
}

async function draw(document: Opened, count: number, n: number, folder: string, warnings: string[]) {
  if (count === 0) return [];
  const { file, label, noun, pages } = document;
  const how = noun === 'sheet' ? cutAt(document.dpi) : ['-scale-to', String(LONGEST)];
  const prefix = `${n}-page`;
  const { stderr } = await must([
    ...['pdftoppm', '-png', '-f', '1', '-l', String(count), ...how],
    ...[file, join(folder, prefix)],
  ]);
  const said = stderr.trim().split('\n').filter(Boolean);
  if (said.length > 0) warnings.push(`pdf_damaged: ${label}: ${cutText(said[0]!, 200)}`);
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  return forEachParallel(names.sort(), async (name, index) => {
    const made = join(folder, name);
    const { picture } = await loadPicture(made, LONGEST);
    const framed = noun === 'sheet' ? withMargin(picture) : picture;
    if (framed !== picture) writePicture(made, framed);
    return {
      picture: framed,
      made,
      path: `pages/${numbered(n)}-${portable(label)}-${noun}-${index + 1}.png`,
      label: pages === 1 ? label : `${label}, ${noun} ${index + 1} of ${pages}`,
      short: `${noun} ${index + 1}`,
    };
  });
}

/** A sheet ends where its cells end: it gets a margin, so that it is seen to. */
function withMargin(picture: Picture): Picture {
  const [width, height] = [picture.width + 2 * MARGIN, picture.height + 2 * MARGIN];
  const page = { width, height, pixels: new Uint8Array(width * height * 4).fill(255) };
  paste(page, picture, MARGIN, MARGIN);
  return page;
}

/** One colour all over. */
function isBlank({ pixels }: Picture): boolean {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength >> 2);
  return words.every((word) => word === words[0]);
}
