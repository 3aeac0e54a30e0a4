// Decides whether a picture inside of an SVG (a data: URI) is safe to hand to resvg: a few kilobytes
// of PNG or gzip can unpack to gigabytes.
import { imageSize } from 'image-size';

/** The most pixels of one picture that are decoded (4 bytes each, twice). */
export const IMAGE_PIXELS = 50_000_000;

/** What resvg decodes. */
const DRAWN = new Set(['png', 'jpg', 'gif']);

/** A picture of pixels that may stay, an SVG that must be prepared itself, or why neither. */
export type Embedded =
  | { kind: 'pixels' }
  | { kind: 'svg'; bytes: Buffer }
  | { kind: 'refused'; reason: string };

export function readEmbedded(href: string): Embedded {
  const comma = href.indexOf(',');
  const type = href.slice('data:'.length, comma).trim();
  const body = percentDecoded(href.slice(comma + 1));
  const bytes = Buffer.from(body, /;\s*base64$/i.test(type) ? 'base64' : 'latin1');
  if (/^image\/svg\+xml/i.test(type)) return { kind: 'svg', bytes };
  const refused = (reason: string): Embedded => ({ kind: 'refused', reason: `an embedded ${reason}` });
  const unknown = () => refused(`${type.split(';')[0] || 'picture'} cannot be read and was left out`);
  let size: ReturnType<typeof imageSize>;
  try {
    size = imageSize(bytes);
  } catch {
    // TypeError: nothing that image-size knows, so no picture whose pixels could be counted first.
    return unknown();
  }
  if (size.type === 'svg') return { kind: 'svg', bytes };
  if (size.type === 'webp') return refused('WebP picture was left out: resvg does not read WebP');
  if (!DRAWN.has(size.type ?? '')) return unknown();
  if (size.width * size.height > IMAGE_PIXELS) {
    return refused(`picture of ${size.width} × ${size.height} pixels is too large and was left out`);
  }
  return { kind: 'pixels' };
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return Buffer.from(text, 'utf8').toString('latin1');
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
