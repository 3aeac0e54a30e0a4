// Runs a program with a fault at one of its file calls: builds test/fault/preload.c, counts the calls under
// a directory, and kills, stops or fails the program at a chosen one. What must hold afterwards is not
// decided here but in test/fault/invariants.ts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../fault/preload.c', import.meta.url));

export type Action =
  | `${'kill' | 'stop'}-${'before' | 'after'}`
  | 'kill-short'
  | 'short'
  | 'short-seen'
  | 'short-read'
  | `short-then-${string}`
  | `errno:${string}`
  | `errno+:${string}`
  | `full:${string}`;

/** One counted call: `kind` is `w` where it changes (or makes durable) what is on disk. Paths are relative to the root. */
export type Call = {
  index: number;
  kind: 'r' | 'w';
  name: string;
  path: string;
  to: string;
  bytes: number;
  /** What it returned; null where the program ended in it. */
  result: number | null;
  error: string;
};

export type Command = { argv: string[]; cwd: string; env?: Record<string, string | undefined> };

export type Fault = { at: number; action: Action; bytes?: number };

export type Outcome = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  elapsed_ms: number;
  /** True where the program had to be killed because it did not end in time. */
  hung: boolean;
  calls: Call[];
  /** The call that the fault hit, if it came that far. */
  fired: Call | null;
};

export type Running = {
  pid: number;
  done: Promise<Outcome>;
  /** Resolves to true once the program is stopped by its fault, to false if it ended without. */
  stopped: () => Promise<boolean>;
  resume: () => void;
};

/** Why this machine can't run fault tests, or null. */
export function skipReason(): string | null {
  if (process.platform !== 'linux') return `fault injection needs Linux, this is ${process.platform}`;
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
  } catch {
    return 'gcc is missing (apt-get install gcc libc6-dev)';
  }
  return null;
}

/** Compiles the preload library once per version of its source and returns its path. */
export function buildPreload(): string {
  const key = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `preview-fault-preload-${process.getuid?.() ?? 0}`);
  const library = join(folder, `${key}.so`);
  if (existsSync(library)) return library;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Test files start at the same time: each compiles its own, and the rename makes one of them the library.
  const own = join(folder, `${key}.${process.pid}.so`);
  execFileSync('gcc', ['-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', own, source, '-ldl'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  renameSync(own, library);
  return library;
}

/** A directory of this test's own. `FAULT_KEEP=1` keeps it, with the cases that failed in it. */
export function scratch(): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'preview-fault-')));
  const remove = (): void => {
    if (process.env.FAULT_KEEP !== '1') rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  return { path, remove };
}

/** Waits for a condition, looking every few milliseconds; throws after the deadline. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { deadline_ms, what = 'the condition' }: { deadline_ms: number; what?: string },
): Promise<NonNullable<T>> {
  const end = performance.now() + deadline_ms;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (performance.now() > end) throw new Error(`${what} did not come true in ${deadline_ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

const names = new Map(Object.entries(constants.errno).map(([name, value]) => [value, name]));

/** Reads a log that the preload library wrote; unfinished calls keep `result: null`. */
export function readLog(file: string): { calls: Call[]; fired: Call | null } {
  const calls: Call[] = [];
  let fired: Call | null = null;
  if (!existsSync(file)) return { calls, fired };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    if (line.startsWith('!')) {
      fired = calls[Number(line.slice(1)) - 1] ?? null;
    } else if (line.startsWith('=')) {
      const [index, result, error] = line.slice(1).split('\t');
      const call = calls[Number(index) - 1];
      if (call) Object.assign(call, { result: Number(result), error: names.get(Number(error)) ?? '' });
    } else {
      const [index, kind, name, path, to, bytes] = line.split('\t') as [
        string,
        'r' | 'w',
        string,
        string,
        string,
        string,
      ];
      calls[Number(index) - 1] = {
        index: Number(index),
        kind,
        name,
        path,
        to,
        bytes: Number(bytes),
        result: null,
        error: '',
      };
    }
  }
  return { calls, fired };
}

/** The environment of every program under test: nothing of the machine's or of vitest's own that could change or slow it. */
export function plainEnv(extra: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (
      /^(NODE_|VITEST|VITE_|PREVIEW_|FAULT_|GIT_|LD_PRELOAD|TEST$|DEV$|PROD$|MODE$|BASE_URL$|SSR$)/.test(name)
    )
      continue;
    env[name] = value;
  }
  return { ...env, UV_USE_IO_URING: '0', ...extra };
}

function collect(child: ChildProcess, log: string | null, limit_ms: number): Promise<Outcome> {
  const began = performance.now();
  let stdout = '';
  let stderr = '';
  let hung = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, limit_ms);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    // `exit`, not `close`: a renderer that outlives its killed parent keeps the pipes open. What the program
    // itself wrote is there by the time of the next turn, so wait for the pipes too, but only for a moment.
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      const patience = setTimeout(() => end(), 2000);
      const end = (): void => {
        clearTimeout(patience);
        child.stdout?.destroy();
        child.stderr?.destroy();
        const elapsed_ms = performance.now() - began;
        resolve({
          code,
          signal,
          stdout,
          stderr,
          elapsed_ms,
          hung,
          ...(log ? readLog(log) : { calls: [], fired: null }),
        });
      };
      child.on('close', end);
    });
  });
}

/** Runs a command as it is, without the preload library. */
export function run(command: Command, { limit_ms = 60_000 } = {}): Promise<Outcome> {
  const child = spawn(command.argv[0]!, command.argv.slice(1), {
    cwd: command.cwd,
    env: plainEnv(command.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return collect(child, null, limit_ms);
}

/** Starts a command with its calls under `root` counted and, where `fault` is given, that fault. `log` must not lie in `root`. */
export function start(
  command: Command,
  { root, log, fault, limit_ms = 60_000 }: { root: string; log: string; fault?: Fault; limit_ms?: number },
): Running {
  const mark = `${log}.mark`;
  rmSync(log, { force: true });
  rmSync(mark, { force: true });
  const child = spawn(command.argv[0]!, command.argv.slice(1), {
    cwd: command.cwd,
    env: plainEnv({
      ...command.env,
      LD_PRELOAD: buildPreload(),
      FAULT_ROOT: root,
      FAULT_LOG: log,
      FAULT_MARK: mark,
      ...(fault ? { FAULT_AT: String(fault.at), FAULT_ACTION: fault.action } : {}),
      ...(fault?.bytes === undefined ? {} : { FAULT_BYTES: String(fault.bytes) }),
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const done = collect(child, log, limit_ms);
  let ended = false;
  void done.then(
    () => {
      ended = true;
    },
    () => {
      ended = true;
    },
  );
  const pid = child.pid ?? 0;
  return {
    pid,
    done,
    stopped: async () => {
      await until(() => ended || (existsSync(mark) && processState(pid) === 'T'), {
        deadline_ms: limit_ms,
        what: `the stop of process ${pid}`,
      });
      return !ended;
    },
    resume: () => {
      child.kill('SIGCONT');
    },
  };
}

/** Runs a command to its end with a fault at call `at`. */
export function runWithFault(
  command: Command,
  options: { root: string; log: string; fault: Fault; limit_ms?: number },
): Promise<Outcome> {
  return start(command, options).done;
}

/** A dry run: every call the command makes under `root`. */
export async function countCalls(
  command: Command,
  options: { root: string; log: string },
): Promise<{ calls: Call[]; outcome: Outcome }> {
  const outcome = await start(command, options).done;
  return { calls: outcome.calls, outcome };
}

/** The state letter of a process in /proc (`T` is stopped), or '' when it is gone. */
export function processState(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2, text.lastIndexOf(')') + 3);
  } catch {
    // ENOENT or ESRCH: no such process any more.
    return '';
  }
}
