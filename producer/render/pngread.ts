// Reads the PNG that most programs write (ISO/IEC 15948): 8 bits a channel, red, green, blue and perhaps alpha, not
// interlaced. Ours, for resvg reads a picture only through an SVG around it, which takes several times as long.
import { crc32, inflateSync } from 'node:zlib';
import { isSolid, type Picture } from './picture.js';

const SIGNATURE = '\x89PNG\r\n\x1a\n';
/** What changes what is seen: another picture within, or a colour that is clear. */
const NOT_PLAIN = new Set(['acTL', 'tRNS']);

interface Plain {
  width: number;
  height: number;
  channels: 3 | 4;
  /** The rows as they are packed. */
  data: Buffer;
}

/** The picture; null for any other PNG, and for one with a fault: what is to be said of it resvg knows. */
export function readPlainPng(bytes: Buffer): Picture | null {
  const found = plain(bytes);
  if (!found) return null;
  const { width, height, channels, data } = found;
  const length = (width * channels + 1) * height;
  let rows: Buffer;
  try {
    rows = inflateSync(data, { chunkSize: Math.max(64, length), maxOutputLength: length });
  } catch {
    // Damaged, or more than its size says.
    return null;
  }
  return rows.length === length ? fromRows(rows, width, height, channels) : null;
}

/** What is in its chunks, each with the sum it says; null where anything is not as it is with most. */
function plain(bytes: Buffer): Plain | null {
  if (bytes.toString('latin1', 0, 8) !== SIGNATURE) return null;
  let header: Omit<Plain, 'data'> | null = null;
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return null;
    const content = bytes.subarray(at + 8, end);
    if ((type === 'IHDR') !== (header === null) || NOT_PLAIN.has(type)) return null;
    if (type === 'IHDR') header = headerOf(content);
    if (header === null) return null;
    if (type === 'IDAT') data.push(content);
    if (type === 'IEND') return { ...header, data: Buffer.concat(data) };
    at = end + 4;
  }
  return null;
}

function headerOf(content: Buffer): Omit<Plain, 'data'> | null {
  if (content.length !== 13) return null;
  const [width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)];
  // Depth, kind of colour; compression, filter, interlace.
  const kind = content.toString('hex', 8);
  if (width === 0 || height === 0 || (kind !== '0802000000' && kind !== '0806000000')) return null;
  return { width, height, channels: kind === '0802000000' ? 3 : 4 };
}

/** The filters by their numbers; above the first row all is zero, which makes some of them another. */
const [NONE, SUB, UP, AVERAGE, PAETH, HALF] = [0, 1, 2, 3, 4, 5];
const ON_FIRST_ROW = [NONE, SUB, NONE, HALF, SUB];

/** Undoes each row's filter in place; false where there is none of that number. */
function unfilter(rows: Uint8Array, height: number, channels: number): boolean {
  const stride = rows.length / height;
  for (let y = 0; y < height; y++) {
    const from = y * stride + 1;
    const first = from + channels;
    const end = from + stride - 1;
    const stated = rows[from - 1]!;
    if (stated > PAETH) return false;
    const filter = y === 0 ? ON_FIRST_ROW[stated] : stated;
    if (filter === SUB) {
      for (let at = first; at < end; at++) rows[at] = rows[at]! + rows[at - channels]!;
    } else if (filter === HALF) {
      for (let at = first; at < end; at++) rows[at] = rows[at]! + (rows[at - channels]! >> 1);
    } else if (filter === UP) {
      for (let at = from; at < end; at++) rows[at] = rows[at]! + rows[at - stride]!;
    } else if (filter === AVERAGE) {
      for (let at = from; at < first; at++) rows[at] = rows[at]! + (rows[at - stride]! >> 1);
      for (let at = first; at < end; at++)
        rows[at] = rows[at]! + ((rows[at - channels]! + rows[at - stride]!) >> 1);
    } else if (filter === PAETH) {
      for (let at = from; at < first; at++) rows[at] = rows[at]! + rows[at - stride]!;
      for (let at = first; at < end; at++) {
        const left = rows[at - channels]!;
        const above = rows[at - stride]!;
        const corner = rows[at - stride - channels]!;
        const toLeft = Math.abs(above - corner);
        const toAbove = Math.abs(left - corner);
        const toCorner = Math.abs(left + above - corner - corner);
        const nearest = toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner;
        rows[at] = rows[at]! + nearest;
      }
    }
  }
  return true;
}

/** The picture of rows as they are packed, which are changed; null where one has a filter that there is not. */
export function fromRows(rows: Uint8Array, width: number, height: number, channels: 3 | 4): Picture | null {
  if (!unfilter(rows, height, channels)) return null;
  const pixels = new Uint8Array(width * height * 4);
  const line = width * channels;
  let to = 0;
  for (let y = 0; y < height; y++) {
    const from = y * (line + 1) + 1;
    if (channels === 4) {
      pixels.set(rows.subarray(from, from + line), to);
      to += line;
      continue;
    }
    for (let at = from; at < from + line; at += 3, to += 4) {
      pixels[to] = rows[at]!;
      pixels[to + 1] = rows[at + 1]!;
      pixels[to + 2] = rows[at + 2]!;
      pixels[to + 3] = 255;
    }
  }
  const picture = { width, height, pixels };
  if (channels === 4 && !isSolid(picture)) multiply(pixels);
  return picture;
}

function multiply(pixels: Uint8Array): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const alpha = pixels[at + 3]!;
    if (alpha === 255) continue;
    pixels[at] = (pixels[at]! * alpha) / 255 + 0.5;
    pixels[at + 1] = (pixels[at + 1]! * alpha) / 255 + 0.5;
    pixels[at + 2] = (pixels[at + 2]! * alpha) / 255 + 0.5;
  }
}
