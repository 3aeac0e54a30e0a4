// One SVG file on its way to a picture: read, made safe and measured, or the reason why not.
import { type Drawing, measure } from './draw.js';
import type { Fonts } from './fonts.js';
import { prepareSvg } from './prepare.js';
import type { Remark } from './remarks.js';
import { readCapped, SVG_BYTES, svgText } from './source.js';
import { isUnreadable } from './xml.js';

export type Readable = { path: string; drawing: Drawing; elements: number; textElements: number };

export type Entry = { path: string; remarks: Remark[] } & (
  | { state: 'readable'; readable: Readable }
  | { state: 'broken'; reason: string }
  | { state: 'unread' }
);

/** Reads the SVG at `path`; nothing is thrown for what the file may be. */
export function openEntry(path: string, fonts: Fonts): Entry {
  try {
    const { text, fontFiles, elements, textElements, remarks } = prepareSvg(
      svgText(readCapped(path, SVG_BYTES)),
      fonts,
    );
    const drawing = measure({ name: path, text, fontFiles });
    return { path, remarks, state: 'readable', readable: { path, drawing, elements, textElements } };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const remark = { code: 'svg_unreadable', text: `${path}: ${error.unreadable}` };
    return { path, remarks: [remark], state: 'broken', reason: error.unreadable };
  }
}
