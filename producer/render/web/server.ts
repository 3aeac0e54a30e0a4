// A development server, started with a command of the project's, awaited, and ended with all that it started.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { failure } from '../programs.js';

export type Served = { url: string; close(): Promise<void> };

const READY_MS = 60_000;
const ASK_EVERY_MS = 150;
const GRACE_MS = 2000;

/** Starts `command` by a shell; `{port}` in it and `$PORT` are its port. Throws a `Failure` with what it said last. */
export async function serve(command: string, stated: number): Promise<Served> {
  const port = stated || (await freePort());
  const url = `http://localhost:${port}/`;
  if (stated && (await answers(url)))
    throw failure(`port ${port} is in use already; name what runs there as with.url, or choose another port`);
  const child = spawn('sh', ['-c', command.replaceAll('{port}', String(port))], {
    // A group of its own, so that it ends as a whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: String(port), BROWSER: 'none' },
  });
  let said = '';
  const hear = (piece: Buffer) => {
    said = (said + piece.toString('utf8')).slice(-4000);
    process.stdout.write(piece);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  let over = false;
  ended.then(() => {
    over = true;
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // ESRCH: nothing of it is left.
    }
  };
  const close = async () => {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), GRACE_MS);
    await ended;
    clearTimeout(timer);
    // What the shell started may outlive it.
    signal('SIGKILL');
  };
  const deadline = Date.now() + READY_MS;
  while (!(await answers(url))) {
    const last = said.trim().split('\n').at(-1) ?? '';
    if (over) throw failure(`${command} ended before it answered on port ${port}: ${last}`);
    if (Date.now() > deadline) {
      await close();
      throw failure(
        `${command} did not answer on port ${port} within ${READY_MS / 1000} s; with.port says where it listens, if not there${last ? `. It says: ${last}` : ''}`,
      );
    }
    await new Promise((resume) => setTimeout(resume, ASK_EVERY_MS));
  }
  return { url, close };
}

/** Any answer will do: what it is worth shows in the picture. */
async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(5000) });
    return true;
  } catch {
    // Nobody listens yet, or does not answer yet.
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, 'localhost', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
