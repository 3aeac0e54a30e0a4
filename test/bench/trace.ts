// What a publication costs the disk: its system calls as strace saw them, on files under the preview root.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, plainEnv, run } from './measure.js';

export interface Cost {
  bytes_written: number;
  /** The same without the digits of numbers, which is what may grow with the number of steps. */
  bytes_but_digits: number;
  writes: number;
  fsyncs: number;
  fsyncs_under_lock: number;
  renames: number;
  /** Read from trajectory.json: the last entry, whatever is before it. */
  trajectory_bytes_read: number;
}

const CALLS = 'read,pread64,write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2';

export const hasStrace = (): boolean => spawnSync('strace', ['-V']).status === 0;

/** Runs a command under strace, children included, and counts what it does under `root`. */
export function traceCost(command: Command, root: string, log: string): Cost {
  const strace = ['strace', '-f', '-y', '-s', '100000', '-e', `trace=${CALLS}`, '-o', log];
  run({ ...command, argv: [...strace, ...command.argv] });
  return countCalls(wholeCalls(readFileSync(log, 'utf8')), root);
}

/** How many files under `root` a command opens, and whether trajectory.json is among them. */
export function traceOpens(
  command: Command,
  root: string,
  log: string,
): { files: number; trajectory: boolean } {
  run({ ...command, argv: ['strace', '-f', '-e', 'trace=open,openat', '-o', log, ...command.argv] });
  const opened = wholeCalls(readFileSync(log, 'utf8')).filter(
    (call) => call.includes(root) && /= \d+/.test(call),
  );
  return { files: opened.length, trajectory: opened.some((call) => call.includes('trajectory.json')) };
}

/** Lines of the log as whole calls: what one thread began and another's call interrupted is put together. */
function wholeCalls(text: string): string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of text.split('\n')) {
    const [, pid, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (pid === undefined || rest === undefined) continue;
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (rest.endsWith(' <unfinished ...>')) begun.set(pid, rest.slice(0, -' <unfinished ...>'.length));
    else if (resumed) calls.push((begun.get(pid) ?? '') + resumed[1]);
    else calls.push(rest);
  }
  return calls;
}

function countCalls(calls: string[], root: string): Cost {
  const cost: Cost = {
    bytes_written: 0,
    bytes_but_digits: 0,
    writes: 0,
    fsyncs: 0,
    fsyncs_under_lock: 0,
    renames: 0,
    trajectory_bytes_read: 0,
  };
  let locked = false;
  for (const call of calls) {
    const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/s.exec(call) ?? [];
    if (name === undefined || args === undefined || Number(result) < 0 || !args.includes(root)) continue;
    const done = Number(result);
    if (name.startsWith('rename')) {
      cost.renames++;
      // The rename that makes `.work/lock`, and the one that takes our entry out of it again.
      if (/, "[^"]*\/\.work\/lock"/.test(args)) locked = true;
      else if (/, "[^"]*\/\.work\/done-[^/"]*"/.test(args)) locked = false;
    } else if (name === 'fsync' || name === 'fdatasync') {
      cost.fsyncs++;
      if (locked) cost.fsyncs_under_lock++;
    } else if (name.includes('read')) {
      if (args.includes('/trajectory.json>')) cost.trajectory_bytes_read += done;
    } else {
      cost.writes++;
      cost.bytes_written += done;
      cost.bytes_but_digits += done - digitsIn(args);
    }
  }
  return cost;
}

/** Bytes as strace escapes them, hashes and ids: what of them are digits is chance, not a number. */
const NO_NUMBERS = [/\\(?:[0-7]{1,3}|.)/g, /[0-9a-f]{64}/g, /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g];
/** The owner in a staging folder's name: its process number and start time are numbers, the rest is not. */
const OWNER = /[0-9a-f]{8}\.[0-9a-f]{8}\.(\d+\.\d+\.\d+)\.[0-9a-f]{12}/g;

/** Digits of the numbers in what was written. */
function digitsIn(args: string): number {
  let content = args.slice(args.indexOf('"'), args.lastIndexOf('"')).replace(OWNER, '$1');
  for (const pattern of NO_NUMBERS) content = content.replace(pattern, ' ');
  return content.match(/\d/g)?.length ?? 0;
}

/** Where strace's log goes. */
export const logIn = (dir: string): string => join(dir, 'strace.log');

/** Peak resident memory of a command in KB, told by a module loaded before it. */
export function peakKb(command: Command, preload: string): number {
  const { stderr } = run(command, plainEnv({ NODE_OPTIONS: `--require ${preload}` }));
  return Number(/peak_kb=(\d+)/.exec(stderr)?.[1]);
}
