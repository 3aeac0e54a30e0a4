// Makes an untrusted SVG's text ready for resvg: nothing outside of it is read (resvg by itself opens
// any local file an <image> names), its fonts are chosen, its size is bounded; and notes what was done.
import { chooseFamily, rewriteCss } from './css.js';
import { resolveDoctype } from './doctype.js';
import { readEmbedded } from './embedded.js';
import { DEFAULT_FAMILY, type Fonts } from './fonts.js';
import { type Notes, type Remark, remarksOf } from './remarks.js';
import { SVG_BYTES, svgText } from './source.js';
import { ELEMENTS, weigh } from './weight.js';
import { escapeXml, isUnreadable, rewriteXml, type Tag, unescapeXml, unreadable } from './xml.js';

export type Prepared = {
  /** Without document type, instructions and comments. */
  text: string;
  /** What to draw its text with; none where it has none. */
  fontFiles: string[];
  elements: number;
  textElements: number;
  /** Elements once every <use> and embedded SVG is followed. */
  weight: number;
  remarks: Remark[];
};

const SVG = 'http://www.w3.org/2000/svg';
/** What resvg leaves out though a browser shows it, or shows in its first moment only. */
const NOT_DRAWN = new Set(['foreignObject', 'script', 'animate', 'animateTransform', 'animateMotion', 'set']);
const SLANTED = /(?:^|[{;\s])font(?:-style)?\s*:[^;{}]*\b(?:italic|oblique)/i;

/**
 * Prepares the text of an SVG file. `inner` is for one embedded in another, where resvg draws no
 * pictures. Throws an `Unreadable` for what can be known to fail before drawing.
 */
export function prepareSvg(source: string, fonts: Fonts, inner = false): Prepared {
  const doctype = resolveDoctype(source.replace(/^\ufeff/, ''), SVG_BYTES);
  const notes: Notes = {
    outside: new Set(doctype.outside),
    images: new Set(),
    undrawn: new Map(),
    replaced: new Map(),
    families: new Set([DEFAULT_FAMILY]),
    missing: [],
    slanted: false,
    namespaceAdded: false,
  };
  const characters = new Set<number>();
  const fontFiles = new Set<string>();
  const innerRemarks: Remark[] = [];
  const stack: string[] = [];
  const weight = weigh();
  let [elements, textElements, textDepth] = [0, 0, 0];

  const choose = (names: string[]): string => {
    const { family, missing } = fonts.pick(names);
    notes.families.add(family);
    if (missing.length) notes.replaced.set(missing.map((name) => JSON.stringify(name)).join(', '), family);
    return family;
  };
  const css = (text: string): string => {
    notes.slanted ||= SLANTED.test(text);
    return rewriteCss(text, choose, (href) => notes.outside.add(href));
  };

  /** The raw value in place of a link's; null drops it, undefined leaves it. */
  const link = (href: string): string | null | undefined => {
    if (href === '' || href.startsWith('#')) return undefined;
    if (!/^data:/i.test(href)) {
      notes.outside.add(href);
      return null;
    }
    const embedded = inner ? null : readEmbedded(href);
    if (embedded?.kind === 'pixels') return undefined;
    if (embedded?.kind === 'refused') notes.images.add(embedded.reason);
    if (embedded?.kind !== 'svg') return null;
    try {
      const prepared = prepareSvg(svgText(embedded.bytes), fonts, true);
      weight.more(prepared.weight);
      innerRemarks.push(...prepared.remarks);
      for (const file of prepared.fontFiles) fontFiles.add(file);
      return `data:image/svg+xml;base64,${Buffer.from(prepared.text).toString('base64')}`;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      notes.images.add(`an embedded SVG was left out: ${error.unreadable}`);
      return null;
    }
  };
  const attribute = (tag: Tag, name: string, local: string, raw: string): string | null | undefined => {
    if (local === 'href' && tag.local !== 'a') return link(unescapeXml(raw));
    if (name === 'style') return escapeXml(css(unescapeXml(raw)));
    if (name === 'font-family') return escapeXml(chooseFamily(unescapeXml(raw), choose).trim());
    if (name === 'font-style') notes.slanted ||= /italic|oblique/i.test(raw);
    return undefined;
  };

  let text = rewriteXml(doctype.text, {
    open(tag) {
      elements++;
      const of = (local: string) => tag.attributes.find((each) => each.local === local)?.value;
      if (elements === 1) {
        if (tag.local !== 'svg') throw unreadable(`its root element is <${tag.name}>, not <svg>`);
        notes.namespaceAdded = tag.name === 'svg' && !tag.attributes.some(({ name }) => name === 'xmlns');
      }
      weight.open(tag.local, of('id'), tag.local === 'use' ? of('href')?.replace(/^#/, '') : undefined);
      const shape = of('d') ?? of('points');
      if (shape !== undefined || tag.local === 'line') weight.shape(shape ?? '');
      const changes = new Map<number, string | null>();
      for (const [index, { name, local, value }] of tag.attributes.entries()) {
        const change = attribute(tag, name, local, value);
        if (change !== undefined) changes.set(index, change);
      }
      if (NOT_DRAWN.has(tag.local)) notes.undrawn.set(tag.local, (notes.undrawn.get(tag.local) ?? 0) + 1);
      if (tag.local === 'text') textElements++;
      if (tag.closed) {
        weight.close();
      } else {
        stack.push(tag.local);
        if (tag.local === 'text') textDepth++;
      }
      return changes.size ? changes : undefined;
    },
    close() {
      weight.close();
      if (stack.pop() === 'text') textDepth--;
    },
    text(raw, cdata) {
      if (stack.at(-1) === 'style') return cdata ? css(raw) : escapeXml(css(unescapeXml(raw)));
      if (textDepth > 0)
        for (const char of cdata ? raw : unescapeXml(raw)) characters.add(char.codePointAt(0)!);
      return undefined;
    },
    instruction(raw) {
      const sheet = /^<\?xml-stylesheet\s[\s\S]*?href\s*=\s*["']([^"']+)/.exec(raw)?.[1];
      if (sheet) notes.outside.add(sheet);
    },
  });
  if (elements === 0) throw unreadable('there is no XML element in it');
  const total = weight.total(/marker-mid|marker\s*[:=]/.test(text));
  if (total > ELEMENTS)
    throw unreadable(`it has more than ${ELEMENTS} elements once every <use> and marker is drawn`);
  // Comments and instructions are gone, so the first tag is the root.
  if (notes.namespaceAdded) text = text.replace(/<svg/, `<svg xmlns="${SVG}"`);

  if (textElements > 0) {
    const chosen = fonts.files(notes.families, visible(characters));
    for (const file of chosen.files) fontFiles.add(file);
    notes.missing = chosen.missing;
  }
  const remarks = [...remarksOf(notes, textElements > 0), ...innerRemarks];
  return { text, fontFiles: [...fontFiles], elements, textElements, weight: total, remarks };
}

/** The code points that a font must have: no white space, controls, joiners or variation selectors. */
export function visible(codes: Iterable<number>): Set<number> {
  const hidden = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}]/u;
  return new Set([...codes].filter((code) => !hidden.test(String.fromCodePoint(code))));
}
