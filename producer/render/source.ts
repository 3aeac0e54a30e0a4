// Reads an untrusted file into memory within bounds, and the bytes of an SVG as text, whatever way
// they were packed or encoded.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { errnoOf } from '../../src/errors.js';
import { unreadable } from './xml.js';

/** The most bytes of one SVG, packed or not. */
export const SVG_BYTES = 32 * 1024 * 1024;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** The bytes of the regular file at `path`. Throws an `Unreadable`; never waits on a pipe. */
export function readCapped(path: string, limit: number): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw unreadable('not a regular file');
    if (stat.size > limit)
      throw unreadable(`${megabytes(stat.size)}, more than the ${megabytes(limit)} that are read`);
    const bytes = Buffer.alloc(stat.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(handle, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } catch (error) {
    const errno = errnoOf(error);
    if (!errno) throw error;
    throw unreadable(errno === 'ENOENT' ? 'there is no such file' : `it cannot be read (${errno})`);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** The text of an SVG or SVGZ: unpacked, and decoded by its byte order mark or the encoding it names. */
export function svgText(bytes: Buffer): string {
  let plain = bytes;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      plain = gunzipSync(bytes, { maxOutputLength: SVG_BYTES });
    } catch (error) {
      const large = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      throw unreadable(
        large ? `it unpacks to more than ${megabytes(SVG_BYTES)}` : 'its gzip data is damaged',
      );
    }
  }
  const encoding = encodingOf(plain);
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    // RangeError: a name that is no encoding.
    throw unreadable(`it names an unknown encoding, ${encoding}`);
  }
  try {
    return decoder.decode(plain);
  } catch {
    // TypeError: bytes that the encoding does not have.
    throw unreadable(`its bytes are not ${encoding.toUpperCase()} text`);
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, 200).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1] ?? 'utf-8';
}
