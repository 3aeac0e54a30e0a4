// The PNG that is read without resvg comes out as resvg has it, to the last bit; what is not plain is left to resvg.
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPlainPng } from '../../producer/render/pngread.js';

interface Made {
  width: number;
  height: number;
  channels: 3 | 4;
  /** Each row: its filter, and its bytes as they are packed. */
  rows: Uint8Array;
}

function chunk(type: string, content: Uint8Array): Buffer {
  const out = Buffer.alloc(content.length + 12);
  out.writeUInt32BE(content.length, 0);
  out.write(type, 4, 'latin1');
  out.set(content, 8);
  out.writeUInt32BE(crc32(out.subarray(4, -4)), content.length + 8);
  return out;
}

/** A PNG with these rows, and with other chunks between its header and them. */
function pngOf({ width, height, channels, rows }: Made, between: Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 3 ? 2 : 6], 8);
  const packed = deflateSync(rows);
  const half = packed.length >> 1;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...between,
    chunk('IDAT', packed.subarray(0, half)),
    chunk('IDAT', packed.subarray(half)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const made = fc
  .record({
    width: fc.integer({ min: 1, max: 40 }),
    height: fc.integer({ min: 1, max: 30 }),
    channels: fc.constantFrom<3 | 4>(3, 4),
    filters: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 30, maxLength: 30 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 5000, size: 'max' }),
  })
  .map(({ width, height, channels, filters, bytes }): Made => {
    const stride = width * channels + 1;
    const rows = Uint8Array.from({ length: stride * height }, (_, at) =>
      at % stride === 0 ? filters[at / stride]! : bytes[at % bytes.length]!,
    );
    return { width, height, channels, rows };
  });

function byResvg(bytes: Buffer, width: number, height: number) {
  const href = `data:image/png;base64,${bytes.toString('base64')}`;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="${href}"/></svg>`;
  return new Resvg(text, { font: { loadSystemFonts: false } }).render().pixels;
}

describe('plain PNG', () => {
  test('any rows with any filters: as resvg has them', () => {
    fc.assert(
      fc.property(made, (picture) => {
        const bytes = pngOf(picture);
        const read = readPlainPng(bytes);
        expect(read).toMatchObject({ width: picture.width, height: picture.height });
        expect(Buffer.from(read!.pixels).equals(byResvg(bytes, picture.width, picture.height))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('a real one: as resvg has it', () => {
    const bytes = readFileSync('guides/images/demo.png');
    const read = readPlainPng(bytes)!;
    expect(Buffer.from(read.pixels).equals(byResvg(bytes, read.width, read.height))).toBe(true);
  });
});

describe('left to resvg', () => {
  const small: Made = { width: 2, height: 2, channels: 3, rows: new Uint8Array(14) };
  const whole = pngOf(small);
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    return bytes;
  };
  const resealed = (bytes: Buffer) => {
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
    return bytes;
  };

  test('what is plain is not', () => expect(readPlainPng(whole)).not.toBeNull());

  test.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['another kind of file', Buffer.from('GIF89a')],
    ['one that is cut off', whole.subarray(0, -20)],
    ['one without its end', whole.subarray(0, -12)],
    ['a wrong sum', changed(45, 1)],
    ['a colour that is clear', pngOf(small, [chunk('tRNS', Buffer.alloc(6))])],
    ['an animation', pngOf(small, [chunk('acTL', Buffer.alloc(8))])],
    ['16 bits a channel', resealed(changed(24, 16))],
    ['a palette', resealed(changed(25, 3))],
    ['an interlaced one', resealed(changed(28, 1))],
    ['no width', resealed(changed(19, 0))],
    ['a filter that there is not', pngOf({ ...small, rows: Uint8Array.from({ length: 14 }, () => 5) })],
    ['too few rows', pngOf({ ...small, rows: new Uint8Array(7) })],
    ['too many rows', pngOf({ ...small, rows: new Uint8Array(21) })],
    ['two headers', pngOf(small, [whole.subarray(8, 33)])],
  ])('%s', (_, bytes) => expect(readPlainPng(bytes)).toBeNull());
});
