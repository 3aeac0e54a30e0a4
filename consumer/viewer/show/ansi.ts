// Colours and weights of terminal output (SGR, ECMA-48 8.3.117). Nothing else of a terminal is done here: what is no
// colour stays in the text, where it is shown as signs.

/** One of the 256 colours, or `#rrggbb`; undefined: the terminal's own. */
export type Colour = number | `#${string}`;

export interface Style {
  fore?: Colour | undefined;
  back?: Colour | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
  hidden?: boolean;
}

export const PLAIN: Style = {};

/** SGR, and "erase to the end of the line", which many programs send after each colour. */
const SEQUENCE = /\u001b\[(?:([\d;:]{0,200})m|\d*K)/g;

/** `text` without its colours. */
export const bare = (text: string): string => text.replace(SEQUENCE, '');

/** Tells the runs of a line, which begins in `style`; returns the style that it ends in. */
export function runs(line: string, style: Style, tell: (text: string, style: Style) => void): Style {
  let from = 0;
  for (const { index, 0: all, 1: codes } of line.matchAll(SEQUENCE)) {
    if (index > from) tell(line.slice(from, index), style);
    if (codes !== undefined) style = styled(style, codes);
    from = index + all.length;
  }
  if (from < line.length) tell(line.slice(from), style);
  return style;
}

/** The style that `style` becomes by the numbers of an SGR sequence. */
function styled(style: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number);
  let next = { ...style };
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at]!;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 8) next.hidden = true;
    else if (code === 9) next.strike = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code === 28) next.hidden = false;
    else if (code === 29) next.strike = false;
    else if (code >= 30 && code <= 37) next.fore = code - 30;
    else if (code >= 90 && code <= 97) next.fore = code - 82;
    else if (code >= 40 && code <= 47) next.back = code - 40;
    else if (code >= 100 && code <= 107) next.back = code - 92;
    else if (code === 39) next.fore = undefined;
    else if (code === 49) next.back = undefined;
    else if (code === 38 || code === 48) {
      const which = code === 38 ? 'fore' : 'back';
      if (numbers[at + 1] === 5) next[which] = byte(numbers[at + 2]);
      else if (numbers[at + 1] === 2) next[which] = rgb(numbers.slice(at + 2, at + 5));
      at += numbers[at + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}

const byte = (value = 0) => Math.min(255, value);

/** `#rrggbb` of three numbers. */
export const rgb = (parts: readonly number[]): Colour =>
  `#${[0, 1, 2].map((part) => byte(parts[part]).toString(16).padStart(2, '0')).join('')}`;

/** The 6×6×6 cube and the greys of the 256 colours; the first sixteen are the theme's. */
export function indexed(colour: number): Colour {
  if (colour < 16) return colour;
  if (colour >= 232) return rgb(Array<number>(3).fill(8 + (colour - 232) * 10));
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  const at = colour - 16;
  return rgb([level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)]);
}

/** Gives an element the look of a style: classes, and colours beyond the theme's sixteen as properties. */
export function dress(element: HTMLElement, style: Style): void {
  let { fore, back } = style;
  if (typeof fore === 'number') fore = indexed(style.bold && fore < 8 ? fore + 8 : fore);
  if (typeof back === 'number') back = indexed(back);
  const classes: string[] = [];
  if (style.inverse) {
    [fore, back] = [back, fore];
    if (fore === undefined) classes.push('fore-back');
    if (back === undefined) classes.push('back-fore');
  }
  if (typeof fore === 'number') classes.push(`fore-${fore}`);
  else if (fore) element.style.color = fore;
  if (typeof back === 'number') classes.push(`back-${back}`);
  else if (back) element.style.backgroundColor = back;
  if (back !== undefined) classes.push(isLight(back) ? 'on-light' : 'on-dark');
  for (const name of ['bold', 'dim', 'italic', 'underline', 'strike', 'hidden'] as const)
    if (style[name]) classes.push(name);
  element.className = classes.join(' ');
}

/** Whether dark letters are read on it. Of the sixteen, all that are bright, and white. */
function isLight(colour: Colour): boolean {
  if (typeof colour === 'number') return colour === 7 || colour > 8;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140;
}

export const isPlain = (style: Style): boolean =>
  !Object.values(style).some((value) => value !== undefined && value !== false);
