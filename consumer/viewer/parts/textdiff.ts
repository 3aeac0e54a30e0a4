// Two texts compared line by line: unified, or beside each other.
import { structuredPatch } from 'diff';
import { registerPart } from '../parts.js';
import { button, el, scroller, toggle } from '../show/dom.js';
import { decoded, type PairScene, pairOf } from '../show/part.js';
import { linesOf, type PatchFile } from '../show/patchfiles.js';
import { patchTable } from '../show/patchtable.js';
import { count, size } from '../show/words.js';

/** Larger texts are offered as downloads: what differs in them would not be read either. */
const MOST_BYTES = 5e6;
/** Texts that have little in common take long to compare; so long is tried. */
const MOST_MS = 8000;
/** Lines around what differs. */
const AROUND = 3;
/** Narrower, two sides do not fit beside each other. */
const WIDE = 760;

registerPart('textdiff', pairOf('textdiff', MOST_BYTES, show));

async function show({ root, before, after, input, signal }: PairScene): Promise<void> {
  const [old, now] = [decoded(before), decoded(after)];
  if (old === now) {
    root.append(el('p', { class: 'part-same' }, 'The texts are the same.'));
    return;
  }
  let file = fileOf(input.after.path, await hunksOf(old, now, AROUND));
  const scroll = scroller('Lines that differ', signal);
  let isBeside = false;
  const draw = () => patchTable(scroll, file, isBeside, signal);
  const beside = toggle('Side by side', false, signal, (on) => {
    isBeside = on;
    draw();
  });
  const all = toggle('All lines', false, signal, (on) => {
    void hunksOf(old, now, on ? Number.MAX_SAFE_INTEGER : AROUND).then((hunks) => {
      if (signal.aborted) return;
      file = fileOf(file.name, hunks);
      draw();
    });
  });
  const go = (by: 1 | -1) => {
    const changes = [...scroll.querySelectorAll<HTMLElement>('tr')].filter(
      (row) => isChange(row) && !isChange(row.previousElementSibling),
    );
    const top = scroll.getBoundingClientRect().top + 40;
    const below = changes.findIndex((row) => row.getBoundingClientRect().top > top + 1);
    const next =
      by === 1 ? (below < 0 ? changes.length - 1 : below) : (below < 0 ? changes.length : below) - 2;
    const row = changes[Math.max(0, next)];
    if (row) scroll.scrollTop += row.getBoundingClientRect().top - top;
  };
  root.append(
    el(
      'div',
      { class: 'part-bar' },
      el('span', { class: 'patch-added' }, `+${file.added}`),
      el('span', { class: 'patch-removed' }, `−${file.removed}`),
      el('span', { class: 'part-said' }, said(file, before.byteLength, after.byteLength)),
      button('Previous', signal, () => go(-1)),
      button('Next', signal, () => go(1)),
      all,
      beside,
    ),
    scroll,
  );
  root.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (event.key !== 'n' && event.key !== 'p')) return;
      event.preventDefault();
      event.stopPropagation();
      go(event.key === 'n' ? 1 : -1);
    },
    { signal },
  );
  const watcher = new ResizeObserver(() => {
    beside.hidden = root.clientWidth < WIDE;
    if (beside.hidden && isBeside) beside.click();
  });
  watcher.observe(root);
  signal.addEventListener('abort', () => watcher.disconnect(), { once: true });
}

const isChange = (row: Element | null): boolean =>
  row?.querySelector('.patch-text.added, .patch-text.removed') != null;

const said = ({ added, removed }: PatchFile, old: number, now: number): string =>
  `${count(added, 'line')} added, ${removed} removed${old === now ? '' : `; ${size(old)} → ${size(now)}`}`;

function fileOf(name: string, hunks: Awaited<ReturnType<typeof hunksOf>>): PatchFile {
  const lines = hunks.flatMap(linesOf);
  return {
    name,
    from: null,
    marks: [],
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
    lines,
  };
}

/** Found piece by piece, so that the page does not stand still. */
function hunksOf(old: string, now: string, context: number) {
  return new Promise<NonNullable<ReturnType<typeof structuredPatch>>['hunks']>((done, failed) => {
    structuredPatch('', '', old, now, '', '', {
      context,
      timeout: MOST_MS,
      callback: (patch) => {
        if (patch) done(patch.hunks);
        else failed(new Error('The texts have too little in common to be compared line by line.'));
      },
    });
  });
}
