// Plays a cast in a terminal emulator and reads the screen as it stands at the end: cells with their colours.
import { type IBufferCell, Terminal } from '@xterm/headless';
import { cellWidths } from '../../src/cellwidth.js';
import type { Cast } from './cast.js';

/** What played it, as a manifest's `backend` names it. The version is package.json's exact one. */
export const XTERM = 'xterm-headless 6.0.0';

/** A colour of the 256 there are, a true one, or null for the terminal's own. */
export type Colour = number | [red: number, green: number, blue: number] | null;

export interface Cell {
  /** One character, with what combines with it; '' where nothing is to be seen. */
  text: string;
  /** 2 for a wide character, whose second cell is left out. */
  width: 1 | 2;
  fore: Colour;
  back: Colour;
  bold: boolean;
  italic: boolean;
  dim: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

export interface Screen {
  columns: number;
  rows: number;
  /** From the top to the last line that holds anything. */
  lines: Cell[][];
}

/** Control functions that do something as often as they are told: scroll, insert, delete, erase, repeat, tab. */
const REPEATING = ['S', 'T', 'L', 'M', '@', 'P', 'X', 'b', 'I', 'Z'];
/** No screen is so large that more would make a difference; two billion would take hours. */
const MOST_REPEATS = 2000;

/** Plays all of it; what is repeated more often than any screen has room for is passed over. */
export async function playCast({ columns, rows, events }: Cast): Promise<Screen> {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 200, allowProposedApi: true });
  for (const final of REPEATING)
    terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > MOST_REPEATS);
  terminal.unicode.register(cellWidths);
  terminal.unicode.activeVersion = cellWidths.version;
  for (const event of events) {
    if ('output' in event) await new Promise<void>((done) => terminal.write(event.output, done));
    else terminal.resize(event.columns, event.rows);
  }
  const { active } = terminal.buffer;
  const lines: Cell[][] = [];
  for (let row = 0; row < terminal.rows; row++) {
    const line = active.getLine(active.baseY + row);
    const cells: Cell[] = [];
    for (let column = 0; line && column < terminal.cols; ) {
      const cell = line.getCell(column);
      const width = cell?.getWidth() === 2 ? 2 : 1;
      if (cell) cells.push(cellOf(cell, width));
      column += width;
    }
    lines.push(cells);
  }
  while (lines.length > 1 && lines.at(-1)!.every(isBlank)) lines.pop();
  const screen = { columns: terminal.cols, rows: terminal.rows, lines };
  terminal.dispose();
  return screen;
}

const isBlank = ({ text, back, inverse, underline }: Cell) =>
  text.trim() === '' && back === null && !inverse && !underline;

function cellOf(cell: IBufferCell, width: 1 | 2): Cell {
  return {
    text: cell.isInvisible() ? '' : cell.getChars(),
    width,
    fore: cell.isFgDefault() ? null : colour(cell.isFgRGB(), cell.getFgColor()),
    back: cell.isBgDefault() ? null : colour(cell.isBgRGB(), cell.getBgColor()),
    bold: cell.isBold() !== 0,
    italic: cell.isItalic() !== 0,
    dim: cell.isDim() !== 0,
    underline: cell.isUnderline() !== 0,
    strike: cell.isStrikethrough() !== 0,
    inverse: cell.isInverse() !== 0,
  };
}

const colour = (isTrue: boolean, value: number): Colour =>
  isTrue ? [(value >> 16) & 255, (value >> 8) & 255, value & 255] : value;
