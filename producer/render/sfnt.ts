// Reads what little of a font file is needed to know its family and the characters it can draw.
// Format: OpenType 1.9, chapters "otff", "name" and "cmap".
import { closeSync, openSync, readSync } from 'node:fs';

type Table = { offset: number; length: number };
type Face = Map<string, Table>;

/** One table is read whole, so a damaged length must not ask for gigabytes. */
const TABLE_BYTES = 16 * 1024 * 1024;

/** Runs `use` with a reader of `path`; undefined where the file is no font or is damaged. */
function withFont<T>(path: string, use: (faces: Face[], read: (table: Table) => Buffer) => T): T | undefined {
  let handle: number | undefined;
  try {
    const opened = openSync(path, 'r');
    handle = opened;
    const read = ({ offset, length }: Table): Buffer => {
      const bytes = Buffer.alloc(Math.min(length, TABLE_BYTES));
      return bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, offset));
    };
    const head = read({ offset: 0, length: 12 });
    const starts = [0];
    if (head.toString('latin1', 0, 4) === 'ttcf') {
      const count = Math.min(head.readUInt32BE(8), 64);
      const offsets = read({ offset: 12, length: count * 4 });
      starts.splice(0, 1, ...Array.from({ length: count }, (_, index) => offsets.readUInt32BE(index * 4)));
    }
    return use(
      starts.map((start) => readFace(read, start)),
      read,
    );
  } catch {
    // RangeError or a system error: a damaged or unreadable file has no family and no characters.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function readFace(read: (table: Table) => Buffer, start: number): Face {
  const count = read({ offset: start + 4, length: 2 }).readUInt16BE(0);
  const records = read({ offset: start + 12, length: count * 16 });
  const face: Face = new Map();
  for (let at = 0; at < count * 16; at += 16) {
    const table = { offset: records.readUInt32BE(at + 8), length: records.readUInt32BE(at + 12) };
    face.set(records.toString('latin1', at, at + 4), table);
  }
  return face;
}

/** The family names of a font file, chosen as resvg's font database does: name 16, else name 1. */
export function familiesOf(path: string): string[] {
  const names = withFont(path, (faces, read) =>
    faces.flatMap((face) => {
      const table = face.get('name');
      return table ? familyNames(read(table)) : [];
    }),
  );
  return [...new Set(names)];
}

function familyNames(table: Buffer): string[] {
  const count = table.readUInt16BE(2);
  const strings = table.readUInt16BE(4);
  const found: Record<number, string[]> = { 1: [], 16: [] };
  for (let at = 6; at < 6 + count * 12; at += 12) {
    const [platform, encoding, , id, length, offset] = [0, 2, 4, 6, 8, 10].map((by) =>
      table.readUInt16BE(at + by),
    );
    const unicode = platform === 0 || (platform === 3 && (encoding === 1 || encoding === 10));
    if (!unicode || (id !== 1 && id !== 16)) continue;
    const start = strings + offset!;
    found[id]!.push(
      Buffer.from(table.subarray(start, start + length!))
        .swap16()
        .toString('utf16le'),
    );
  }
  return found[16]!.length ? found[16]! : found[1]!;
}

/** A test for "this font file has an outline for the code point". */
export function coverageOf(path: string): (code: number) => boolean {
  const tests = withFont(path, (faces, read) =>
    faces
      // resvg draws outlines alone, so a font of bitmaps (colour emoji) would leave a gap.
      .filter((face) => face.has('glyf') || face.has('CFF ') || face.has('CFF2'))
      .map((face) => characterMap(read(face.get('cmap')!))),
  );
  return (code) => tests?.some((has) => has(code)) ?? false;
}

function characterMap(table: Buffer): (code: number) => boolean {
  let best: { rank: number; offset: number } = { rank: 0, offset: 0 };
  for (let index = 0; index < table.readUInt16BE(2); index++) {
    const at = 4 + index * 8;
    const [platform, encoding, offset] = [
      table.readUInt16BE(at),
      table.readUInt16BE(at + 2),
      table.readUInt32BE(at + 4),
    ];
    const format = table.readUInt16BE(offset);
    if (platform !== 0 && !(platform === 3 && (encoding === 1 || encoding === 10))) continue;
    const rank = format === 12 ? 2 : format === 4 ? 1 : 0;
    if (rank > best.rank) best = { rank, offset };
  }
  if (best.rank === 0) return () => false;
  const part = table.subarray(best.offset);
  return best.rank === 2 ? (code) => inGroups(part, code) : (code) => inSegments(part, code);
}

function inGroups(part: Buffer, code: number): boolean {
  const count = part.readUInt32BE(12);
  for (let at = 16; at < 16 + count * 12; at += 12) {
    if (code < part.readUInt32BE(at)) return false;
    if (code <= part.readUInt32BE(at + 4))
      return part.readUInt32BE(at + 8) + code - part.readUInt32BE(at) !== 0;
  }
  return false;
}

function inSegments(part: Buffer, code: number): boolean {
  const twice = part.readUInt16BE(6);
  for (let at = 0; at < twice; at += 2) {
    if (code > part.readUInt16BE(14 + at)) continue;
    const start = part.readUInt16BE(16 + twice + at);
    if (code < start) return false;
    const delta = part.readUInt16BE(16 + 2 * twice + at);
    const place = 16 + 3 * twice + at;
    const range = part.readUInt16BE(place);
    const glyph = range === 0 ? code : part.readUInt16BE(place + range + (code - start) * 2);
    return glyph !== 0 && ((glyph + delta) & 0xffff) !== 0;
  }
  return false;
}
