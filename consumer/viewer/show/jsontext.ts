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
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|[-\w.+]+/g;
  tokens.lastIndex = start;
  for (let match = tokens.exec(text); match && match.index < end; match = tokens.exec(text)) {
    const [token] = match;
    const at = match.index;
    const behind = at + token.length;
    const around = open.at(-1);
    if (token === ',') continue;
    if (token === '}' || token === ']') {
      const closed = open.pop()!;
      if (open.length > 0 && !tell({ key: closed.key, start: closed.start, end: behind }, open.length))
        return;
      if (open.length === 0) return;
      continue;
    }
    if (around?.isObject && key === null && token[0] === '"') {
      key = token.slice(1, -1);
      continue;
    }
    const own = around ? (around.isObject ? key : around.index++) : null;
    key = null;
    if (token === '{' || token === '[') open.push({ isObject: token === '{', key: own, start: at, index: 0 });
    else if (around && !tell({ key: own, start: at, end: behind }, open.length)) return;
  }
}

/** How many values a container holds, itself left out. */
export function countOf(text: string, value: Value, most: number): number {
  let n = 0;
  walk(text, value, (_, depth) => {
    if (depth === 1) n++;
    return n < most;
  });
  return n;
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
