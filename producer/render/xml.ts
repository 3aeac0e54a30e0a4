// Walks an XML text tag by tag and lets a caller replace pieces of it. It does not validate: resvg's
// parser does that afterwards, so anything that is not well-formed is refused there.

/** Why an SVG cannot be drawn, in words for its author. */
export type Unreadable = { unreadable: string };
export const unreadable = (reason: string): Unreadable => ({ unreadable: reason });
export const isUnreadable = (value: unknown): value is Unreadable =>
  typeof value === 'object' && value !== null && 'unreadable' in value;

export type Attribute = { name: string; local: string; value: string; start: number; end: number };
export type Tag = { name: string; local: string; attributes: Attribute[]; closed: boolean };

/** What to do at each piece; a string that is returned takes the piece's place. */
export type Edit = {
  /** Returns the attributes to change, by index: a new raw value, or null to drop it. */
  open(tag: Tag): Map<number, string | null> | undefined;
  close(): void;
  /** `raw` is still escaped unless `cdata`. */
  text(raw: string, cdata: boolean): string | undefined;
  instruction(raw: string): void;
};

const NAME = /[^\s<>/="']+/y;
const ATTRIBUTE = /\s*([^\s<>/="']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const END = /\s*(\/?)>/y;

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1);
/** As many line ends as `text` has, so that a parser's line numbers stay those of the file. */
const linesOf = (text: string): string => text.replace(/[^\n]+/g, '');
const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** `text` with the edits done. Throws an `Unreadable` where a tag or a comment never ends. */
export function rewriteXml(text: string, edit: Edit): string {
  const out: string[] = [];
  let at = 0;
  const until = (mark: string, what: string): string => {
    const end = text.indexOf(mark, at);
    if (end < 0) throw unreadable(`${what} in line ${lineAt(text, at)} never ends`);
    const piece = text.slice(at, end + mark.length);
    at = end + mark.length;
    return piece;
  };
  while (at < text.length) {
    if (text[at] !== '<') {
      const next = text.indexOf('<', at);
      const raw = text.slice(at, next < 0 ? text.length : next);
      out.push(edit.text(raw, false) ?? raw);
      at += raw.length;
    } else if (text.startsWith('<!--', at)) {
      out.push(linesOf(until('-->', 'the comment')));
    } else if (text.startsWith('<![CDATA[', at)) {
      const raw = until(']]>', 'the CDATA section');
      const inner = edit.text(raw.slice(9, -3), true);
      out.push(inner === undefined ? raw : `<![CDATA[${inner}]]>`);
    } else if (text.startsWith('<?', at)) {
      // Nothing here draws, and an encoding that is named would no longer be true of the text.
      const raw = until('?>', 'the instruction');
      edit.instruction(raw);
      out.push(linesOf(raw));
    } else if (text.startsWith('</', at)) {
      out.push(until('>', 'the closing tag'));
      edit.close();
    } else {
      const start = at;
      const { tag, end } = readTag(text, at);
      const changes = edit.open(tag);
      out.push(changes ? changed(text, start, end, tag, changes) : text.slice(start, end));
      at = end;
    }
  }
  return out.join('');
}

function readTag(text: string, start: number): { tag: Tag; end: number } {
  const bad = () => unreadable(`the tag in line ${lineAt(text, start)} is not well-formed XML`);
  NAME.lastIndex = start + 1;
  const name = NAME.exec(text)?.[0];
  if (!name) throw bad();
  const attributes: Attribute[] = [];
  let at = start + 1 + name.length;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(text);
    if (!match) break;
    const value = match[2] ?? match[3] ?? '';
    attributes.push({
      name: match[1]!,
      local: localOf(match[1]!),
      value,
      start: at,
      end: ATTRIBUTE.lastIndex,
    });
    at = ATTRIBUTE.lastIndex;
  }
  END.lastIndex = at;
  const end = END.exec(text);
  if (!end) throw bad();
  return { tag: { name, local: localOf(name), attributes, closed: end[1] === '/' }, end: END.lastIndex };
}

function changed(
  text: string,
  start: number,
  end: number,
  tag: Tag,
  changes: Map<number, string | null>,
): string {
  let out = '';
  let from = start;
  for (const [index, attribute] of tag.attributes.entries()) {
    const value = changes.get(index);
    if (value === undefined) continue;
    out += text.slice(from, attribute.start);
    if (value !== null) out += ` ${attribute.name}="${value}"`;
    from = attribute.end;
  }
  return out + text.slice(from, end);
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Character references and the five named entities of XML, resolved. */
export function unescapeXml(raw: string): string {
  if (!raw.includes('&')) return raw;
  return raw.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (whole, hex, decimal, name) => {
      if (name) return NAMED[name.toLowerCase()]!;
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** `text` as XML content or an attribute's value; control characters that XML forbids are dropped. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
