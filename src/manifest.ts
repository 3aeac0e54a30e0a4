// Writing a bundle's manifest once its number is known, under the lock.
import { lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sealed } from './bundle.js';
import { createFile, fillFile, syncPath, withoutWriteBits } from './disk.js';
import { sha256 } from './hash.js';
import { MANIFEST_NAME } from './layout.js';

/** Writes the manifest of the given number into the stage; its hash is what the step will name. Fsyncs once. */
export function writeManifest(sealed: Sealed, bundle_id: string): string {
  const { protocol_version, ...rest } = sealed.manifest;
  const text = `${JSON.stringify({ protocol_version, bundle_id, ...rest }, null, 2)}\n`;
  const path = join(sealed.stage.bundle, MANIFEST_NAME);
  rewrite(path, text);
  withoutWriteBits(path);
  return sha256(text);
}

/** Fills the empty file that `sealStage` made; after a lost lock the file of the first try is replaced. */
function rewrite(path: string, text: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.size !== 0) {
    rmSync(path, { force: true });
    createFile(path, text, true);
    syncPath(dirname(path));
    return;
  }
  fillFile(path, text);
}
