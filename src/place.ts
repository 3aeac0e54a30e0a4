// Step 2 of a publication: the bundle's number and the one rename that makes it appear, or an older bundle used again.
// Called under the lock.
import { lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Sealed } from './bundle.js';
import { exists } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { bundleName } from './layout.js';
import type { Lock } from './lock.js';
import { writeManifest } from './manifest.js';
import { inside, readBundle } from './read.js';
import type { Head, Step } from './schema.js';

/** A good bundle of this session that is used again: what its manifest's bytes must still hash to. */
export interface Reuse {
  bundle_id: string;
  manifest_sha256: string;
}

export interface Place {
  bundle_id: string;
  render: string | null;
  manifest_sha256: string;
  status: Step['status'];
  /** Numbers passed over because a folder of that name exists, and the last number given out. */
  strays: string[];
  bundle_last: number;
}

/** Step 2: the number (I2), the manifest, and the one rename that makes the bundle appear (I1). */
export function placeBundle(
  dir: string,
  head: Head,
  sealed: Sealed,
  claimed: { bundle: string | null },
  lock: Lock,
): Place | 'lost' {
  reclaim(dir, head, sealed, claimed);
  const strays: string[] = [];
  let number = head.bundle_last + 1;
  for (; ; number++) {
    const name = bundleName(number);
    if (exists(join(dir, name))) {
      strays.push(name);
      continue;
    }
    const manifest_sha256 = writeManifest(sealed, name);
    try {
      renameSync(sealed.stage.bundle, join(dir, name));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTEMPTY' || errno === 'EEXIST') {
        strays.push(name);
        continue;
      }
      if (errno === 'ENOENT' && !lock.held()) return 'lost';
      throw error;
    }
    claimed.bundle = name;
    return {
      bundle_id: name,
      render: sealed.render,
      manifest_sha256,
      status: sealed.fields.status,
      strays,
      bundle_last: number,
    };
  }
}

/** After an eviction our bundle may stand under a number already: it is taken back, and that number is not used again. */
function reclaim(dir: string, head: Head, sealed: Sealed, claimed: { bundle: string | null }): void {
  if (claimed.bundle === null) return;
  const name = claimed.bundle;
  claimed.bundle = null;
  if (!head.orphans.includes(name)) {
    try {
      renameSync(join(dir, name), sealed.stage.bundle);
      head.bundle_last = Math.max(head.bundle_last, Number(/\d+$/.exec(name)?.[0]));
      return;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw new PreviewError(
    'bundle_gone',
    `${name} was removed while this process was suspended`,
    'the capture renders again',
  );
}

/** The bundle to use again, looked at once more under the lock. */
export function reuseBundle(dir: string, head: Head, { bundle_id, manifest_sha256 }: Reuse): Place {
  const bundle = join(dir, bundle_id);
  const { manifest } = readBundle(bundle).value;
  const whole = manifest?.artifacts.every((artifact) => {
    const path = inside(bundle, artifact.path);
    return path !== null && lstatSync(path, { throwIfNoEntry: false })?.size === artifact.bytes;
  });
  if (!manifest || !whole)
    throw new PreviewError('bundle_gone', `${bundle} is no longer whole`, 'the capture renders again');
  const render = manifest.artifacts.find((artifact) => artifact.role === 'hero')?.path ?? null;
  return {
    bundle_id,
    render,
    manifest_sha256,
    status: manifest.status as Step['status'],
    strays: [],
    bundle_last: head.bundle_last,
  };
}
