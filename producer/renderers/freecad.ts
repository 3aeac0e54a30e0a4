// Starts FreeCAD on a screen that nobody sees, with freecad_view.py, which has its 3D view draw; fits the pictures into their
// frames. Nothing of the user's settings and add-ons is read.
//   freecad.cjs --source=FILE [--views=iso,front,right,top] [--size=960x720]       files go into $PREVIEW_OUT
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '../render/child.js';
import { frame } from '../render/crop.js';
import { openDisplay } from '../render/display.js';
import { placesFrom, sizeFrom, viewsFrom, writeReport } from '../render/viewreport.js';

const HOUR_MS = 3_600_000;
const GROUND = [0xf8, 0xf8, 0xf8] as const;
const LARGER = 2;
const LABELS: Record<string, string> = {
  iso: 'Isometric',
  front: 'Front',
  right: 'Right',
  back: 'Back',
  left: 'Left',
  top: 'Top',
  bottom: 'Bottom',
};

function options() {
  const { values } = parseArgs({
    options: {
      source: { type: 'string', default: '' },
      views: { type: 'string', default: 'iso,front,right,top' },
      size: { type: 'string', default: '960x720' },
    },
  });
  const { out, source } = placesFrom(values.source, 'FreeCAD, STEP or IGES');
  const views = viewsFrom(values.views, LABELS);
  return { source: resolve(source), out, views, size: sizeFrom(values.size) };
}

async function main(): Promise<void> {
  const { source, out, views, size } = options();
  const tmp = mkdtempSync(join(tmpdir(), 'freecad-'));
  mkdirSync(join(out, 'views'), { recursive: true });
  const display = await openDisplay();
  try {
    const ask = { source, out, tmp, views, width: size.width * LARGER, height: size.height * LARGER };
    const env = { ...display.env, FREECAD_USER_HOME: tmp, HOME: tmp, PREVIEW_ASK: JSON.stringify(ask) };
    // Not freecad.py: FreeCAD imports the script by its name, and that name is its own.
    const argv = ['freecadcmd', join(__dirname, 'freecad_view.py')];
    const { code, stdout, stderr } = await runProgram(argv, { env, timeout_ms: HOUR_MS });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    const found = join(tmp, 'facts.json');
    if (code !== 0 || !existsSync(found)) {
      process.exitCode = code || 1;
      return;
    }
    const nameOf = (view: string) => (view === views[0] ? 'render.png' : `views/${view}.png`);
    for (const view of views)
      frame(join(tmp, `${view}.png`), join(out, nameOf(view)), size, { ground: GROUND });
    const { facts, warnings, backend } = JSON.parse(readFileSync(found, 'utf8'));
    writeReport(out, {
      headline: [basename(source), facts.bounding_box].filter(Boolean).join(': '),
      facts,
      warnings,
      labels: Object.fromEntries(views.map((view) => [nameOf(view), LABELS[view]!])),
      backend,
    });
  } finally {
    display.close();
    rmSync(tmp, { recursive: true, force: true });
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
