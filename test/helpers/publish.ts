// Small projects and sessions for fault tests, and the library's internals (lock, commit, trajectory) as one
// file that a helper process can drive step by step.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readRecorded } from '../fault/invariants.js';

export type Json = Record<string, any>;

/** A project in `folder` with recipes that cost next to nothing: each step shows a text. */
export type Site = { project: string; root: string; session: string };

const text = { path: 'render.txt', role: 'render-output' };
const sh = (body: string): string[] => ['sh', '-c', body, 'renderer', '{out}', '{project}'];

/**
 * `plain` keeps scene.txt, without a renderer; `slow` says that it runs (file `started`, holding its pid) and waits for `go`;
 * `failing` prints bytes that are no text and fails.
 */
export const recipes = {
  plain: {
    sources: ['scene.txt'],
    artifacts: [{ path: '{project}/scene.txt', role: 'render-output' }],
  },
  slow: {
    sources: ['scene.txt'],
    run: [
      sh(
        'cat "$2/scene.txt" > "$1/render.txt"; echo $$ > "$2/started.tmp"; mv "$2/started.tmp" "$2/started"; until [ -e "$2/go" ]; do sleep 0.02; done',
      ),
    ],
    artifacts: [text],
    timeout_s: 50,
  },
  failing: {
    sources: ['scene.txt'],
    run: [sh('cat "$2/output.bin"; exit 3')],
    artifacts: [text],
  },
};

export function makeProject(folder: string, more: Json = {}): Site {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'scene.txt'), 'one\n');
  const config = { software: 'fault-test', default_recipe: 'plain', recipes: { ...recipes, ...more } };
  writeFileSync(join(project, 'preview.config.json'), `${JSON.stringify(config, null, 1)}\n`);
  const root = join(project, '.preview');
  return { project, root, session: join(root, 'session_001') };
}

const repo = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** Bundles the internals of src/ into `folder`/internals.cjs and returns its path. */
export async function internals(folder: string): Promise<string> {
  const outfile = join(folder, 'internals.cjs');
  const names = [
    'lock',
    'commit',
    'session',
    'owner',
    'processes',
    'bundle',
    'clock',
    'trajectory',
    'publish',
    'disk',
    'hash',
    'read',
    'step',
    'verify',
  ];
  await build({
    stdin: {
      contents: names.map((name) => `export * from './src/${name}.ts';`).join('\n'),
      resolveDir: repo,
    },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

export const sha256 = (bytes: string | Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Hash of each file under `dir` but those in `.work`, by relative name: two equal states are the same to a byte. */
export function contentOf(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dir.length + 1);
    if (name.split('/').includes('.work') || !entry.isFile()) continue;
    found[name] = sha256(readFileSync(path));
  }
  return found;
}

export const headOf = (session: string): Json =>
  JSON.parse(readFileSync(join(session, 'session.json'), 'utf8')) as Json;
export const stepsOf = (session: string): Json[] => {
  const { steps, problems } = readRecorded(session);
  if (problems.length > 0) throw new Error(`the session is unsound: ${problems.join('; ')}`);
  return steps;
};

/** What lies in a folder's `.work` besides the empty lock. */
export const leftInWork = (dir: string): string[] =>
  readdirSync(join(dir, '.work'), { recursive: true, encoding: 'utf8' }).filter((name) => name !== 'lock');

/**
 * Lengthens a session of at least one step to `count` steps by cached ones, as a publisher would have written them
 * (same line form, same chain), and lets its head follow.
 */
export function seedSteps(session: string, count: number): void {
  const head = headOf(session);
  const { lines } = readRecorded(session);
  let previous = sha256(lines.at(-1)!);
  let step = JSON.parse(lines.at(-1)!) as Json;
  for (let index = lines.length + 1; index <= count; index++) {
    step = {
      ...step,
      step_id: `step-${String(index).padStart(4, '0')}`,
      step_index: index,
      prev_sha256: previous,
      cached: true,
    };
    const line = JSON.stringify(step);
    lines.push(line);
    previous = sha256(line);
  }
  const content = `[\n${lines.join(',\n')}\n]\n`;
  writeFileSync(join(session, 'trajectory.json'), content);
  const next = {
    ...head,
    current_step_id: step.step_id,
    current_cached: step.cached,
    trajectory_step_count: lines.length,
    trajectory_bytes: Buffer.byteLength(content) - 3,
    trajectory_sha256: previous,
    latest_step: step,
    history: [{ step_id: step.step_id, step_index: step.step_index }],
  };
  writeFileSync(join(session, 'session.json'), `${JSON.stringify(next, null, 1)}\n`);
}
