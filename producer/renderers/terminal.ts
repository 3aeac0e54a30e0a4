// The terminal renderer, a program of its own: plays a recorded terminal and draws the screen as it stood at the end.
//   terminal.cjs --out DIR --cast FILE [--size 1280] [--thumb 320]
// Exit 0 with pictures and preview.json in DIR; 1 where the recording cannot be read; 2 for wrong usage.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FONT_FOLDER, pixels, systemFonts } from '../render/arguments.js';
import { readCast } from '../render/cast.js';
import { BACKEND, drawOwn } from '../render/draw.js';
import { openFonts } from '../render/fonts.js';
import { fitted, shrink } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import { actionsFor, type Report, warningsOf } from '../render/report.js';
import { playCast, XTERM } from '../render/screen.js';
import { screenSvg } from '../render/screensvg.js';
import { readCapped } from '../render/source.js';
import { isUnreadable } from '../render/xml.js';

/** A cast holds at most 2 MiB of output, which JSON may write as six times that. */
const CAST_BYTES = 16 * 1024 * 1024;

async function main(): Promise<number> {
  let options: { out: string; cast: string; size: number; thumb: number };
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { out: text, cast: text, size: text, thumb: text } });
    if (!values.out || !values.cast) throw new Error('expected --out DIR and --cast FILE');
    const [size, thumb] = [pixels('size', values.size, 1280), pixels('thumb', values.thumb, 320)];
    options = { out: values.out, cast: values.cast, size, thumb };
  } catch (error) {
    process.stderr.write(`terminal: ${error instanceof Error ? error.message : JSON.stringify(error)}\n`);
    return 2;
  }
  const screen = await playCast(readCast(readCapped(options.cast, CAST_BYTES).toString('utf8')));
  const { svg, width, height, fontFiles, missing } = screenSvg(
    screen,
    openFonts(FONT_FOLDER, { system: systemFonts() }),
  );
  const size =
    Math.max(width, height) > options.size ? fitted(width, height, options.size) : { width, height };
  const picture = await drawOwn(svg, size, fontFiles);
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, 'render.png'), encodePng(picture));
  writeFileSync(join(options.out, 'thumb.png'), encodePng(shrink(picture, options.thumb)));
  const remark = {
    code: 'glyphs_missing',
    text: `no font here has ${missing.length === 1 ? 'one of the characters' : `${missing.length} of the characters`}; boxes stand for them`,
  };
  const warnings = warningsOf(missing.length > 0 ? [{ path: 'the terminal', remark }] : []);
  const { columns, rows } = screen;
  const report: Report = {
    headline: `A terminal of ${columns} × ${rows}`,
    facts: { columns, rows, lines: screen.lines.length },
    warnings,
    labels: {},
    next_actions: actionsFor(warnings),
    backend: `${XTERM}, ${BACKEND}`,
  };
  writeFileSync(join(options.out, 'preview.json'), `${JSON.stringify(report, null, 2)}\n`);
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (!isUnreadable(error)) throw error;
    process.stderr.write(`terminal: ${error.unreadable}\n`);
    process.exitCode = 1;
  },
);
