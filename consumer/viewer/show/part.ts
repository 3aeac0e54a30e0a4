// What all parts do alike: a root of their own, the file's bytes within a cap, problems told in words, and an end after
// which nothing is left.
import type { ShownFile } from '../../../src/stream.js';
import type { Camera, Mounted, PairInput, PairPart, Part, PartInput, Pose } from '../parts.js';
import { el } from './dom.js';
import { size } from './words.js';

/** What a part draws into. */
export interface Scene {
  root: HTMLElement;
  bytes: ArrayBuffer;
  input: PartInput;
  /** Aborted at the end: for event listeners, and for whatever else has to be given back. */
  signal: AbortSignal;
  /** Sets what is to be done when the theme changes. */
  onTheme(act: (theme: PartInput['theme']) => void): void;
  /** Tells where the model is looked at from. */
  onCamera(camera: Drawn): void;
}

/** What a part draws into that compares two files. */
export type PairScene = Omit<Scene, 'bytes' | 'input' | 'onCamera'> & {
  before: ArrayBuffer;
  after: ArrayBuffer;
  input: PairInput;
};

/** A camera of what is drawn later; it stands in until then. */
function laterCamera(): Camera & { take(camera: Drawn): void } {
  let drawn: Drawn | null = null;
  let act: (pose: Pose) => void = () => {};
  return {
    pose: () => drawn?.pose() ?? null,
    set: (pose) => drawn?.set(pose),
    onMove(told) {
      act = told;
    },
    take(camera) {
      drawn = camera;
      camera.onMove((pose) => act(pose));
      act(camera.pose());
    },
  };
}
type Drawn = Omit<Camera, 'pose'> & { pose(): Pose };

/**
 * A part that is drawn by `draw`. Files larger than `most` bytes are refused in words; so is what `draw` throws.
 */
export function partOf(name: string, most: number, draw: (scene: Scene) => void | Promise<void>): Part {
  return {
    mount(element, input) {
      const camera = laterCamera();
      const mounted = mountInto(element, name, input.file.path, input, async (stage) => {
        const bytes = await bytesOf(input, input.file, most);
        if (stage.signal.aborted) return;
        await draw({ ...stage, bytes, input: { ...input, theme: stage.theme() }, onCamera: camera.take });
      });
      return { ...mounted, camera };
    },
  };
}

/** As `partOf`, for a part that compares two files. */
export function pairOf(
  name: string,
  most: number,
  draw: (scene: PairScene) => void | Promise<void>,
): PairPart {
  return {
    mount: (element, input) =>
      mountInto(element, name, `${input.before.path} compared`, input, async (stage) => {
        const files = [input.before, input.after].map((file) => bytesOf(input, file, most));
        const [before, after] = (await Promise.all(files)) as [ArrayBuffer, ArrayBuffer];
        if (stage.signal.aborted) return;
        await draw({ ...stage, before, after, input: { ...input, theme: stage.theme() } });
      }),
  };
}

async function bytesOf({ source }: Pick<PartInput, 'source'>, file: ShownFile, most: number) {
  const refuse = (bytes: number) => {
    if (bytes > most) throw new Error(`It has ${size(bytes)}; up to ${size(most)} are shown.`);
  };
  refuse(file.bytes);
  const got = await source.bytes(file);
  // What was promised is not believed.
  refuse(got.byteLength);
  return got;
}

interface Stage extends Pick<Scene, 'root' | 'signal' | 'onTheme'> {
  theme(): PartInput['theme'];
}

function mountInto(
  element: HTMLElement,
  name: string,
  label: string,
  input: Pick<PartInput, 'theme' | 'onProblem'>,
  show: (stage: Stage) => Promise<void>,
): Mounted {
  const end = new AbortController();
  const { signal } = end;
  let { theme } = input;
  const root = el('section', {
    class: `part part-${name}`,
    'aria-label': label,
    'aria-busy': 'true',
    'data-theme': theme,
  });
  let rethemed: ((theme: PartInput['theme']) => void) | undefined;
  const onTheme: Scene['onTheme'] = (act) => {
    rethemed = act;
  };
  element.append(root);
  show({ root, signal, onTheme, theme: () => theme }).then(
    () => root.removeAttribute('aria-busy'),
    (error: unknown) => {
      if (signal.aborted) return;
      root.remove();
      input.onProblem(error instanceof Error ? error.message : String(error));
    },
  );
  return {
    retheme(to) {
      theme = to;
      root.setAttribute('data-theme', to);
      rethemed?.(to);
    },
    unmount() {
      end.abort();
      root.remove();
      root.replaceChildren();
    },
  };
}

/** UTF-8, unless a mark at the start says UTF-16. */
export function encodingOf(bytes: ArrayBuffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Some of the bytes as text. What does not decode becomes U+FFFD. */
export const decoded = (bytes: ArrayBuffer, from = 0, to = bytes.byteLength): string =>
  new TextDecoder(encodingOf(bytes)).decode(new Uint8Array(bytes, from, to - from));
