// The SVG renderer, a program of its own: draws one SVG, or several on a contact sheet.
//   svg.cjs --out DIR [--size 1280] [--thumb 320] [--background COLOUR] -- a.svg b.svg …
// Exit 0 with pictures and preview.json in DIR; 1 where nothing could be drawn; 2 for wrong usage.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { neutralise } from '../../src/text.js';
import { FONT_FOLDER, groundFrom, pixels, systemFonts } from '../render/arguments.js';
import { BACKEND, drawSvg, heroLongest, naturalSize } from '../render/draw.js';
import { type Fonts, openFonts } from '../render/fonts.js';
import { coverageOf, type Ground, onGround, type Picture, shrink } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import { prepareSvg } from '../render/prepare.js';
import type { Remark } from '../render/remarks.js';
import { actionsFor, type Report, warningsOf } from '../render/report.js';
import { CELLS, contactSheet, type Entry } from '../render/sheet.js';
import { readCapped, SVG_BYTES, svgText } from '../render/source.js';
import { isUnreadable } from '../render/xml.js';

const VIEWS = 8;
/** Views accompany the sheet, so they are smaller than a hero: eight stay well within a bundle. */
const VIEW_SIZE = 800;

type Options = { out: string; size: number; thumb: number; background?: Ground; backgroundName?: string };
type Drawing = NonNullable<Entry['drawing']>;
type Told = { path: string; remark: Remark };

function main(): number {
  let options: Options;
  let paths: string[];
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        out: { type: 'string' },
        size: { type: 'string' },
        thumb: { type: 'string' },
        background: { type: 'string' },
      },
    });
    if (!values.out || positionals.length === 0)
      throw new Error('expected --out DIR and at least one SVG file after --');
    options = {
      out: values.out,
      size: pixels('size', values.size, 1280),
      thumb: pixels('thumb', values.thumb, 320),
      background: values.background === undefined ? undefined : groundFrom(values.background),
      backgroundName: values.background,
    };
    paths = [...new Set(positionals)].sort((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    process.stderr.write(`svg: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  const told: Told[] = [];
  const entries = paths.map((path, index): Entry => (index < CELLS ? open(path, fonts, told) : { path }));
  const drawings = entries.flatMap(({ path, drawing }, index) => (drawing ? [{ path, drawing, index }] : []));
  if (drawings.length === 0) {
    for (const { path, reason } of entries)
      if (reason) process.stderr.write(`${neutralise(`${path}: ${reason}`)}\n`);
    return 1;
  }
  mkdirSync(options.out, { recursive: true });
  const report =
    paths.length === 1
      ? drawOne(drawings[0]!, options, told)
      : drawSeveral(entries, drawings, options, fonts, told);
  report.warnings = warningsOf(told);
  report.next_actions = actionsFor(report.warnings);
  writeFileSync(join(options.out, 'preview.json'), `${JSON.stringify(report, null, 2)}\n`);
  return 0;
}

/** Reads and measures one file; what there is to say about it goes to `told`. */
function open(path: string, fonts: Fonts, told: Told[]): Entry {
  try {
    const svg = prepareSvg(svgText(readCapped(path, SVG_BYTES)), fonts);
    const size = naturalSize(svg);
    told.push(...svg.remarks.map((remark) => ({ path, remark })));
    return { path, drawing: { svg, ...size } };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    told.push({ path, remark: { code: 'svg_unreadable', text: `${path}: ${error.unreadable}` } });
    return { path, reason: error.unreadable };
  }
}

/** Draws one whole, on the ground it needs or the one asked for. */
function drawWhole(
  path: string,
  drawing: Drawing,
  limit: number,
  options: Options,
  told: Told[],
): { bare: Picture; ground: Ground; background: string } {
  const bare = drawSvg(drawing.svg, drawing, heroLongest(drawing, limit));
  const coverage = coverageOf(bare);
  if (coverage.empty)
    told.push({ path, remark: { code: 'nothing_drawn', text: 'nothing in it can be seen' } });
  const ground = options.background ?? coverage.ground;
  const chosen = options.backgroundName ?? (ground === 'checker' ? 'checker' : 'white');
  return { bare, ground, background: coverage.opaque ? 'its own' : chosen };
}

function drawOne(
  { path, drawing }: { path: string; drawing: Drawing },
  options: Options,
  told: Told[],
): Report {
  const { bare, ground, background } = drawWhole(path, drawing, options.size, options, told);
  write(options.out, 'render.png', onGround(bare, ground));
  // Made smaller before the ground is laid under it: a checker made smaller is a smear.
  write(options.out, 'thumb.png', onGround(shrink(bare, options.thumb), ground));
  const [width, height] = [rounded(drawing.width), rounded(drawing.height)];
  const { elements, textElements } = drawing.svg;
  return {
    headline: `${neutralise(path)}: ${width} × ${height}, ${counted(elements, 'element')}`,
    facts: { files: 1, width, height, elements, text_elements: textElements, background },
    warnings: [],
    labels: { 'render.png': path },
    next_actions: [],
    backend: BACKEND,
  };
}

function drawSeveral(
  entries: readonly Entry[],
  drawings: readonly { path: string; drawing: Drawing; index: number }[],
  options: Options,
  fonts: Fonts,
  told: Told[],
): Report {
  const sheet = contactSheet(entries, options.size, fonts, options.background);
  write(options.out, 'render.png', sheet);
  write(options.out, 'thumb.png', shrink(sheet, options.thumb));
  const labels: Report['labels'] = {};
  mkdirSync(join(options.out, 'views'), { recursive: true });
  for (const { path, drawing, index } of drawings.slice(0, VIEWS)) {
    const { bare, ground } = drawWhole(path, drawing, Math.min(VIEW_SIZE, options.size), options, told);
    const name = `views/${String(index + 1).padStart(2, '0')}-${portable(path)}.png`;
    write(options.out, name, onGround(bare, ground));
    labels[name] = path;
  }
  const sum = (of: (drawing: Drawing) => number) =>
    drawings.reduce((total, each) => total + of(each.drawing), 0);
  const elements = sum(({ svg }) => svg.elements);
  const unreadable = entries.filter(({ reason }) => reason).length;
  const hidden = Math.max(0, entries.length - CELLS);
  const parts = [`${entries.length} SVG files, ${counted(elements, 'element')}`];
  if (unreadable) parts.push(`${unreadable} cannot be drawn`);
  if (hidden) parts.push(`the first ${CELLS} are shown`);
  return {
    headline: parts.join('; '),
    facts: {
      files: entries.length,
      not_shown: hidden,
      unreadable,
      elements,
      text_elements: sum(({ svg }) => svg.textElements),
    },
    warnings: [],
    labels,
    next_actions: [],
    backend: BACKEND,
  };
}

const write = (out: string, name: string, picture: Picture): void =>
  writeFileSync(join(out, name), encodePng(picture));
const rounded = (value: number): number => Math.round(value * 100) / 100;
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A file's name in letters that every system takes. */
function portable(path: string): string {
  const plain = basename(path)
    .replace(/\.svgz?$/i, '')
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '-');
  return (
    plain
      .slice(0, 40)
      .replace(/^[-.]+|[-.]+$/g, '')
      .toLowerCase() || 'drawing'
  );
}

process.exitCode = main();
