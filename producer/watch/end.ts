// Ending a session's watcher: that process and no other, whether it lives or not.

import { monotonicMs, sleep } from '../../src/clock.js';
import { changeHead } from '../../src/commit.js';
import { errnoOf } from '../../src/errors.js';
import { readHead } from '../../src/read.js';
import { isProved, isSameWatcher, type Watcher, watcherOf } from '../../src/watcher.js';

/** A watcher that renders ends its renderer first; one that hangs or is stopped is killed after this. */
const GRACE_MS = 4_000;
const KILLED_MS = 2_000;

/**
 * Ends the watcher that a stopped session's head names, and clears its place. One that cannot be proved to be that very
 * process (another machine, a pid that is another's by now) is sent nothing: where it lives it sees that its session is stopped.
 */
export async function endWatcher(dir: string, watcher: Watcher): Promise<void> {
  for (const [signal, ms] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', KILLED_MS],
  ] as const) {
    if (!isProved(watcher)) break;
    send(watcher.pid, signal);
    const until = monotonicMs() + ms;
    while (isProved(watcher) && monotonicMs() < until) await sleep(10);
  }
  const isNamed = (head: { watcher?: unknown }) => isSameWatcher(watcherOf({ ...head }), watcher);
  const head = readHead(dir).value;
  if (head && isNamed(head))
    await changeHead(dir, (now) => (isNamed(now) ? { watcher: null, updated_at: now.updated_at } : null));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // ESRCH: it ended by itself. EPERM: another user's, who must stop it.
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}
