// How many cells a character takes on a terminal. The emulator's own table is older than most emoji.

/** Wide by Unicode's East Asian Width (UAX #11), as terminals have it; emoji follow from their presentation. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
/** What combines with the character before it, and what has no picture; a soft hyphen has one. */
const NONE = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;

export function cellWidth(code: number): 0 | 1 | 2 {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  if (code < 0x300) return 1;
  const char = String.fromCodePoint(code);
  return NONE.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
}

/** The same in the form that xterm asks for: width and whether it joins what is before, packed as its own table does. */
export const cellWidths = {
  version: 'cells',
  wcwidth: cellWidth,
  charProperties(code: number, before: number): number {
    const width = cellWidth(code);
    const wide = (before >> 1) & 3;
    const joins = width === 0 && before !== 0 && wide !== 0;
    return ((joins ? Math.max(width, wide) : width) << 1) | (joins ? 1 : 0);
  },
};
