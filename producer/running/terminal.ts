// A terminal for the command where our own output goes to one: its size, its keys, and our own terminal put into raw
// mode meanwhile and always put right again. Which program reads and writes is command.ts's business.
import { spawnSync } from 'node:child_process';
import { readFileSync, readSync, write } from 'node:fs';
import { ReadStream, type WriteStream } from 'node:tty';
import { errnoOf } from '../../src/errors.js';

export interface Terminal {
  master: ReadStream;
  /** The command's end: closed here once the command has it. */
  slave: number;
  size(): Size;
  /** What is left in it when `master` has ended. */
  rest(): Buffer[];
}
export interface Size {
  columns: number;
  rows: number;
}

/** Opens a terminal as large as ours. `onSize` is told when ours changes. Throws where there are no terminals left. */
export async function openTerminal(onSize: (size: Size) => void): Promise<Terminal> {
  // The library's own `open` would also read from the command's end. Its version is pinned.
  const { requireBinary } = await import('@lydell/node-pty/requireBinary.js');
  const native = requireBinary('pty.node');
  const size = () => sizeOf(process.stdout);
  const { columns, rows } = size();
  const { master, slave } = native.open(columns, rows);
  const stream = new ReadStream(master);
  const resized = () => {
    const { columns, rows } = size();
    if (stream.destroyed) return;
    native.resize(master, columns, rows);
    onSize({ columns, rows });
  };
  process.stdout.on('resize', resized);
  stream.once('close', () => process.stdout.off('resize', resized));
  return { master: stream, slave, size, rest: () => restOf(master) };
}

/**
 * Reads a terminal dry. When the last process has closed it, libuv takes a read that did not fill its buffer for the last
 * one, but a terminal gives at most 4 KB at a time: up to 64 KB would be lost.
 */
function restOf(master: number): Buffer[] {
  const chunks: Buffer[] = [];
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(16 * 1024);
      const bytes = readSync(master, chunk);
      if (bytes === 0) return chunks;
      chunks.push(chunk.subarray(0, bytes));
    }
  } catch {
    // EIO: it is empty. EAGAIN: so it is, and somebody has opened it again.
    return chunks;
  }
}

/** A terminal that does not know its size counts as 80 × 24. */
const sizeOf = ({ columns, rows }: WriteStream): Size => ({ columns: columns || 80, rows: rows || 24 });

/** What is typed goes to the command's terminal, whose line discipline makes ctrl-C a signal: once, to whom it is for. */
function passKeys(terminal: Terminal): () => void {
  const keys = new ReadStream(0);
  const fd = (terminal.master as unknown as { _handle: { fd: number } })._handle.fd;
  const queue: Buffer[] = [];
  let busy = false;
  const pump = () => {
    const bytes = queue[0];
    if (!bytes || busy || terminal.master.destroyed) return;
    busy = true;
    write(fd, bytes, (error, written) => {
      busy = false;
      if (error && errnoOf(error) !== 'EAGAIN') return;
      if (written === bytes.length) queue.shift();
      else queue[0] = bytes.subarray(written ?? 0);
      if (error) setTimeout(pump, 5);
      else pump();
    });
  };
  keys.once('data', (bytes: Buffer) => {
    // An end of input typed before the terminal became raw is a NUL now (n_tty keeps it so): it means ctrl-D still.
    for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at)) bytes[at] = 4;
  });
  keys.on('data', (bytes: Buffer) => {
    queue.push(bytes);
    pump();
  });
  keys.on('error', () => {
    // EIO: the terminal has gone; SIGHUP tells the command.
  });
  return () => keys.destroy();
}

/**
 * Puts our terminal into a mode in which every byte passes as it is, with `keys` those typed too, else only those shown,
 * and passes keys on. Returns how to put all right again. A job in the background begins when it is brought to the front.
 */
export function attend(terminal: Terminal, { keys }: { keys: boolean }): () => void {
  const fd = keys ? 0 : 1;
  const stty = (of: number, ...args: string[]) =>
    spawnSync('stty', args, { stdio: [of, 'pipe', 'ignore'], encoding: 'utf8' });
  const before = stty(fd, '-g').stdout?.trim();
  // The command's terminal behaves as ours does: what is echoed, which key is which.
  if (before) stty(terminal.slave, before);
  let stopKeys: (() => void) | undefined;
  let changed = false;
  const begin = () => {
    if (!before || inBackground()) return;
    // Again after each stop: the shell has put the terminal right meanwhile.
    stty(fd, ...(keys ? ['raw', '-echo'] : ['-opost']));
    changed = true;
    if (keys) stopKeys ??= passKeys(terminal);
  };
  const restore = () => {
    if (before && changed && !inBackground()) stty(fd, before);
  };
  begin();
  process.on('SIGCONT', begin);
  process.on('exit', restore);
  return () => {
    process.off('SIGCONT', begin);
    process.off('exit', restore);
    stopKeys?.();
    restore();
  };
}

/** True where the shell runs us behind a prompt: reading keys or changing modes would stop us. */
function inBackground(): boolean {
  try {
    const line = readFileSync('/proc/self/stat', 'latin1');
    const field = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return Number(field[5]) > 0 && field[2] !== field[5];
  } catch {
    // ENOENT: there is no /proc, and no telling.
    return false;
  }
}

/** `setsid --ctty` makes the terminal on its stdin the command's own before it becomes the command. */
export const canControl = (): boolean => spawnSync('setsid', ['--version'], { stdio: 'ignore' }).status === 0;
