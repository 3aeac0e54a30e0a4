// The SVG renderer, a program of its own: draws one SVG, or several on a contact sheet.
//   svg.cjs --out DIR [--size 1280] [--thumb 320] [--background checker|COLOUR] -- a.svg b.svg …
// Exit 0 with pictures and preview.json in DIR; 1 where nothing could be drawn; 2 for wrong usage.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sha256 } from '../../src/hash.js';
import { neutralise } from '../../src/text.js';
import { FONT_FOLDER, groundFrom, pixels, systemFonts } from '../render/arguments.js';
import { BACKEND, draw, heroLongest } from '../render/draw.js';
import { type Entry, openEntry, type Readable } from '../render/entry.js';
import { openFonts } from '../render/fonts.js';
import { GLANCE_NAME, glanceAt } from '../render/glance.js';
import { counted, portable } from '../render/names.js';
import { coverageOf, type Ground, onGround, type Picture, shrink } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import type { Remark } from '../render/remarks.js';
import { actionsFor, type Report, warningsOf } from '../render/report.js';
import { CELLS, contactSheet } from '../render/sheet.js';
import { isUnreadable } from '../render/xml.js';

const VIEWS = 8;
/** Views accompany the sheet, so they are smaller than a hero: eight stay well within a bundle. */
const VIEW_SIZE = 800;

type Options = {
  out: string;
  size: number;
  thumb: number;
  ground?: Ground;
  groundName?: string;
  paths: string[];
};
type Tell = (path: string, remark: Remark) => void;
type Told = Pick<Report, 'headline' | 'facts' | 'labels'>;

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`svg: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  const entries = options.paths.map(
    (path, index): Entry => (index < CELLS ? openEntry(path, fonts) : { path, remarks: [], state: 'unread' }),
  );
  const readable = entries.flatMap((entry) => (entry.state === 'readable' ? [entry.readable] : []));
  if (readable.length === 0) {
    for (const entry of entries) if (entry.state === 'broken') complain(entry.path, entry.reason);
    return 1;
  }
  const remarks = entries.flatMap(({ path, remarks }) => remarks.map((remark) => ({ path, remark })));
  const tell: Tell = (path, remark) => remarks.push({ path, remark });
  mkdirSync(options.out, { recursive: true });
  let told: Told;
  if (entries.length === 1) {
    told = await drawOne(readable[0]!, options, tell);
  } else {
    const sheet = await contactSheet(entries, options.size, fonts, options.ground);
    writeHero(options.out, sheet);
    write(options.out, 'thumb.png', shrink(sheet, options.thumb));
    told = { ...summaryOf(entries, readable), labels: await drawViews(entries, options, tell) };
  }
  const warnings = warningsOf(remarks);
  const report: Report = { ...told, warnings, next_actions: actionsFor(warnings), backend: BACKEND };
  writeFileSync(join(options.out, 'preview.json'), `${JSON.stringify(report, null, 2)}\n`);
  return 0;
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: text, size: text, thumb: text, background: text },
  });
  if (!values.out || positionals.length === 0) {
    throw new Error('expected --out DIR and at least one SVG file after --');
  }
  return {
    out: values.out,
    size: pixels('size', values.size, 1280),
    thumb: pixels('thumb', values.thumb, 320),
    ground: values.background === undefined ? undefined : groundFrom(values.background),
    groundName: values.background,
    // By code point, so that the order is the same on every machine.
    paths: [...new Set(positionals)].sort((a, b) => (a < b ? -1 : 1)),
  };
}

/** Draws one whole; the ground it needs is under it only once it has its last size. */
async function drawWhole({ path, drawing }: Readable, limit: number, options: Options, tell: Tell) {
  const bare = await draw(drawing, heroLongest(drawing, limit));
  const { empty, opaque, ground } = coverageOf(bare);
  if (empty) tell(path, { code: 'nothing_drawn', text: 'nothing in it can be seen' });
  const name = options.groundName ?? (ground === 'checker' ? 'checker' : 'white');
  return { bare, ground: options.ground ?? ground, background: opaque ? 'its own' : name };
}

async function drawOne(readable: Readable, options: Options, tell: Tell): Promise<Told> {
  const { bare, ground, background } = await drawWhole(readable, options.size, options, tell);
  writeHero(options.out, onGround(bare, ground));
  write(options.out, 'thumb.png', onGround(shrink(bare, options.thumb), ground));
  const { path, drawing, elements, textElements } = readable;
  const [width, height] = [rounded(drawing.width), rounded(drawing.height)];
  return {
    headline: `${neutralise(path)}: ${width} × ${height}, ${counted(elements, 'element')}`,
    facts: { files: 1, width, height, elements, text_elements: textElements, background },
    labels: { 'render.png': path },
  };
}

/** Draws the first readable ones each into a file of its own, and returns what each file shows. */
async function drawViews(entries: readonly Entry[], options: Options, tell: Tell): Promise<Report['labels']> {
  const labels: Report['labels'] = {};
  mkdirSync(join(options.out, 'views'), { recursive: true });
  for (const [index, entry] of entries.entries()) {
    if (entry.state !== 'readable' || Object.keys(labels).length === VIEWS) continue;
    const { bare, ground } = await drawWhole(
      entry.readable,
      Math.min(VIEW_SIZE, options.size),
      options,
      tell,
    );
    const name = `views/${String(index + 1).padStart(2, '0')}-${portable(entry.path, 'drawing')}.png`;
    write(options.out, name, onGround(bare, ground));
    labels[name] = entry.path;
  }
  return labels;
}

function summaryOf(
  entries: readonly Entry[],
  readable: readonly Readable[],
): Pick<Report, 'headline' | 'facts'> {
  const elements = readable.reduce((sum, each) => sum + each.elements, 0);
  const textElements = readable.reduce((sum, each) => sum + each.textElements, 0);
  const broken = entries.filter(({ state }) => state === 'broken').length;
  const unread = entries.filter(({ state }) => state === 'unread').length;
  const parts = [`${entries.length} SVG files, ${counted(elements, 'element')}`];
  if (broken) parts.push(`${broken} cannot be drawn`);
  if (unread) parts.push(`only the first ${CELLS} are shown`);
  return {
    headline: parts.join('; '),
    facts: {
      files: entries.length,
      not_shown: unread,
      unreadable: broken,
      elements,
      text_elements: textElements,
    },
  };
}

/** The hero with a glance at it, which would otherwise take another child that decodes it again. */
function writeHero(out: string, picture: Picture): void {
  const bytes = encodePng(picture);
  writeFileSync(join(out, 'render.png'), bytes);
  writeFileSync(join(out, GLANCE_NAME), JSON.stringify({ sha256: sha256(bytes), glance: glanceAt(picture) }));
}

const write = (out: string, name: string, picture: Picture): void =>
  writeFileSync(join(out, name), encodePng(picture));
const complain = (path: string, reason: string): void => {
  process.stderr.write(`${neutralise(`${path}: ${reason}`)}\n`);
};
const rounded = (value: number): number => Math.round(value * 100) / 100;

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    // What was measured may still fail to draw.
    if (!isUnreadable(error)) throw error;
    process.stderr.write(`svg: ${error.unreadable}\n`);
    process.exitCode = 1;
  },
);
