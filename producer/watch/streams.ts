// What a process has open without having asked for it: pipes and terminals that a shell or an agent's harness left open
// for whoever comes after. A watcher that kept one would keep its reader waiting for ever.
import { closeSync, readdirSync, readlinkSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** Each descriptor beyond the three streams that is a pipe, a socket or a terminal, as `FD WHAT`; none where /proc does not tell. */
export function openStreams(): string[] {
  try {
    return readdirSync(FOLDER)
      .filter((fd) => Number(fd) > 2)
      .map((fd) => `${fd} ${whatIs(fd)}`)
      .filter((stream) => /^\d+ (pipe:|socket:|\/dev\/(pts|tty))/.test(stream));
  } catch {
    // ENOENT: elsewhere than Linux.
    return [];
  }
}

function whatIs(fd: string): string {
  try {
    return readlinkSync(`${FOLDER}/${fd}`);
  } catch {
    // Closed since it was listed.
    return '';
  }
}

/** Closes those of our streams that the process which began us had open too. What Node opened itself has other numbers behind it. */
export function closeInherited(theirs: readonly string[]): void {
  const known = new Set(theirs);
  for (const stream of openStreams()) if (known.has(stream)) closeSync(Number(stream.split(' ')[0]));
}
