// Real pipes for a command's output. What Node makes for a child are sockets, and a script that opens /dev/stdout or
// /dev/stderr, as many do, fails on a socket. A FIFO is what a shell's pipe is, but only another program can make one,
// which takes a third of a bare start: where the system has a folder for such things, a run leaves its own for the next.
import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeNow } from '../../src/disk.js';
import { errnoOf } from '../../src/errors.js';
import { processStat } from '../../src/processes.js';

export interface Pipe {
  read: number;
  write: number;
  /** To be called when both ends are closed. `ended`: it was read to its end, so that nobody is left who writes. */
  release(ended: boolean): void;
}

/** Opens `count` pipes. Null where `mkfifo` or a folder for them is not to be had: Node's sockets must do then. */
export async function makePipes(count: number): Promise<Pipe[] | null> {
  const pipes: Pipe[] = [];
  try {
    const kept = keptFolder();
    if (kept !== null) {
      for (const name of readdirSync(kept)) {
        if (pipes.length === count) return pipes;
        const pipe = name.startsWith(FREE) ? taken(kept, name) : null;
        if (pipe) pipes.push(pipe);
      }
    }
    const missing = count - pipes.length;
    if (missing > 0) pipes.push(...(await made(missing, kept)));
    return pipes;
  } catch {
    // ENOSPC, EROFS, ENOENT: no place for temporary files, one that takes no FIFOs, or no `mkfifo`.
    for (const { read, write, release } of pipes) {
      closeSync(read);
      closeSync(write);
      release(false);
    }
    return null;
  }
}

const FREE = 'free-';

/** The folder with this user's FIFOs, which nobody else may enter; null where the system has no place for it. */
function keptFolder(): string | null {
  if (process.platform !== 'linux') return null;
  const uid = process.getuid!();
  const folder = join(process.env['XDG_RUNTIME_DIR'] || '/dev/shm', `preview-run-${uid}`);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // ENOENT, EACCES, EROFS: there is no such place.
    if (errnoOf(error) !== 'EEXIST') return null;
  }
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0 ? folder : null;
}

/** A FIFO that was left; null where another run was quicker. */
function taken(folder: string, name: string): Pipe | null {
  const used = join(folder, `${process.pid}-${name.slice(FREE.length)}`);
  try {
    renameSync(join(folder, name), used);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  return opened(used, () => leave(used, join(folder, name)));
}

/** New FIFOs in the folder, or, where there is none, in one that is gone again at once. */
async function made(count: number, kept: string | null): Promise<Pipe[]> {
  if (kept !== null) removeLeft(kept);
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'preview-run-'));
  const stamp = Date.now().toString(36);
  const ids = Array.from({ length: count }, (_, n) => `${process.pid}${stamp}${n}`);
  const paths = ids.map((id) => join(folder, `${process.pid}-${id}`));
  try {
    await mkfifo(paths);
    return paths.map((path, n) =>
      opened(path, () => {
        if (kept !== null) leave(path, join(folder, `${FREE}${ids[n]}`));
      }),
    );
  } finally {
    if (kept === null) {
      for (const path of paths) removeNow(path);
      rmdirSync(folder);
    }
  }
}

/** Removes what runs that were killed had in use. Another container's is in use all the same, and does without its name. */
function removeLeft(folder: string): void {
  for (const name of readdirSync(folder))
    if (!name.startsWith(FREE) && processStat(Number.parseInt(name, 10)) === null)
      removeNow(join(folder, name));
}

function opened(path: string, giveBack: () => void): Pipe {
  // For reading first and without waiting, so that the writing end opens at once.
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const write = openSync(path, constants.O_WRONLY);
  return {
    read,
    write,
    release(ended) {
      try {
        if (ended) giveBack();
        else removeNow(path);
      } catch {
        // A folder that somebody else tidies: nothing depends on it any more.
      }
    },
  };
}

/** Leaves a FIFO that nobody writes to for the next run, unless somebody still reads it. */
function leave(used: string, free: string): void {
  try {
    closeSync(openSync(used, constants.O_WRONLY | constants.O_NONBLOCK));
    removeNow(used);
  } catch (error) {
    // ENXIO: nobody reads it.
    if (errnoOf(error) !== 'ENXIO') throw error;
    renameSync(used, free);
  }
}

const mkfifo = (paths: string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error('no FIFOs'))));
  });
