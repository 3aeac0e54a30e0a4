// Draws an OpenSCAD design with OpenSCAD: its own preview from each side asked for, and, beside it, its full geometry
// for the numbers. Whatever OpenSCAD complains about is reported.
//   openscad.cjs --out DIR --source FILE --views iso,front,right,top --width 960 --height 720
//                [--camera X,Y,Z,RX,RY,RZ,D] [--colorscheme NAME] [--define 'a=1;b="x"'] [--measure-s 40] [--keep-model]
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { forEachParallel, runProgram, type Said } from '../render/child.js';
import { frame, type Size } from '../render/crop.js';
import { openDisplay } from '../render/display.js';
import { measure } from '../render/measure.js';
import { readMesh } from '../render/meshfile.js';
import { meshFacts, sizeFrom, writeReport } from '../render/viewreport.js';

/** Rotations as OpenSCAD has them, and what each view is called. */
const VIEWS: Record<string, { turn: string; label: string }> = {
  iso: { turn: '54.74,0,45', label: 'Isometric' },
  front: { turn: '90,0,0', label: 'Front' },
  right: { turn: '90,0,90', label: 'Right' },
  back: { turn: '90,0,180', label: 'Back' },
  left: { turn: '90,0,270', label: 'Left' },
  top: { turn: '0,0,0', label: 'Top' },
  bottom: { turn: '180,0,0', label: 'Bottom' },
};
/** OpenSCAD smooths nothing and leaves wide margins: it draws larger, and what is drawn is cut out and scaled down. */
const LARGER = 2.5;
const VIEW_MS = 100_000;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    source: { type: 'string' },
    views: { type: 'string', default: 'iso' },
    width: { type: 'string', default: '960' },
    height: { type: 'string', default: '720' },
    camera: { type: 'string', default: '' },
    colorscheme: { type: 'string', default: 'Tomorrow' },
    define: { type: 'string', default: '' },
    'measure-s': { type: 'string', default: '40' },
    'keep-model': { type: 'boolean', default: false },
  },
});

interface Job {
  out: string;
  source: string;
  defines: string[];
}

/** The design's geometry, as OpenSCAD computes it when it is rendered in full. */
interface Geometry {
  said: Said;
  /** The file: an STL of a solid, an SVG of something flat. Null: none was made. */
  file: string | null;
}

const FLAT = /not a 3D object/;

async function geometryOf({ out, source, defines }: Job, timeout_ms: number): Promise<Geometry> {
  const to = async (name: string) => {
    const file = join(out, name);
    const said = await runProgram(['openscad', '-o', file, ...defines, source], { timeout_ms });
    return { said, file: said.code === 0 && existsSync(file) ? file : null };
  };
  const solid = await to('model.stl');
  return FLAT.test(solid.said.stderr) ? to('model.svg') : solid;
}

async function drawView(name: string, job: Job, size: Size, env: NodeJS.ProcessEnv): Promise<Said> {
  const { out, source, defines } = job;
  const view = VIEWS[name];
  if (!view) throw new Error(`--views knows ${Object.keys(VIEWS).join(', ')}, not ${name}`);
  const fixed = name === 'iso' && values.camera !== '';
  const scale = fixed ? 2 : LARGER;
  const raw = join(out, `raw-${name}.png`);
  const camera = fixed
    ? [`--camera=${values.camera}`]
    : [`--camera=0,0,0,${view.turn},0`, '--viewall', '--autocenter', '--projection=o'];
  const imgsize = `--imgsize=${Math.round(size.width * scale)},${Math.round(size.height * scale)}`;
  const argv = ['openscad', '-o', raw, imgsize, ...camera, `--colorscheme=${values.colorscheme}`, ...defines, source];
  const said = await runProgram(argv, { env, timeout_ms: VIEW_MS });
  if (said.code === 0 && existsSync(raw)) {
    frame(raw, join(out, name === 'iso' ? 'render.png' : `views/${name}.png`), size, { fit: !fixed });
    rmSync(raw);
  }
  return said;
}

/** Lines of a kind, each once, at most five. */
const lines = (text: string, kind: RegExp): string[] =>
  [...new Set([...text.matchAll(kind)].map((match) => match[1]!.trim()))].slice(0, 5);

/** What OpenSCAD said of the geometry, and what is measured on it. */
async function factsOf({ said, file }: Geometry, job: Job): Promise<Record<string, unknown>> {
  const number = (name: string) => {
    const found = new RegExp(`^\\s+${name}:\\s+(\\d+)`, 'm').exec(said.stderr);
    return found ? { [name.toLowerCase()]: Number(found[1]) } : {};
  };
  if (file === null) return {};
  if (file.endsWith('.svg')) {
    const [, width, height] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(readFileSync(file, 'utf8')) ?? [];
    return { ...number('Contours'), bounding_box: `${Number(width)} × ${Number(height)}`, dimensions: 2 };
  }
  const { triangles: _triangles, ...measured } = meshFacts(measure((await readMesh(file)).corners));
  return { ...number('Facets'), ...number('Vertices'), ...measured };
}

async function main(): Promise<void> {
  const { out, source } = values;
  if (!out || !source) throw new Error('--out and --source must be given');
  mkdirSync(join(out, 'views'), { recursive: true });
  const defines = values.define.split(';').filter(Boolean).map((assignment) => `-D${assignment}`);
  const job = { out, source, defines };
  const size = sizeFrom(values.width, values.height);
  const views = values.views.split(',').filter(Boolean);
  const display = await openDisplay();
  try {
    const measuring = geometryOf(job, Number(values['measure-s']) * 1000);
    const drawn = await forEachParallel(views, (view) => drawView(view, job, size, display.env));
    const failed = drawn.find((said) => said.code !== 0);
    if (failed) {
      process.stderr.write(failed.stderr);
      process.exitCode = failed.timedOut ? 124 : (failed.code ?? 1);
      return;
    }
    const geometry = await measuring;
    const flat = geometry.file?.endsWith('.svg') === true;
    // Something flat is seen from above; from the corner it would be a sliver.
    if (flat && views.includes('iso') && values.camera === '') {
      VIEWS['iso'] = { turn: VIEWS['top']!.turn, label: 'Top (the design is flat)' };
      await drawView('iso', job, size, display.env);
    }
    const all = drawn[0]!.stderr + geometry.said.stderr;
    process.stderr.write(all);
    const warnings = lines(all, /^(?:WARNING|ERROR|DEPRECATED): (.*)/gm)
      .filter((line) => !/Viewall and autocenter|can't be used/.test(line))
      .map((line) => `openscad: ${line}`);
    if (geometry.said.timedOut)
      warnings.push(
        `not_measured: the full geometry took over ${values['measure-s']} s; the pictures are OpenSCAD's preview`,
      );
    else if (geometry.file === null) warnings.push(`not_measured: ${complaint(geometry.said)}`);
    const facts = await factsOf(geometry, job);
    const echo = lines(all, /^ECHO: (.*)/gm).map((line) => line.slice(0, 120));
    writeReport(out, {
      headline: [basename(source), facts['bounding_box']].filter(Boolean).join(': '),
      facts: { ...facts, ...(echo.length > 0 ? { echo } : {}) },
      warnings,
      labels: Object.fromEntries(
        views.map((view) => [view === 'iso' ? 'render.png' : `views/${view}.png`, labelOf(view)]),
      ),
    });
    if (!values['keep-model'] && geometry.file) rmSync(geometry.file);
  } finally {
    display.close();
  }
}

const labelOf = (view: string): string =>
  view === 'iso' && values.camera !== '' ? 'Camera of the recipe' : VIEWS[view]!.label;

const complaint = ({ stderr }: Said): string =>
  /Current top level object is empty/.test(stderr)
    ? 'the design is empty'
    : (stderr.trim().split('\n').at(-1) ?? 'OpenSCAD made no geometry');

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
