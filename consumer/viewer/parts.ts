// The parts of the page that are scripts of their own (part-NAME.js): loaded when the first such file is shown, and put
// into an export only then.
import type { ShownFile } from '../../src/stream.js';
import type { PartName } from './shownas.js';
import type { Source } from './source.js';

export { isPart, PARTS, type PartName, type Shown, shownAs } from './shownas.js';

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
