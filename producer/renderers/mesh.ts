// Draws a mesh file with f3d, and measures it. One of several files is drawn from one side only.
//   mesh.cjs --source=FILE --name=NAME [--views=iso,front,right,top] [--size=960x720] [--up=+Z]
//            -- ALL SOURCES       NAME.png, views/NAME-VIEW.png and NAME.preview.json go into $PREVIEW_OUT
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { forEachParallel, runProgram } from '../render/child.js';
import { frame, type Size } from '../render/crop.js';
import { openDisplay } from '../render/display.js';
import { measure } from '../render/measure.js';
import { readMesh } from '../render/meshfile.js';
import { withoutAmbient } from '../render/objcopy.js';
import { meshFacts, placesFrom, sizeFrom, viewsFrom } from '../render/viewreport.js';

/** Turns of the camera from the front, in degrees. Straight from above there is no up. */
const VIEWS: Record<string, { azimuth: number; elevation: number; label: string }> = {
  iso: { azimuth: 45, elevation: 35.26, label: 'Isometric' },
  front: { azimuth: 0, elevation: 0, label: 'Front' },
  right: { azimuth: 90, elevation: 0, label: 'Right' },
  back: { azimuth: 180, elevation: 0, label: 'Back' },
  left: { azimuth: 270, elevation: 0, label: 'Left' },
  top: { azimuth: 0, elevation: 89.99, label: 'Top' },
  bottom: { azimuth: 0, elevation: -89.99, label: 'Bottom' },
};
const GROUND = [0xf8, 0xf8, 0xf8] as const;
/** f3d draws larger, since it fits what it shows loosely, and smooths little. */
const LARGER = 2;
/** Wider than the 30 by which f3d sets its distance: at 30 it cuts corners off. */
const VIEW_ANGLE = 38;
/** Over 1, for f3d's lamp is weak; what has materials of its own is made lighter afterwards. */
const PLAIN = '1.5,1.9,2.6';
const MESHES = new Set(['.stl', '.obj', '.glb', '.gltf', '.ply']);
/** Formats in which z is up, where the recipe does not say. */
const Z_UP = new Set(['.stl', '.ply']);
const VIEW_MS = 100_000;

interface Job {
  source: string;
  name: string;
  up: string;
  size: Size;
  out: string;
}

/** How f3d is to draw the file: what it is given, and how many times its light is made. */
interface Subject {
  file: string;
  look: string[];
  light: number;
}

function subjectOf(source: string, tmp: string): Subject {
  const kind = extname(source).toLowerCase();
  if (kind === '.glb' || kind === '.gltf') return { file: source, look: [], light: 2.2 };
  const copy = kind === '.obj' ? withoutAmbient(source, join(tmp, 'obj')) : null;
  if (copy) return { file: copy, look: [], light: 1.6 };
  return { file: source, look: ['--geometry-only', '--roughness=0.7', `--color=${PLAIN}`], light: 1 };
}

interface Place {
  tmp: string;
  env: NodeJS.ProcessEnv;
}

/** Draws one view as `to`; rejects with what f3d said where it does not. */
async function draw(
  view: string,
  to: string,
  job: Job,
  { file, look, light }: Subject,
  place: Place,
): Promise<void> {
  const { azimuth, elevation } = VIEWS[view]!;
  const raw = join(place.tmp, `${view}.png`);
  const argv = [
    'f3d',
    // Without the user's own settings.
    '--dry-run',
    ...['--output', raw, '--no-background', '--fxaa'],
    `--resolution=${Math.round(job.size.width * LARGER)},${Math.round(job.size.height * LARGER)}`,
    `--up=${job.up}`,
    `--camera-azimuth-angle=${azimuth}`,
    `--camera-elevation-angle=${elevation}`,
    `--camera-view-angle=${VIEW_ANGLE}`,
    // Shadows in the corners cost most of the time, and tell most where it is seen from the corner.
    ...(view === 'iso' ? ['--ssao'] : []),
    ...look,
    file,
  ];
  const said = await runProgram(argv, { env: place.env, timeout_ms: VIEW_MS });
  // It ends well, with a picture of nothing, where it can read nothing.
  const refused = /Cannot |Could not|unable to|ERROR|is not a file/i.test(said.stdout + said.stderr);
  if (said.code !== 0 || refused || !existsSync(raw))
    throw new Error(`f3d could not draw ${job.source}: ${(said.stderr + said.stdout).trim().slice(-500)}`);
  frame(raw, to, job.size, { ground: GROUND, light });
}

/** What is measured; a file that f3d alone can read is drawn without numbers. */
async function measured(source: string): Promise<{ facts: Record<string, unknown>; warnings: string[] }> {
  try {
    const { corners, meshes } = await readMesh(source);
    const facts = meshFacts(measure(corners));
    return { facts: meshes > 1 ? { meshes, ...facts } : facts, warnings: [] };
  } catch (error) {
    return { facts: {}, warnings: [`not_measured: ${source}: ${(error as Error).message}`] };
  }
}

function options() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      source: { type: 'string', default: '' },
      name: { type: 'string', default: '01' },
      views: { type: 'string', default: 'iso' },
      size: { type: 'string', default: '960x720' },
      up: { type: 'string', default: '' },
    },
  });
  const { out, source } = placesFrom(values.source, 'mesh');
  const { name } = values;
  const kind = extname(source).toLowerCase();
  const up = values.up || (Z_UP.has(kind) ? '+Z' : '+Y');
  const asked = viewsFrom(values.views, VIEWS);
  const several = positionals.filter((path) => MESHES.has(extname(path).toLowerCase())).length > 1;
  const job: Job = { source, name, up, size: sizeFrom(values.size), out };
  return { job, views: several ? asked.slice(0, 1) : asked };
}

async function main(): Promise<void> {
  const { job, views } = options();
  const tmp = mkdtempSync(join(tmpdir(), 'mesh-'));
  mkdirSync(join(job.out, 'views'), { recursive: true });
  const nameOf = (view: string) => (view === views[0] ? `${job.name}.png` : `views/${job.name}-${view}.png`);
  const display = await openDisplay();
  try {
    const place = { tmp, env: display.env };
    const subject = subjectOf(job.source, tmp);
    const numbers = measured(job.source);
    await forEachParallel(views, (view) => draw(view, join(job.out, nameOf(view)), job, subject, place));
    const { facts, warnings } = await numbers;
    const about = `${job.up} is up${subject.light > 1 ? ', lit brighter' : ''}`;
    const label = (view: string) =>
      view === views[0] ? `${VIEWS[view]!.label}, ${about}` : VIEWS[view]!.label;
    const report = {
      headline: [basename(job.source), facts['bounding_box']].filter(Boolean).join(': '),
      facts,
      warnings,
      labels: Object.fromEntries(views.map((view) => [nameOf(view), label(view)])),
    };
    writeFileSync(join(job.out, `${job.name}.preview.json`), `${JSON.stringify(report)}\n`);
  } finally {
    display.close();
    rmSync(tmp, { recursive: true, force: true });
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
