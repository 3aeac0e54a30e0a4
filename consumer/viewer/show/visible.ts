// Recorded text that could hide or reorder what is read: control characters and bidirectional marks become signs.

const HIDDEN =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A character that is none, as it is escaped: `\x1b`, `\u202e`. Fonts have signs for these, but not all fonts. */
function sign(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\r') return '\\r';
  const code = char.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
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
