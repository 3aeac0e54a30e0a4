// A terminal's screen as SVG: every character in its cell, whatever font it comes from.
import type { Fonts } from './fonts.js';
import type { Cell, Colour, Screen } from './screen.js';

const FONT_SIZE = 20;
/** DejaVu Sans Mono: an advance of 0.602 em; boxes drawn with its characters meet at this height. */
const CELL = { width: 12, height: 23 };
const BASELINE = 18;
const MARGIN = 14;
const FAMILY = 'DejaVu Sans Mono';
const FORE = '#d7dae0';
const BACK = '#181a1f';

/** The sixteen that programs name by number: those of a dark terminal, all readable on its ground. */
const NAMED = [
  '#3b4048',
  '#e0626c',
  '#8fc173',
  '#dcb866',
  '#5ca7ef',
  '#c678dd',
  '#4fb8c4',
  '#c8ccd4',
  '#7f8794',
  '#ff7b86',
  '#a9dc8a',
  '#f3d283',
  '#7cbcff',
  '#dd97f0',
  '#6fd6e2',
  '#ffffff',
];
const STEPS = [0, 95, 135, 175, 215, 255];

/** xterm's 256 colours: sixteen named, a cube of 6 × 6 × 6, and 24 greys. */
function css(colour: Exclude<Colour, null>): string {
  if (typeof colour !== 'number') return hex(colour);
  if (colour < 16) return NAMED[colour]!;
  if (colour >= 232) {
    const grey = 8 + 10 * (colour - 232);
    return hex([grey, grey, grey]);
  }
  const at = colour - 16;
  return hex([STEPS[Math.floor(at / 36)]!, STEPS[Math.floor(at / 6) % 6]!, STEPS[at % 6]!]);
}
const hex = (parts: readonly number[]) =>
  `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** What a cell is drawn in. Black asked for by number stays black as a ground. */
function colours({ fore, back, inverse }: Cell): { fore: string; back: string | null } {
  const front = fore === null ? FORE : css(fore);
  const ground = back === null ? null : back === 0 ? '#000000' : css(back);
  return inverse ? { fore: ground ?? BACK, back: front } : { fore: front, back: ground };
}

export interface Drawn {
  svg: string;
  width: number;
  height: number;
  fontFiles: string[];
  /** Characters that no font has. */
  missing: number[];
}

/** Draws the lines there are, at the terminal's full width. */
export function screenSvg({ columns, lines }: Screen, fonts: Fonts): Drawn {
  const width = columns * CELL.width + 2 * MARGIN;
  const height = lines.length * CELL.height + 2 * MARGIN;
  const codes = new Set(lines.flat().flatMap(({ text }) => [...text].map((char) => char.codePointAt(0)!)));
  codes.delete(0x20);
  const { files, missing } = fonts.files(
    new Set([FAMILY]),
    new Set([...codes].filter((code) => !isSelector(code))),
  );
  const absent = new Set(missing);
  const parts = lines.flatMap((cells, row) => {
    const top = MARGIN + row * CELL.height;
    const placed = place(cells);
    return [
      ...grounds(placed, top),
      ...placed.flatMap((cell) => marks(cell, top)),
      ...texts(placed, top, absent),
    ];
  });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="${width}" height="${height}" fill="${BACK}"/>` +
    `<g font-family="${FAMILY}" font-size="${FONT_SIZE}">${parts.join('')}</g></svg>`;
  return { svg, width, height, fontFiles: files, missing };
}

/** Variation selectors and joiners have no picture of their own. */
const isSelector = (code: number) => (code >= 0xfe00 && code <= 0xfe0f) || code === 0x200d;

type Placed = { cell: Cell; left: number; fore: string; back: string | null };

function place(cells: Cell[]): Placed[] {
  let column = 0;
  return cells.map((cell) => {
    const left = MARGIN + column * CELL.width;
    column += cell.width;
    return { cell, left, ...colours(cell) };
  });
}

/** Grounds of cells side by side are one rectangle, so that no seams show. */
function grounds(placed: Placed[], top: number): string[] {
  const out: string[] = [];
  for (let at = 0; at < placed.length; ) {
    const { back, left } = placed[at]!;
    let width = 0;
    for (; at < placed.length && placed[at]!.back === back; at++)
      width += placed[at]!.cell.width * CELL.width;
    if (back)
      out.push(`<rect x="${left}" y="${top}" width="${width}" height="${CELL.height}" fill="${back}"/>`);
  }
  return out;
}

/** Lines under and through. */
function marks({ cell, left, fore }: Placed, top: number): string[] {
  const line = (y: number) =>
    `<rect x="${left}" y="${top + y}" width="${cell.width * CELL.width}" height="1.5" fill="${fore}"/>`;
  return [...(cell.underline ? [line(BASELINE + 2)] : []), ...(cell.strike ? [line(BASELINE - 6)] : [])];
}

/** Text in pieces of one style; each character has its own place, so that no font moves the next one. */
function texts(placed: Placed[], top: number, absent: ReadonlySet<number>): string[] {
  const out: string[] = [];
  let piece: Placed[] = [];
  const flush = () => {
    if (piece.length > 0) out.push(element(piece, top));
    piece = [];
  };
  for (const each of placed) {
    const { cell } = each;
    const before = piece.at(-1);
    if (cell.text.trim() === '') flush();
    else if ([...cell.text].some((char) => absent.has(char.codePointAt(0)!))) {
      flush();
      out.push(box(each, top));
    } else {
      // A character with others on it is one place for several: on its own.
      const single = [...cell.text].length === 1;
      if (before && !(single && alike(before, each) && [...before.cell.text].length === 1)) flush();
      piece.push(each);
    }
  }
  flush();
  return out;
}

const alike = (a: Placed, b: Placed) =>
  a.fore === b.fore &&
  a.cell.bold === b.cell.bold &&
  a.cell.italic === b.cell.italic &&
  a.cell.dim === b.cell.dim;

function element(piece: Placed[], top: number): string {
  const { cell, fore } = piece[0]!;
  const style = `${cell.bold ? ' font-weight="bold"' : ''}${cell.dim ? ' opacity="0.6"' : ''}`;
  const text = escaped(piece.map((each) => each.cell.text).join(''));
  const y = top + BASELINE;
  if (!cell.italic)
    return `<text x="${piece.map(({ left }) => left).join(' ')}" y="${y}" fill="${fore}"${style}>${text}</text>`;
  // There is no italic among the fonts that are shipped: each character leans where it stands.
  return piece
    .map(
      (each) =>
        `<text transform="translate(${each.left} ${y}) skewX(-12)" fill="${fore}"${style}>${escaped(each.cell.text)}</text>`,
    )
    .join('');
}

const box = ({ cell, left, fore }: Placed, top: number) =>
  `<rect x="${left + 2}" y="${top + 4}" width="${cell.width * CELL.width - 4}" height="${BASELINE - 4}" fill="none" stroke="${fore}" opacity="0.6"/>`;

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
