// Pictures in memory: the ground a transparent one is shown on, making one smaller, laying one on
// another, and writing PNG.

/** RGBA, 8 bits, colours already multiplied by alpha (as resvg has them). */
export type Picture = { width: number; height: number; pixels: Uint8Array };

/** What is behind a transparent picture: one colour, or a checker that shows light and dark alike. */
export type Ground = 'checker' | readonly [red: number, green: number, blue: number];

export const WHITE: Ground = [255, 255, 255];
const CHECKER = [
  [0xad, 0xb2, 0xb8],
  [0xa0, 0xa6, 0xad],
] as const;

/** Its pixels four bytes at a time, to be compared as a whole: which byte is where depends on the machine. */
export function wordsOf({ pixels }: Picture): Uint32Array {
  const even = pixels.byteOffset % 4 === 0 ? pixels : Uint8Array.from(pixels);
  return new Uint32Array(even.buffer, even.byteOffset, even.length / 4);
}

/** Whether nothing shows through it anywhere. */
export function isSolid({ pixels }: Picture): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false;
  return true;
}

export type Coverage = { opaque: boolean; empty: boolean; ground: Ground };

/**
 * Whether the picture hides its ground, shows anything, and the ground it is best seen on: white, or
 * the checker where most of what is drawn is so light that white would swallow it.
 */
export function coverageOf(picture: Picture): Coverage {
  if (isSolid(picture)) return { opaque: true, empty: false, ground: WHITE };
  const { pixels } = picture;
  let visible = 0;
  let light = 0;
  let clear = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const alpha = pixels[at + 3]!;
    if (alpha < 250) clear++;
    if (alpha === 0) continue;
    visible += alpha;
    const luma = 0.2126 * pixels[at]! + 0.7152 * pixels[at + 1]! + 0.0722 * pixels[at + 2]!;
    if (luma > alpha * 0.85) light += alpha;
  }
  const opaque = clear < pixels.length / 4 / 200;
  return { opaque, empty: visible === 0, ground: !opaque && light > visible / 2 ? 'checker' : WHITE };
}

/** `picture` laid on `ground`: opaque, in new memory. */
export function onGround({ width, height, pixels }: Picture, ground: Ground): Picture {
  // Most pixels are bare ground or wholly covered, and those are copied four bytes at a time.
  const [even, odd] = ground === 'checker' ? CHECKER : [ground, ground];
  const bare = new Uint32Array(new Uint8Array([...even, 255, ...odd, 255]).buffer);
  const words = new Uint32Array(width * height);
  const out = new Uint8Array(words.buffer);
  out.set(pixels);
  for (let y = 0, index = 0; y < height; y++) {
    for (let x = 0; x < width; x++, index++) {
      const at = index * 4;
      const alpha = out[at + 3]!;
      if (alpha === 255) continue;
      const square = ((x >> 3) + (y >> 3)) & 1;
      if (alpha === 0) {
        words[index] = bare[square]!;
        continue;
      }
      const under = square ? odd : even;
      out[at] = out[at]! + Math.round((under[0] * (255 - alpha)) / 255);
      out[at + 1] = out[at + 1]! + Math.round((under[1] * (255 - alpha)) / 255);
      out[at + 2] = out[at + 2]! + Math.round((under[2] * (255 - alpha)) / 255);
      out[at + 3] = 255;
    }
  }
  return { width, height, pixels: out };
}

/** Copies `picture` into `page` with its corner at (left, top); what reaches beyond the page is cut. */
export function paste(page: Picture, picture: Picture, left: number, top: number): void {
  const width = Math.min(picture.width, page.width - left);
  for (let y = 0; y < Math.min(picture.height, page.height - top); y++) {
    const row = picture.pixels.subarray(y * picture.width * 4, (y * picture.width + width) * 4);
    page.pixels.set(row, ((top + y) * page.width + left) * 4);
  }
}

/** The size within which `width` × `height` has `longest` as its longest side; no side is under 1. */
export function fitted(width: number, height: number, longest: number): { width: number; height: number } {
  const scale = longest / Math.max(width, height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** `picture` no larger than `longest`; every pixel is the mean of those it replaces. */
export function shrink(picture: Picture, longest: number): Picture {
  if (Math.max(picture.width, picture.height) <= longest) return picture;
  const { width, height } = fitted(picture.width, picture.height, longest);
  const out = new Uint8Array(width * height * 4);
  const { pixels } = picture;
  for (let y = 0, to = 0; y < height; y++) {
    const top = Math.floor((y * picture.height) / height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * picture.height) / height));
    for (let x = 0; x < width; x++, to += 4) {
      const left = Math.floor((x * picture.width) / width);
      const right = Math.max(left + 1, Math.floor(((x + 1) * picture.width) / width));
      let red = 0;
      let green = 0;
      let blue = 0;
      let alpha = 0;
      for (let row = top; row < bottom; row++) {
        const end = (row * picture.width + right) * 4;
        for (let at = (row * picture.width + left) * 4; at < end; at += 4) {
          red += pixels[at]!;
          green += pixels[at + 1]!;
          blue += pixels[at + 2]!;
          alpha += pixels[at + 3]!;
        }
      }
      const area = (bottom - top) * (right - left);
      out[to] = red / area + 0.5;
      out[to + 1] = green / area + 0.5;
      out[to + 2] = blue / area + 0.5;
      out[to + 3] = alpha / area + 0.5;
    }
  }
  return { width, height, pixels: out };
}
