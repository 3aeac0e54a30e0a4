// Removing what dead owners left in a `.work` folder, and bundles that no step names.
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDir } from './disk.js';
import { DAMAGED_NAME, numberOf, TRAJECTORY_NAME, WORK_NAME } from './layout.js';
import { currentOwner, judge, parseOwner } from './owner.js';
import { readBundle } from './read.js';
import type { Head } from './schema.js';

/** Removes from `.work` what dead owners left: stages, graves, prepared locks, links. A living owner's things stay. */
export function sweepWork(dir: string): void {
  const self = currentOwner();
  const work = join(dir, WORK_NAME);
  for (const name of readdirSync(work)) {
    const owner = parseOwner(/^(?:stage|new|grave|done|link|session)-([^-]+)/.exec(name)?.[1] ?? '');
    if (owner && judge(owner, self) === 'dead') rmSync(join(work, name), { recursive: true, force: true });
  }
}

/** Up to this size a trajectory is searched before an orphan of an earlier head is removed; above it, orphans stay. */
const SEARCHED_BYTES = 64 * 1024 * 1024;

/**
 * The orphans that may be removed: those beyond the last number given out before, which no step can name, and those
 * that an earlier head listed and the trajectory really does not name. The head is not believed in this (I9).
 */
export function removableOrphans(dir: string, head: Head, bundle_last: number): string[] {
  const certain = (name: string) => (numberOf(name, 'bundle') ?? 0) > bundle_last;
  const listed = head.orphans.filter((name) => !certain(name));
  const fresh = head.orphans.filter(certain);
  if (listed.length === 0 || head.trajectory_bytes > SEARCHED_BYTES) return fresh;
  const trajectory = readFileSync(join(dir, TRAJECTORY_NAME));
  return [...fresh, ...listed.filter((name) => !trajectory.includes(`"bundle_id":${JSON.stringify(name)}`))];
}

/**
 * Removes a bundle whose publication was cut off: it came whole, by one rename, and names itself. A folder that somebody
 * else put under such a name is not ours to delete: it is moved into `damaged/`.
 */
export function removeOrphan(dir: string, name: string): void {
  const path = join(dir, name);
  if (readBundle(path).value.manifest?.bundle_id === name) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  makeDir(join(dir, DAMAGED_NAME));
  renameSync(path, join(dir, DAMAGED_NAME, `${name}-${Date.now().toString(36)}`));
}
