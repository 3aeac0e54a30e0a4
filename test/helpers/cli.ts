// Runs the built programs as a user would: as child processes with an environment of their own.
// TEST_DIST names another build than dist/.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const DIST = resolve(process.env['TEST_DIST'] ?? join(REPOSITORY, 'dist'));

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  bytes: Buffer;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string | undefined>;
  limit_ms?: number;
}

/** Nothing of the user's settings, of git's, or of vitest's own reaches a program under test. */
export function plainEnv(extra: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  const env = {
    PATH,
    TMPDIR,
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    ...extra,
  };
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

/** Runs argv to its end; a program that does not end in time is killed and fails the test. */
export function run(argv: readonly string[], { cwd, env, limit_ms = 50_000 }: RunOptions): Promise<Outcome> {
  return finish(
    spawn(argv[0]!, argv.slice(1), { cwd, env: plainEnv(env), stdio: ['ignore', 'pipe', 'pipe'] }),
    argv,
    limit_ms,
  );
}

function finish(child: ChildProcess, argv: readonly string[], limit_ms: number): Promise<Outcome> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => out.push(piece));
  child.stderr?.on('data', (piece: Buffer) => err.push(piece));
  return new Promise((done, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${argv.join(' ')} did not end in ${limit_ms} ms`));
    }, limit_ms);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const bytes = Buffer.concat(out);
      done({
        code,
        signal,
        bytes,
        stdout: bytes.toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
      });
    });
  });
}

const program = (name: string) => {
  const file = join(DIST, `${name}.cjs`);
  if (!existsSync(file)) throw new Error(`${file} is not there: build with \`npm run build\` first`);
  return file;
};

export const previewArgv = (...args: string[]): string[] => [process.execPath, program('preview'), ...args];
export const previewsArgv = (...args: string[]): string[] => [process.execPath, program('previews'), ...args];

/** A shell with `$preview` and `$previews` as functions in it, for redirections and pipes. */
export function shell(script: string, options: RunOptions): Promise<Outcome> {
  const functions = `preview() { "$NODE" "$PREVIEW" "$@"; }\npreviews() { "$NODE" "$PREVIEWS" "$@"; }\n`;
  const env = {
    NODE: process.execPath,
    PREVIEW: program('preview'),
    PREVIEWS: program('previews'),
    ...options.env,
  };
  return run(['bash', '-c', functions + script], { ...options, env });
}

/** `preview …` and `previews …` in a folder. */
export const preview = (cwd: string, args: string[], env?: RunOptions['env']): Promise<Outcome> =>
  run(previewArgv(...args), { cwd, env });
export const previews = (cwd: string, args: string[], env?: RunOptions['env']): Promise<Outcome> =>
  run(previewsArgv(...args), { cwd, env });

/** stdout as the one JSON document that it must be, in strict UTF-8. */
export function documentOf(outcome: Outcome): Record<string, any> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(outcome.bytes);
  expect(text, outcome.stderr).toMatch(/^\{.*\}\n$/);
  return JSON.parse(text);
}

/** Runs a command that must succeed and returns its document. */
export async function done(outcome: Promise<Outcome>, code = 0): Promise<Record<string, any>> {
  const got = await outcome;
  expect(`exit ${got.code} ${got.signal ?? ''}${got.code === code ? '' : got.stderr}`).toBe(`exit ${code} `);
  return documentOf(got);
}

/** The error document: the last line of stderr, and nothing on stdout unless something was recorded. */
export function errorOf(outcome: Outcome): { code: string; message: string; hint: string } {
  const line = outcome.stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(line, outcome.stderr).toMatch(/^\{"error":\{/);
  const value = JSON.parse(line);
  expect(Object.keys(value)).toEqual(['error']);
  expect(Object.keys(value.error)).toEqual(['code', 'message', 'hint']);
  for (const text of Object.values(value.error)) expect(typeof text).toBe('string');
  return value.error;
}

type Type = 'string' | 'number' | 'boolean' | 'object' | 'null' | 'strings' | 'objects';

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return typeof value;
  if (value.every((item) => typeof item === 'string')) return 'strings';
  return value.every((item) => typeof item === 'object' && item !== null) ? 'objects' : 'mixed';
}

/** Exact keys and their types: `'string|null'` allows either. An empty array passes as either kind of array. */
export function expectShape(value: unknown, shape: Record<string, string>): void {
  expect(typeOf(value)).toBe('object');
  const object = value as Record<string, unknown>;
  expect(Object.keys(object).sort()).toEqual(Object.keys(shape).sort());
  for (const [key, types] of Object.entries(shape)) {
    const allowed = types.split('|') as Type[];
    const given = object[key];
    const type =
      Array.isArray(given) && given.length === 0 && allowed.includes('objects') ? 'objects' : typeOf(given);
    expect(allowed, `type of ${key}`).toContain(type);
  }
}

/** Waits for a condition, looking every few milliseconds; throws after the deadline. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  deadline_ms = 20_000,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadline_ms;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (performance.now() > end) throw new Error(`${what}: not within ${deadline_ms} ms`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}
