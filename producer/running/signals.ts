// Signals on their way to the command: each is delivered once. The command has a session of its own, so nothing that
// the terminal or anyone sends to our group reaches it but through here.
import { constants } from 'node:os';
import { errnoOf } from '../../src/errors.js';

/** What ends or interrupts a whole job goes to the command and all that it started in its group. */
const TO_GROUP = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** What is a message goes to the command alone: a child that does not expect it would die of it. */
const TO_COMMAND = ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGWINCH'] as const;

/** Sends a signal; what is gone, or no longer ours, is let be. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** Forwards signals to the command until closed; what comes before it has started waits for it. */
export function forwardSignals({ windows }: { windows: boolean }) {
  let pid = 0;
  const waiting: NodeJS.Signals[] = [];
  const forward = (signal: NodeJS.Signals) => {
    if (pid === 0) waiting.push(signal);
    else send((TO_GROUP as readonly string[]).includes(signal) ? -pid : pid, signal);
  };
  // The group has no job control of its own: it is stopped outright, and so are we, as the shell expects.
  const stop = () => {
    if (pid > 0) send(-pid, 'SIGSTOP');
    process.kill(process.pid, 'SIGSTOP');
  };
  const resume = () => {
    if (pid > 0) send(-pid, 'SIGCONT');
  };
  // On a terminal of its own the command hears of a new size from there.
  const names = [...TO_GROUP, ...TO_COMMAND].filter((name) => windows || name !== 'SIGWINCH');
  for (const name of names) process.on(name, forward);
  process.on('SIGTSTP', stop);
  process.on('SIGCONT', resume);
  return {
    to(command: number) {
      pid = command;
      for (const signal of waiting.splice(0)) forward(signal);
    },
    close() {
      for (const name of names) process.off(name, forward);
      process.off('SIGTSTP', stop);
      process.off('SIGCONT', resume);
    },
  };
}

/** 128 + n for signal n, as a shell says it. */
export const codeOfSignal = (signal: NodeJS.Signals): number => 128 + (constants.signals[signal] ?? 0);
