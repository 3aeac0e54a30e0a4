// Values of a JSON document by where they stand in its text, which must be valid. Nothing is parsed before it is looked
// at, and numbers, doubled keys and `__proto__` stay as they are written.

export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A value: from its first to behind its last character. */
export interface Value {
  /** The key as written without its quotes, or the place in an array; null for the document itself. */
  key: string | number | null;
  start: number;
  end: number;
}

/** The document as one value. */
export function whole(text: string): Value {
  const start = text.search(/[^\s\ufeff]/);
  return { key: null, start, end: text.trimEnd().length };
}

export function kindOf(text: string, { start }: Value): Kind {
  const first = text[start];
  if (first === '{') return 'object';
  if (first === '[') return 'array';
  if (first === '"') return 'string';
  return first === 't' || first === 'f' ? 'boolean' : first === 'n' ? 'null' : 'number';
}

/** A string's own text; any other value as it is written. */
export function plain(text: string, value: Value): string {
  const written = text.slice(value.start, value.end);
  return written[0] === '"' ? (JSON.parse(written) as string) : written;
}

export const keyText = (key: string | number): string =>
  typeof key === 'number' ? String(key) : (JSON.parse(`"${key}"`) as string);

/** What a container holds. */
export function children(text: string, value: Value): Value[] {
  const found: Value[] = [];
  walk(text, value, (child, depth) => {
    if (depth === 1) found.push(child);
    return true;
  });
  return found;
}

/**
 * Tells every value in a container, each when its end is known (so a container after what it holds), with its depth;
 * `tell` ends the walk by false. Depth of nesting costs memory only, for it is no recursion.
 */
export function walk(
  text: string,
  { start, end }: Value,
  tell: (value: Value, depth: number) => boolean,
): void {
  const open: { isObject: boolean; key: string | number | null; start: number; index: number }[] = [];
  let key: string | null = null;
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at);
    // White space, commas and colons.
    if (code <= 0x20 || code === 0x2c || code === 0x3a) {
      at++;
      continue;
    }
    const around = open.at(-1);
    if (code === 0x7d || code === 0x5d) {
      at++;
      const closed = open.pop();
      if (!closed || open.length === 0) return;
      if (!tell({ key: closed.key, start: closed.start, end: at }, open.length)) return;
      continue;
    }
    const behind =
      code === 0x22 ? stringEnd(text, at) : code === 0x7b || code === 0x5b ? at + 1 : wordEnd(text, at);
    if (around?.isObject && key === null && code === 0x22) {
      key = text.slice(at + 1, behind - 1);
      at = behind;
      continue;
    }
    const own = around ? (around.isObject ? key : around.index++) : null;
    key = null;
    if (code === 0x7b || code === 0x5b) open.push({ isObject: code === 0x7b, key: own, start: at, index: 0 });
    else if (around && !tell({ key: own, start: at, end: behind }, open.length)) return;
    at = behind;
  }
}

/** Behind the quote that ends the string which begins at `at`. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Behind a number, `true`, `false` or `null`. */
function wordEnd(text: string, at: number): number {
  let behind = at + 1;
  for (; behind < text.length; behind++) {
    const code = text.charCodeAt(behind);
    if (code <= 0x20 || code === 0x2c || code === 0x5d || code === 0x7d) break;
  }
  return behind;
}

/** How many values a container holds, itself left out. */
export function countOf(text: string, value: Value): number {
  let n = 0;
  walk(text, value, (_, depth) => {
    if (depth === 1) n++;
    return true;
  });
  return n;
}

/** Whether a value is a container that holds something. */
export function hasInside(text: string, { start }: Value): boolean {
  if (text[start] !== '{' && text[start] !== '[') return false;
  let at = start + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text[at] !== '}' && text[at] !== ']';
}

/** `$.parts[3]["odd key"]` */
export const pathText = (keys: readonly (string | number)[]): string =>
  `$${keys
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = keyText(key);
      return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    })
    .join('')}`;
