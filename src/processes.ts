// What the system tells about processes: this boot, this pid namespace, and whether a pid is still the process that it
// was. Without node:crypto, which would take `live status` a fifth of a bare start to load.
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

/** As much as a page of /proc holds, and within Node's pool of buffers. */
const SMALL_BYTES = 4000;

/**
 * The first bytes of a small file of the system's, as Latin-1; empty where it is not there. Whoever reads one file of
 * every process passes a buffer: /proc files have no size, and Node would take 64 KB anew for each.
 */
export function readSmall(path: string, into: Buffer = Buffer.allocUnsafe(SMALL_BYTES)): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // Not on Linux, or the process is gone: both mean that nothing is known here.
    return '';
  }
  try {
    let bytes = 0;
    for (let read = 1; read > 0 && bytes < into.length; bytes += read)
      read = readSync(fd, into, bytes, into.length - bytes, null);
    return into.toString('latin1', 0, bytes);
  } catch {
    // The process ended meanwhile.
    return '';
  } finally {
    closeSync(fd);
  }
}

/** Every process that /proc tells of; none where there is no /proc. */
export function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // ENOENT: there is no /proc.
    return [];
  }
}

/** What /proc/<pid>/stat tells of a process (proc(5)); `started` in ticks since boot. */
export interface ProcessStat {
  state: string;
  parent: number;
  group: number;
  session: number;
  started: string;
}

/** Null when there is no such process. */
export function processStat(pid: number): ProcessStat | null {
  const line = readSmall(`/proc/${pid}/stat`);
  // The name in parentheses may hold spaces and parentheses itself.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return null;
  const [state, parent, group, session] = fields as [string, string, string, string];
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: fields[19]!,
  };
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
