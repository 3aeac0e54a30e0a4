// Programs on a terminal of their own, node-pty's: what they write, and keys for them. What is left is killed after each test.
import { type IPty, spawn } from '@lydell/node-pty';
import { afterEach } from 'vitest';
import { plainEnv } from './cli.js';

export interface Terminal {
  pty: IPty;
  text(): string;
  ended: Promise<{ exitCode: number; signal?: number }>;
}

export interface Size {
  cols: number;
  rows: number;
}

const open: Terminal[] = [];
afterEach(() => {
  for (const { pty } of open.splice(0)) {
    try {
      pty.kill('SIGKILL');
    } catch {
      // It has ended.
    }
  }
});

/** Starts a program on a terminal of its own. */
export function onTerminal(
  argv: readonly string[],
  cwd: string,
  size: Size = { cols: 91, rows: 33 },
  more: Record<string, string> = {},
): Terminal {
  const env = plainEnv({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...more }) as Record<string, string>;
  const pty = spawn(argv[0]!, argv.slice(1), { cwd, env, ...size, name: env['TERM']!, encoding: null });
  const pieces: Buffer[] = [];
  pty.onData((piece) => pieces.push(piece as unknown as Buffer));
  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => pty.onExit(resolve));
  const terminal = { pty, text: () => Buffer.concat(pieces).toString('utf8'), ended };
  open.push(terminal);
  return terminal;
}
