// JSON as a tree that can be searched; too much of it, or what is none, as text.
import { registerPart } from '../parts.js';
import { copyText } from '../show/copy.js';
import { button, el, scroller } from '../show/dom.js';
import { keyText, kindOf, plain, type Value, walk } from '../show/jsontext.js';
import { jsonTree } from '../show/jsontree.js';
import { decoded, partOf, type Scene } from '../show/part.js';
import { showText } from '../show/textview.js';
import { count, size } from '../show/words.js';

/** More than this is shown as text. */
const TREE_BYTES = 5e6;
const MOST_HITS = 10_000;

registerPart(
  'json',
  partOf('json', 100e6, (scene) => {
    const { root, bytes, signal } = scene;
    if (bytes.byteLength > TREE_BYTES) {
      showText(root, bytes, signal, {
        coloured: false,
        note: `As text, for it is larger than ${size(TREE_BYTES)}.`,
      });
      return;
    }
    const text = decoded(bytes);
    try {
      JSON.parse(text);
    } catch (error) {
      showText(root, bytes, signal, {
        coloured: false,
        note: `As text, for it is no valid JSON: ${(error as SyntaxError).message}`,
      });
      return;
    }
    showTree(scene, text);
  }),
);

function showTree({ root, signal }: Scene, text: string): void {
  let chosen: { path: string; value: Value };
  const path = el('output', { class: 'part-path', 'aria-label': 'Path' });
  const said = el('span', { class: 'part-said', role: 'status' });
  const find = el('input', {
    type: 'search',
    class: 'part-find',
    placeholder: 'Find',
    'aria-label': 'Find in keys and values',
  });
  const tree = jsonTree(text, signal, (to, value) => {
    chosen = { path: to, value };
    path.textContent = to;
  });
  const copy = (what: string, of: () => string) =>
    button(`Copy ${what}`, signal, () => {
      void copyText(of()).then((done) => {
        said.textContent = done ? `${what} copied` : 'the browser does not let this page copy';
      });
    });
  let hits: number[] = [];
  let at = 0;
  let sought = '';

  function seek(step: 1 | -1): void {
    const words = find.value.toLowerCase();
    if (words !== sought) {
      sought = words;
      hits = words === '' ? [] : hitsIn(text, words);
      at = step === 1 ? 0 : hits.length - 1;
    } else at = (at + step + hits.length) % Math.max(1, hits.length);
    if (hits.length === 0) {
      said.textContent = words === '' ? '' : 'not found';
      return;
    }
    const isShown = tree.reveal(hits[at]!);
    const all = hits.length === MOST_HITS ? `the first ${count(MOST_HITS, 'hit')}` : String(hits.length);
    said.textContent = `${at + 1} of ${all}${isShown ? '' : ', nested too deeply to be shown'}`;
  }

  find.addEventListener(
    'keydown',
    (event) => {
      event.stopPropagation();
      if (event.key === 'Enter') seek(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') find.value = '';
    },
    { signal },
  );
  const scroll = scroller('JSON', signal);
  scroll.removeAttribute('tabindex');
  scroll.append(tree.element);
  root.append(
    el(
      'div',
      { class: 'part-bar' },
      find,
      said,
      button('Fold', signal, () => tree.fold()),
      copy('path', () => chosen.path),
      copy('value', () => {
        const { value } = chosen;
        return kindOf(text, value) === 'string' ? plain(text, value) : text.slice(value.start, value.end);
      }),
    ),
    scroll,
    el('div', { class: 'part-foot' }, path),
  );
}

/** Where the values begin whose key or own text has `words`, which are in lower case. */
function hitsIn(text: string, words: string): number[] {
  const hits: number[] = [];
  walk(text, { key: null, start: 0, end: text.length }, (value) => {
    const kind = kindOf(text, value);
    const isLeaf = kind !== 'object' && kind !== 'array';
    const key = typeof value.key === 'string' ? keyText(value.key).toLowerCase() : '';
    if (key.includes(words) || (isLeaf && plain(text, value).toLowerCase().includes(words)))
      hits.push(value.start);
    return hits.length < MOST_HITS;
  });
  return hits.sort((a, b) => a - b);
}
