// Many lines of text: in blocks of which only those in sight have a row for each line, with its number and colours. The
// others hold plain text, so that the browser's own search finds everything.
import { bare, dress, isPlain, PLAIN, runs, type Style } from './ansi.js';
import { el } from './dom.js';
import { appendVisible, visible } from './visible.js';

/** Lines in a block. */
const BLOCK = 250;
/** A line longer than this goes on in another row, for the browser is slow with endless ones. */
const ROW = 4000;

interface Row {
  text: string;
  /** Null: goes on from the row before. */
  number: number | null;
}

export interface Lines {
  element: HTMLElement;
  /** Adds lines at the end. */
  append(text: string): void;
  /** How many lines there are. */
  count(): number;
  wrap(on: boolean): void;
}

/** Lines in `scroller`; with `coloured`, SGR sequences are drawn. */
export function lines(scroller: HTMLElement, signal: AbortSignal, coloured: boolean): Lines {
  const element = el('div', { class: 'lines' });
  const blocks = new Map<Element, { rows: Row[]; style: Style }>();
  let style = PLAIN;
  let lineCount = 0;
  let longest = 0;

  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const block = blocks.get(target)!;
        if (isIntersecting) drawRows(target, block);
        else if (!document.getSelection()?.containsNode(target, true)) drawPlain(target, block.rows);
      }
    },
    { root: scroller, rootMargin: '600px 0px' },
  );
  signal.addEventListener('abort', () => seen.disconnect(), { once: true });

  function drawPlain(target: Element, rows: Row[]): void {
    const text = rows.map((row) => visible(coloured ? bare(row.text) : row.text)).join('\n');
    target.replaceChildren(el('div', { class: 'row' }, text));
  }

  function drawRows(target: Element, block: { rows: Row[]; style: Style }): void {
    let state = block.style;
    target.replaceChildren(
      ...block.rows.map(({ text, number }) => {
        const row = el('div', { class: 'row', 'data-n': number ?? '' });
        if (coloured && text.includes('\u001b') === false && isPlain(state)) appendVisible(row, text);
        else if (coloured) state = runs(text, state, (part, look) => appendRun(row, part, look));
        else appendVisible(row, text);
        return row;
      }),
    );
  }

  return {
    element,
    append(text) {
      const rows = rowsOf(text, lineCount);
      for (let from = 0; from < rows.length; from += BLOCK) {
        const block = { rows: rows.slice(from, from + BLOCK), style };
        for (const row of block.rows) {
          longest = Math.max(longest, row.text.length);
          if (row.number !== null) lineCount++;
          if (coloured && row.text.includes('\u001b')) style = runs(row.text, style, () => {});
        }
        const target = el('div', { class: 'block' });
        target.style.setProperty('--rows', String(block.rows.length));
        blocks.set(target, block);
        drawPlain(target, block.rows);
        element.append(target);
        seen.observe(target);
      }
      element.style.setProperty('--longest', String(longest));
      element.style.setProperty('--digits', String(Math.max(3, String(lineCount).length)));
    },
    count: () => lineCount,
    wrap(on) {
      element.classList.toggle('wrapped', on);
    },
  };
}

/** Lines end at LF, CR LF, and a CR alone, by which programs draw a line anew. */
function rowsOf(text: string, before: number): Row[] {
  const rows: Row[] = [];
  const all = text.split(/\r\n|\n|\r/);
  if (all.at(-1) === '') all.pop();
  for (const line of all) {
    rows.push({ text: line.slice(0, ROW), number: ++before });
    for (let from = ROW; from < line.length; from += ROW)
      rows.push({ text: line.slice(from, from + ROW), number: null });
  }
  return rows;
}

function appendRun(row: Node, text: string, style: Style): void {
  if (isPlain(style)) {
    appendVisible(row, text);
    return;
  }
  const span = document.createElement('span');
  dress(span, style);
  appendVisible(span, text);
  row.appendChild(span);
}
