// The text that a terminal's output leaves to read: for excerpts in a manifest, not for showing. What was overwritten on
// its line, the alternate screen and all escape sequences are gone; half characters never come through.

/** Enters the alternate screen, up to where it is left (or the end). */
const ALTERNATE = /\x1b\[\?(?:1049|1047|47)h[\s\S]*?(?:\x1b\[\?(?:1049|1047|47)l|$)/g;
/** Erase in line, from the cursor on or whole: kept as a mark until lines are put together. */
const ERASE = /(?:\x1b\[|\x9b)[02]?K/g;
const MARK = '\x0e';
/** Strings for the terminal (OSC, DCS, PM, APC), control sequences, and short escapes (ECMA-48, 5.4 and 8.3). */
const STRINGS = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)?/g;
const SEQUENCES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?/g;
const ESCAPES = /\x1b[ -/]*[0-~]?/g;
// Controls but tab and newline; and the marks that reorder text.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** `text` as it can be read: lines with what stood in them at the end. */
export function readable(text: string): string {
  return text
    .replace(ALTERNATE, '')
    .replaceAll(MARK, '')
    .replace(ERASE, MARK)
    .replace(STRINGS, '')
    .replace(SEQUENCES, '')
    .replace(ESCAPES, '')
    .split('\n')
    .map((line) => lastState(line.replace(/\r+$/, '')).replace(CONTROLS, ''))
    .join('\n');
}

/** What stands in a line after carriage returns, backspaces and erasures. */
function lastState(line: string): string {
  if (!/[\r\b\x0e]/.test(line)) return line;
  const cells: string[] = [];
  let at = 0;
  for (const char of line) {
    if (char === '\r') at = 0;
    else if (char === '\b') at = Math.max(0, at - 1);
    else if (char === MARK) cells.length = Math.min(cells.length, at);
    else cells[at++] = char;
  }
  return cells.join('');
}

/** The last `limit` bytes of `text` at most, beginning with `…` where it was longer; never half a character. */
export function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let from = bytes.length - limit + Buffer.byteLength('…');
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return `…${bytes.toString('utf8', from)}`;
}
