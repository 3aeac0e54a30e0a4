// SHA-256 in the form the formats use: `sha256:` and 64 hex digits.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from './disk.js';

/** Hash of bytes, or of a text's UTF-8. */
export function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** How much of a file is in memory at a time. */
const PIECE_BYTES = 256 * 1024;

/** Hash and size of a file, read in pieces so that a large one needs little memory. Throws system errors. */
export function hashFile(path: string): { sha256: string; bytes: number } {
  const hash = createHash('sha256');
  const fd = openRegular(path);
  try {
    // One more than the file's size, so that its end is seen without a larger buffer.
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, fstatSync(fd).size + 1));
    let bytes = 0;
    for (;;) {
      const read = readSync(fd, piece, 0, piece.length, null);
      if (read === 0) break;
      hash.update(piece.subarray(0, read));
      bytes += read;
    }
    return { sha256: `sha256:${hash.digest('hex')}`, bytes };
  } finally {
    closeSync(fd);
  }
}
