// What the system tells about processes: this boot, this pid namespace, and whether a pid is still the process that it
// was. Without node:crypto, which would take `live status` a fifth of a bare start to load.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Reads a small text, or '' where the system has none (anything but Linux). */
export function readSmall(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Not on Linux, or the process is gone: both mean that nothing is known here.
    return '';
  }
}

/** Fields 3 (state) and 22 (start time in ticks since boot) of /proc/<pid>/stat; null when there is none. */
export function processStat(pid: number): { state: string; started: string } | null {
  const line = readSmall(`/proc/${pid}/stat`);
  // The name in parentheses may hold spaces and parentheses itself.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return fields.length > 19 ? { state: fields[0]!, started: fields[19]! } : null;
}

/** The pid namespace of this process; '0' where there are none. */
export function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    // Elsewhere than Linux there are no pid namespaces.
    return '0';
  }
}

/** This boot of this machine, as /proc tells it; null where it cannot be known. */
export const bootId = (): string | null => readSmall('/proc/sys/kernel/random/boot_id').trim() || null;

/** Whether `pid`, of this boot and namespace, is still the process that started at `started` (ticks). A stopped one lives. */
export function isRunning(pid: number, started: string): boolean {
  const stat = processStat(pid);
  if (stat === null || stat.started !== started) return false;
  return (stat.state !== 'Z' && stat.state !== 'X') || otherThreads(pid);
}

/** A main thread that ended while others run shows as a zombie although the process lives. */
function otherThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    // Gone since the look at its state.
    return false;
  }
}
