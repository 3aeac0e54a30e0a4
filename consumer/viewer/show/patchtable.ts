// The lines of one file of a patch as a table: unified, or both sides beside each other. A part of it at a time.
import { button, el } from './dom.js';
import { type PatchFile, type PatchLine, pairs } from './patchfiles.js';
import { appendVisible } from './visible.js';
import { count } from './words.js';

/** Rows that are drawn at once. */
export const ROWS = 2000;
/** A line is cut there; lines of minified files would cost much and tell little. */
const LINE = 2000;

const SIGNS: Record<PatchLine['kind'], string> = { same: ' ', added: '+', removed: '−', hunk: '', note: '' };

/** Fills `into`, at first with `ROWS` rows. */
export function patchTable(into: HTMLElement, file: PatchFile, isBeside: boolean, signal: AbortSignal): void {
  const body = el('tbody');
  // The first row, which is one header, does not say how wide columns are.
  const columns = el('colgroup', {}, ...['', 'wide', '', 'wide'].map((name) => el('col', { class: name })));
  const table = el('table', { 'aria-label': file.name }, ...(isBeside ? [columns] : []), body);
  table.className = isBeside ? 'patch-table beside' : 'patch-table';
  const rows = isBeside ? pairs(file.lines) : file.lines;
  let shown = 0;
  const more = button('', signal, () => show());
  function show(): void {
    const to = Math.min(rows.length, shown + ROWS);
    for (const row of rows.slice(shown, to))
      body.append(Array.isArray(row) ? rowBeside(row) : rowUnified(row));
    shown = to;
    const left = rows.length - shown;
    more.hidden = left === 0;
    more.textContent = `Show ${count(Math.min(left, ROWS), 'more line')} of ${left}`;
  }
  show();
  into.replaceChildren(table, more);
}

const number = (n: number | null) => el('td', { class: 'patch-number', 'data-n': n ?? '' });

function textCell(line: PatchLine | null, columns = 1): HTMLTableCellElement {
  const cell = el('td', { class: `patch-text ${line?.kind ?? 'none'}`, colspan: columns });
  if (!line) return cell;
  cell.setAttribute('data-sign', SIGNS[line.kind]);
  const cut = line.text.slice(0, LINE);
  const [from, to] = line.differs ?? [0, 0];
  if (to > from && from < LINE) {
    appendVisible(cell, cut.slice(0, from));
    const mark = el('mark');
    appendVisible(mark, cut.slice(from, to));
    cell.append(mark);
    appendVisible(cell, cut.slice(to));
  } else appendVisible(cell, cut);
  if (line.text.length > LINE)
    cell.append(el('span', { class: 'ctl' }, ` … ${count(line.text.length - LINE, 'more character')}`));
  return cell;
}

function rowUnified(line: PatchLine): HTMLTableRowElement {
  const row = el('tr', { class: line.kind });
  row.append(number(line.old), number(line.new), textCell(line));
  return row;
}

function rowBeside([left, right]: [PatchLine | null, PatchLine | null]): HTMLTableRowElement {
  const row = el('tr');
  if (left === right && left && left.kind !== 'same') {
    row.className = left.kind;
    row.append(number(null), textCell(left, 3));
    return row;
  }
  row.append(number(left?.old ?? null), textCell(left), number(right?.new ?? null), textCell(right));
  return row;
}
