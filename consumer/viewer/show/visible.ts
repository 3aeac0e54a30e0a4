// Recorded text that could hide or reorder what is read: control characters and bidirectional marks become signs.

const HIDDEN =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A sign for a character that is none: `␛`, `⟨U+202E⟩`. */
function sign(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** `text` with signs for what cannot be seen, but for tabs. */
export const visible = (text: string): string => text.replace(HIDDEN, sign);

/** Appends `text`, with signs for what cannot be seen set apart from what is really there. */
export function appendVisible(to: Node, text: string): void {
  let from = 0;
  for (const { index, 0: char } of text.matchAll(HIDDEN)) {
    if (index > from) to.appendChild(document.createTextNode(text.slice(from, index)));
    const mark = document.createElement('span');
    mark.className = 'ctl';
    mark.textContent = sign(char);
    to.appendChild(mark);
    from = index + 1;
  }
  if (from < text.length) to.appendChild(document.createTextNode(text.slice(from)));
}
