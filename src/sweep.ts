// Removing what dead owners left in a `.work` folder.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WORK_NAME } from './layout.js';
import { currentOwner, judge, parseOwner } from './owner.js';

/** Removes from `.work` what dead owners left: stages, graves, prepared locks, links. A living owner's things stay. */
export function sweepWork(dir: string): void {
  const self = currentOwner();
  const work = join(dir, WORK_NAME);
  for (const name of readdirSync(work)) {
    const owner = parseOwner(/^(?:stage|new|grave|done|link|session)-([^-]+)/.exec(name)?.[1] ?? '');
    if (owner && judge(owner, self) === 'dead') rmSync(join(work, name), { recursive: true, force: true });
  }
}
