// What a renderer's command is started through, as far as the system has it: a network namespace of its own, in which
// there is not even loopback, and a word to the kernel to end it when this process is killed. Only Linux has either.
import { type Outcome, runCommand } from './process.js';
import { findProgram } from './program.js';

/** Ways to enter a network namespace, the first that works is taken: as root; else in a user namespace, as who we are. */
const AS_ROOT = ['unshare', '--net', '--'];
const AS_USER = ['unshare', '--user', '--map-current-user', '--net', '--'];

/** What keeps commands off the network. Whether that can be had shows when the first of them is started. */
export interface Fence {
  /** What goes before a command's argv; nothing where no way is left. */
  before(): readonly string[];
  /** True where it was the fence that failed, not the command behind it: that was never started, and another way is next. */
  failed(way: readonly string[], outcome: Outcome): Promise<boolean>;
}

/** The fence for a recipe's commands. */
export function networkFence(cwd: string): Fence {
  const none = process.platform !== 'linux' || findProgram('unshare', cwd) === null;
  const ways = none ? [] : process.geteuid?.() === 0 ? [AS_ROOT, AS_USER] : [AS_USER, AS_ROOT];
  return {
    before: () => ways[0] ?? [],
    async failed(way, { exit_code, stderr }) {
      // A command may say the same: only a way that does not work for a harmless one either is given up.
      if (way.length === 0 || exit_code !== 1 || !stderr.startsWith('unshare: ') || (await works(way)))
        return false;
      if (ways[0] === way) ways.shift();
      return true;
    },
  };
}

async function works(way: readonly string[]): Promise<boolean> {
  const { exit_code } = await runCommand([...way, 'true'], { cwd: '/', env: process.env, timeout_ms: 5000 });
  return exit_code === 0;
}

/** What goes before an argv so that a killed capture leaves no renderer running; nothing where that cannot be had. */
export const diesWithUs = (cwd: string): string[] =>
  process.platform === 'linux' && findProgram('setpriv', cwd) !== null
    ? ['setpriv', '--pdeathsig', 'KILL', '--']
    : [];
