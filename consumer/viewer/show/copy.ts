// Puts text into the clipboard, also where the page may not use the newer way: from a file, or in a frame.
import { el } from './dom.js';

/** Whether it was put there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // TypeError or NotAllowedError: no such clipboard here. The older way needs a field with a selection.
    const field = el('textarea', { class: 'part-unseen', 'aria-hidden': 'true', readonly: true });
    const focused = document.activeElement;
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}
