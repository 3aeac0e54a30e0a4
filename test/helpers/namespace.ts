// Private mount namespaces: a tiny tmpfs, read-only binds and foreign file systems that nobody else sees and
// that vanish with the process holding them. Works as root on Linux; `mountSkip` says why not elsewhere.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './fault.js';

/** Why this machine can't do it, or null. */
export function mountSkip(): string | null {
  if (process.platform !== 'linux') return 'mount namespaces need Linux';
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'this user may not make a mount namespace (unshare -m)';
  }
}

/** Why this machine can't make a pid namespace, or null. */
export function pidSkip(): string | null {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'this user may not make a pid namespace (unshare --pid)';
  }
}

export type Namespace = {
  /** What to put before an argv to run it inside, in the folder `cwd`: entering a namespace loses the old one. */
  inside: (cwd: string) => string[];
  /** A path of the namespace as this process can reach it. */
  seen: (path: string) => string;
  /** Runs a shell line inside as root. */
  sh: (line: string) => string;
  close: () => Promise<void>;
};

/** Enters a new mount namespace and runs `line` (mounts, mostly) in it. @throws Error where the line fails. */
export async function mountNamespace(line: string): Promise<Namespace> {
  const child = spawn(
    'unshare',
    ['-m', '--propagation', 'private', 'sh', '-c', `set -e; ${line}; echo ready; exec cat`],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    err += piece;
  });
  await until(() => out.includes('ready') || child.exitCode !== null, {
    deadline_ms: 20_000,
    what: 'the mount namespace',
  });
  if (!out.includes('ready')) throw new Error(`the mounts failed: ${err}`);
  const inside = (cwd: string): string[] => [
    'nsenter',
    `--mount=/proc/${child.pid}/ns/mnt`,
    '--',
    'env',
    '-C',
    cwd,
  ];
  return {
    inside,
    seen: (path) => `/proc/${child.pid}/root${path}`,
    sh: (command) => {
      const [file, ...argv] = [...inside('/'), 'sh', '-c', command];
      return execFileSync(file!, argv, { encoding: 'utf8' });
    },
    close: async () => {
      if (child.exitCode !== null) return;
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
