// What our renderers share that drive other programs: starting one, saying in words why it failed, and ending with it.
import { cutText, neutralise } from '../../src/text.js';
import { runProgram } from './child.js';
import { isUnreadable } from './xml.js';

/** Why nothing can be shown, in words for whoever works on the project. */
export type Failure = { failure: string };
export const failure = (words: string): Failure => ({ failure: words });
const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && 'failure' in value;

export type Ended = { code: number; stdout: string; stderr: string };
export type StartOptions = { cwd?: string; env?: NodeJS.ProcessEnv };

/** No bound of ours: the capture ends its renderer, with all that it started, when its time is up. */
const UNBOUNDED_MS = 24 * 3600 * 1000;

/** Runs a program to its end, whatever its exit code; one that a signal ended has 128. Throws a `Failure` where it is not there. */
export async function start(argv: readonly string[], options: StartOptions = {}): Promise<Ended> {
  try {
    const { code, stdout, stderr } = await runProgram(argv, { ...options, timeout_ms: UNBOUNDED_MS });
    return { code: code ?? 128, stdout, stderr };
  } catch (error) {
    // ENOENT above all: it is not there, or its folder is not.
    throw failure(`${argv[0]} cannot be started: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
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

/** Runs a renderer's `main`; what it throws as a `Failure` is said on standard error, and the exit code is 1. */
export function renderer(name: string, main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const words = isFailure(error) ? error.failure : isUnreadable(error) ? error.unreadable : null;
    // A mistake of ours: Node says where.
    if (words === null) throw error;
    process.stderr.write(`${name}: ${neutralise(cutText(words, 2000))}\n`);
    process.exitCode = 1;
  });
}
