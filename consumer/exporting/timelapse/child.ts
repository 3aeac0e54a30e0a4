// A program that a film is made with: its lines as they come, an end to one that says nothing any more, and no process
// left behind by an interrupt.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Ended {
  /** Null where a signal ended it. */
  code: number | null;
  /** The end of what it said on standard error. */
  stderr: string;
  /** True where it was ended because it said nothing for too long. */
  silent: boolean;
}

interface Options {
  cwd: string;
  input?: string;
  onLine: (line: string) => void;
  /** It is ended when it says nothing for so long. */
  silence_ms: number;
  signal: AbortSignal;
}

const KEPT = 8192;

/** Runs argv to its end. Rejects where it cannot be started, and with the signal's reason where that was given. */
export function follow(
  argv: readonly string[],
  { cwd, input, onLine, silence_ms, signal }: Options,
): Promise<Ended> {
  signal.throwIfAborted();
  const env = { ...process.env };
  // Neither needs certificates, whose parsing would double a start.
  delete env['NODE_EXTRA_CA_CERTS'];
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    let silent = false;
    let stderr = '';
    const stop = () => child.kill('SIGKILL');
    const hush = () => {
      silent = true;
      stop();
    };
    let timer = setTimeout(hush, silence_ms);
    signal.addEventListener('abort', stop, { once: true });
    createInterface(child.stdout).on('line', (line) => {
      clearTimeout(timer);
      timer = setTimeout(hush, silence_ms);
      onLine(line);
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr = (stderr + piece).slice(-KEPT);
    });
    // EPIPE: it ended before it had read all, which its exit tells.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    child.on('error', (error) => {
      over();
      reject(error);
    });
    child.on('close', (code) => {
      over();
      if (signal.aborted) reject(signal.reason);
      else resolve({ code, stderr, silent });
    });
  });
}
