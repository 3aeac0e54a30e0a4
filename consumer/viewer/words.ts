// How the page says things: times, numbers, sizes, outcomes; and untrusted text made harmless to read.
import type { ShownStep } from '../../src/stream.js';
import { visible as signed } from './show/visible.js';

/** Text with signs for what cannot be seen; line breaks stay where `lines` is set. */
export const visible = (text: string, lines = false): string =>
  lines ? text.split('\n').map(signed).join('\n') : signed(text);

export const number4 = (index: number): string => String(index).padStart(4, '0');

const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const valid = (at: string | null) => (at === null || Number.isNaN(Date.parse(at)) ? null : new Date(at));
export const clock = (at: string | null): string => {
  const date = valid(at);
  return date ? TIME.format(date) : '–';
};
export const moment = (at: string | null): string => {
  const date = valid(at);
  return date ? FULL.format(date) : '–';
};

/** `420 ms`, `2.1 s`, `4 min`, `3 h 12 min`, `5 days`. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / 1440)} days`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const unit = count < 1e6 ? 'kB' : count < 1e9 ? 'MB' : 'GB';
  const value = count / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

/** A share of 0 to 1 as a percentage that never rounds a change away. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return '<0.1%';
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}%`;
}

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

/** How a step ended, in a word: null where it is nothing to speak of. */
export function outcome(step: ShownStep): { word: string; tone: 'bad' | 'warn' } | null {
  if (step.lost) return { word: 'lost', tone: 'bad' };
  if (step.signal) return { word: `killed, ${visible(step.signal)}`, tone: 'bad' };
  if (step.exit_code) return { word: `exit ${step.exit_code}`, tone: 'bad' };
  if (step.status === 'error') return { word: 'no picture', tone: 'bad' };
  if (step.status === 'partial') return { word: 'partial', tone: 'warn' };
  return null;
}

/** What a step is called: its command, or what else is known of it. */
export const titleOf = (step: ShownStep): string =>
  visible(
    step.command ?? step.label ?? step.headline ?? (step.lost ? 'nothing of this step is left' : step.reason),
  );

/** A fact's value as text. */
export const factText = (value: unknown): string =>
  typeof value === 'number'
    ? value.toLocaleString('en-US', { maximumFractionDigits: 6 })
    : visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'));

/** How a number changed: `+3`, `−0.5`, `0`; for anything else the value before, or null where it is the same. */
export function factChange(before: unknown, after: unknown): { text: string; changed: boolean } | null {
  if (before === undefined) return { text: 'new', changed: true };
  if (typeof before === 'number' && typeof after === 'number') {
    const change = after - before;
    const text = Math.abs(change).toLocaleString('en-US', { maximumSignificantDigits: 6 });
    return { text: change === 0 ? '0' : `${change < 0 ? '−' : '+'}${text}`, changed: change !== 0 };
  }
  return JSON.stringify(before) === JSON.stringify(after)
    ? null
    : { text: `was ${factText(before)}`, changed: true };
}
