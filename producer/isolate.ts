// What a renderer's command is started through, as far as the system has it: a network namespace of its own, in which
// there is not even loopback, and a word to the kernel to end it when this process is killed. Only Linux has either.
import { runCommand } from './process.js';
import { findProgram } from './program.js';

/** Ways to enter a network namespace, the first that works is taken: as root; else in a user namespace, as who we are. */
const WAYS = [
  ['unshare', '--net', '--'],
  ['unshare', '--user', '--map-current-user', '--net', '--'],
];

/** What goes before a command's argv to keep it off the network; null where that cannot be had. */
export async function networkFence(cwd: string): Promise<string[] | null> {
  if (process.platform !== 'linux' || findProgram('unshare', cwd) === null) return null;
  for (const way of WAYS) {
    const { exit_code } = await runCommand([...way, 'true'], {
      cwd: '/',
      env: process.env,
      timeout_ms: 5000,
    });
    if (exit_code === 0) return way;
  }
  return null;
}

/** What goes before an argv so that a killed capture leaves no renderer running; nothing where that cannot be had. */
export const diesWithUs = (cwd: string): string[] =>
  process.platform === 'linux' && findProgram('setpriv', cwd) !== null
    ? ['setpriv', '--pdeathsig', 'KILL', '--']
    : [];
