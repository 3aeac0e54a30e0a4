// How `preview diff` says what differs: JSON, or a few lines and a small table.
import { painter, printJson, say } from '../src/cli.js';
import { isChanged } from '../src/compare/facts.js';
import { counted, percent } from '../src/compare/percent.js';
import { cutText, neutralise } from '../src/text.js';
import type { DiffResult } from './diff.js';
import { reportCapture } from './report.js';

/** Boxes, facts and files that are listed; the rest is counted, and all are in diff.json. */
const LISTED = 10;

/** Prints the result and returns the exit code: what differs is no failure. */
export function reportDiff(result: DiffResult, json: boolean): number {
  if (json) {
    printJson(result);
    return 0;
  }
  const { changed_pixels, changed_ratio, boxes, facts, files } = result;
  const code = reportCapture(result, false);
  const paint = painter();
  if (changed_pixels === 0) say('  pixels   not one changed');
  else if (changed_pixels !== null) {
    const share = percent(changed_ratio ?? 0);
    say(
      `  pixels   ${paint('bold', counted(changed_pixels, 'pixel'))} changed, ${share}, in ${counted(boxes.length, 'region')}`,
    );
    listed(boxes, ({ x, y, width, height, pixels }) =>
      say(`           ${width} × ${height} at ${x}, ${y}${paint('dim', `  ${counted(pixels, 'pixel')}`)}`),
    );
  }
  const altered = facts.filter(isChanged);
  const wide = Math.max(0, ...altered.slice(0, LISTED).map(({ name }) => shown(name).length));
  for (const [at, { name, before, after }] of altered.slice(0, LISTED).entries())
    say(
      `  ${at === 0 ? 'facts  ' : '       '}  ${shown(name).padEnd(wide)}  ${shown(before)} → ${shown(after)}`,
    );
  left(altered.length);
  if (facts.length > altered.length)
    say(paint('dim', `  facts    ${facts.length - altered.length} unchanged`));
  for (const [kind, all] of Object.entries(files) as [string, string[]][]) {
    // Of the picture more was said above.
    const names = changed_pixels === null ? all : all.filter((name) => !name.startsWith('render.'));
    if (names.length === 0) continue;
    say(`  ${kind.padEnd(7)}  ${names.slice(0, LISTED).map(shown).join(', ')}`);
    left(names.length);
  }
  return code;
}

function listed<T>(all: readonly T[], each: (one: T) => void): void {
  for (const one of all.slice(0, LISTED)) each(one);
  left(all.length);
}

function left(count: number): void {
  if (count > LISTED) say(`           and ${count - LISTED} more, in diff.json`);
}

/** A value in a few letters; what was not there is a dash. */
const shown = (value: unknown): string =>
  value === null ? '–' : neutralise(cutText(typeof value === 'string' ? value : JSON.stringify(value), 60));
