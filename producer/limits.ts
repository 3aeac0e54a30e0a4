// What a renderer may use at most: looked at from time to time while it runs. Only Linux tells the memory.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pids, processStat, readSmall } from '../src/processes.js';

export interface Limits {
  memory_bytes: number;
  /** Of all files below `output_dir`. */
  output_bytes: number;
  output_dir: string;
}

/** How often it is looked at, in ms. What ends sooner is never looked at. */
export const LOOK_EVERY_MS = 500;
const PAGE_BYTES = 4096;

/** Which limit the process group is over, in words; null where it is within all. */
export function overLimit(group: number, limits: Limits): string | null {
  const memory = memoryOf(group);
  if (memory > limits.memory_bytes)
    return `it used ${megabytes(memory)} of memory, over its limit of ${megabytes(limits.memory_bytes)} (memory_mb)`;
  const output = bytesBelow(limits.output_dir);
  if (output > limits.output_bytes)
    return `it left ${megabytes(output)} of files, over its limit of ${megabytes(limits.output_bytes)} (output_mb)`;
  return null;
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

/** Resident memory of a process group, in bytes; pages that two of them share count twice. */
function memoryOf(group: number): number {
  if (process.platform !== 'linux') return 0;
  let pages = 0;
  for (const pid of pids())
    if (processStat(pid)?.group === group)
      pages += Number(readSmall(`/proc/${pid}/statm`).split(' ')[1] ?? 0);
  return pages * PAGE_BYTES;
}

function bytesBelow(dir: string): number {
  let bytes = 0;
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      bytes += entry.isDirectory()
        ? bytesBelow(path)
        : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  } catch {
    // A folder that the renderer removed meanwhile.
  }
  return bytes;
}
