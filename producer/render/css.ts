// The font families in CSS text: read, replaced by the one that is drawn, and what was missing noted.
// resvg compares family names letter for letter and knows no generic ones, so we decide for it.

/** Gives the family that is drawn for a CSS list of names. */
export type ChooseFamily = (names: string[]) => string;

const KEEP = /^(?:inherit|initial|unset|revert)$/i;
const FAMILY = /((?:^|[{;\s])font-family\s*:)([^;{}]*)/gi;
const SHORTHAND = /((?:^|[{;\s]))font\s*:([^;{}]*)/gi;
const SIZE = /^(?:\d*\.?\d+(?:[a-z]+|%)?|(?:xx?-|xxx-)?(?:small|large)|medium|smaller|larger)$/i;
const FONT_FACE = /@font-face\s*\{[^}]*\}/gi;
const OUTSIDE = /@import\s+(?:url\()?\s*["']?([^"')\s;]+)|url\(\s*["']?(?!#|data:)([^"')\s]+)/gi;

/** The names of a CSS family list, unquoted. */
export function splitFamilies(list: string): string[] {
  return [...list.matchAll(/"([^"]*)"|'([^']*)'|([^,"']+)/g)]
    .map(([, double, single, bare]) => (double ?? single ?? bare!).trim().replace(/\s+/g, ' '))
    .filter(Boolean);
}

/** A family list's replacement: one quoted name; or the list itself where it names no family. */
export function chooseFamily(list: string, choose: ChooseFamily): string {
  const [, value = '', important = ''] = /^([\s\S]*?)(\s*!\s*important\s*)?$/i.exec(list) ?? [];
  const names = splitFamilies(value);
  if (names.length === 0 || (names.length === 1 && KEEP.test(names[0]!))) return list;
  return ` '${choose(names).replace(/['\\]/g, '')}'${important}`;
}

/** `font: bold 12px/1.2 Foo, serif` as the properties it stands for: resvg does not know the shorthand. */
function longhand(value: string): string {
  const words = value
    .trim()
    .replace(/\s*\/\s*/g, '/')
    .split(/\s+/);
  const at = words.findIndex((word) => SIZE.test(word.split('/')[0]!) && !/^[1-9]00$/.test(word));
  if (at < 0 || at === words.length - 1) return `font:${value}`;
  const of = (property: string, pattern: RegExp) => {
    const found = words.slice(0, at).find((word) => pattern.test(word));
    return found ? `${property}:${found};` : '';
  };
  return [
    of('font-style', /^(?:italic|oblique)$/i),
    of('font-weight', /^(?:bold|bolder|lighter|[1-9]00)$/i),
    of('font-variant', /^small-caps$/i),
    `font-size:${words[at]!.split('/')[0]};font-family:${words.slice(at + 1).join(' ')}`,
  ].join('');
}

/** A style sheet or style attribute with every family list replaced; `outside` gets what it refers to. */
export function rewriteCss(css: string, choose: ChooseFamily, outside: (href: string) => void): string {
  for (const [, imported, url] of css.matchAll(OUTSIDE)) outside(imported ?? url!);
  return css
    .replace(FONT_FACE, '')
    .replace(SHORTHAND, (_, before: string, value: string) => before + longhand(value))
    .replace(FAMILY, (_, before: string, list: string) => before + chooseFamily(list, choose));
}
