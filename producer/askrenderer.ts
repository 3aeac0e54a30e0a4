// Asking one of our own renderers about untrusted pictures: a child that prints one line of JSON.
import { join } from 'node:path';
import { isObject, type JsonObject } from '../src/json.js';
import { RENDERERS } from './config.js';
import { type Outcome, type RunOptions, runCommand } from './process.js';

export interface Answer {
  report: JsonObject;
  /** Why there is no report, in the renderer's last words; else null. */
  failure: string | null;
}

const TIMEOUT_MS = 60_000;

interface Asking {
  cwd: string;
  signal?: AbortSignal | undefined;
}

/** Runs `dist/renderers/NAME.cjs` in `cwd` and reads its answer. An abort ends it. */
export async function askRenderer(name: string, args: readonly string[], asking: Asking): Promise<Answer> {
  return answerOf(await runCommand(argvOf(name, args), optionsFor(asking)));
}

/** A renderer that can be started before it is known what it shall look at, so that its start costs no time then. */
export interface Waiting {
  /** Starts it, once. */
  begin(): void;
  ask(args: readonly string[]): Promise<Answer>;
  /** Ends one that is not needed after all. */
  drop(): void;
}

/** Of `dist/renderers/NAME.cjs --wait`, which reads its arguments as a line of JSON. */
export function waitingRenderer(name: string, asking: Asking): Waiting {
  let tell: (text: string) => void = () => {};
  const input = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const stop = new AbortController();
  const signal = asking.signal ? AbortSignal.any([asking.signal, stop.signal]) : stop.signal;
  let run: Promise<Outcome> | undefined;
  const begin = () => {
    run ??= runCommand(argvOf(name, ['--wait']), { ...optionsFor({ ...asking, signal }), input });
    return run;
  };
  return {
    begin,
    async ask(args) {
      tell(`${JSON.stringify(args)}\n`);
      return answerOf(await begin());
    },
    drop: () => stop.abort(),
  };
}

const argvOf = (name: string, args: readonly string[]) => [
  process.execPath,
  join(RENDERERS, `${name}.cjs`),
  ...args,
];

function optionsFor({ cwd, signal }: Asking): RunOptions {
  const env = { ...process.env };
  // It needs no certificates, whose parsing would double its start.
  delete env['NODE_EXTRA_CA_CERTS'];
  return { cwd, env, timeout_ms: TIMEOUT_MS, signal, one_line: true };
}

function answerOf(run: Outcome): Answer {
  if (run.timed_out) return { report: {}, failure: `it took longer than ${TIMEOUT_MS / 1000} s` };
  if (run.exit_code !== 0)
    return { report: {}, failure: run.stderr.trim().split('\n').at(-1) || `it was ended by ${run.signal}` };
  return { report: parsed(run.stdout), failure: null };
}

function parsed(stdout: string): JsonObject {
  try {
    const value: unknown = JSON.parse(stdout);
    return isObject(value) ? value : {};
  } catch {
    // SyntaxError: cut off.
    return {};
  }
}
