// Runs the command: starts it, passes on what it prints while a keeper takes it down, forwards signals, ends it in time,
// and tells how it ended. It records nothing. The command sees what it would see without us (guides/run.md has what not).
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { tell } from '../../src/cli.js';
import { after, monotonicMs, sleep } from '../../src/clock.js';
import { errnoOf } from '../../src/errors.js';
import { neutralise } from '../../src/text.js';
import { type Kept, keeper, type Stream } from './keeper.js';
import { type Passing, passOn } from './pass.js';
import { codeOfSignal, forwardSignals } from './signals.js';
import type { Size } from './terminal.js';
import { pipeWiring, terminalWiring, type Wiring, wantsTerminal } from './wiring.js';

export interface Order {
  argv: readonly string[];
  /** Where it runs; our own working directory unless told. */
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  timeout_ms: number | undefined;
  /** All it prints goes to stderr, for stdout is for one JSON document. */
  aside: boolean;
  /** Called once the command runs. */
  onStart?: () => void;
}

/** How a command ended, and what it printed. */
export interface Outcome {
  /** What `preview run` ends with. */
  code: number;
  exit_code: number | null;
  signal: NodeJS.Signals | null;
  timed_out: boolean;
  /** Why it could not be started, or null. */
  not_started: string | null;
  started_at: string;
  finished_at: string;
  duration_ms: number;
  pty: boolean;
  /** The terminal's size at the start, and each later one. */
  size: Size;
  sizes: (Size & { at_ms: number })[];
  output: Kept;
  /** True when something that it started still holds its output. */
  left_behind: boolean;
  /** Why what it printed could not be handed on, or null. */
  not_shown: string | null;
}

/** Between SIGTERM and SIGKILL, once the time is up. */
const KILL_GRACE_MS = 1000;
/** How long what still holds the output of a command that has ended is waited for. */
const HELD_GRACE_MS = 500;
/** What a pipe can be made to hold: so much of the command's own output may still be in it when it ends. */
const PIPE_BYTES = 1024 * 1024;
/** Nothing has come in so many looks in a row: there is nothing in it. By looks, not by time, which may just have passed. */
const QUIET_LOOKS = 3;

/** Runs a command to its end. Does not throw for anything that the command is or does. */
export async function runToEnd(order: Order): Promise<Outcome> {
  const signals = forwardSignals({ windows: !wantsTerminal(order) });
  const began = monotonicMs();
  const taken = keeper();
  const sizes: Outcome['sizes'] = [];
  const onBytes = (stream: Stream) => (chunk: Buffer) => taken.take(stream, chunk, monotonicMs() - began);
  const onSize = (size: Size) => sizes.push({ ...size, at_ms: monotonicMs() - began });
  const wiring = wantsTerminal(order) ? await terminalWiring(order, onSize) : await pipeWiring(order);
  const started_at = new Date().toISOString();
  const started = monotonicMs();
  const ended = start(order, wiring);
  const { child } = ended;
  if (child?.pid) signals.to(child.pid);
  const passings = wiring
    .streams(child)
    .map(({ source, fd, stream, rest }) => passOn(source, fd, onBytes(stream), rest));
  order.onStart?.();
  const limit = timeLimit(child, order.timeout_ms);
  const { exit_code, signal, error } = await ended.end;
  const duration_ms = monotonicMs() - started;
  const finished_at = new Date().toISOString();
  await limit.close();
  const left_behind = await drain(passings);
  wiring.close();
  signals.close();
  const not_started = error && complaint(order.argv[0]!, error);
  if (not_started) tell(`preview: ${neutralise(not_started)}`);
  const failure = passings.map((each) => each.failure()).find((each) => each !== null) ?? null;
  const own = error
    ? error.code === 'ENOENT'
      ? 127
      : 126
    : signal
      ? codeOfSignal(signal)
      : (exit_code ?? 0);
  return {
    // Output that could not be shown is a fault which the command itself could not see any more.
    code: limit.reached() ? 124 : own === 0 && failure ? 1 : own,
    exit_code: error ? own : exit_code,
    signal,
    timed_out: limit.reached(),
    not_started,
    started_at,
    finished_at,
    duration_ms,
    pty: wiring.terminal !== null,
    size: wiring.size,
    sizes,
    output: taken.kept(),
    left_behind,
    not_shown: failure?.message ?? null,
  };
}

type End = { exit_code: number | null; signal: NodeJS.Signals | null; error: NodeJS.ErrnoException | null };

function start(order: Order, wiring: Wiring): { child: ChildProcess | null; end: Promise<End> } {
  const [program, ...args] = [...wiring.prefix, ...order.argv] as [string, ...string[]];
  const nothing = (error: unknown): End => ({
    exit_code: null,
    signal: null,
    error: error as NodeJS.ErrnoException,
  });
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: order.cwd,
      env: order.env,
      stdio: wiring.stdio,
      detached: wiring.detached,
    });
  } catch (error) {
    // E2BIG, ENOEXEC and others are thrown where ENOENT and EACCES are emitted.
    wiring.handed();
    return { child: null, end: Promise.resolve(nothing(error)) };
  }
  wiring.handed();
  const end = new Promise<End>((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(nothing(error));
    });
    child.on('exit', (exit_code, signal) => resolve({ exit_code, signal, error: null }));
  });
  return { child, end };
}

/** Ends the command with all that it started when its time is up. */
function timeLimit(child: ChildProcess | null, timeout_ms: number | undefined) {
  let ending: Promise<void> | null = null;
  const end = async () => {
    const { endTree } = await import('./tree.js');
    if (child?.pid) await endTree(child.pid, KILL_GRACE_MS);
  };
  const callOff =
    timeout_ms === undefined
      ? undefined
      : after(timeout_ms, () => {
          ending = end();
        });
  return {
    reached: () => ending !== null,
    /** What is left of the tree is ended too. */
    async close() {
      callOff?.();
      await ending;
    },
  };
}

/**
 * Waits until all that the command printed has been handed on. What it left behind may hold its output open for hours:
 * then, after a grace, what the pipe may hold of the command's own is read, and the rest is left to `cat`, so that
 * nothing is killed by a closed pipe. True where something was left.
 */
async function drain(passings: Passing[]): Promise<boolean> {
  const began = monotonicMs();
  const all = Promise.all(passings.map((each) => each.done));
  const seen = new Map(passings.map((each) => [each, { first: each.bytes(), last: -1, quiet: 0 }]));
  let left = false;
  for (let open = passings; open.length > 0; ) {
    // Whatever has come is read between two looks.
    await Promise.race([all, sleep(20)]);
    open = passings.filter((each) => !each.ended());
    for (const each of open) {
      const was = seen.get(each)!;
      was.quiet = each.blocked() || each.bytes() !== was.last ? 0 : was.quiet + 1;
      was.last = each.bytes();
      const empty = was.quiet >= QUIET_LOOKS || was.last - was.first > PIPE_BYTES;
      if (each.source.destroyed || !empty || monotonicMs() - began < HELD_GRACE_MS) continue;
      leaveOpen(each);
      left = true;
    }
  }
  return left;
}

/** Hands the reading end to a process of its own that reads until all who write have gone, and keeps nothing. */
function leaveOpen({ source, stop }: Passing): void {
  const heir = spawn('cat', [], { stdio: [source as Socket, 'ignore', 'ignore'], detached: true, cwd: '/' });
  heir.on('error', () => {
    // No `cat`: what writes there finds its pipe closed.
  });
  heir.unref();
  stop();
}

function complaint(program: string, error: NodeJS.ErrnoException): string {
  const code = errnoOf(error);
  if (code === 'ENOENT') return `${program}: not found`;
  if (code === 'EACCES') return `${program}: not allowed to run it (EACCES)`;
  return `${program}: could not be started (${code ?? error.message})`;
}
