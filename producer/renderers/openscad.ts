// Draws an OpenSCAD design with OpenSCAD: its own preview from each side asked for, the first as the hero, and beside
// it the full geometry for the numbers. What OpenSCAD complains about is reported.
//   openscad.cjs --source=FILE [--views=iso,front,right,top] [--size=960x720] [--camera=X,Y,Z,RX,RY,RZ,D]
//                [--colorscheme=NAME] [--measure-s=20]       files go into $PREVIEW_OUT
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { forEachParallel, runProgram, type Said } from '../render/child.js';
import { frame, type Size } from '../render/crop.js';
import { openDisplay } from '../render/display.js';
import { measure } from '../render/measure.js';
import { readMesh } from '../render/meshfile.js';
import { meshFacts, placesFrom, sizeFrom, viewsFrom, writeReport } from '../render/viewreport.js';

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

interface Job {
  out: string;
  source: string;
  size: Size;
  /** A camera of the recipe's own for the first view, as OpenSCAD takes it; empty: fitted to the design. */
  camera: string;
  colorscheme: string;
}

/** What OpenSCAD computes when a design is rendered in full. */
interface Geometry {
  said: Said;
  /** An STL of something solid, an SVG of something flat; null where none was made. */
  file: string | null;
}

async function geometryOf({ out, source }: Job, timeout_ms: number, signal: AbortSignal): Promise<Geometry> {
  const to = async (name: string, ...format: string[]) => {
    const file = join(out, name);
    const said = await runProgram(['openscad', '-o', file, ...format, source], { timeout_ms, signal });
    return { said, file: said.code === 0 && existsSync(file) ? file : null };
  };
  const solid = await to('model.stl', '--export-format=binstl');
  return /not a 3D object/.test(solid.said.stderr) ? to('model.svg') : solid;
}

/** Draws one view as `name` in the output folder. */
async function draw(view: string, name: string, job: Job, env: NodeJS.ProcessEnv): Promise<Said> {
  const { size, camera } = job;
  const scale = camera ? 2 : LARGER;
  const raw = join(job.out, `raw-${view}.png`);
  const argv = [
    'openscad',
    ...['-o', raw],
    `--imgsize=${Math.round(size.width * scale)},${Math.round(size.height * scale)}`,
    `--camera=${camera || `0,0,0,${VIEWS[view]!.turn},0`}`,
    ...(camera ? [] : ['--viewall', '--autocenter', '--projection=o']),
    `--colorscheme=${job.colorscheme}`,
    job.source,
  ];
  let said = await runProgram(argv, { env, timeout_ms: VIEW_MS });
  // It was seen to end badly once it had drawn, on a busy machine, with no word about the design: once more then.
  if (said.code !== 0 && !said.timedOut && !/^(?:ERROR|Can't|Could)/m.test(said.stderr))
    said = await runProgram(argv, { env, timeout_ms: VIEW_MS });
  if (said.code === 0) {
    frame(raw, join(job.out, name), size, { fit: camera === '' });
    rmSync(raw);
  }
  return said;
}

/** What matches, each once, at most five. */
const lines = (text: string, kind: RegExp): string[] =>
  [...new Set([...text.matchAll(kind)].map((match) => match[1]!.trim()))].slice(0, 5);

/** What OpenSCAD said of the geometry, and what is measured on it. */
async function factsOf({ said, file }: Geometry): Promise<Record<string, unknown>> {
  if (file === null) return {};
  const counted = (name: string) => {
    const [, count] = new RegExp(`^\\s+${name}:\\s+(\\d+)`, 'm').exec(said.stderr) ?? [];
    return count ? { [name.toLowerCase()]: Number(count) } : {};
  };
  if (file.endsWith('.svg')) {
    const [, width, height] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(readFileSync(file, 'utf8')) ?? [];
    return { ...counted('Contours'), bounding_box: `${width} × ${height}` };
  }
  const { triangles, ...rest } = meshFacts(measure((await readMesh(file)).corners));
  const facets = counted('Facets');
  return { ...facets, ...counted('Vertices'), ...('facets' in facets ? {} : { triangles }), ...rest };
}

function notMeasured({ said, file }: Geometry, limit_s: number): string[] {
  if (file !== null) return [];
  if (said.timedOut)
    return [
      `not_measured: the full geometry takes over ${limit_s} s; the pictures are OpenSCAD's quick preview`,
    ];
  const empty = /top level object is empty/.test(said.stderr);
  return [`not_measured: ${empty ? 'the design is empty' : said.stderr.trim().split('\n').at(-1)}`];
}

function options() {
  const { values } = parseArgs({
    options: {
      source: { type: 'string' },
      views: { type: 'string', default: 'iso' },
      size: { type: 'string', default: '960x720' },
      camera: { type: 'string', default: '' },
      colorscheme: { type: 'string', default: 'Tomorrow' },
      'measure-s': { type: 'string', default: '20' },
    },
  });
  const { out, source } = placesFrom(values.source, '.scad');
  const views = viewsFrom(values.views, VIEWS);
  const { camera, colorscheme } = values;
  const job: Job = { out, source, size: sizeFrom(values.size), camera, colorscheme };
  return { job, views, limit_s: Number(values['measure-s']) };
}

async function main(): Promise<void> {
  const { job, views, limit_s } = options();
  mkdirSync(join(job.out, 'views'), { recursive: true });
  const nameOf = (view: string) => (view === views[0] ? 'render.png' : `views/${view}.png`);
  const jobOf = (view: string) => (view === views[0] ? job : { ...job, camera: '' });
  const display = await openDisplay();
  const stop = new AbortController();
  try {
    const measuring = geometryOf(job, limit_s * 1000, stop.signal);
    const drawn = await forEachParallel(views, (view) => draw(view, nameOf(view), jobOf(view), display.env));
    const failed = drawn.find(({ code }) => code !== 0);
    if (failed) {
      process.stderr.write(failed.stderr);
      if (failed.signal) process.stderr.write(`OpenSCAD was ended by ${failed.signal}\n`);
      process.exitCode = failed.code ?? 1;
      return;
    }
    const geometry = await measuring;
    const labels = Object.fromEntries(views.map((view) => [nameOf(view), VIEWS[view]!.label]));
    if (job.camera) labels['render.png'] = 'The recipe’s camera';
    // Something flat is seen from above; from the corner it would be a sliver.
    else if (geometry.file?.endsWith('.svg') && views[0] === 'iso') {
      await draw('top', 'render.png', job, display.env);
      labels['render.png'] = 'Top; the design is flat';
    }
    const all = `${drawn[0]!.stderr}${geometry.said.stderr}`;
    process.stderr.write(all);
    const facts = await factsOf(geometry);
    const echo = lines(all, /^ECHO: (.*)/gm).map((line) => line.slice(0, 120));
    if (echo.length > 0) facts['echo'] = echo.join('; ');
    const complaints = lines(all, /^(?:WARNING|ERROR|DEPRECATED): (.*)/gm).map((line) => `openscad: ${line}`);
    writeReport(job.out, {
      headline: [basename(job.source), facts['bounding_box']].filter(Boolean).join(': '),
      facts,
      warnings: [...complaints, ...notMeasured(geometry, limit_s)],
      labels: { ...labels, 'model.stl': 'Full geometry', 'model.svg': 'Outline' },
    });
  } finally {
    stop.abort();
    display.close();
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
