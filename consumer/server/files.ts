// A bundle's files: those that its manifest names, and the manifest and summary themselves. Whatever they hold, they
// run nothing in the page's origin (I9).
import { closeSync, createReadStream, fstatSync, lstatSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { openRegular } from '../../src/disk.js';
import { errnoOf } from '../../src/errors.js';
import { inside } from '../../src/inside.js';
import { MANIFEST_NAME, SUMMARY_NAME } from '../../src/layout.js';
import { readAnyBundle } from '../../src/recording.js';
import { rangeOf } from './range.js';
import { SECURITY_HEADERS } from './respond.js';

/** Types that are told to the browser as they were recorded; all others are bytes to download. */
const SHOWN = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
  'video/mp4',
  'video/webm',
  'video/quicktime',
  'video/x-matroska',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'application/json',
  'application/pdf',
  'application/x-asciicast',
  'application/xml',
  'text/xml',
  'text/html',
  'text/plain',
  'model/gltf-binary',
  'model/gltf+json',
  'model/stl',
  'model/obj',
]);

/** Text that a browser would only download. */
const AS_TEXT = new Set(['text/x-diff', 'text/markdown', 'text/csv']);

/** What can hold a script: it runs in an origin of its own, without scripts, and asks for nothing. */
const ACTIVE = /^(image\/svg\+xml|text\/html|application\/pdf|(application|text)\/xml)$/;
const ACTIVE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'";
const POLICY = "sandbox; frame-ancestors 'self'";

/** The media type that is told for one that was recorded. */
export function toldType(recorded: string | null | undefined): string {
  const type = (recorded ?? '').split(';')[0]!.trim().toLowerCase();
  if (AS_TEXT.has(type)) return 'text/plain; charset=utf-8';
  if (!SHOWN.has(type)) return 'application/octet-stream';
  return /^(text|application\/(json|xml))/.test(type) ? `${type}; charset=utf-8` : type;
}

interface Known {
  sha256: string | null;
  media_type: string | null;
}

/** What the bundle's manifest says of a file, or null where it does not name it. */
function knownFile(bundle: string, path: string): Known | null {
  if (path === MANIFEST_NAME || path === SUMMARY_NAME)
    return { sha256: null, media_type: 'application/json' };
  const artifact = readAnyBundle(bundle).value.manifest?.artifacts.find((each) => each.path === path);
  return artifact ? { sha256: artifact.sha256 ?? null, media_type: artifact.media_type ?? null } : null;
}

/** Opens a file of a bundle for reading, or null where it is no regular file in it. */
function openFile(bundle: string, path: string): number | null {
  try {
    const found = inside(bundle, path);
    if (found === null || !lstatSync(found).isFile()) return null;
    return openRegular(found);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(errnoOf(error) ?? '')) throw error;
    return null;
  }
}

export interface FileRequest {
  /** The bundle's folder. */
  bundle: string;
  path: string;
  query: URLSearchParams;
}

/** Sends a file, or the part of it that was asked for. False where there is none. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { bundle, path, query }: FileRequest,
): boolean {
  const known = knownFile(bundle, path);
  const fd = known && openFile(bundle, path);
  if (known === null || fd === null) return false;
  const { size } = fstatSync(fd);
  const hash = known.sha256?.replace(/^sha256:/, '') ?? null;
  const tag = hash && `"${hash}"`;
  const type = toldType(known.media_type);
  const headers: OutgoingHttpHeaders = {
    ...SECURITY_HEADERS,
    'Content-Security-Policy': ACTIVE.test(type.split(';')[0]!) ? ACTIVE_POLICY : POLICY,
    'Content-Type': type,
    'Cache-Control':
      hash !== null && query.get('v') === hash ? 'private, max-age=31536000, immutable' : 'no-store',
    'Accept-Ranges': 'bytes',
    ...(tag ? { ETag: tag } : {}),
    ...(query.has('download') ? { 'Content-Disposition': dispositionOf(path) } : {}),
  };
  const asked = request.headers['if-range'];
  const wanted =
    request.method === 'HEAD' || (asked !== undefined && asked !== tag) ? undefined : request.headers.range;
  const range = rangeOf(wanted, size);
  if (range === 'none') {
    closeSync(fd);
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${size}`, 'Content-Length': 0 });
    response.end();
    return true;
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  response.writeHead(range ? 206 : 200, {
    ...headers,
    'Content-Length': last - first + 1,
    ...(range ? { 'Content-Range': `bytes ${first}-${last}/${size}` } : {}),
  });
  if (request.method === 'HEAD' || size === 0) {
    closeSync(fd);
    response.end();
    return true;
  }
  // Reads only as fast as the client takes; whichever end breaks off, both are closed.
  pipeline(createReadStream('', { fd, start: first, end: last }), response, () => {});
  return true;
}

/** A download's name, in the form of RFC 6266 that holds any character. */
function dispositionOf(path: string): string {
  const name = path.split('/').at(-1)!;
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
