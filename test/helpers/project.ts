// Small projects and sessions to record and to read, each in a temporary directory of its own.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { type BundleInput, openSession, type PublishOptions, publish } from '../../src/index.js';
import type { OpenOptions, OpenSession, Recorded } from '../../src/session.js';

const made: string[] = [];

afterAll(removeAll);

/** A directory of a test's own, taken away when its file's tests are over. */
export function temporary(name = 'preview-test-'): string {
  const path = realpathSync(mkdtempSync(join(roomInMemory() ? '/dev/shm' : tmpdir(), name)));
  made.push(path);
  return path;
}

/** Thousands of fsyncs cost nothing in memory. A container's 64 MB of it would not do. */
function roomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > 512 * 1024 * 1024;
  } catch {
    // ENOENT: not on Linux.
    return false;
  }
}

function removeAll(): void {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}

export const svg = (fill = 'teal', width = 32, height = 24): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="20" height="10" fill="${fill}"/></svg>\n`;

/** A grey PNG with a square of another grey in its middle: no picture that a warning would call blank. */
export function png(width = 32, height = 24, grey = 0x80): Buffer {
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
  const row = Buffer.alloc(width + 1, grey);
  row[0] = 0;
  const marked = Buffer.from(row).fill(
    (grey + 64) % 256,
    1 + Math.floor(width / 3),
    1 + Math.ceil((width * 2) / 3),
  );
  const isMiddle = (y: number) => y >= Math.floor(height / 3) && y < Math.ceil((height * 2) / 3);
  const rows = Buffer.concat(Array.from({ length: height }, (_, y) => (isMiddle(y) ? marked : row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
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

/** Writes files below a folder; values are their contents. */
export function write(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Recipes that need no renderer but `cp` and `sh`. `copy` brings its own thumb, so that no picture has to be finished. */
export const RECIPES = {
  copy: {
    description: 'The picture as it lies there',
    sources: ['a.png'],
    run: [
      ['cp', '{project}/a.png', '{out}/render.png'],
      ['cp', '{project}/a.png', '{out}/thumb.png'],
    ],
    artifacts: [
      { path: 'render.png', role: 'hero', label: 'Picture' },
      { path: 'thumb.png', role: 'thumb' },
    ],
    timeout_s: 20,
  },
  fail: {
    sources: ['a.png'],
    run: [['sh', '-c', 'echo half; echo the wheel came off >&2; exit 3']],
    artifacts: [{ path: 'render.png', role: 'hero' }],
  },
  missing: {
    sources: ['a.png'],
    run: [['no-such-renderer-anywhere', '{out}/render.png']],
    artifacts: [{ path: 'render.png', role: 'hero' }],
  },
} as const;

export const config = (recipes: Record<string, unknown> = RECIPES): Record<string, unknown> => ({
  software: 'test',
  default_recipe: Object.keys(recipes)[0],
  recipes,
});

/** A project with a picture and a config; returns its folder. */
export function makeProject(
  parent: string = temporary(),
  recipes: Record<string, unknown> = RECIPES,
): string {
  const folder = join(parent, 'project');
  write(folder, { 'a.png': png(), 'preview.config.json': JSON.stringify(config(recipes), null, 2) });
  return folder;
}

/** What one published step holds unless told otherwise: a picture, a text, facts and a source file. */
export const bundleOf = (n: number, more: Partial<BundleInput> = {}): BundleInput => ({
  headline: `Picture ${n}`,
  facts: { number: n },
  software: 'test',
  recipe: 'copy',
  source_fingerprint: `sha256:${String(n).padStart(64, '0')}`,
  artifacts: [
    { content: png(8, 8, n % 256), role: 'hero', name: 'picture.png', label: 'Picture' },
    { content: `report ${n}\n`, role: 'render-output', name: 'report.txt' },
  ],
  ...more,
});

export interface Recording {
  root: string;
  session: OpenSession;
  dir: string;
  steps: Recorded[];
}

/** A session with `count` steps, published through the library. */
export async function recordSession(
  count: number,
  options: OpenOptions & { each?: (n: number) => [Partial<BundleInput>, PublishOptions] } = {},
): Promise<Recording> {
  const { each, ...open } = options;
  const root = open.root ?? join(temporary(), '.preview');
  const session = await openSession({ env: {}, ...open, root });
  const steps: Recorded[] = [];
  for (let n = 1; n <= count; n++) {
    const [bundle, how] = each?.(n) ?? [{}, {}];
    steps.push(await publish(session, bundleOf(n, bundle), { command: `draw ${n}`, ...how }));
  }
  return { root, session, dir: session.dir, steps };
}

/** Every entry below a folder with its content (a link with its target), for comparing before and after. */
export function snapshot(dir: string): Record<string, string> {
  const all: Record<string, string> = {};
  const look = (folder: string, prefix: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isSymbolicLink()) all[prefix + name] = `-> ${readlinkSync(path)}`;
      else if (stat.isDirectory()) {
        all[`${prefix + name}/`] = '';
        look(path, `${prefix + name}/`);
      } else all[prefix + name] = readFileSync(path, 'latin1');
    }
  };
  look(dir, '');
  return all;
}

/** Makes everything below a folder writable for its owner, as after a checkout by git. */
export function thaw(dir: string): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) continue;
    chmodSync(path, stat.isDirectory() ? 0o755 : 0o644);
    if (stat.isDirectory()) thaw(path);
  }
}
