// What the tests of built-in recipes share: whether the real program is there, one capture with a recipe, and a look
// at the picture it made.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PNG } from 'pngjs';
import { describe, expect, vi } from 'vitest';
import { documentOf, previewArgv, previews, run } from '../helpers/cli.js';
import { readJson } from '../helpers/tamper.js';

/** Real programs on a busy machine: long enough that only one that hangs fails. */
const LIMIT_MS = 240_000;
vi.setConfig({ testTimeout: LIMIT_MS });

/** Whether a program lies on PATH. */
export const has = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder of PATH.
      return false;
    }
  });

/**
 * `describe` for tests that need real programs: package name to program on PATH, or to a file by its absolute path.
 * Where one is missing they are skipped, and their title says which package brings it.
 */
export function withPrograms(title: string, programs: Record<string, string>, tests: () => void): void {
  const missing = Object.entries(programs)
    .filter(([, program]) => !(program.startsWith('/') ? existsSync(program) : has(program)))
    .map(([debian]) => debian);
  const says = missing.length === 0 ? title : `${title} (skipped: install ${missing.join(', ')} to run them)`;
  if (missing.length > 0) console.warn(says);
  describe.skipIf(missing.length > 0)(says, tests);
}

export interface Captured {
  result: Record<string, any>;
  manifest: Record<string, any>;
  summary: Record<string, any>;
  facts: Record<string, any>;
  artifacts: Record<string, any>[];
  /** The artifacts of one role. */
  of(role: string): Record<string, any>[];
  /** The absolute path of an artifact. */
  file(artifact: Record<string, any>): string;
}

/** `preview capture --recipe NAME --json` in a project; what was recorded is verified by `previews verify`. */
export async function captureWith(
  project: string,
  recipe: string,
  options: { args?: string[]; env?: Record<string, string | undefined>; code?: number } = {},
): Promise<Captured> {
  const { args = [], env, code = 0 } = options;
  const argv = previewArgv('capture', '--recipe', recipe, '--json', ...args);
  const outcome = await run(argv, { cwd: project, env, limit_ms: LIMIT_MS });
  const result = documentOf(outcome);
  const log = () => {
    const said = readJson(result['manifest_path']).artifacts.find((artifact: any) => artifact.role === 'log');
    return said ? readFileSync(join(result['bundle_dir'], said.path), 'utf8').slice(-2000) : outcome.stderr;
  };
  if (outcome.code !== code)
    expect.fail(`exit ${outcome.code} instead of ${code}: ${JSON.stringify(result['warnings'])}\n${log()}`);
  const verified = documentOf(await previews(project, ['verify', '--json']));
  expect(verified).toMatchObject({ ok: true, problems: [] });
  const manifest = readJson(result['manifest_path']);
  const summary = readJson(result['summary_path']);
  const artifacts: Record<string, any>[] = manifest['artifacts'];
  const bytes = artifacts.reduce((sum, artifact) => sum + artifact['bytes'], 0);
  expect(bytes, 'bytes of the bundle').toBeLessThan(25 * 1024 * 1024);
  return {
    result,
    manifest,
    summary,
    facts: summary['facts'],
    artifacts,
    of: (role) => artifacts.filter((artifact) => artifact['role'] === role),
    file: (artifact) => join(result['bundle_dir'], artifact['path']),
  };
}

export interface Picture {
  width: number;
  height: number;
  /** Share of the pixels that differ clearly from the top left one, the background. */
  inked: number;
  /** How far what is drawn reaches, as shares of width and height: 1 fills the picture. */
  reach: { x: number; y: number };
  /** How many different colours there are, counted coarsely (32 a channel): a shaded body has many. */
  colours: number;
  pixels: Buffer;
}

/** Looks at a PNG. */
export function look(path: string): Picture {
  const { width, height, data } = PNG.sync.read(readFileSync(path));
  const seen = new Set<number>();
  let inked = 0;
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let at = 0, n = 0; n < width * height; n++, at += 4) {
    seen.add(((data[at]! >> 3) << 10) | ((data[at + 1]! >> 3) << 5) | (data[at + 2]! >> 3));
    const off = [0, 1, 2, 3].some((channel) => Math.abs(data[at + channel]! - data[channel]!) > 24);
    if (!off) continue;
    inked++;
    const [x, y] = [n % width, Math.floor(n / width)];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return {
    width,
    height,
    inked: inked / (width * height),
    reach: { x: Math.max(0, right - left + 1) / width, y: Math.max(0, bottom - top + 1) / height },
    colours: seen.size,
    pixels: data,
  };
}

/** A PATH on which some programs are missing: links to everything else that is on the present one. */
export const hide = async (folder: string, programs: string[]): Promise<string> => {
  const { mkdirSync, readdirSync, symlinkSync } = await import('node:fs');
  mkdirSync(folder, { recursive: true });
  for (const dir of (process.env['PATH'] ?? '').split(delimiter).filter((entry) => existsSync(entry)))
    for (const name of readdirSync(dir))
      if (!programs.includes(name) && !existsSync(join(folder, name)))
        symlinkSync(join(dir, name), join(folder, name));
  return folder;
};
