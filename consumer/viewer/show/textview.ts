// Text with line numbers, the first of it at once and more when asked for.
import { button, el, scroller, toggle } from './dom.js';
import { lines } from './lines.js';
import { decoded, encodingOf } from './part.js';
import { count, size } from './words.js';

/** So much is shown at first, and with each "show more". */
export const TEXT_STEP = 2 * 1024 * 1024;

/** Fills `root`; `note` says why it is shown as text where that needs saying. */
export function showText(
  root: HTMLElement,
  bytes: ArrayBuffer,
  signal: AbortSignal,
  { coloured, note }: { coloured: boolean; note?: string },
): void {
  const scroll = scroller('Text', signal);
  const view = lines(scroll, signal, coloured);
  const said = el('span', { class: 'part-said', role: 'status' });
  const wrap = toggle('Wrap', true, signal, (on) => view.wrap(on));
  const more = button('', signal, () => show(true));
  root.append(
    el('div', { class: 'part-bar' }, said, ...(note ? [el('span', { class: 'part-note' }, note)] : []), wrap),
    scroll,
  );
  scroll.append(view.element, more);
  let shown = 0;

  function show(isAsked: boolean): void {
    const to = cutAt(bytes, shown + TEXT_STEP);
    view.append(decoded(bytes, shown, to));
    shown = to;
    const left = bytes.byteLength - shown;
    said.textContent =
      left > 0
        ? `first ${count(view.count(), 'line')}, ${size(shown)} of ${size(bytes.byteLength)}`
        : `${count(view.count(), 'line')}, ${size(bytes.byteLength)}`;
    more.textContent = `Show ${size(Math.min(left, TEXT_STEP))} more of ${size(left)}`;
    more.hidden = left <= 0;
    if (isAsked && left <= 0) scroll.focus();
  }
  show(false);
}

/** Right behind the last end of a line before `to`; `to`, or the start of a character, where there is none near. */
function cutAt(bytes: ArrayBuffer, to: number): number {
  if (to >= bytes.byteLength) return bytes.byteLength;
  if (encodingOf(bytes) !== 'utf-8') return to - (to % 2);
  const all = new Uint8Array(bytes);
  for (let at = to; at > to - 64 * 1024; at--) if (all[at - 1] === 10) return at;
  let at = to;
  while ((all[at]! & 0xc0) === 0x80) at--;
  return at;
}
