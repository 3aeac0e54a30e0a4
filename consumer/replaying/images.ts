// Pictures within a terminal's text: kitty's graphics protocol and iTerm2's inline images. Of an artifact nothing is
// written but the base64 of a PNG.
import { closeSync } from 'node:fs';
import { openRegular } from '../../src/disk.js';
import { readAt } from '../../src/trajectory.js';
import type { Frame, Located } from './frame.js';

export type Images = 'kitty' | 'iterm' | 'none';

/** The largest picture that is sent; a larger hero is shown by its thumbnail. iTerm2 takes 1 MB of base64 at most. */
const MOST_BYTES = 512 * 1024;
/** A PNG that says it is larger than this is not sent: few bytes can unpack to many pixels. */
const MOST_PIXELS = 40_000_000;
/** Base64 in one escape code of kitty's: at most 4096 bytes, and but for the last a multiple of 4. */
const CHUNK = 4096;
/** Pixels of a cell, where a picture is not to be drawn larger than it is; most cells are half as wide as high. */
const CELL = { width: 10, height: 20 };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export interface Picture {
  png: Buffer;
  width: number;
  height: number;
}

/** What the terminal shows by what its environment says; null where that does not tell, and it can be asked. */
export function imagesOf(env: NodeJS.ProcessEnv): Images | null {
  const { TERM = '', TERM_PROGRAM = '' } = env;
  // A multiplexer hands such sequences on only where it was told to.
  if (env['TMUX'] || env['STY'] || /^(screen|tmux)/.test(TERM)) return 'none';
  if (TERM === 'xterm-kitty' || TERM === 'xterm-ghostty' || env['KITTY_WINDOW_ID']) return 'kitty';
  if (['iTerm.app', 'WezTerm', 'mintty'].includes(TERM_PROGRAM) || env['LC_TERMINAL'] === 'iTerm2')
    return 'iterm';
  // Neither Linux's own console nor Apple's Terminal leaves the question unprinted.
  if (TERM === '' || /^(dumb|linux|vt\d)/.test(TERM) || TERM_PROGRAM === 'Apple_Terminal') return 'none';
  return null;
}

/**
 * Asks whether kitty's pictures are understood: one pixel to look at, not to show, then for the device attributes, which
 * every terminal answers. An answer to the second without one to the first is a no.
 */
export const QUERY = '\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c';
/** Answers to both. */
export const isGraphicsReply = (sequence: string): boolean => /^\x1b_Gi=31;OK/.test(sequence);
export const isAttributesReply = (sequence: string): boolean => /^\x1b\[\?[\d;]*c$/.test(sequence);

/** The picture of a step that may be sent: its hero, or where that is large its thumbnail; null where neither is a PNG. */
export const pictureOf = ({ hero, thumb }: Frame): Picture | null => readPng(hero) ?? readPng(thumb);

function readPng(file: Located | null): Picture | null {
  if (file === null) return null;
  try {
    const fd = openRegular(file.file);
    try {
      const png = readAt(fd, 0, MOST_BYTES + 1);
      if (png.length > MOST_BYTES || png.length < 33 || !png.subarray(0, 8).equals(SIGNATURE)) return null;
      if (png.toString('latin1', 12, 16) !== 'IHDR') return null;
      const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
      return width > 0 && height > 0 && width * height <= MOST_PIXELS ? { png, width, height } : null;
    } finally {
      closeSync(fd);
    }
  } catch {
    // ENOENT, EACCES, ELOOP: the file is gone or is none; its path is shown, and `previews verify` tells.
    return null;
  }
}

/** The bytes that show a picture at the cursor, at most so large; the cursor is at its lower right afterwards. */
export function drawing(
  images: Exclude<Images, 'none'>,
  picture: Picture,
  most: { columns: number; rows: number },
) {
  const columns = columnsOf(picture, most);
  const base64 = picture.png.toString('base64');
  if (images === 'iterm')
    return `\x1b]1337;File=inline=1;size=${picture.png.length};width=${columns};height=auto;preserveAspectRatio=1:${base64}\x07`;
  const codes: string[] = [];
  for (let at = 0; at < base64.length; at += CHUNK) {
    const more = at + CHUNK < base64.length ? 1 : 0;
    // Rows follow from the columns. q=2: no answer, which would arrive as keys.
    const control = at === 0 ? `a=T,f=100,t=d,q=2,c=${columns},m=${more}` : `m=${more}`;
    codes.push(`\x1b_G${control};${base64.slice(at, at + CHUNK)}\x1b\\`);
  }
  return codes.join('');
}

/** Columns in which a picture fits the given room and is not drawn larger than it is. */
function columnsOf({ width, height }: Picture, most: { columns: number; rows: number }): number {
  const byRows = (most.rows * CELL.height * width) / height / CELL.width;
  return Math.max(1, Math.floor(Math.min(most.columns, width / CELL.width, byRows)));
}
