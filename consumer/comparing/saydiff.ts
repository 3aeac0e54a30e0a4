// How `previews diff` says what differs to people.
import { basename } from 'node:path';
import { painter, say } from '../../src/cli.js';
import { isChanged } from '../../src/compare/facts.js';
import { counted, percent } from '../../src/compare/percent.js';
import { cutText, neutralise } from '../../src/text.js';
import type { DiffResult, Limit } from './diff.js';

/** Boxes, facts and files that are listed; the rest is counted. */
const LISTED = 10;

export function sayDiff(result: DiffResult, limit: Limit | undefined): void {
  const { before, after, files, warnings, over, link } = result;
  const paint = painter();
  say(paint('bold', `${neutralise(before.name)} → ${neutralise(after.name)}`));
  sayPixels(result);
  sayFacts(result);
  for (const [kind, names] of Object.entries(files) as [string, string[]][])
    if (names.length > 0)
      say(`  ${kind.padEnd(7)}  ${names.slice(0, LISTED).map(shown).join(', ')}${rest(names.length)}`);
  for (const warning of warnings) say(paint('yellow', `  warning: ${neutralise(warning)}`));
  for (const { picture } of [before, after]) if (picture) say(`  picture  ${neutralise(picture)}`);
  if (link !== null)
    say(
      paint(
        'dim',
        `  look     \`previews watch\` or \`previews html\` of ${neutralise(basename(after.session_dir!))}, and behind its address ${neutralise(link)}`,
      ),
    );
  if (limit !== undefined)
    say(
      over
        ? paint(
            'red',
            `  over     more than ${limit.value}${limit.unit}${result.changed_pixels === null ? ', for it cannot be told' : ''}`,
          )
        : paint('green', `  within   ${limit.value}${limit.unit}`),
    );
}

function sayPixels({ changed_pixels, changed_ratio, boxes, exact }: DiffResult): void {
  const paint = painter();
  if (changed_pixels === null) return;
  if (changed_pixels === 0) {
    say('  pixels   not one changed');
    return;
  }
  const most = exact === 'tile' ? 'at most ' : '';
  const where = exact === 'tile' ? 'by tiles of the picture' : `in ${counted(boxes.length, 'region')}`;
  say(
    `  pixels   ${most}${paint('bold', counted(changed_pixels, 'pixel'))} changed, ${percent(changed_ratio ?? 0)}, ${where}`,
  );
  for (const { x, y, width, height, pixels } of boxes.slice(0, LISTED))
    say(
      `           ${width} × ${height} at ${x}, ${y}${exact === 'tile' ? '' : paint('dim', `  ${counted(pixels, 'pixel')}`)}`,
    );
  if (boxes.length > LISTED) say(`           and ${boxes.length - LISTED} more`);
}

function sayFacts({ facts }: DiffResult): void {
  const paint = painter();
  const altered = facts.filter(isChanged);
  const wide = Math.max(0, ...altered.slice(0, LISTED).map(({ name }) => shown(name).length));
  for (const [at, { name, before, after }] of altered.slice(0, LISTED).entries())
    say(
      `  ${at === 0 ? 'facts  ' : '       '}  ${shown(name).padEnd(wide)}  ${shown(before)} → ${shown(after)}`,
    );
  if (altered.length > LISTED) say(`           and ${altered.length - LISTED} more`);
  if (facts.length > altered.length)
    say(paint('dim', `  facts    ${facts.length - altered.length} unchanged`));
}

const rest = (count: number): string => (count > LISTED ? ` and ${count - LISTED} more` : '');

/** A value in a few letters; what was not there is a dash. */
const shown = (value: unknown): string =>
  value === null ? '–' : neutralise(cutText(typeof value === 'string' ? value : JSON.stringify(value), 60));
