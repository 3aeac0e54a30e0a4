// Real pipes for a command's output. What Node makes for a child are sockets, and a script that opens /dev/stdout or
// /dev/stderr, as many do, fails on a socket. A FIFO without a name is what a shell's pipe is.
import { spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeNow } from '../../src/disk.js';

export interface Pipe {
  read: number;
  write: number;
}

/** Makes `count` pipes. Null where `mkfifo` or a temporary folder is not to be had: Node's sockets must do then. */
export async function makePipes(count: number): Promise<Pipe[] | null> {
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), 'preview-run-'));
  } catch {
    // ENOSPC, EROFS, ENOENT: no place for temporary files.
    return null;
  }
  const names = Array.from({ length: count }, (_, n) => join(folder, `${n}`));
  const open: number[] = [];
  try {
    if (!(await mkfifo(names))) return null;
    return names.map((name) => {
      // Opened for reading first and without waiting, so that the writing end opens at once.
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
      open.push(read);
      const write = openSync(name, constants.O_WRONLY);
      open.push(write);
      return { read, write };
    });
  } catch {
    // The folder does not take FIFOs.
    for (const fd of open) closeSync(fd);
    return null;
  } finally {
    try {
      for (const name of names) removeNow(name);
      rmdirSync(folder);
    } catch {
      // A folder for temporary files that another program tidies: nothing depends on it any more.
    }
  }
}

const mkfifo = (names: string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
