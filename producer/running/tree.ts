// Ending a command with all that it started, when its time is up. Members are found by their parents, group and
// session, and remembered: a child whose parent ends first loses its place in the tree.
import { monotonicMs, sleep } from '../../src/clock.js';
import { type ProcessStat, pids, processStat } from '../../src/processes.js';
import { send } from './signals.js';

interface Process extends ProcessStat {
  pid: number;
  dead: boolean;
}

const processes = (): Process[] =>
  pids().flatMap((pid) => {
    const stat = processStat(pid);
    // Null: gone since the listing.
    return stat ? [{ pid, dead: stat.state === 'Z' || stat.state === 'X', ...stat }] : [];
  });

/** The living members of the tree of `root`, new ones added to `known`. */
function members(root: number, known: Map<number, string>): Process[] {
  const all = processes();
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent, group, session, started } of all) {
      if (known.has(pid) || pid === process.pid) continue;
      if (pid !== root && group !== root && session !== root && !known.has(parent)) continue;
      known.set(pid, started);
      grown = true;
    }
  }
  return all.filter(({ pid, started, dead }) => !dead && known.get(pid) === started);
}

/** How long SIGKILL is given before what is left is let be: a process in the middle of a dead disk cannot die. */
const KILL_MS = 2000;

/** SIGTERM to the whole tree, and SIGKILL to what is left of it after `grace_ms`. */
export async function endTree(root: number, grace_ms: number): Promise<void> {
  const known = new Map<number, string>();
  const late = monotonicMs() + grace_ms;
  if (members(root, known).length === 0) {
    // Only Linux tells of processes; elsewhere the group must do.
    send(-root, 'SIGTERM');
    await sleep(grace_ms);
    send(-root, 'SIGKILL');
    return;
  }
  const asked = new Set<number>();
  for (let left = members(root, known); left.length > 0; left = members(root, known)) {
    const now = monotonicMs();
    if (now > late + KILL_MS) return;
    for (const { pid } of left) {
      if (now >= late) send(pid, 'SIGKILL');
      else if (!asked.has(pid)) {
        send(pid, 'SIGTERM');
        // A stopped process hears nothing before it goes on.
        send(pid, 'SIGCONT');
      }
      asked.add(pid);
    }
    await sleep(20);
  }
}
