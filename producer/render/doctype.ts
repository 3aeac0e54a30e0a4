// Takes the document type out of an XML text and puts its entities in their places, so that what is
// looked at for outside references is exactly what resvg parses.
import { unreadable } from './xml.js';

const TOKEN = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|"[^"]*"|'[^']*'|[\s\S]/y;
const ENTITY = /<!ENTITY\s+([^\s%"'<>&;]+)\s+(?:"([^"]*)"|'([^']*)'|(?:SYSTEM|PUBLIC)[^>]*)\s*>/g;
const PREDEFINED = new Set(['amp', 'lt', 'gt', 'quot', 'apos']);

/**
 * `text` without its document type, its own entities replaced, at most `limit` characters (a few bytes
 * can declare gigabytes). `outside` lists the entities that name another file: they become nothing.
 * Throws an `Unreadable` where a limit is passed.
 */
export function resolveDoctype(text: string, limit: number): { text: string; outside: string[] } {
  const start = prologEnd(text);
  if (!text.startsWith('<!DOCTYPE', start)) return { text, outside: [] };
  const end = doctypeEnd(text, start);
  const doctype = text.slice(start, end);
  const lines = doctype.replace(/[^\n]+/g, '');
  const outside: string[] = [];
  const entities = new Map<string, string>();
  for (const [, name, double, single] of doctype.replace(/<!--[\s\S]*?-->/g, '').matchAll(ENTITY)) {
    // The first declaration counts (XML 1.0, section 4.2).
    if (!name || entities.has(name) || PREDEFINED.has(name)) continue;
    const value = double ?? single;
    if (value === undefined) outside.push(`&${name};`);
    entities.set(name, value ?? '');
  }
  const rest = text.slice(0, start) + lines + text.slice(end);
  return { text: entities.size ? expand(rest, entities, limit) : rest, outside };
}

function expand(text: string, entities: Map<string, string>, limit: number): string {
  let room = limit;
  const inside = (raw: string, depth: number): string =>
    raw.replace(/&([^\s%"'<>&;#]+);/g, (whole, name: string) => {
      const value = entities.get(name);
      if (value === undefined) return whole;
      room -= value.length;
      if (room < 0 || depth > 8) throw unreadable('its entities expand to more than can be drawn');
      return inside(value, depth + 1);
    });
  return inside(text, 0);
}

/** Where the prolog's white space, instructions and comments end. */
function prologEnd(text: string): number {
  const piece = /\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->/y;
  let at = 0;
  while (piece.test(text)) at = piece.lastIndex;
  return at;
}

function doctypeEnd(text: string, start: number): number {
  let depth = 0;
  TOKEN.lastIndex = start;
  for (;;) {
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) throw unreadable('its <!DOCTYPE never ends');
    if (token === '[') depth++;
    else if (token === ']') depth--;
    else if (token === '>' && depth === 0) return TOKEN.lastIndex;
  }
}
