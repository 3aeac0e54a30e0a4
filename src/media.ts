// What a file is, by its content first and its name second: media type, kind, extension and size of picture.
import { closeSync, openSync } from 'node:fs';
import { extname } from 'node:path';
import { imageSize } from 'image-size';
import { readAt } from './trajectory.js';

export type Kind = 'image' | 'clip' | 'json' | 'model' | 'capture' | 'text';

export interface Media {
  kind: Kind;
  media_type: string;
  /** Extension without a dot. */
  ext: string;
  width?: number;
  height?: number;
}

const latin = (text: string) => Buffer.from(text, 'latin1');

/** Magic numbers: bytes at an offset. Sources: the formats' own specifications, as collected by the IANA registrations. */
const MAGIC: readonly [offset: number, magic: Buffer, media_type: string, kind: Kind, ext: string][] = [
  [0, latin('\x89PNG\r\n\x1a\n'), 'image/png', 'image', 'png'],
  [0, latin('\xff\xd8\xff'), 'image/jpeg', 'image', 'jpg'],
  [0, latin('GIF8'), 'image/gif', 'image', 'gif'],
  [8, latin('WEBP'), 'image/webp', 'image', 'webp'],
  [4, latin('ftypavif'), 'image/avif', 'image', 'avif'],
  [4, latin('ftypqt'), 'video/quicktime', 'clip', 'mov'],
  [4, latin('ftyp'), 'video/mp4', 'clip', 'mp4'],
  [0, latin('\x1a\x45\xdf\xa3'), 'video/webm', 'clip', 'webm'],
  [0, latin('OggS'), 'audio/ogg', 'clip', 'ogg'],
  [0, latin('ID3'), 'audio/mpeg', 'clip', 'mp3'],
  [8, latin('WAVE'), 'audio/wav', 'clip', 'wav'],
  [0, latin('glTF'), 'model/gltf-binary', 'model', 'glb'],
  [0, latin('%PDF-'), 'application/pdf', 'capture', 'pdf'],
  [0, latin('\x1f\x8b'), 'application/gzip', 'capture', 'gz'],
  [0, latin('PK\x03\x04'), 'application/zip', 'capture', 'zip'],
];

/** For formats without a magic number, and to tell apart those that share one. */
const BY_NAME: Record<string, [media_type: string, kind: Kind]> = {
  svg: ['image/svg+xml', 'image'],
  json: ['application/json', 'json'],
  gltf: ['model/gltf+json', 'model'],
  stl: ['model/stl', 'model'],
  obj: ['model/obj', 'model'],
  '3mf': ['model/3mf', 'model'],
  patch: ['text/x-diff', 'text'],
  diff: ['text/x-diff', 'text'],
  txt: ['text/plain', 'text'],
  log: ['text/plain', 'text'],
  md: ['text/markdown', 'text'],
  csv: ['text/csv', 'text'],
  html: ['text/html', 'text'],
  cast: ['application/x-asciicast', 'capture'],
  mp3: ['audio/mpeg', 'clip'],
  mkv: ['video/x-matroska', 'clip'],
};

const IMAGE_NAMES = new Set(['jpeg', 'svg', 'svgz', 'tif', 'tiff', 'bmp', 'ico']);

/** Reads at most 256 KB of the file; dimensions that lie further in are left out. Throws system errors. */
export function detectMedia(path: string, name: string = path): Media {
  const fd = openSync(path, 'r');
  let head: Buffer;
  try {
    head = readAt(fd, 0, 256 * 1024);
  } finally {
    closeSync(fd);
  }
  const named = extname(name).slice(1).toLowerCase();
  const magic = MAGIC.find(([offset, bytes]) => head.subarray(offset, offset + bytes.length).equals(bytes));
  const byName = BY_NAME[named];
  if (magic && !(magic[4] === 'zip' && byName) && !(named === 'mkv')) {
    const [, , media_type, kind, ext] = magic;
    return { kind, media_type, ext, ...(kind === 'image' ? dimensions(head) : {}) };
  }
  if (
    /^\ufeff?\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/.test(
      head.toString('utf8', 0, 4096),
    )
  ) {
    return { kind: 'image', media_type: 'image/svg+xml', ext: 'svg', ...dimensions(head) };
  }
  // A name that promises a format with a magic number, without that number, is not believed.
  if (byName && byName[1] !== 'image') return { kind: byName[1], media_type: byName[0], ext: named };
  // A name that promises a format which the content is not gives no extension either.
  const believable =
    /^[a-z0-9]{1,8}$/.test(named) && !IMAGE_NAMES.has(named) && !MAGIC.some(([, , , , ext]) => ext === named);
  if (!head.includes(0)) return { kind: 'text', media_type: 'text/plain', ext: believable ? named : 'txt' };
  return { kind: 'capture', media_type: 'application/octet-stream', ext: believable ? named : 'bin' };
}

function dimensions(head: Buffer): { width?: number; height?: number } {
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { width: Math.round(width), height: Math.round(height) } : {};
  } catch {
    // A cut or hostile header: the picture is published without its size.
    return {};
  }
}
