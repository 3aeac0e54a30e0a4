// A staging folder, whose name tells its owner: where a renderer leaves its files and a bundle is put together.
import { rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDir } from './disk.js';
import { makeWork } from './lock.js';
import { currentOwner, ownerName } from './owner.js';
import type { Artifact } from './schema.js';

export interface Stage {
  dir: string;
  /** Where a renderer leaves its files. */
  out: string;
  /** What becomes `bundle_NNN`. */
  bundle: string;
  artifacts: Artifact[];
  /** Whether secrets in texts and captured bytes are masked. */
  redact: boolean;
}

/** Makes a staging folder in the session's `.work`. Secrets are masked unless `redact` is false. */
export function openStage(session: string, { redact = true }: { redact?: boolean | undefined } = {}): Stage {
  const dir = join(makeWork(session), `stage-${ownerName(currentOwner())}`);
  const stage = { dir, out: join(dir, 'out'), bundle: join(dir, 'bundle'), artifacts: [], redact };
  makeDir(stage.out);
  makeDir(stage.bundle);
  return stage;
}

/** Empties the stage for another try. */
export function resetStage(stage: Stage): void {
  // A renderer that was just killed may still be writing for a moment.
  rmSync(stage.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 });
  stage.artifacts.length = 0;
  makeDir(stage.out);
  makeDir(stage.bundle);
}

/** Removes what is left of a staging folder. What cannot be removed is swept when this process is gone. */
export function closeStage(stage: Stage): void {
  try {
    rmdirSync(stage.out);
    rmdirSync(stage.dir);
    return;
  } catch {
    // Something is left in it (ENOTEMPTY), for which more must be loaded; or it is gone.
  }
  try {
    rmSync(stage.dir, { recursive: true, force: true });
  } catch {
    // A failing disk: the step may be recorded by now, and stays so.
  }
}
