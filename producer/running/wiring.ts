// Where the three streams of a command lead: through pipes, or a terminal of its own where ours lead to one.
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { findProgram } from '../program.js';
import type { Stream } from './keeper.js';
import { makePipes, type Pipe } from './pipes.js';
import type { Size, Terminal } from './terminal.js';

/** On a terminal the command gets one of its own; with `aside` its output is looked at by nobody. */
export const wantsTerminal = (order: Wired): boolean => isTerminal(1) && !order.aside;

/** True for a terminal. What is no device at all is found out without loading anything. */
function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    // EBADF: it is closed.
    return false;
  }
}

/** Of what is to be run, what decides where its streams lead. */
interface Wired {
  argv: readonly string[];
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  aside: boolean;
}

interface Source {
  source: Readable;
  fd: 1 | 2;
  stream: Stream;
  rest?: () => Buffer[];
}

export interface Wiring {
  stdio: (number | 'inherit' | 'pipe')[];
  /** Arguments in front of the command's, and whether Node makes its session. */
  prefix: string[];
  detached: boolean;
  terminal: Terminal | null;
  size: Size;
  streams(child: ChildProcess | null): Source[];
  /** Closes what the command has by now. */
  handed(): void;
  close(): void;
}

const PLAIN: Size = { columns: 80, rows: 24 };

/** stdin as it is; stdout and stderr through pipes: one for both where ours are one, so that their order stays. */
export async function pipeWiring({ aside }: Wired): Promise<Wiring> {
  const one = !aside && sameFile(1, 2);
  const pipes = await makePipes(one ? 1 : 2);
  const fds = pipes && (one ? [pipes[0]!, pipes[0]!] : pipes);
  const readers: Socket[] = [];
  return {
    stdio: ['inherit', fds?.[0]?.write ?? 'pipe', fds?.[1]?.write ?? 'pipe'],
    prefix: [],
    detached: true,
    terminal: null,
    size: PLAIN,
    streams: (child) => {
      if (!child) return [];
      readers.push(...(pipes ?? []).map(reader));
      const out = {
        source: readers[0] ?? child.stdout!,
        fd: aside ? 2 : 1,
        stream: 'stdout',
      } as const;
      if (one && pipes) return [out];
      return [out, { source: readers[1] ?? child.stderr!, fd: 2, stream: 'stderr' }];
    },
    handed: () => {
      for (const pipe of pipes ?? []) closeSync(pipe.write);
    },
    close: () => {
      for (const [at, pipe] of (pipes ?? []).entries()) pipe.release(readers[at]?.readableEnded === true);
    },
  };
}

const reader = ({ read }: Pipe): Socket => new Socket({ fd: read, readable: true, writable: false });

/** True where both descriptors lead to one file, pipe or terminal. */
function sameFile(a: number, b: number): boolean {
  try {
    const [one, other] = [fstatSync(a), fstatSync(b)];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    // EBADF: one of them is closed.
    return false;
  }
}

/** A terminal of its own for what leads to one with us; what is redirected stays so. */
export async function terminalWiring(order: Wired, onSize: (size: Size) => void): Promise<Wiring> {
  const { attend, canControl, openTerminal } = await import('./terminal.js');
  const terminal = await openTerminal(onSize);
  const { slave, master } = terminal;
  const pipes = isTerminal(2) ? null : await makePipes(1);
  let errors: Socket | null = null;
  // What `setsid` could not start it would complain about itself.
  const there = findProgram(order.argv[0]!, order.cwd ?? '.', order.env['PATH']) !== null;
  const controls = isTerminal(0) && there && canControl();
  const leave = attend(terminal, { keys: controls });
  return {
    stdio: [controls ? slave : 'inherit', slave, isTerminal(2) ? slave : (pipes?.[0]?.write ?? 'pipe')],
    prefix: controls ? ['setsid', '--ctty'] : [],
    detached: !controls,
    terminal,
    size: terminal.size(),
    streams: (child) => {
      if (!child) return [];
      const shown: Source = { source: master, fd: 1, stream: 'stdout', rest: terminal.rest };
      if (isTerminal(2)) return [shown];
      errors = pipes && reader(pipes[0]!);
      return [shown, { source: errors ?? child.stderr!, fd: 2, stream: 'stderr' }];
    },
    handed: () => {
      closeSync(slave);
      for (const pipe of pipes ?? []) closeSync(pipe.write);
    },
    close: () => {
      master.destroy();
      pipes?.[0]?.release(errors?.readableEnded === true);
      leave();
    },
  };
}
