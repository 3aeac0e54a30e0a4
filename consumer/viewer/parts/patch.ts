// A patch, file by file.
import { registerPart } from '../parts.js';
import { button, el, scroller, toggle } from '../show/dom.js';
import { decoded, partOf, type Scene } from '../show/part.js';
import { type PatchFile, patchFiles } from '../show/patchfiles.js';
import { patchTable } from '../show/patchtable.js';
import { showText } from '../show/textview.js';
import { appendVisible } from '../show/visible.js';
import { count, size } from '../show/words.js';

/** So much of a patch is read; what lies behind is left out, in words. */
const READ_BYTES = 10e6;
/** Files are open from the start until so many lines are. */
const OPEN_LINES = 3000;
/** Files that are listed. */
const MOST_FILES = 2000;
/** Narrower, two sides do not fit beside each other. */
const WIDE = 760;

registerPart(
  'patch',
  partOf('patch', 100e6, (scene) => {
    const { bytes, root, signal } = scene;
    const text = decoded(bytes, 0, Math.min(bytes.byteLength, READ_BYTES));
    const isCut = bytes.byteLength > READ_BYTES;
    let files: PatchFile[];
    try {
      files = patchFiles(isCut ? wholeFiles(text) : text);
    } catch (error) {
      showText(root, bytes, signal, {
        coloured: false,
        note: `As text, for it is no patch that can be read: ${(error as Error).message.slice(0, 200)}`,
      });
      return;
    }
    if (files.length === 0)
      showText(root, bytes, signal, {
        coloured: false,
        note: bytes.byteLength === 0 ? 'Nothing changed.' : 'As text, for it has no files.',
      });
    else
      showFiles(
        scene,
        files,
        isCut ? `What follows the first ${size(READ_BYTES)} of ${size(bytes.byteLength)} is left out.` : '',
      );
  }),
);

/** Without the last file, which is cut. */
function wholeFiles(text: string): string {
  const last = text.lastIndexOf('\ndiff ');
  return last > 0 ? text.slice(0, last + 1) : text;
}

function showFiles({ root, signal }: Scene, files: PatchFile[], leftOut: string): void {
  const scroll = scroller('Changed files', signal);
  let isBeside = false;
  const shown = files.slice(0, MOST_FILES).map((file) => fileOf(file, signal, () => isBeside));
  const beside = toggle('Side by side', false, signal, (on) => {
    isBeside = on;
    for (const { redraw } of shown) redraw();
  });
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const notes = [
    leftOut,
    files.length > MOST_FILES ? `${count(MOST_FILES, 'file')} of them are listed.` : '',
  ];
  root.append(
    el(
      'div',
      { class: 'part-bar' },
      el('span', { class: 'part-said' }, count(files.length, 'file')),
      ...counts(added, removed),
      ...notes.filter(Boolean).map((note) => el('span', { class: 'part-note' }, note)),
      button('Previous', signal, () => step(-1)),
      button('Next', signal, () => step(1)),
      beside,
    ),
    scroll,
  );
  scroll.append(...shown.map(({ element }) => element));
  let lines = 0;
  for (const [at, { element }] of shown.entries()) {
    lines += files[at]!.lines.length;
    if (lines > OPEN_LINES && at > 0) break;
    element.open = true;
  }

  /** Goes to another file; from the outside, to the first. */
  function step(by: 1 | -1): void {
    const at = shown.findIndex(({ element }) => element.contains(document.activeElement));
    const to = shown[Math.min(shown.length - 1, Math.max(0, at === -1 ? current() + by : at + by))]!;
    to.element.scrollIntoView({ block: 'start' });
    to.summary.focus({ preventScroll: true });
  }

  /** The file at the top of what is in sight; the one before the first, where nothing is scrolled. */
  function current(): number {
    const top = scroll.getBoundingClientRect().top;
    return scroll.scrollTop === 0
      ? -1
      : shown.findIndex(({ element }) => element.getBoundingClientRect().bottom > top + 1);
  }

  root.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key !== 'n' && event.key !== 'p') return;
      event.stopPropagation();
      event.preventDefault();
      step(event.key === 'n' ? 1 : -1);
    },
    { signal },
  );
  const watcher = new ResizeObserver(() => {
    const isWide = root.clientWidth >= WIDE;
    beside.hidden = !isWide;
    if (!isWide && isBeside) beside.click();
  });
  watcher.observe(root);
  signal.addEventListener('abort', () => watcher.disconnect(), { once: true });
}

const counts = (added: number, removed: number) => [
  el('span', { class: 'patch-added', title: `${added} added` }, `+${added}`),
  el('span', { class: 'patch-removed', title: `${removed} removed` }, `−${removed}`),
];

/** A file that can be opened; its lines are drawn only then. */
function fileOf(file: PatchFile, signal: AbortSignal, isBeside: () => boolean) {
  const name = el('bdi', { class: 'patch-name' });
  if (file.from !== null) {
    appendVisible(name, file.from);
    name.append(el('span', { class: 'ctl' }, ' → '));
  }
  appendVisible(name, file.name);
  const summary = el(
    'summary',
    {},
    name,
    ...file.marks.map((mark) => el('span', { class: 'part-mark' }, mark)),
  );
  if (file.lines.length > 0) summary.append(...counts(file.added, file.removed));
  const body = el('div', { class: 'patch-body' });
  const element = el('details', { class: 'patch-file' }, summary, body);
  const redraw = () => {
    if (!element.open) body.replaceChildren();
    else if (file.lines.length > 0) patchTable(body, file, isBeside(), signal);
    else body.replaceChildren(el('p', { class: 'part-note' }, without(file)));
  };
  element.addEventListener('toggle', redraw, { signal });
  return { element, summary, redraw };
}

function without({ marks }: PatchFile): string {
  if (marks.includes('binary')) return 'A binary file: what changed in it is not text.';
  return marks.includes('renamed') ? 'Its content is the same.' : 'It has no lines that changed.';
}
