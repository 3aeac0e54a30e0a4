// The watcher's seat: the head's `watcher`. One process holds it; all of it is done under the session's lock, so that
// of several that begin at once one gets it.
import { join } from 'node:path';
import { changeHead } from '../../src/commit.js';
import { exists } from '../../src/disk.js';
import { HEAD_NAME } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import type { Head } from '../../src/schema.js';
import { isSameWatcher, type Watcher, watcherLife, watcherOf } from '../../src/watcher.js';

/** Statuses of a session that is watched. */
export const ACTIVE: readonly string[] = ['active', 'waiting'];

const isOurs = (head: Head, own: Watcher) =>
  ACTIVE.includes(head.status) && isSameWatcher(watcherOf(head), own);

/** Takes the seat; `elsewhere` where a living watcher has it, `closed` where the session is no longer active. */
export async function claim(dir: string, own: Watcher): Promise<'ours' | 'elsewhere' | 'closed'> {
  const claimed: { outcome: 'ours' | 'elsewhere' | 'closed' } = { outcome: 'closed' };
  await changeHead(dir, (head) => {
    claimed.outcome = 'closed';
    if (!ACTIVE.includes(head.status)) return null;
    const other = watcherOf(head);
    claimed.outcome = 'elsewhere';
    if (other && !isSameWatcher(other, own) && watcherLife(other) === 'alive') return null;
    claimed.outcome = 'ours';
    return { live_mode: 'watch', watcher: { ...own } };
  });
  return claimed.outcome;
}

/** A session that was removed must not come to be again by our lock in it. */
const isGone = (dir: string) => !exists(join(dir, HEAD_NAME));

/** Writes what the watcher has to say of itself. The session's `updated_at` stays: nothing was recorded. */
export async function report(dir: string, own: Watcher): Promise<void> {
  if (isGone(dir)) return;
  await changeHead(dir, (head) =>
    isOurs(head, own)
      ? { watcher: { ...own, heartbeat_at: new Date().toISOString() }, updated_at: head.updated_at }
      : null,
  );
}

/** Leaves the seat, where it is still ours. */
export async function leave(dir: string, own: Watcher): Promise<void> {
  if (isGone(dir)) return;
  await changeHead(
    dir,
    (head) => (isSameWatcher(watcherOf(head), own) ? { watcher: null, updated_at: head.updated_at } : null),
    { timeout_ms: 3000 },
  );
}

/** Whether the seat is ours still. A damaged head says nothing about it: the next capture goes on in a new session. */
export function standing(dir: string, own: Watcher): { head: Head | null; wanted: boolean } {
  const { value, problems } = readHead(dir);
  if (value !== null) return { head: value, wanted: isOurs(value, own) };
  return { head: null, wanted: problems[0]?.kind !== 'missing' };
}
