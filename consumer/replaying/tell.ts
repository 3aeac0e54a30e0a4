// A frame as all that is written of it, on a terminal or not: its block, and its picture or where that lies.
import { join } from 'node:path';
import { neutralise } from '../../src/text.js';
import { blockOf } from './block.js';
import type { Frame } from './frame.js';
import { drawing, type Images, pictureOf } from './images.js';

export interface Room {
  columns: number;
  rows: number;
}

/** Tells frames in the order in which they are shown. A picture that was drawn last is not drawn again. */
export function teller(
  count: number,
): (frame: Frame, images: Images, room: Room, wait_ms: number | null) => string {
  let last = '';
  return (frame, images, room, wait_ms) => {
    const { hero } = frame;
    const key = hero ? join(hero.bundle, hero.path) : '';
    const picture = images !== 'none' && key !== last ? pictureOf(frame) : null;
    last = key;
    const lines = blockOf(frame, { count, columns: room.columns, wait_ms });
    if (picture && images !== 'none') lines.push(`  ${drawing(images, picture, within(room))}`);
    else if (hero) {
      const size = hero.width && hero.height ? `  ${hero.width} × ${hero.height}` : '';
      // What a terminal recorded, a film or a model is no picture yet.
      const word = hero.media_type.startsWith('image/') ? 'picture' : 'shows';
      lines.push(`  ${word} ${neutralise(hero.file)}${size}`);
    }
    return `${lines.join('\n')}\n\n`;
  };
}

/** A picture leaves room for what is said of its step. */
const within = ({ columns, rows }: Room): Room => ({
  columns: Math.max(1, columns - 4),
  rows: Math.max(4, Math.floor(rows * 0.6)),
});
