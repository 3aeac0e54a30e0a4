// Untrusted words as cells of a screen: control characters shown, lines broken at the width, every character in a place
// of its own, so that no text, whatever its direction or length, moves another.

import { cellWidth } from '../../src/cellwidth.js';
import { neutralise } from '../../src/text.js';
import type { Cell, Colour } from './screen.js';

export interface Style {
  fore?: Colour;
  bold?: boolean;
  dim?: boolean;
}
export type Span = Style & { text: string };

/** Marks that one character may carry. */
const MARKS = 3;

const PLAIN: Omit<Cell, 'text' | 'width'> = {
  fore: null,
  back: null,
  bold: false,
  italic: false,
  dim: false,
  underline: false,
  strike: false,
  inverse: false,
};

export function cellsOf({ text, ...style }: Span): Cell[] {
  const cells: Cell[] = [];
  for (const char of neutralise(text)) {
    const width = cellWidth(char.codePointAt(0)!);
    const before = cells.at(-1);
    if (width !== 0) cells.push({ ...PLAIN, ...style, text: char, width });
    else if (before && [...before.text].length <= MARKS) before.text += char;
  }
  return cells;
}

const widthOf = (cells: readonly Cell[]): number => cells.reduce((sum, { width }) => sum + width, 0);

/** One line of at most `columns`; of a longer one the end is an ellipsis. */
export function lineOf(spans: readonly Span[], columns: number): Cell[] {
  const cells = spans.flatMap(cellsOf);
  return widthOf(cells) <= columns ? cells : cut(cells, columns);
}

function cut(cells: readonly Cell[], columns: number): Cell[] {
  const kept = [...cells];
  while (kept.length > 0 && widthOf(kept) > columns - 1) kept.pop();
  return [...kept, { ...(kept.at(-1) ?? PLAIN), text: '…', width: 1 }];
}

/**
 * At most `most` lines, broken at line ends, and behind a space where one is near the end; the last says where more was
 * left out.
 */
export function linesOf({ text, ...style }: Span, columns: number, most: number): Cell[][] {
  const lines: Cell[][] = [];
  const given = text.split(/\r?\n/);
  for (const [at, line] of given.entries()) {
    let rest = cellsOf({ text: line, ...style });
    do {
      if (lines.length === most - 1 && (widthOf(rest) > columns || at < given.length - 1))
        return [...lines, cut(rest, columns)];
      const end = widthOf(rest) <= columns ? rest.length : breakOf(rest, columns);
      lines.push(rest.slice(0, end));
      rest = rest.slice(end);
    } while (rest.length > 0);
  }
  return lines;
}

/** How many of the first cells make a line. */
function breakOf(cells: readonly Cell[], columns: number): number {
  let end = 0;
  for (let width = 0; width + cells[end]!.width <= columns; end++) width += cells[end]!.width;
  const space = cells.slice(0, end + 1).findLastIndex(({ text }) => text === ' ');
  return space > end * 0.6 ? space + 1 : Math.max(1, end);
}
