// Which part of the page shows which kind of file. Alone in a file, since an export asks it too, without a browser.
import type { ShownFile } from '../../src/stream.js';

/** `image` zooms and pans, `clip` plays, `frame` is a page in a sandbox; `none` is offered as a download. */
export type Shown = 'image' | 'clip' | 'frame' | PartName | 'none';

/** Parts with a script of their own. */
export const PARTS = ['model', 'cast', 'text', 'patch', 'json'] as const;
export type PartName = (typeof PARTS)[number];

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
