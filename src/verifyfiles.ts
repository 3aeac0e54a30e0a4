// A session's bundles against the steps that name them, and one bundle's files against its manifest.
import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readRegular } from './disk.js';
import { errnoOf } from './errors.js';
import { hashFile, sha256 } from './hash.js';
import { byNumber, MANIFEST_NAME, numberOf } from './layout.js';
import { inside, readBundle } from './read.js';
import type { Head, Manifest, Problem, Step } from './schema.js';

/** The first step that shows a bundle. */
export interface Use {
  step: Step;
  manifest_sha256: string;
}

/** Checks each bundle that a step names, and that no other stands in the session. Returns how many are named. */
export function verifyBundles(
  dir: string,
  head: Head,
  bundles: Map<string, Use>,
  problems: Problem[],
  onProgress: ((done: number, total: number) => void) | undefined,
): number {
  let done = 0;
  for (const [name, use] of bundles) {
    onProgress?.(done++, bundles.size);
    let bytes: Buffer;
    try {
      const whole =
        lstatSync(join(dir, name)).isDirectory() && lstatSync(join(dir, name, MANIFEST_NAME)).isFile();
      // A link, even to the same content, is not what was recorded.
      if (!whole) throw Object.assign(new Error(), { code: 'ENOENT' });
      bytes = readRegular(join(dir, name, MANIFEST_NAME));
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) throw error;
      problems.push({ kind: 'bundle_missing', where: name, detail: `${use.step.step_id} names it` });
      continue;
    }
    const proved = sha256(bytes) === use.manifest_sha256;
    if (!proved) {
      problems.push({
        kind: 'manifest_altered',
        where: `${name}/${MANIFEST_NAME}`,
        detail: `it is not the one that ${use.step.step_id} recorded`,
      });
    }
    const { value, problems: found } = readBundle(join(dir, name));
    problems.push(...found.map((problem) => ({ ...problem, where: `${name}/${problem.where}` })));
    if (value.manifest) {
      if (value.manifest.bundle_id !== name)
        problems.push({
          kind: 'manifest_altered',
          where: `${name}/${MANIFEST_NAME}`,
          detail: `it says it is ${value.manifest.bundle_id}`,
        });
      const said = value.manifest.command;
      if (
        proved &&
        typeof said === 'string' &&
        !said.endsWith('…') &&
        use.step.command !== said &&
        !use.step['lost']
      ) {
        problems.push({
          kind: 'step_altered',
          where: use.step.step_id,
          detail: `its command is not the one that ${name} was made for`,
        });
      }
      checkFiles(join(dir, name), `${name}/`, value.manifest, problems);
    }
  }
  const listed = new Set(head.orphans);
  let next = head.bundle_last + 1;
  for (const name of readdirSync(dir).sort(byNumber)) {
    const number = numberOf(name, 'bundle');
    if (number === null || bundles.has(name) || listed.has(name)) continue;
    // The next numbers may be publications that are under way, or that a crash cut off: each names itself.
    if (number === next && readBundle(join(dir, name)).value.manifest?.bundle_id === name) {
      next++;
      continue;
    }
    problems.push({
      kind: 'bundle_unnamed',
      where: name,
      detail: 'no step names it: it was added, or its step was dropped',
    });
  }
  return bundles.size;
}

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
