// Text that must stay within bounds and within its terminal: cutting at character boundaries, shell
// quoting for display, and neutralising control characters of recorded (so untrusted) text.

const ELLIPSIS = '…';

/** UTF-8 length of `text` in bytes. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Bytes `text` takes inside JSON, without the quotes. */
export const jsonBytes = (text: string): number => utf8Bytes(JSON.stringify(text)) - 2;

/** `text` with every lone surrogate replaced by U+FFFD, so that it is strict UTF-8 once encoded. */
export const wellFormed = (text: string): string => text.toWellFormed();

/** A JSON value as it is written, with every text and key in it well formed. */
export function wellFormedJson<T>(value: T): T {
  const mend = (item: unknown): unknown => {
    if (typeof item === 'string') return wellFormed(item);
    if (Array.isArray(item)) return item.map(mend);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [wellFormed(key), mend(inner)]));
  };
  return mend(JSON.parse(JSON.stringify(value))) as T;
}

/**
 * `text`, or its longest prefix that ends in `…` and measures at most `limit` by `measure`
 * (bytes, `utf8Bytes` unless told). Never ends in half a character. Below the width of `…`: empty.
 */
export function cutText(text: string, limit: number, measure: (text: string) => number = utf8Bytes): string {
  const whole = wellFormed(text);
  if (measure(whole) <= limit) return whole;
  if (measure(ELLIPSIS) > limit) return '';
  let low = 0;
  let high = whole.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(prefix(whole, middle) + ELLIPSIS) <= limit) low = middle;
    else high = middle - 1;
  }
  return prefix(whole, low) + ELLIPSIS;
}

/** The first `units` UTF-16 units of `text`, one fewer where that would split a surrogate pair. */
function prefix(text: string, units: number): string {
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** The argv as one line that a POSIX shell reads back as the same argv. */
export function shellQuote(argv: readonly string[]): string {
  return argv
    .map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

// C0 and C1 controls, DEL, line and paragraph separators, and the marks that reorder or hide text.
const CONTROL =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** `text` with control characters shown (`\n`, `\x1b`, `\u202e`), so that recorded text cannot act on a terminal. */
export function neutralise(text: string): string {
  return wellFormed(text).replace(CONTROL, (char) => {
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    const code = char.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
