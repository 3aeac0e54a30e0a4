// The key under which a bundle is found again, and the index from key to bundle in the root's .cache.
// The index is derived: whatever it says is checked against the bundle itself before it is believed.
import { join } from 'node:path';
import { readRegular } from './disk.js';
import { hashFile, sha256 } from './hash.js';
import { isObject, readJsonObject } from './json.js';
import { CACHE_NAME, MANIFEST_NAME, numberOf, SUMMARY_NAME } from './layout.js';
import type { Reuse } from './place.js';
import { inside, readBundle } from './read.js';
import type { Manifest } from './schema.js';

/** Hash over everything a recipe reads: any JSON value, its keys in the order given. */
export const cacheKey = (parts: unknown): string => sha256(JSON.stringify(parts));

/** Where the index keeps the bundle of a key. */
export const placeOf = (root: string, session_id: string, key: string) =>
  join(
    root,
    CACHE_NAME,
    'bundles',
    session_id.replace(/[^\w-]/g, ''),
    key.slice('sha256:'.length, 'sha256:'.length + 2),
    `${key.slice('sha256:'.length)}.json`,
  );

/** A bundle whose pictures show just this state. Only a whole one stands for it; others hold a command's output too. */
export interface Found extends Reuse {
  whole: boolean;
}

/**
 * The newest good bundle of the session with this key: found by key, then verified whole (its manifest's hash, its
 * status, each artifact's hash). Null where there is none.
 */
export function findBundle(root: string, session: string, session_id: string, key: string): Found | null {
  const { value } = readJsonObject(placeOf(root, session_id, key), 'cache');
  if (!isObject(value)) return null;
  const { bundle_id, manifest_sha256 } = value as Record<string, unknown>;
  if (
    typeof bundle_id !== 'string' ||
    typeof manifest_sha256 !== 'string' ||
    numberOf(bundle_id, 'bundle') === null
  )
    return null;
  try {
    const manifest = goodManifest(join(session, bundle_id), key, manifest_sha256);
    return manifest && { bundle_id, manifest_sha256, whole: manifest.cache_key === key };
  } catch {
    // Something of it cannot be read: it is not reused, and `verify` will say so.
    return null;
  }
}

function goodManifest(bundle: string, key: string, manifest_sha256: string): Manifest | null {
  if (sha256(readRegular(join(bundle, MANIFEST_NAME))) !== manifest_sha256) return null;
  const { manifest, summary } = readBundle(bundle).value;
  if (!manifest || !summary || manifest.status === 'error') return null;
  if (manifest.cache_key !== key && manifest.context?.['render_key'] !== key) return null;
  if (manifest.warnings?.some((warning) => warning.startsWith('sources_changed'))) return null;
  if (sha256(readRegular(join(bundle, SUMMARY_NAME))) !== manifest.summary_sha256) return null;
  const whole = manifest.artifacts.every((artifact) => {
    const path = inside(bundle, artifact.path);
    return path !== null && hashFile(path).sha256 === artifact.sha256;
  });
  return whole ? manifest : null;
}
