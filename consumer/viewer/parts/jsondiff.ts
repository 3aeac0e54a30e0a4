// Two JSON documents compared: a tree of what differs, and nothing else.
import { registerPart } from '../parts.js';
import { el, scroller } from '../show/dom.js';
import { type Difference, type JsonDiff, jsonDiff } from '../show/jsondiff.js';
import { decoded, type PairScene, pairOf } from '../show/part.js';
import { appendVisible } from '../show/visible.js';
import { count } from '../show/words.js';

const MOST_BYTES = 5e6;
/** Differences that are shown. */
const MOST = 2000;
/** A value is cut there. */
const VALUE = 300;

registerPart('jsondiff', pairOf('jsondiff', MOST_BYTES, show));

function show({ root, before, after, signal }: PairScene): void {
  const [old, now] = [valid(decoded(before), 'before'), valid(decoded(after), 'after')];
  const found = jsonDiff(old, now, MOST);
  if (found.root === null) {
    root.append(
      el(
        'p',
        { class: 'part-same' },
        'No value differs.',
        old === now ? '' : ' They are written differently.',
      ),
    );
    return;
  }
  const scroll = scroller('Values that differ', signal);
  scroll.append(el('ul', { class: 'json-diff' }, itemOf(found.root)));
  root.append(
    el('div', { class: 'part-bar' }, el('span', { class: 'part-said', role: 'status' }, said(found))),
    scroll,
  );
}

function valid(text: string, which: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new Error(`The one ${which} is no valid JSON: ${(error as SyntaxError).message}`);
  }
}

function said({ count: { added, removed, changed }, more }: JsonDiff): string {
  const words = `${count(changed, 'value')} changed, ${added} added, ${removed} removed`;
  return more ? `the first ${count(MOST, 'difference')}: ${words}; the others are left out` : words;
}

/** A difference in its place; a chain of containers that hold one difference each is one line. */
function itemOf(difference: Difference): HTMLLIElement {
  const keys: Difference['key'][] = [];
  let at = difference;
  for (; at.kind === 'within' && at.within.length === 1; at = at.within[0]!) keys.push(at.key);
  keys.push(at.key);
  const name = el('span', { class: 'json-diff-key' });
  appendVisible(name, pathOf(keys));
  name.append(' ');
  if (at.kind === 'within')
    return el(
      'li',
      {},
      el(
        'details',
        { open: true },
        el(
          'summary',
          { class: 'json-diff-fold' },
          name,
          el('span', { class: 'ctl' }, ` ${at.within.length}`),
        ),
        el('ul', {}, ...at.within.map(itemOf)),
      ),
    );
  const item = el('li', { class: at.kind }, name);
  if (at.before !== null) item.append(textOf('del', at.before));
  if (at.kind === 'changed') item.append(el('span', { class: 'ctl' }, ' → '));
  if (at.after !== null) item.append(textOf('ins', at.after));
  return item;
}

function pathOf(keys: readonly Difference['key'][]): string {
  const path = keys
    .filter((key) => key !== null)
    .map((key) =>
      typeof key === 'number' ? `[${key}]` : /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
    )
    .join('');
  return path === '' ? '$' : path.replace(/^\./, '');
}

function textOf(tag: 'del' | 'ins', text: string): HTMLElement {
  const value = el(tag);
  const line = text.replace(/\s*\n\s*/g, ' ');
  appendVisible(value, line.slice(0, VALUE));
  if (line.length > VALUE)
    value.append(el('span', { class: 'ctl' }, ` … ${count(line.length - VALUE, 'more character')}`));
  return value;
}
