// The tiny project that the fault tests record, prepared once as a template and copied for every point,
// and the command lines they use. FAULT_DIST runs the same tests against another build than dist/.
import { execFile } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import { type Command, run } from '../helpers/fault.js';

const dist = resolve(process.env.FAULT_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)));

/** A project, its preview root and its session, and a place for logs outside the root. */
export type Site = { folder: string; project: string; root: string; session: string; log: string };

/** Nothing of the user's configuration, cache or git reaches the programs under test. */
const environment = (project: string): Record<string, string> => ({
  HOME: dirname(project),
  XDG_CACHE_HOME: join(dirname(project), 'cache'),
  XDG_CONFIG_HOME: join(dirname(project), 'config'),
  GIT_CEILING_DIRECTORIES: dirname(project),
  LC_ALL: 'C.UTF-8',
});

/** `plain` has no picture, `fixed` has one that is copied (and a thumb that is made), `drawing` is the built-in svg recipe. */
export type Recipe = 'plain' | 'fixed' | 'drawing';

export type CaptureOptions = { force?: boolean; recipe?: Recipe; lockTimeout_s?: number };

export function capture(
  project: string,
  { force = false, recipe = 'plain', lockTimeout_s }: CaptureOptions = {},
): Command {
  const argv = [process.execPath, join(dist, 'preview.cjs'), 'capture', '--json', '--recipe', recipe];
  if (force) argv.push('--force');
  if (lockTimeout_s !== undefined) argv.push('--lock-timeout', String(lockTimeout_s));
  return { argv, cwd: project, env: environment(project) };
}

export function status(project: string): Command {
  return {
    argv: [process.execPath, join(dist, 'preview.cjs'), 'live', 'status', '--json'],
    cwd: project,
    env: environment(project),
  };
}

export function verify(project: string, session: string): Command {
  return {
    argv: [process.execPath, join(dist, 'previews.cjs'), 'verify', session, '--json'],
    cwd: project,
    env: environment(project),
  };
}

/** A grey PNG, so that the recipe's only work is a `cp`. */
function picture(width: number, height: number): Buffer {
  const chunk = (type: string, body: Buffer): Buffer => {
    const data = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const framed = Buffer.alloc(data.length + 8);
    framed.writeUInt32BE(body.length, 0);
    data.copy(framed, 4);
    framed.writeUInt32BE(crc32(data), data.length + 4);
    return framed;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.concat(
    Array.from({ length: height }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 0x80)])),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** CRC-32 as PNG wants it (ISO 3309); node:zlib has it only from Node 22 on. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const config = {
  software: 'fault-test',
  default_recipe: 'plain',
  recipes: {
    plain: {
      description: 'One file and no picture: the publication is all there is to it',
      sources: ['scene.svg'],
      run: [['cp', '{project}/facts.json', '{out}/facts.json']],
      artifacts: [{ path: 'facts.json', role: 'pipeline-json', label: 'Facts' }],
      timeout_s: 20,
    },
    fixed: {
      description: 'A picture that costs nothing to render',
      sources: ['scene.svg'],
      run: [['cp', '-v', '{project}/fixed.png', '{out}/render.png']],
      artifacts: [{ path: 'render.png', role: 'hero', label: 'Fixed' }],
      facts: [{ name: 'picture', from: 'stdout', match: '(render)\\.png' }],
      timeout_s: 20,
    },
    drawing: {
      description: 'The built-in recipe',
      uses: 'svg',
      sources: ['scene.svg'],
      with: { source: 'scene.svg' },
    },
  },
};

/** A project in `folder`/project; its preview root is not there yet. */
export function makeProject(folder: string): Site {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(
    join(project, 'scene.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="24"><rect width="20" height="10" fill="teal"/></svg>\n',
  );
  writeFileSync(join(project, 'facts.json'), '{"width":32,"height":24}\n');
  writeFileSync(join(project, 'fixed.png'), picture(32, 24));
  writeFileSync(join(project, 'preview.config.json'), `${JSON.stringify(config, null, 2)}\n`);
  // Sources that were written a moment ago are hashed each time; older ones make every run do the same calls.
  const old = new Date(Date.now() - 3_600_000);
  for (const name of ['scene.svg', 'facts.json', 'fixed.png', 'preview.config.json'])
    utimesSync(join(project, name), old, old);
  const root = join(project, '.preview');
  return { folder, project, root, session: join(root, 'session_001'), log: join(folder, 'calls') };
}

/** A project with a session of `steps` steps, each with a bundle of its own. */
export async function makeTemplate(folder: string, steps: number): Promise<Site> {
  const site = makeProject(folder);
  for (let step = 0; step < steps; step++) {
    const outcome = await run(capture(site.project, { force: true }));
    if (outcome.code !== 0)
      throw new Error(`the template's capture: exit ${outcome.code ?? outcome.signal}: ${outcome.stderr}`);
    const session = String((JSON.parse(outcome.stdout) as Record<string, unknown>).session_dir);
    if (session !== site.session)
      throw new Error(`the template's session is ${session}, not ${basename(site.session)}`);
  }
  return site;
}

const copying = promisify(execFile);

/** A copy of a template (or of any site) in a folder of its own. */
export async function copyOf(site: Site, folder: string): Promise<Site> {
  mkdirSync(folder, { recursive: true });
  await copying('cp', ['-a', site.project, `${folder}/`]);
  const at = (path: string): string => path.replace(site.folder, folder);
  return {
    folder,
    project: at(site.project),
    root: at(site.root),
    session: at(site.session),
    log: join(folder, 'calls'),
  };
}
