// Running one renderer command: its own process group, a time limit, bounded output, and nothing left running.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, monotonicMs } from '../src/clock.js';
import { errnoOf } from '../src/errors.js';
import { pids, readSmall } from '../src/processes.js';
import { type Limits, LOOK_EVERY_MS, overLimit } from './limits.js';

export interface Outcome {
  exit_code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Both as they came, byte for byte. */
  raw: Buffer;
  timed_out: boolean;
  /** The limit for which it was ended, in words. */
  over: string | null;
  /** True when the program could not be started at all; `stderr` says why. */
  missing: boolean;
  duration_ms: number;
}

export interface RunOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeout_ms: number;
  signal?: AbortSignal | undefined;
  /** Bytes kept of each stream, half from its start and half from its end. */
  keep_bytes?: number;
  limits?: Limits;
  /** What it reads, once that is known; its time begins then. Without it standard input is empty. */
  input?: Promise<string>;
  /** True for a renderer of ours that answers with one line and starts nothing: with the line it has done its work. */
  one_line?: boolean;
}

/** Between asking a group to end and killing it, and between a child's end and giving up on its pipes. */
const GRACE_MS = 500;
/** In the environment of a renderer and all it starts, by which those that left its group are found. */
const MARK = 'PREVIEW_RENDER_ID';
/** No system starts so many processes in this time that their numbers begin anew. */
const ALL_NUMBERS_MS = 5000;
const NONE: ReadonlySet<number> = new Set();
/** An environment larger than this may hide its mark. */
const ENVIRON_BYTES = 1024 * 1024;

/** Runs argv without a shell. Never throws for what the command does; an abort ends it and its descendants. */
export function runCommand(argv: readonly string[], options: RunOptions): Promise<Outcome> {
  const mark = randomBytes(8).toString('hex');
  const began = monotonicMs();
  const keep = options.keep_bytes ?? 512 * 1024;
  const out = keeper(keep);
  const err = keeper(keep);
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: options.cwd,
      env: { ...options.env, [MARK]: mark },
      stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // Read while it runs: what was there before it is none of what it starts.
    const older = options.one_line ? null : olderThan(child.pid);
    let timed_out = false;
    let over: string | null = null;
    let killer: NodeJS.Timeout | undefined;
    const end = (signal: NodeJS.Signals) => killGroup(child.pid, signal);
    const stop = () => {
      end('SIGTERM');
      killer ??= setTimeout(() => end('SIGKILL'), GRACE_MS);
    };
    let callOff = () => {};
    let ended = false;
    const begin = () => {
      callOff = after(options.timeout_ms, () => {
        timed_out = true;
        stop();
      });
    };
    if (options.input === undefined) begin();
    else
      options.input.then((text) => {
        if (ended) return;
        begin();
        // EPIPE: it ended meanwhile, which its exit tells.
        child.stdin?.on('error', () => {});
        child.stdin?.end(text);
      });
    options.signal?.addEventListener('abort', stop, { once: true });
    if (options.signal?.aborted) stop();
    const { limits } = options;
    const look =
      limits &&
      setInterval(() => {
        if (child.pid !== undefined) over ??= overLimit(child.pid, limits);
        if (over !== null) stop();
      }, LOOK_EVERY_MS);
    const finish = (result: Pick<Outcome, 'exit_code' | 'signal' | 'missing'>, note = '') => {
      ended = true;
      callOff();
      clearTimeout(killer);
      clearInterval(look);
      options.signal?.removeEventListener('abort', stop);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({
        ...result,
        stdout: out.text(),
        stderr: err.text() + note,
        raw: Buffer.concat([out.bytes(), err.bytes(), Buffer.from(note)]),
        timed_out,
        over,
        duration_ms: monotonicMs() - began,
      });
    };
    child.stdout?.on('data', (piece: Buffer) => {
      out.take(piece);
      // Its own end, with all that it has loaded, would take as long again as a start.
      if (!options.one_line || !piece.includes(0x0a)) return;
      end('SIGKILL');
      finish({ exit_code: 0, signal: null, missing: false });
    });
    child.stderr?.on('data', err.take);
    child.on('error', (error) => {
      if (child.pid === undefined)
        finish(
          { exit_code: null, signal: null, missing: true },
          `${argv[0]}: ${errnoOf(error) ?? error.message}`,
        );
    });
    child.on('exit', (exit_code, signal) => {
      if (ended) return;
      // Whatever it left behind has no one to work for now. What holds the pipes open is waited for no longer than a grace.
      end('SIGKILL');
      if (older) killMarked(mark, monotonicMs() - began < ALL_NUMBERS_MS ? older : NONE);
      const giveUp = setTimeout(() => finish({ exit_code, signal, missing: false }), GRACE_MS);
      child.on('close', () => {
        clearTimeout(giveUp);
        finish({ exit_code, signal, missing: false });
      });
    });
  });
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: nothing of the group is left. EPERM: what is left is no longer ours to kill.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** The processes with smaller numbers: what is started later gets one of them only when all others have been given. */
const olderThan = (started: number | undefined): Set<number> =>
  new Set(started === undefined ? [] : pids().filter((pid) => pid < started));

/** Ends what left the group (setsid) by the mark in its environment. Only Linux tells; elsewhere the group must do. */
function killMarked(mark: string, older: ReadonlySet<number>): void {
  if (process.platform !== 'linux') return;
  const wanted = `${MARK}=${mark}`;
  const buffer = Buffer.allocUnsafe(ENVIRON_BYTES);
  for (const pid of pids()) {
    if (older.has(pid)) continue;
    if (!readSmall(`/proc/${pid}/environ`, buffer).includes(wanted)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone meanwhile.
    }
  }
}

/** Keeps the first and the last half of `limit` bytes of a stream, and counts what is between. */
function keeper(limit: number) {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let dropped = 0;
  const half = limit / 2;
  return {
    take(piece: Buffer) {
      const room = Math.min(piece.length, Math.max(0, half - headBytes));
      if (room > 0) head.push(piece.subarray(0, room));
      headBytes += room;
      if (room < piece.length) tail.push(piece.subarray(room));
      tailBytes += piece.length - room;
      if (tailBytes > limit) {
        const all = Buffer.concat(tail);
        dropped += all.length - half;
        tail = [all.subarray(all.length - half)];
        tailBytes = half;
      }
    },
    bytes(): Buffer {
      const between = dropped > 0 ? [Buffer.from(`\n… ${dropped} bytes left out …\n`)] : [];
      return Buffer.concat([...head, ...between, ...tail]);
    },
    /** As UTF-8; what is none becomes U+FFFD. */
    text(): string {
      return this.bytes().toString('utf8');
    },
  };
}
