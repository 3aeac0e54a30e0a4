// The built programs as child processes, for tests that need signals, other users, or several at once.
// PREVIEW_DIST (else FAULT_DIST, else dist/) names the build under test.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainEnv, until } from './fault.js';

export { scratch, until } from './fault.js';

export const dist = resolve(
  process.env.PREVIEW_DIST ?? process.env.FAULT_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)),
);

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** stdout's bytes, where their encoding is what is tested. */
  bytes: Buffer;
};

export type Options = {
  cwd: string;
  env?: Record<string, string | undefined>;
  /** Bytes for stdin; without them it is empty. */
  input?: string | Buffer;
  limit_ms?: number;
};

export type Child = {
  pid: number;
  done: Promise<Ended>;
  ended: () => boolean;
  kill: (signal: NodeJS.Signals) => void;
  /** What it has printed so far. */
  out: () => string;
};

/** Starts a program with nothing of the machine's environment that could change or slow it. A child that outlives its limit is killed. */
export function start(argv: readonly string[], { cwd, env = {}, input, limit_ms = 90_000 }: Options): Child {
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env: plainEnv({ GIT_CEILING_DIRECTORIES: '/', LC_ALL: 'C.UTF-8', ...env }),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout!.on('data', (piece: Buffer) => out.push(piece));
  child.stderr!.on('data', (piece: Buffer) => err.push(piece));
  child.stdin?.on('error', () => {
    // EPIPE: the program did not want its input.
  });
  child.stdin?.end(input);
  let ended = false;
  const text = (pieces: Buffer[]) => Buffer.concat(pieces).toString('utf8');
  const timer = setTimeout(() => child.kill('SIGKILL'), limit_ms);
  const done = new Promise<Ended>((fulfil, reject) => {
    child.on('error', reject);
    child.on('exit', () => {
      ended = true;
      clearTimeout(timer);
      // What is left of a killed program's children may hold the pipes; what it wrote itself is here by then.
      setTimeout(() => child.stdout!.destroy(), 3000).unref();
      setTimeout(() => child.stderr!.destroy(), 3000).unref();
    });
    child.on('close', (code, signal) =>
      fulfil({ code, signal, stdout: text(out), stderr: text(err), bytes: Buffer.concat(out) }),
    );
  });
  return {
    pid: child.pid ?? 0,
    done,
    ended: () => ended,
    kill: (signal) => void child.kill(signal),
    out: () => text(out),
  };
}

export const run = (argv: readonly string[], options: Options): Promise<Ended> => start(argv, options).done;

export const previewArgv = (...args: string[]): string[] => [
  process.execPath,
  join(dist, 'preview.cjs'),
  ...args,
];
export const previewsArgv = (...args: string[]): string[] => [
  process.execPath,
  join(dist, 'previews.cjs'),
  ...args,
];
export const preview = (cwd: string, ...args: string[]): Promise<Ended> => run(previewArgv(...args), { cwd });
export const previews = (cwd: string, ...args: string[]): Promise<Ended> =>
  run(previewsArgv(...args), { cwd });

export type Result = {
  session_dir: string;
  bundle_dir: string;
  bundle_id: string;
  manifest_path: string;
  render: string | null;
  step_id: string;
  status: string;
  cached: boolean;
  warnings: string[];
};

/** The JSON result of a command that must have ended with `code`. */
export function resultOf(ended: Ended, code = 0): Result {
  if (ended.code !== code)
    throw new Error(`exit ${ended.code ?? ended.signal}, expected ${code}: ${ended.stderr.slice(-600)}`);
  return JSON.parse(ended.stdout) as Result;
}

/** The error document that `--json` leaves as the last line of stderr. */
export function errorOf(ended: Ended): { code: string; message: string; hint: string } {
  const line = ended.stderr.trimEnd().split('\n').at(-1) ?? '';
  try {
    return (JSON.parse(line) as { error: { code: string; message: string; hint: string } }).error;
  } catch {
    throw new Error(
      `the last line of stderr is no error document (exit ${ended.code ?? ended.signal}): ${ended.stderr.slice(-600)}`,
    );
  }
}

/** A raw fault that got through to the user: a stack, or a library's own word for it. */
export const isRaw = (text: string): boolean =>
  /^\s+at .+:\d+:\d+\)?$/m.test(text) || /node:internal|Uncaught|Unhandled|ELOCKED|ECOMPROMISED/.test(text);

/** `previews verify` of a session must find nothing; returns what it says. */
export async function verifyClean(
  session: string,
): Promise<{ steps: number; bundles: number; pending: number }> {
  const ended = await previews(session, 'verify', session, '--json');
  if (ended.code !== 0)
    throw new Error(
      `verify: exit ${ended.code ?? ended.signal}: ${ended.stdout.slice(0, 1500)} ${ended.stderr.slice(-600)}`,
    );
  return JSON.parse(ended.stdout) as { steps: number; bundles: number; pending: number };
}

/** A helper script that talks in lines: it prints what it has done, and goes on when a file appears. */
export type Helper = Child & {
  /** Waits for a line that begins with `word` and returns what follows. */
  said: (word: string, deadline_ms?: number) => Promise<string>;
  lines: () => string[];
};

/** Runs `source` (CommonJS) in a process of its own; `argv` is what it finds behind its name. */
export function script(
  folder: string,
  name: string,
  source: string,
  argv: string[] = [],
  options: Partial<Options> & { prefix?: string[] } = {},
): Helper {
  const file = join(folder, `${name}.cjs`);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== source) writeFileSync(file, source);
  const child = start([...(options.prefix ?? []), process.execPath, file, ...argv], {
    cwd: folder,
    ...options,
  });
  const lines = () => child.out().split('\n').slice(0, -1);
  const said = async (word: string, deadline_ms = 30_000): Promise<string> => {
    const find = () => lines().find((line) => line === word || line.startsWith(`${word} `));
    await until(() => find() !== undefined || child.ended(), { deadline_ms, what: `${name} says ${word}` });
    const line = find();
    if (line !== undefined) return line.slice(word.length + 1);
    const { code, signal, stderr } = await child.done;
    throw new Error(`${name} ended (${code ?? signal}) without saying ${word}: ${stderr.slice(-600)}`);
  };
  return { ...child, said, lines };
}

/** Runs `work` on every item, `size` at a time. */
export async function pool<T>(
  items: readonly T[],
  size: number,
  work: (item: T, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      await work(items[at]!, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(size, items.length) }, worker));
}

const CLOCK = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
/* The wall clock FAKE_OFFSET_S seconds away from the true one, and FAKE_STEP_S further with each look. */
static long long ahead(void) {
  static long long steps;
  const char *offset = getenv("FAKE_OFFSET_S"), *step = getenv("FAKE_STEP_S");
  return (offset ? atoll(offset) : 0) + (step ? atoll(step) * steps++ : 0);
}
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
  return result;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
`;

/** Builds a library that sets a child's wall clock; its environment: FAKE_OFFSET_S, FAKE_STEP_S. */
export function fakeClock(folder: string): (offset_s: number, step_s?: number) => Record<string, string> {
  const source = join(folder, 'clock.c');
  const library = join(folder, 'clock.so');
  writeFileSync(source, CLOCK);
  execFileSync('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (offset_s, step_s = 0) => ({
    LD_PRELOAD: library,
    FAKE_OFFSET_S: String(offset_s),
    FAKE_STEP_S: String(step_s),
  });
}

/**
 * CommonJS that makes a process stop itself at `point` of a publication, once, saying \`stopped POINT\`: before-heal,
 * before-bundle, after-bundle, before-write, before-head, after-head, after-append.
 */
export const STOPPER = (point: string): string => `
const fs = require('node:fs');
{
  let armed = true;
  const at = (where) => {
    if (!armed || where !== ${JSON.stringify(point)}) return;
    armed = false;
    console.log('stopped ' + where);
    process.kill(process.pid, 'SIGSTOP');
  };
  const { renameSync, openSync, writeSync } = fs;
  const fds = new Set();
  const kind = (from, to) => /\\/bundle_\\d+$/.test(to) ? 'bundle' : /\\/session\\.json$/.test(to) && /\\/lock\\//.test(from) ? 'head' : '';
  fs.renameSync = (from, to) => {
    const what = kind(String(from), String(to));
    if (what) at('before-' + what);
    renameSync(from, to);
    if (what) at('after-' + what);
  };
  fs.openSync = (path, flags, mode) => {
    const trajectory = (flags === 'r+' || (flags & 3) === 2) && /\\/trajectory\\.json$/.test(String(path));
    if (trajectory) at('before-heal');
    if (/\\/lock\\/.*\\/session\\.json$/.test(String(path))) at('before-write');
    const fd = openSync(path, flags, mode);
    if (trajectory) fds.add(fd);
    return fd;
  };
  fs.writeSync = (fd, ...rest) => {
    const done = writeSync(fd, ...rest);
    if (fds.has(fd)) at('after-append');
    return done;
  };
}
`;
