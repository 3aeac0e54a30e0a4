// What our renderers share that drive other programs: starting one, saying in words why it failed, and ending with it.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { cutText, neutralise } from '../../src/text.js';

/** Why nothing can be shown, in words for whoever works on the project. */
export type Failure = { failure: string };
export const failure = (words: string): Failure => ({ failure: words });
const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && 'failure' in value;

export type Ended = { code: number; stdout: string; stderr: string };
export type StartOptions = { cwd?: string; env?: NodeJS.ProcessEnv };

const OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs a program to its end, whatever its exit code; one that a signal ended has 128. Throws a `Failure` where it is not there. */
export function start(argv: readonly string[], { cwd, env }: StartOptions = {}): Promise<Ended> {
  const [program, ...args] = argv as [string, ...string[]];
  const options = { cwd, env, maxBuffer: OUTPUT_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(failure(`${program} is not installed`));
      else if (typeof error?.code === 'string') reject(failure(`${program}: ${error.message}`));
      else resolve({ code: error ? (error.code ?? 128) : 0, stdout, stderr });
    });
  });
}

/** As `start`, but a program that fails is a `Failure` with its own last words. */
export async function must(argv: readonly string[], options?: StartOptions): Promise<Ended> {
  const ended = await start(argv, options);
  if (ended.code === 0) return ended;
  const last =
    `${ended.stdout}\n${ended.stderr}`
      .trim()
      .split(/[\r\n]/)
      .at(-1) ?? '';
  throw failure(`${argv[0]} ended with exit code ${ended.code}: ${last}`);
}

/** Does `work` for every item, as many at a time as there are cores, and keeps the order. */
export async function each<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>) {
  const done: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++)
      done[index] = await work(items[index]!, index);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker));
  return done;
}

/** Runs a renderer's `main`; what it throws as a `Failure` is said on standard error, and the exit code is 1. */
export function renderer(name: string, main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    if (!isFailure(error)) throw error;
    process.stderr.write(`${name}: ${neutralise(cutText(error.failure, 2000))}\n`);
    process.exitCode = 1;
  });
}
