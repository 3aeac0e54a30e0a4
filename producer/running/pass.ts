// Passes one stream of a command on to one of our own, byte for byte and at once. It reads no faster than its reader
// takes, and when the reader goes, the command finds its pipe closed, as without us.
import { write } from 'node:fs';
import type { Readable } from 'node:stream';
import { errnoOf } from '../../src/errors.js';

/** Read ahead of a slow reader at most so far. */
const AHEAD_BYTES = 256 * 1024;

export interface Passing {
  source: Readable;
  /** Resolves when the source has ended and all of it has been handed on (or there is nobody to hand it to). */
  done: Promise<void>;
  ended(): boolean;
  /** True while a slow reader keeps us from reading on. */
  blocked(): boolean;
  bytes(): number;
  /** Stops reading; what was read is still handed on. */
  stop(): void;
  /** Why it could not be handed on, if anything but the reader's leaving. */
  failure(): Error | null;
}

/**
 * Begins to pass `source` on to the file descriptor. `onBytes` sees every chunk first. `rest` reads what the source has
 * left when it says that it has ended, while it is still open.
 */
export function passOn(
  source: Readable,
  fd: number,
  onBytes: (chunk: Buffer) => void,
  rest?: () => Buffer[],
): Passing {
  const queue: Buffer[] = [];
  let queued = 0;
  let count = 0;
  let writing = false;
  let closed = false;
  let failed: Error | null = null;
  let resolve: () => void;
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });

  const settle = () => {
    if (closed && !writing) resolve();
  };
  const pump = async () => {
    if (writing) return;
    writing = true;
    try {
      for (let chunk = queue.shift(); chunk; chunk = queue.shift()) {
        await writeWhole(fd, chunk);
        queued -= chunk.length;
        if (queued < AHEAD_BYTES && source.isPaused()) source.resume();
      }
    } catch (error) {
      // EPIPE: the reader has gone. Closing our end lets the command know.
      if (errnoOf(error) !== 'EPIPE') failed = error as Error;
      queue.length = 0;
      source.destroy();
    }
    writing = false;
    settle();
  };

  const take = (chunk: Buffer) => {
    count += chunk.length;
    onBytes(chunk);
    queue.push(chunk);
    queued += chunk.length;
    if (queued >= AHEAD_BYTES) source.pause();
    void pump();
  };
  source.on('data', take);
  source.on('end', () => {
    for (const chunk of rest?.() ?? []) take(chunk);
  });
  source.on('error', () => {
    // EIO: the last process on the terminal has gone. 'close' follows.
  });
  source.on('close', () => {
    closed = true;
    settle();
  });
  return {
    source,
    done,
    ended: () => closed && !writing,
    blocked: () => source.isPaused(),
    bytes: () => count,
    stop: () => source.destroy(),
    failure: () => failed,
  };
}

/**
 * Writes all of `bytes`, waiting in a thread where the reader is slow. Not through process.stdout, which would make
 * the descriptor non-blocking for everyone who shares it.
 */
async function writeWhole(fd: number, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += await new Promise<number>((resolve, reject) => {
        write(fd, bytes, done, (error, written) => (error ? reject(error) : resolve(written)));
      });
    } catch (error) {
      // Somebody else has made it non-blocking, and it is full.
      if (errnoOf(error) !== 'EAGAIN') throw error;
      await new Promise((resume) => setTimeout(resume, 5));
    }
  }
}
