// The parts of the page that are scripts of their own (part-NAME.js): loaded when the first such file is shown, and put
// into an export only then.
import type { ShownFile } from '../../src/stream.js';
import type { PairPartName, PartName } from './shownas.js';
import type { Source } from './source.js';

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
  /** Where a model is looked at from. */
  camera?: Camera;
  /** Shows in the other theme, where that is more than CSS. */
  retheme?(theme: 'dark' | 'light'): void;
  unmount(): void;
}

/** Where a model is looked at from, in its own units with y up: what two models of one thing have in common. */
export interface Pose {
  position: readonly [x: number, y: number, z: number];
  target: readonly [x: number, y: number, z: number];
}
export interface Camera {
  /** Null until the model is drawn. */
  pose(): Pose | null;
  /** Nobody is told of this move. */
  set(pose: Pose): void;
  /** Calls `act` when the model is drawn, and whenever it is turned, moved or zoomed. */
  onMove(act: (pose: Pose) => void): void;
}

/** What a part gets that compares two files. */
export type PairInput = Omit<PartInput, 'file'> & { before: ShownFile; after: ShownFile };

/** As a part, for two files. */
export interface PairPart {
  mount(element: HTMLElement, input: PairInput): Mounted;
}

type Registered = Record<PartName, Part> & Record<PairPartName, PairPart>;
export type PartOf<Name extends keyof Registered> = Registered[Name];

declare global {
  // Parts are classic scripts, for modules do not load from file://.
  var previewParts: Partial<Registered> | undefined;
}

/** Called by a part's script when it is loaded. */
export function registerPart<Name extends keyof Registered>(name: Name, part: Registered[Name]): void {
  globalThis.previewParts = { ...globalThis.previewParts, [name]: part };
}
