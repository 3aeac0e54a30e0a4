// What changed since the step before, for recipes that show just that, and the cache key that follows from it.
import { cacheKey } from '../src/cachekey.js';
import { readRegular } from '../src/disk.js';
import type { FileEntry, SourceFingerprint } from '../src/fingerprint.js';
import { isObject } from '../src/json.js';
import { inside, readBundle, readHead } from '../src/read.js';
import type { Manifest } from '../src/schema.js';
import { type NamedRecipe, partsOf } from './config.js';
import type { Tools } from './tools.js';

/** What changed decides what such a recipe shows, or what it shows first. */
const showsChanges = (recipe: NamedRecipe): boolean =>
  partsOf(recipe).some((part) => part.each || part.artifacts?.some((rule) => rule.changed));

/** The bundle before this one, as far as a recipe that shows changes needs it. */
function previousSources(
  session: string,
  recipe: NamedRecipe,
): { files: FileEntry[]; fingerprint: string; since: string | null } | null {
  if (!showsChanges(recipe)) return null;
  const head = readHead(session).value;
  const dir = head?.current_bundle_dir && inside(session, head.current_bundle_dir);
  const manifest = dir ? readBundle(dir).value.manifest : null;
  if (
    !dir ||
    !manifest ||
    manifest.recipe !== recipe.name ||
    manifest.bundle_kind === 'diff' ||
    !manifest.source_fingerprint
  )
    return null;
  const since = manifest.context?.['since_fingerprint'];
  return {
    files: sourceFiles(dir, manifest),
    fingerprint: manifest.source_fingerprint,
    since: typeof since === 'string' ? since : null,
  };
}

function sourceFiles(dir: string, manifest: Manifest): FileEntry[] {
  const stored = manifest.source?.files_path;
  const path = stored ? inside(dir, stored) : null;
  const list: unknown = path ? readList(path) : (manifest.source?.files ?? []);
  return (Array.isArray(list) ? list : []).filter(isObject).map((file) => ({
    path: String(file['path']),
    sha256: String(file['sha256']).replace(/^sha256:/, ''),
    bytes: Number(file['bytes']),
    mode: (file['mode'] ?? 'file') as FileEntry['mode'],
  }));
}

function readList(path: string): unknown {
  try {
    return JSON.parse(readRegular(path).toString('utf8'));
  } catch {
    // Damaged or gone: everything counts as new.
    return [];
  }
}

export interface Keyed {
  key: string;
  since: string | null;
  changed: Set<string>;
}

/** The cache key: contents, recipe, options, tool versions; for a recipe that shows changes also what they are counted from. */
export function keyOf(
  { recipe, tools, session_dir }: { recipe: NamedRecipe; tools: Tools; session_dir: string },
  sources: SourceFingerprint,
): Keyed {
  const before = previousSources(session_dir, recipe);
  const since = before && (before.fingerprint === sources.fingerprint ? before.since : before.fingerprint);
  const known = new Map(before?.files.map((file) => [file.path, file]));
  const isNew = (file: FileEntry) =>
    known.get(file.path)?.sha256 !== file.sha256 || known.get(file.path)?.mode !== file.mode;
  const changed = new Set(showsChanges(recipe) ? sources.files.filter(isNew).map((file) => file.path) : []);
  const key = cacheKey({ sources: sources.fingerprint, recipe, tools: tools.identity, since });
  return { key, since, changed };
}
