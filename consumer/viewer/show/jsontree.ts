// A JSON document as a tree (the ARIA pattern of that name): rows are made when their parent is opened, many values lie
// in groups of a hundred, and one row at a time takes the focus.
import { el } from './dom.js';
import {
  children,
  countOf,
  hasInside,
  type Kind,
  keyText,
  kindOf,
  pathText,
  plain,
  type Value,
  whole,
} from './jsontext.js';
import { visible } from './visible.js';
import { count } from './words.js';

/** Values, or groups of them, under one parent. */
const GROUP = 100;
/** Characters of a text that a row shows at first. */
const SHORT = 300;
/** What is nested deeper is not opened by a search; browsers are slow with it. */
const DEEPEST = 200;
/** So many rows are opened at first. */
const FIRST_ROWS = 60;

interface Branch {
  item: HTMLLIElement;
  row: HTMLDivElement;
  /** A value, or some neighbours of a parent with many. */
  value: Value | null;
  range: Value[] | null;
  keys: (string | number)[];
  depth: number;
  parent: Branch | null;
  inside: Branch[] | null;
}

export interface Tree {
  element: HTMLElement;
  /** Opens the way to the value that begins at `offset`, and takes it as the selected one; false where it is too deep. */
  reveal(offset: number): boolean;
  /** Closes all but the first level. */
  fold(): void;
}

/** `onSelect` is told of the value that has the focus. */
export function jsonTree(
  text: string,
  signal: AbortSignal,
  onSelect: (path: string, value: Value) => void,
): Tree {
  const element = el('ul', { class: 'tree', role: 'tree', 'aria-label': 'JSON' });
  const nodes = new WeakMap<Element, Branch>();
  let selected: Branch;

  function nodeOf(value: Value | null, range: Value[] | null, parent: Branch | null): Branch {
    const keys = parent?.keys ?? [];
    const depth = (parent?.depth ?? 0) + 1;
    const row = el('div', { class: 'json-row' });
    const item = el('li', { role: 'treeitem', 'aria-level': depth, tabindex: -1 }, row);
    const own = value && value.key !== null ? [...keys, value.key] : keys;
    const node: Branch = { item, row, value, range, keys: own, depth, parent, inside: null };
    nodes.set(item, node);
    if (range) {
      const [first, last] = [range[0]!, range.at(-1)!].map(({ key }) => visible(keyText(key!)));
      row.append(el('span', { class: 'json-note' }, `${first} … ${last}`));
    } else drawRow(node);
    if (isContainer(node)) item.setAttribute('aria-expanded', 'false');
    return node;
  }

  /** Whether it can be opened: an empty object has nothing inside. */
  const isContainer = ({ value, range }: Branch) => range !== null || hasInside(text, value!);

  function drawRow({ row, value }: Branch): void {
    const { key } = value!;
    if (key !== null)
      row.append(
        el('span', { class: typeof key === 'number' ? 'json-index' : 'json-key' }, visible(keyText(key))),
        el('span', { class: 'json-note' }, ': '),
      );
    const kind = kindOf(text, value!);
    if (kind === 'object' || kind === 'array')
      row.append(el('span', { class: 'json-note' }, summary(kind, value!)));
    else drawLeaf(row, kind, value!);
  }

  function summary(kind: Kind, value: Value): string {
    const n = countOf(text, value);
    const [open, close] = kind === 'object' ? ['{', '}'] : ['[', ']'];
    return n === 0 ? `${open}${close}` : `${open} ${count(n, kind === 'object' ? 'key' : 'item')} ${close}`;
  }

  function drawLeaf(row: HTMLElement, kind: Kind, value: Value): void {
    // As JSON escapes it, but for letters that need no escape.
    const written = kind === 'string' ? JSON.stringify(plain(text, value)).slice(1, -1) : plain(text, value);
    const quote = kind === 'string' ? '"' : '';
    const shown = el('bdi', { class: `json-${kind}` }, `${quote}${visible(written.slice(0, SHORT))}`);
    row.append(shown);
    if (written.length <= SHORT) {
      shown.append(quote);
      return;
    }
    const more = el('button', { type: 'button', class: 'part-link', tabindex: -1 });
    more.append(`… ${count(written.length - SHORT, 'more character')}`);
    more.addEventListener(
      'click',
      () => {
        shown.textContent = `${quote}${visible(written)}${quote}`;
        more.remove();
      },
      { signal },
    );
    row.append(more);
  }

  function open(node: Branch): void {
    if (!isContainer(node)) return;
    node.item.setAttribute('aria-expanded', 'true');
    if (node.inside) return;
    const values = node.range ?? children(text, node.value!);
    const group = el('ul', { role: 'group' });
    // Groups of groups, so that no parent ever has more than a hundred rows.
    let step = 1;
    while (values.length > step * GROUP) step *= GROUP;
    node.inside =
      step === 1
        ? values.map((value) => nodeOf(value, null, node))
        : Array.from({ length: Math.ceil(values.length / step) }, (_, n) =>
            nodeOf(null, values.slice(n * step, (n + 1) * step), node),
          );
    group.append(...node.inside.map(({ item }) => item));
    node.item.append(group);
  }

  /** Takes the rows away again, and what they cost. */
  function close(node: Branch): void {
    if (!isContainer(node)) return;
    node.item.setAttribute('aria-expanded', 'false');
    node.item.querySelector(':scope > [role=group]')?.remove();
    node.inside = null;
  }

  const isOpen = (node: Branch) => node.inside !== null;

  function select(node: Branch, isFocused: boolean): void {
    selected.item.tabIndex = -1;
    selected.item.removeAttribute('aria-selected');
    selected = node;
    node.item.tabIndex = 0;
    node.item.setAttribute('aria-selected', 'true');
    if (isFocused) node.item.focus({ preventScroll: true });
    node.row.scrollIntoView({ block: 'nearest' });
    let of = node;
    while (!of.value) of = of.parent!;
    onSelect(pathText(of.keys), of.value);
  }

  function next(node: Branch): Branch | null {
    if (node.inside?.[0]) return node.inside[0];
    for (let at: Branch | null = node; at?.parent; at = at.parent) {
      const after = at.parent.inside![at.parent.inside!.indexOf(at) + 1];
      if (after) return after;
    }
    return null;
  }

  function before(node: Branch): Branch | null {
    if (!node.parent) return null;
    const index = node.parent.inside!.indexOf(node);
    if (index === 0) return node.parent;
    let at = node.parent.inside![index - 1]!;
    while (at.inside?.length) at = at.inside.at(-1)!;
    return at;
  }

  function last(): Branch {
    let at = root;
    while (at.inside?.length) at = at.inside.at(-1)!;
    return at;
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (node: Branch | null) => node && select(node, true);
    const act: Record<string, () => void> = {
      ArrowDown: () => go(next(selected)),
      ArrowUp: () => go(before(selected)),
      ArrowRight: () => (isOpen(selected) ? go(selected.inside![0] ?? null) : open(selected)),
      ArrowLeft: () => (isOpen(selected) ? close(selected) : go(selected.parent)),
      Enter: () => (isOpen(selected) ? close(selected) : open(selected)),
      ' ': () => (isOpen(selected) ? close(selected) : open(selected)),
      Home: () => go(root),
      End: () => go(last()),
    };
    const does = act[event.key];
    if (!does || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  }

  function onClick({ target }: Event): void {
    if (!(target instanceof Element) || target.closest('button')) return;
    const item = target.closest('.json-row')?.parentElement;
    const node = item && nodes.get(item);
    if (!node) return;
    select(node, true);
    // A click that ends a selection of text is none.
    if (document.getSelection()?.isCollapsed === false) return;
    if (isOpen(node)) close(node);
    else open(node);
  }

  function reveal(offset: number): boolean {
    let node = root;
    const lies = ({ value, range }: Branch) =>
      (value ?? range![0]!).start <= offset && offset < (value ?? range!.at(-1)!).end;
    while (node.value?.start !== offset) {
      open(node);
      const inner = node.inside?.find(lies);
      if (!inner || inner.depth > DEEPEST) return false;
      node = inner;
    }
    select(node, false);
    return true;
  }

  const root = nodeOf(whole(text), null, null);
  selected = root;
  element.append(root.item);
  element.addEventListener('keydown', onKey, { signal });
  element.addEventListener('click', onClick, { signal });
  openFirst();
  select(root, false);

  /** Opens from the outside in, while few rows come of it. */
  function openFirst(): void {
    open(root);
    let rows = root.inside?.length ?? 0;
    const waiting = [...(root.inside ?? [])];
    for (let node = waiting.shift(); node; node = waiting.shift()) {
      if (node.range || !isContainer(node)) continue;
      const inside = countOf(text, node.value!);
      if (rows + inside > FIRST_ROWS) continue;
      rows += inside;
      open(node);
      waiting.push(...(node.inside ?? []));
    }
  }

  return {
    element,
    reveal,
    fold() {
      for (const node of root.inside ?? []) close(node);
      select(root, false);
    },
  };
}
