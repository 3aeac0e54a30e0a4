// Which part of the page shows which kind of file. Alone in a file, since an export asks it too, without a browser.
import type { ShownFile } from '../../src/stream.js';

/** `image` zooms and pans, `clip` plays, `frame` is a page in a sandbox; `none` is offered as a download. */
export type Shown = 'image' | 'clip' | 'frame' | PartName | 'none';

/** Parts with a script of their own. */
export const PARTS = ['model', 'cast', 'text', 'patch', 'json'] as const;
export type PartName = (typeof PARTS)[number];

/** Parts that compare two files, each a script of its own too. */
export const PAIR_PARTS = ['textdiff', 'jsondiff'] as const;
export type PairPartName = (typeof PAIR_PARTS)[number];
export type ScriptName = PartName | PairPartName;

/** By media type; the first that fits. */
const TABLE: readonly [media: RegExp, shown: Shown][] = [
  [/^image\/(png|jpeg|gif|webp|avif|svg\+xml|bmp)$/, 'image'],
  [/^(video|audio)\//, 'clip'],
  [/^text\/html$/, 'frame'],
  [/^model\/(gltf-binary|gltf\+json|stl|obj)$/, 'model'],
  [/^application\/x-asciicast$/, 'cast'],
  [/^text\/x-diff$/, 'patch'],
  [/^application\/json$/, 'json'],
  [/^text\//, 'text'],
];

export const shownAs = ({ media_type }: Pick<ShownFile, 'media_type'>): Shown =>
  TABLE.find(([media]) => media.test(media_type))?.[1] ?? 'none';

export const isPart = (shown: Shown): shown is PartName => (PARTS as readonly string[]).includes(shown);

/** The part that compares two files of these kinds, or null where none does. */
export function pairedBy(before: Shown, after: Shown): PairPartName | null {
  if (before === 'json' && after === 'json') return 'jsondiff';
  const isText = (shown: Shown) => shown === 'text' || shown === 'patch' || shown === 'json';
  return isText(before) && isText(after) ? 'textdiff' : null;
}

/** The scripts that a page needs to show files of these kinds, and to compare them. */
export function scriptsFor(kinds: readonly Shown[]): ScriptName[] {
  const pairs = kinds.flatMap((one) => kinds.map((other) => pairedBy(one, other)));
  return [
    ...PARTS.filter((part) => kinds.includes(part)),
    ...PAIR_PARTS.filter((part) => pairs.includes(part)),
  ];
}
