// One bundle's files against its manifest.
import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hashFile } from './hash.js';
import { MANIFEST_NAME } from './layout.js';
import { inside } from './read.js';
import type { Manifest, Problem } from './schema.js';

/** Each file the manifest names must be there with its hash and size, and no other file may be. */
export function checkFiles(dir: string, prefix: string, manifest: Manifest, problems: Problem[]): void {
  const known = new Set([MANIFEST_NAME]);
  const expect = (stored: string, hash: string | null | undefined, bytes: number | null, kind: string) => {
    const where = prefix + stored;
    known.add(stored);
    const path = inside(dir, stored);
    const stat = path === null ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (path === null) problems.push({ kind: 'path_leaves', where, detail: 'the path leaves the bundle' });
    else if (!stat?.isFile())
      problems.push({
        kind: `${kind}_missing`,
        where,
        detail: stat ? 'it is no regular file' : 'the file is not there',
      });
    else if (hash == null)
      problems.push({ kind: `${kind}_unproved`, where, detail: 'the manifest has no hash of it' });
    else if (hashFile(path).sha256 !== hash)
      problems.push({ kind: `${kind}_altered`, where, detail: 'its content is not what was recorded' });
    else if (bytes !== null && stat.size !== bytes)
      problems.push({
        kind: `${kind}_altered`,
        where,
        detail: `it has ${stat.size} bytes, ${bytes} were recorded`,
      });
  };
  if (manifest.summary_path) expect(manifest.summary_path, manifest.summary_sha256, null, 'summary');
  for (const artifact of manifest.artifacts)
    expect(artifact.path, artifact.sha256, artifact.bytes, 'artifact');
  for (const path of walk(dir)) {
    const stored = relative(dir, path);
    if (!known.has(stored))
      problems.push({
        kind: 'file_unlisted',
        where: prefix + stored,
        detail: 'the manifest does not name it',
      });
  }
}

function* walk(dir: string): Generator<string> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else yield path;
  }
}
