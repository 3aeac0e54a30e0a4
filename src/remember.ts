// Writing the index from cache key to bundle; reading it is cachekey.ts's business, and far more frequent.
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { placeOf } from './cachekey.js';
import { makeDir } from './disk.js';
import type { Reuse } from './place.js';

/** Remembers which bundle has this key. Failing to is no fault: the next capture renders. */
export function rememberBundle(root: string, session_id: string, key: string, reuse: Reuse): void {
  const path = placeOf(root, session_id, key);
  try {
    makeDir(join(path, '..'));
    writeFileAtomic.sync(path, JSON.stringify(reuse), { mode: 0o600, fsync: false });
  } catch {
    // A full or read-only disk costs a render later on, no record.
  }
}
