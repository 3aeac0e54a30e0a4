// Draws an emulator's rows as elements. A row is made anew only where it differs from what is drawn.
import { dress, isPlain } from './ansi.js';
import { el } from './dom.js';
import type { Emulator, Run } from './emulator.js';

export interface Screen {
  element: HTMLElement;
  /** Draws what the emulator shows now; with `all`, also what has left the screen above. */
  draw(all: boolean): void;
}

export function screen(emulator: Emulator): Screen {
  const element = el('div', { class: 'term' });
  let drawn: string[] = [];

  return {
    element,
    draw(all) {
      const rows = emulator.rowCount();
      const first = all ? 0 : rows - emulator.screenRows();
      const { row: cursorRow, column: cursorColumn } = emulator.cursor();
      element.style.setProperty('--columns', String(emulator.columns()));
      while (element.children.length > rows - first) element.lastChild!.remove();
      const keys: string[] = [];
      for (let at = 0; at < rows - first; at++) {
        const runs = emulator.row(first + at);
        const cursor = first + at === cursorRow ? cursorColumn : -1;
        const key = JSON.stringify([runs, cursor]);
        keys.push(key);
        if (key === drawn[at]) continue;
        const row = rowOf(runs, cursor);
        const old = element.children[at];
        if (old) old.replaceWith(row);
        else element.append(row);
      }
      drawn = keys;
    },
  };
}

function rowOf(runs: Run[], cursor: number): HTMLElement {
  const row = el('div', { class: 'term-row' });
  for (const { text, style, width } of withoutBlankEnd(runs)) {
    if (width === null && isPlain(style)) {
      row.append(text);
      continue;
    }
    const span = el('span');
    dress(span, style);
    if (width !== null) span.classList.add(width === 2 ? 'cell-2' : 'cell-1');
    span.append(text);
    row.append(span);
  }
  if (cursor >= 0) {
    const mark = el('i', { class: 'term-cursor' });
    mark.style.setProperty('--column', String(cursor));
    row.append(mark);
  }
  return row;
}

/** Spaces at the end of a row are not drawn, so that what is copied has none. */
function withoutBlankEnd(runs: Run[]): Run[] {
  const last = runs.at(-1);
  if (!last || last.width !== null || !isPlain(last.style)) return runs;
  return [...runs.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}
