// Who holds or staged something: a process, named so that any other can tell whether it still lives.
// The whole identity is in the name (lock.md): there is no content that could be torn or empty.
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { bootId, isRunning, pidNamespace, processStat, readSmall } from './processes.js';

export interface Owner {
  host: string;
  boot: string;
  namespace: string;
  pid: number;
  started: string;
  token: string;
}

export type Life = 'alive' | 'dead' | 'unknown';

const short = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** The calling process with a fresh random token: one owner a publication. */
export function currentOwner(): Owner {
  return {
    // Two machines may share a name, but not the id that their system made when it was installed.
    host: short(`${hostname()} ${readSmall('/etc/machine-id').trim()}`),
    boot: short(bootId() ?? ''),
    namespace: pidNamespace(),
    pid: process.pid,
    started: processStat(process.pid)?.started ?? '0',
    token: randomBytes(6).toString('hex'),
  };
}

export const ownerName = (o: Owner): string =>
  [o.host, o.boot, o.namespace, o.pid, o.started, o.token].join('.');

/** The owner that a name made by `ownerName` stands for, or null for a stray name. */
export function parseOwner(name: string): Owner | null {
  const match = /^([0-9a-f]{8})\.([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)\.([0-9a-f]{12})$/.exec(name);
  if (!match) return null;
  const [, host, boot, namespace, pid, started, token] = match;
  return {
    host: host!,
    boot: boot!,
    namespace: namespace!,
    pid: Number(pid),
    started: started!,
    token: token!,
  };
}

/**
 * Whether an owner lives. Dead only where that is sure: the same boot and pid namespace, and no such pid,
 * another start time, or a zombie without other threads; or an older boot of the same host. A stopped
 * process lives. Anything that cannot be seen from here is unknown.
 */
export function judge(owner: Owner, self: Owner): Life {
  const known = self.boot !== short('');
  if (!known) return judgeByPid(owner, self);
  if (owner.boot !== self.boot) return owner.host === self.host ? 'dead' : 'unknown';
  if (owner.namespace !== self.namespace) return 'unknown';
  return isRunning(owner.pid, owner.started) ? 'alive' : 'dead';
}

/** Where there is no /proc: a pid that answers may be another process by now, so it is never called dead while it does. */
function judgeByPid(owner: Owner, self: Owner): Life {
  if (owner.host !== self.host) return 'unknown';
  try {
    process.kill(owner.pid, 0);
    return 'alive';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'dead' : 'alive';
  }
}
