// A terminal emulator that is fed a cast up to a moment, and asked for its rows. It draws nothing, and does nothing that
// a terminal does beyond its screen: no links, no clipboard, no title, no bell, no answers.
import { type IBufferCell, Terminal } from '@xterm/headless';
import { cellWidths } from '../../../src/cellwidth.js';
import { rgb, type Style } from './ansi.js';
import type { Cast } from './castfile.js';

/** Lines that are kept above the screen. */
const SCROLLBACK = 2000;
/** Characters that are fed between two looks at whether another moment is wanted. */
const PIECE = 64 * 1024;
/** Control functions that do something as often as they are told: scroll, insert, delete, erase, repeat, tab. */
const REPEATING = ['S', 'T', 'L', 'M', '@', 'P', 'X', 'b', 'I', 'Z'];
/** No screen is so large that more would make a difference; two billion would take hours. */
const MOST_REPEATS = 2000;

/** Neighbouring cells of one look. `width`: of one cell that is not as wide as its letter is, in cells. */
export interface Run {
  text: string;
  style: Style;
  width: number | null;
}

export interface Emulator {
  /** Feeds or unfeeds until so many events are in; resolves when that is so, or when another number is wanted since. */
  to(events: number): Promise<void>;
  /** How many events are in. */
  fed(): number;
  /** All rows, those above the screen first. */
  rowCount(): number;
  /** How many of them are the screen. */
  screenRows(): number;
  columns(): number;
  row(index: number): Run[];
  cursor(): { row: number; column: number };
  close(): void;
}

export function emulator(cast: Cast): Emulator {
  let terminal = begin();
  let fed = 0;
  let wanted = 0;
  let busy: Promise<void> | null = null;
  let isClosed = false;

  function begin(): Terminal {
    const made = new Terminal({
      cols: cast.columns,
      rows: cast.rows,
      scrollback: SCROLLBACK,
      allowProposedApi: true,
      logLevel: 'off',
    });
    for (const final of REPEATING)
      made.parser.registerCsiHandler({ final }, ([times]) => Number(times) > MOST_REPEATS);
    made.unicode.register(cellWidths);
    made.unicode.activeVersion = cellWidths.version;
    return made;
  }

  async function pump(): Promise<void> {
    while (fed !== wanted && !isClosed) {
      if (wanted < fed) {
        terminal.dispose();
        terminal = begin();
        fed = 0;
        continue;
      }
      const { size } = cast.events[fed]!;
      if (size) {
        terminal.resize(size.columns, size.rows);
        fed++;
        continue;
      }
      let text = '';
      while (fed < wanted && text.length < PIECE) {
        const { output } = cast.events[fed]!;
        if (output === undefined) break;
        text += output;
        fed++;
      }
      await new Promise<void>((done) => terminal.write(text, done));
    }
  }

  return {
    to(events) {
      wanted = events;
      busy ??= pump().finally(() => {
        busy = null;
      });
      return busy;
    },
    fed: () => fed,
    rowCount: () => terminal.buffer.active.baseY + terminal.rows,
    screenRows: () => terminal.rows,
    columns: () => terminal.cols,
    row(index) {
      const line = terminal.buffer.active.getLine(index);
      const found: Run[] = [];
      for (let column = 0; line && column < terminal.cols; ) {
        const cell = line.getCell(column);
        if (!cell) break;
        add(found, cell);
        column += Math.max(1, cell.getWidth());
      }
      return found;
    },
    cursor: () => ({
      row: terminal.buffer.active.baseY + terminal.buffer.active.cursorY,
      column: terminal.buffer.active.cursorX,
    }),
    close() {
      isClosed = true;
      terminal.dispose();
    },
  };
}

function add(to: Run[], cell: IBufferCell): void {
  const text = cell.getChars() || ' ';
  const style = styleOf(cell);
  const last = to.at(-1);
  // A letter of another font may be wider or narrower than its cell: it gets a box of its own.
  const width = /^[\x20-\x7e]$/.test(text) ? null : cell.getWidth();
  if (last && width === null && last.width === null && isSame(last.style, style)) last.text += text;
  else to.push({ text, style, width });
}

function styleOf(cell: IBufferCell): Style {
  return {
    fore: cell.isFgDefault() ? undefined : colour(cell.isFgRGB(), cell.getFgColor()),
    back: cell.isBgDefault() ? undefined : colour(cell.isBgRGB(), cell.getBgColor()),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    strike: cell.isStrikethrough() !== 0,
    inverse: cell.isInverse() !== 0,
    hidden: cell.isInvisible() !== 0,
  };
}

const colour = (isTrue: boolean, value: number) =>
  isTrue ? rgb([(value >> 16) & 255, (value >> 8) & 255, value & 255]) : value;

const isSame = (one: Style, two: Style) =>
  (Object.keys(one) as (keyof Style)[]).every((key) => one[key] === two[key]);
