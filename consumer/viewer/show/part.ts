// What all parts do alike: a root of their own, the file's bytes within a cap, problems told in words, and an end after
// which nothing is left.
import type { Mounted, Part, PartInput } from '../parts.js';
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
}

/**
 * A part that is drawn by `draw`. Files larger than `most` bytes are refused in words; so is what `draw` throws.
 */
export function partOf(name: string, most: number, draw: (scene: Scene) => void | Promise<void>): Part {
  return {
    mount(element: HTMLElement, input: PartInput): Mounted {
      const end = new AbortController();
      const { signal } = end;
      const root = el('section', {
        class: `part part-${name}`,
        'aria-label': input.file.path,
        'aria-busy': 'true',
        'data-theme': input.theme,
      });
      let rethemed: ((theme: PartInput['theme']) => void) | undefined;
      let { theme } = input;
      const show = async () => {
        const { bytes } = input.file;
        if (bytes > most) throw new Error(`It has ${size(bytes)}; up to ${size(most)} are shown.`);
        const got = await input.source.bytes(input.file);
        if (signal.aborted) return;
        // What was promised is not believed.
        if (got.byteLength > most)
          throw new Error(`It has ${size(got.byteLength)}; up to ${size(most)} are shown.`);
        const onTheme: Scene['onTheme'] = (act) => {
          rethemed = act;
        };
        await draw({ root, bytes: got, input: { ...input, theme }, signal, onTheme });
        root.removeAttribute('aria-busy');
      };
      element.append(root);
      show().catch((error: unknown) => {
        if (signal.aborted) return;
        root.remove();
        input.onProblem(error instanceof Error ? error.message : String(error));
      });
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
