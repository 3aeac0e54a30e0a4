// Programs that a renderer of ours starts: bounded in time and output, a few at once. The capture ends whatever a
// renderer leaves running, so nothing is detached here.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

export interface Said {
  /** Null where a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
}

export interface ChildOptions {
  timeout_ms: number;
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** Ends it. */
  signal?: AbortSignal;
}

const KEPT = 1024 * 1024;

/** Runs argv to its end. Rejects only where it cannot be started; output beyond 1 MB a stream is dropped. */
export function runProgram(
  argv: readonly string[],
  { cwd, env = process.env, timeout_ms, signal }: ChildOptions,
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let timedOut = false;
    const stop = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeout_ms);
    const texts = [child.stdout, child.stderr].map((stream) => {
      const pieces: Buffer[] = [];
      let kept = 0;
      stream.on('data', (piece: Buffer) => {
        if (kept < KEPT) pieces.push(piece.subarray(0, KEPT - kept));
        kept += piece.length;
      });
      return () => Buffer.concat(pieces).toString('utf8');
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code, ended) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve({ code, signal: ended, timedOut, stdout: texts[0]!(), stderr: texts[1]!() });
    });
  });
}

/** Does `work` for every item, as many at once as there are cores; results in the order of the items. */
export async function forEachParallel<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < items.length; n = next++) results[n] = await work(items[n]!, n);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker));
  return results;
}
