// A frame as lines of text. All that was recorded is neutralised here (I9); the terminal wraps what is long, so that a
// command can be copied whole.
import { painter } from '../../src/cli.js';
import type { FactChange } from '../../src/compare/facts.js';
import { cutText, neutralise } from '../../src/text.js';
import { outcomeOf } from '../outcome.js';
import type { Frame } from './frame.js';

/** Characters of a fact's value, of a line that was printed, or of a warning. */
const LONG = 300;
/** Facts and warnings of one step. */
const MANY = 20;
const DEFAULT_COLUMNS = 80;

export interface BlockOptions {
  /** How many steps there are. */
  count: number;
  columns?: number | undefined;
  /** How long the replay waits before it; null where it does not. */
  wait_ms: number | null;
}

/** What is known of a step, as lines without their ends. The picture is not among them. */
export function blockOf(frame: Frame, options: BlockOptions): string[] {
  const paint = painter();
  const { step, warnings, output, problems } = frame;
  const { style, text } = outcomeOf(step);
  const about = [
    step.duration_ms === null ? null : `took ${span(step.duration_ms)}`,
    step.recipe && `recipe ${step.recipe}`,
    step.cached ? 'reused' : null,
    step.reason === 'mutation' ? null : step.reason,
  ].filter((word): word is string => Boolean(word));
  const outcome = paint(style, safe(text));
  return [
    paint('dim', rule(frame, options)),
    paint('bold', `$ ${safe(step.command ?? '(no command was told)')}`),
    about.length > 0 ? `${outcome}  ${paint('dim', safe(about.join(', ')))}` : outcome,
    ...[step.label, step.note && `note: ${step.note}`, step.headline]
      .filter((text): text is string => Boolean(text))
      .map((text) => `  ${safe(text)}`),
    ...few(frame.facts, (fact) => `  ${factLine(fact)}`, 'facts'),
    ...few(warnings, (warning) => paint('yellow', `  warning: ${safe(warning)}`), 'warnings'),
    ...output.map((line) => paint('dim', `  │ ${safe(line)}`)),
    ...few(
      problems,
      ({ kind, where, detail }) => paint('red', `  problem: ${safe(`${kind} ${where}: ${detail}`)}`),
      'problems',
    ),
  ];
}

const safe = (text: string): string => neutralise(cutText(text, LONG, (each) => each.length));

/** `── 3/11  step-0003  2026-05-31 10:45:00  +3 m 20 s ──…`, one line of the terminal where it fits. */
function rule({ step, gap_ms }: Frame, { count, columns = DEFAULT_COLUMNS, wait_ms }: BlockOptions): string {
  const at = step.published_at?.slice(0, 19).replace('T', ' ') ?? '';
  const idle = wait_ms !== null && gap_ms !== null && wait_ms < gap_ms ? `, here ${span(wait_ms)}` : '';
  const gap = gap_ms === null ? '' : `+${span(gap_ms)}${idle}`;
  const text = `── ${[`${step.index}/${count}`, safe(step.step_id), safe(at), gap].filter(Boolean).join('  ')} `;
  return text.padEnd(Math.max(0, columns - 1), '─');
}

function factLine({ name, before, after }: FactChange): string {
  const value = (of: unknown) => safe(typeof of === 'string' ? of : JSON.stringify(of));
  if (before === null) return `${safe(name)}: ${value(after)}`;
  return `${safe(name)}: ${value(before)} → ${after === null ? 'gone' : value(after)}`;
}

function few<T>(all: readonly T[], line: (each: T) => string, what: string): string[] {
  const more = all.length - MANY;
  return [...all.slice(0, MANY).map(line), ...(more > 0 ? [`  … ${more} more ${what}`] : [])];
}

/** A time in words: `28 ms`, `1.4 s`, `12 s`, `3 m 20 s`, `2 h 5 m`, `4 d 3 h`. */
export function span(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(1))} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} m`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}
