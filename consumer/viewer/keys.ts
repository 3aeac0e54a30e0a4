// Every key of the page, in one table: what help prints, and what is done.
import type { State } from './state.js';
import { TABS } from './state.js';
import type { Theme } from './theme.js';

export interface Key {
  keys: readonly string[];
  /** As help prints them. */
  shown: string;
  does: string;
  act(state: State, theme: Theme): void;
}

const step = (direction: 1 | -1) => (state: State) => state.select(state.neighbour(direction));
const byTab = (by: number) => (state: State) => {
  const at = TABS.indexOf(state.tab.value);
  state.tab.value = TABS[(at + by + TABS.length) % TABS.length]!;
};

export const KEYS: readonly Key[] = [
  {
    keys: ['ArrowRight', 'k'],
    shown: '→ k',
    does: 'next step; among the hits while searching',
    act: step(1),
  },
  { keys: ['ArrowLeft', 'j'], shown: '← j', does: 'step before', act: step(-1) },
  { keys: ['Home'], shown: 'Home', does: 'first step', act: (state) => state.select(state.first.value) },
  { keys: ['End', 'f'], shown: 'End f', does: 'newest step, and follow', act: (state) => state.follow() },
  {
    keys: [' '],
    shown: 'Space',
    does: 'play the steps, or stop',
    act: (state) => {
      if (!state.playing.value && state.selected.value === state.total.value) state.select(state.first.value);
      state.playing.value = !state.playing.value;
    },
  },
  {
    keys: ['/'],
    shown: '/',
    does: 'search',
    act: () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  },
  {
    keys: ['c'],
    shown: 'c',
    does: 'compare with another step, or back',
    act: (state) => {
      state.tab.value = state.tab.value === 'compare' ? 'preview' : 'compare';
    },
  },
  {
    keys: ['b'],
    shown: 'b',
    does: 'who changed this? then click a place of the picture, or drag a box; Escape ends it',
    act: (state) => {
      if (state.tab.value !== 'compare') state.tab.value = 'preview';
      state.blaming.value = !state.blaming.value;
    },
  },
  { keys: [']'], shown: ']', does: 'next tab', act: byTab(1) },
  { keys: ['['], shown: '[', does: 'tab before', act: byTab(-1) },
  { keys: ['t'], shown: 't', does: 'dark or light', act: (_, theme) => theme.toggle() },
  {
    keys: ['y'],
    shown: 'y',
    does: 'copy a link to what is shown',
    act: (state) => copy(new URL(state.linkOf(), location.href).href, state, 'link copied'),
  },
  {
    keys: ['?'],
    shown: '?',
    does: 'this help',
    act: (state) => {
      state.panel.value = state.panel.value === 'help' ? null : 'help';
    },
  },
];

/** Keys that the picture itself takes; listed in help. */
export const PICTURE_KEYS: readonly (readonly [string, string])[] = [
  ['+ −', 'zoom'],
  ['0', 'fit the picture'],
  ['1', 'picture at 100%'],
  ['Shift ← ↑ → ↓', 'move the picture'],
  ['1 – 5', 'while comparing: side by side, swipe, onion skin, difference, blink'],
  ['n p', 'while comparing: next changed region, the one before'],
];

/** Copies a text, where that is allowed, and says so. */
export function copy(text: string, state: State, words: string): void {
  const done = () => {
    state.said.value = words;
  };
  const old = () => {
    // Without a secure context there is no clipboard to write to but this way.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    done();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, old);
  else old();
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement;

/** Listens for all of them. A key that something inside has taken is left to it. */
export function listenForKeys(state: State, theme: Theme): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      state.panel.value = null;
      state.blaming.value = false;
      if (!isTyping(event.target)) return;
      const field = event.target as HTMLInputElement;
      // Left to itself the browser empties the field without a word, and what was typed is searched all the same.
      if (field.id === 'search') {
        event.preventDefault();
        state.search({ ...state.query.value, words: '' });
      }
      field.blur();
      return;
    }
    if (isTyping(event.target) || state.panel.value === 'sessions' || state.panel.value === 'filters') return;
    const target = event.target as HTMLElement;
    // A focused button is pressed by the space bar, a focused list or slider has arrows of its own.
    if (event.key === ' ' && target.closest('button, a, summary, video, audio')) return;
    if (event.key.startsWith('Arrow') && target.closest('video, audio, [data-arrows]')) return;
    if (event.shiftKey && event.key.startsWith('Arrow')) return;
    const key = KEYS.find(({ keys }) => keys.includes(event.key));
    if (!key) return;
    event.preventDefault();
    key.act(state, theme);
  });
}
