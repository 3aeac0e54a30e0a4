// Which part of the page shows which kind of file. Parts beyond images, clips and plain frames are scripts of their own
// (part-NAME.js), loaded when the first such file is shown, and put into an export only then.
import type { ShownFile } from '../../src/stream.js';
import type { Source } from './source.js';

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

/** What a part gets to show. */
export interface PartInput {
  file: ShownFile;
  source: Source;
  /** Resolved: the colours are the page's CSS variables. */
  theme: 'dark' | 'light';
  /** Reports what cannot be shown, in words; the page offers the file as a download then. */
  onProblem(words: string): void;
}

/** What a part's script registers. It must clean up after itself entirely. */
export interface Part {
  mount(element: HTMLElement, input: PartInput): Mounted;
}
export interface Mounted {
  /** Shows in the other theme, where that is more than CSS. */
  retheme?(theme: 'dark' | 'light'): void;
  unmount(): void;
}

declare global {
  // Parts are classic scripts, for modules do not load from file://.
  var previewParts: Partial<Record<PartName, Part>> | undefined;
}

/** Called by a part's script when it is loaded. */
export function registerPart(name: PartName, part: Part): void {
  globalThis.previewParts = { ...globalThis.previewParts, [name]: part };
}
