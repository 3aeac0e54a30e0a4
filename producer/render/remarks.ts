// What must be told about a picture that is not quite what a browser would show: put in words.
import { DEFAULT_FAMILY } from './fonts.js';

/** A thing to tell about one SVG: `text` is without the file's name, which the caller adds. */
export type Remark = { code: string; text: string };

/** What was noticed while an SVG was prepared. */
export type Notes = {
  /** References to other files or addresses, none of which were followed. */
  outside: Set<string>;
  /** Why embedded pictures were left out. */
  images: Set<string>;
  /** Elements that resvg does not draw, by name. */
  undrawn: Map<string, number>;
  /** Families that are missing, as one text, to the family drawn. */
  replaced: Map<string, string>;
  families: Set<string>;
  /** Code points that no font has. */
  missing: number[];
  slanted: boolean;
  namespaceAdded: boolean;
};

const LISTED = 5;

export function remarksOf(notes: Notes, hasText: boolean): Remark[] {
  const remarks: Remark[] = [];
  const remark = (code: string, text: string) => remarks.push({ code, text });
  if (notes.namespaceAdded) {
    remark(
      'namespace_added',
      'its root has no xmlns="http://www.w3.org/2000/svg", without which browsers show no picture',
    );
  }
  for (const href of [...notes.outside].slice(0, LISTED)) {
    remark('external_reference', `${short(href)} is outside of the file and was left out`);
  }
  if (notes.outside.size > LISTED) {
    remark('external_reference', `${notes.outside.size - LISTED} more references were left out`);
  }
  for (const reason of [...notes.images].slice(0, LISTED)) remark('image_left_out', reason);
  if (notes.undrawn.size) {
    const counted = [...notes.undrawn].map(([name, count]) => `${count} <${name}>`).join(', ');
    remark('not_drawn', `${counted}: resvg draws no HTML, scripts or motion`);
  }
  if (!hasText) return remarks;
  for (const [missing, family] of notes.replaced) {
    const verb = missing.includes('", "') ? 'are' : 'is';
    remark('font_replaced', `${missing} ${verb} not on this machine; ${family} was drawn instead`);
  }
  if (notes.missing.length) remark('glyphs_missing', `no font on this machine has ${listed(notes.missing)}`);
  if (notes.slanted && [...notes.families, DEFAULT_FAMILY].every((family) => family.startsWith('DejaVu S'))) {
    remark('font_style_replaced', 'italic text was drawn upright: the shipped fonts have no italic');
  }
  return remarks;
}

const short = (href: string): string => (href.length > 80 ? `${href.slice(0, 79)}…` : href);

function listed(codes: readonly number[]): string {
  const shown = codes
    .slice(0, 8)
    .map((code) => String.fromCodePoint(code))
    .join(' ');
  return codes.length > 8 ? `${shown} and ${codes.length - 8} more characters` : shown;
}
