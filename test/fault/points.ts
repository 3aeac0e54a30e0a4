// Going through many fault points: which ones, a few at a time, and one report of all that failed.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import {
  type Action,
  buildPreload,
  type Call,
  type Command,
  type Fault,
  type Outcome,
} from '../helpers/fault.js';

export type Point = Fault & { call: Call };

/** What happened at one point: nothing, or what went wrong, with the means to do it again. */
export type Finding = { point: string; problems: string[]; again: string };

/** Points run a few at a time: each is mostly Node starting, so more than the cores gains nothing. */
export const jobs = Number(process.env.FAULT_JOBS ?? Math.max(2, cpus().length));

/** `FAULT_ALL=1` runs also the points that leave the same state as a neighbour. */
const all = process.env.FAULT_ALL === '1';

/**
 * SIGKILL before and after every call that changes something, in the middle of every write, and before the
 * first call. A call that only reads, or that failed, leaves the disk as the call before it did, so killing
 * around it gives a state that a neighbouring point gives too: those are left out.
 */
export function killPoints(calls: Call[]): Point[] {
  return calls.flatMap((call, at) => {
    const changes = call.kind === 'w' && call.result !== -1;
    const points: Point[] = [];
    if (all || changes || at === 0) points.push({ at: call.index, action: 'kill-before', call });
    if (all || changes) points.push({ at: call.index, action: 'kill-after', call });
    if (isData(call)) points.push({ at: call.index, action: 'kill-short', call });
    return points;
  });
}

/** Whether a call writes more than one byte of content, so that it can be cut in the middle. */
export const isData = (call: Call): boolean =>
  /^p?writev?(64)?$|^sendfile$|^copy_file_range$/.test(call.name) && call.bytes > 1;

/** The rename that is the commit. */
export const isCommit = (call: Call): boolean =>
  call.name.startsWith('rename') && call.to.endsWith('/session.json');

/** Whether the log shows a commit that was carried out. */
export const committed = (outcome: Outcome): boolean =>
  outcome.calls.some((call) => isCommit(call) && call.result === 0);

const lockPath = /^(?:.*\/)?\.work\/lock$/;
const lockEntry = /^(?:.*\/)?\.work\/lock\/[^/]+$/;
export const takesLock = (call: Call): boolean =>
  call.result === 0 &&
  ((call.name.startsWith('rename') && lockPath.test(call.to)) ||
    (call.name === 'mkdir' && lockPath.test(call.path)));
export const givesLock = (call: Call): boolean =>
  call.result === 0 &&
  ((call.name.startsWith('rename') && (lockEntry.test(call.path) || lockPath.test(call.path))) ||
    (/^(rmdir|unlink)$/.test(call.name) && (lockEntry.test(call.path) || lockPath.test(call.path))));

/** For every call of a log, the lock directories held just before it. */
export function heldBefore(calls: Call[]): Set<string>[] {
  const held = new Set<string>();
  return calls.map((call) => {
    const before = new Set(held);
    if (takesLock(call)) held.add(lockPath.test(call.to) ? call.to : call.path);
    else if (givesLock(call)) held.delete(call.path.replace(/(\.work\/lock).*$/, '$1'));
    return before;
  });
}

/** Runs `work` on every item, `size` at a time. */
export async function pool<T>(
  items: readonly T[],
  work: (item: T, at: number) => Promise<void>,
  size = jobs,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      await work(items[at]!, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(size, items.length) }, worker));
}

/** A call in words, without the owners and random parts of names. */
export function inWords(call: Call | null): string {
  if (!call) return 'no call';
  const plain = (path: string): string => path.replace(/(?<=[-.])[0-9a-f-]{8,}[^/]*/g, '…');
  return `#${call.index} ${call.name} ${plain(call.path)}${call.to ? ` → ${plain(call.to)}` : ''}${call.bytes ? ` (${call.bytes} bytes)` : ''}`;
}

/** The shell line that repeats a point, on a fresh copy of the session it was done to. */
export function again(command: Command, root: string, fault: Fault): string {
  const quoted = command.argv.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)).join(' ');
  return `cd ${command.cwd} && LD_PRELOAD=${buildPreload()} FAULT_ROOT=${root} FAULT_AT=${fault.at} FAULT_ACTION=${fault.action} ${quoted}`;
}

/** Collects what went wrong at the points of one test, and says it all at once. */
export function findings(what: string): {
  add: (
    point: { at: number; action: Action | string; call: Call | null },
    problems: string[],
    again: string,
  ) => void;
  fired: (outcome: Outcome) => void;
  report: () => string;
} {
  const found: Finding[] = [];
  let points = 0;
  let hit = 0;
  return {
    add: (point, problems, repeat) => {
      points++;
      if (problems.length > 0)
        found.push({ point: `${point.action} ${inWords(point.call)}`, problems, again: repeat });
    },
    fired: (outcome) => {
      if (outcome.fired) hit++;
    },
    report: () => {
      // Calls move a little from run to run, but a harness that rarely hits anything proves nothing.
      const reached = hit >= points * 0.9 ? [] : [`only ${hit} of ${points} faults were reached`];
      if (found.length === 0 && reached.length === 0) return '';
      const lines = found.map(
        ({ point, problems, again: repeat }) =>
          `- ${point}\n    ${problems.join('\n    ')}\n    again: ${repeat}`,
      );
      return [`${what}: ${found.length} of ${points} points failed`, ...reached, ...lines].join('\n');
    },
  };
}

/** Removes a case's folder unless it failed and FAULT_KEEP=1 asks to look at it. */
export function tidy(folder: string, problems: string[]): void {
  if (problems.length === 0 || process.env.FAULT_KEEP !== '1')
    rmSync(folder, { recursive: true, force: true });
}

/** A new folder for one case. */
export const caseFolder = (scratch: string, name: string): string => mkdtempSync(join(scratch, `${name}-`));
