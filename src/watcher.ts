// What a head says of its watcher, and whether that process lives. Only reading and judging: the watcher itself and
// what begins and ends it are the producer's. Runs in `live status`, so it loads no schema and no crypto.
import { basename, dirname, join } from 'node:path';
import type { JsonObject } from './json.js';
import { isObject } from './json.js';
import { CACHE_NAME } from './layout.js';
import { bootId, isRunning, pidNamespace, processStat, readSmall } from './processes.js';

/** How often a watcher writes that it lives. */
export const HEARTBEAT_MS = 15_000;
/** A watcher that cannot be seen from here (another machine or container) counts as dead once its heartbeat is older. */
export const AGED_MS = 60_000;

/** The head's `watcher` (protocol, section 5). */
export interface Watcher {
  pid: number;
  started_at: string;
  heartbeat_at: string;
  /** `code: message` of what failed last, until something is recorded again. */
  last_error: string | null;
  /** `events` of the file system, or `polling` where they cannot be had. */
  watching: 'events' | 'polling';
  /** With these a pid that was given to another process since, by the system or after a reboot, is not taken for ours. */
  process_started: string | null;
  boot_id: string | null;
  pid_namespace: string;
  host: string;
}

/** A name for this machine that can be compared and says nothing: FNV-1a of its host name and machine id. */
export function hostMark(): string {
  let mark = 0x811c9dc5;
  for (const char of `${readSmall('/proc/sys/kernel/hostname')} ${readSmall('/etc/machine-id')}`)
    mark = Math.imul(mark ^ char.charCodeAt(0), 0x01000193);
  return (mark >>> 0).toString(16).padStart(8, '0');
}

/** The calling process as a watcher that has just begun. */
export function ownWatcher(): Watcher {
  const at = new Date().toISOString();
  return {
    pid: process.pid,
    started_at: at,
    heartbeat_at: at,
    last_error: null,
    watching: 'events',
    process_started: processStat(process.pid)?.started ?? null,
    boot_id: bootId(),
    pid_namespace: pidNamespace(),
    host: hostMark(),
  };
}

/** The watcher that a head names, or null; whatever its fields hold, for anybody may have written them. */
export function watcherOf(head: JsonObject | null | undefined): Watcher | null {
  const value = head?.['watcher'];
  if (!isObject(value) || !Number.isSafeInteger(value['pid']) || Number(value['pid']) <= 0) return null;
  const text = (key: string) => (typeof value[key] === 'string' ? value[key] : null);
  return {
    pid: Number(value['pid']),
    started_at: text('started_at') ?? '',
    heartbeat_at: text('heartbeat_at') ?? '',
    last_error: text('last_error'),
    watching: value['watching'] === 'polling' ? 'polling' : 'events',
    process_started: text('process_started'),
    boot_id: text('boot_id'),
    pid_namespace: text('pid_namespace') ?? '',
    host: text('host') ?? '',
  };
}

/** Whether two records are of one process. */
export const isSameWatcher = (a: Watcher | null, b: Watcher | null): boolean =>
  a !== null && b !== null && a.pid === b.pid && a.started_at === b.started_at && a.boot_id === b.boot_id;

/** Whether the watcher's process can be seen from here: same boot, same pid namespace. */
const isVisible = (watcher: Watcher): boolean =>
  watcher.boot_id !== null &&
  watcher.boot_id === bootId() &&
  watcher.pid_namespace === pidNamespace() &&
  watcher.process_started !== null;

/** True where it is proved that the watcher's pid is the watcher, so that a signal hits no other process. */
export const isProved = (watcher: Watcher): boolean =>
  isVisible(watcher) && isRunning(watcher.pid, watcher.process_started ?? '');

/**
 * Whether a watcher lives. Where its process can be seen that decides; one of an earlier boot of this machine is dead;
 * one that cannot be seen from here is believed as long as its heartbeat is fresh.
 */
export function watcherLife(watcher: Watcher, at: number = Date.now()): 'alive' | 'dead' {
  if (isVisible(watcher)) return isProved(watcher) ? 'alive' : 'dead';
  const boot = bootId();
  if (boot !== null && watcher.boot_id !== null && watcher.boot_id !== boot && watcher.host === hostMark())
    return 'dead';
  // A clock that runs ahead elsewhere must not keep a watcher alive for ever.
  return Math.abs(at - Date.parse(watcher.heartbeat_at)) <= AGED_MS ? 'alive' : 'dead';
}

/** Where a session's watcher writes what it does: derived, so in the root's `.cache`. */
export const watcherLog = (session: string): string =>
  join(dirname(session), CACHE_NAME, `watch-${basename(session)}.log`);
