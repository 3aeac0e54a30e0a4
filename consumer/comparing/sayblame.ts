// How `previews blame` and `previews bisect` say what they found to people.
import { painter, say } from '../../src/cli.js';
import type { Rect } from '../../src/compare/boxes.js';
import { cutText, neutralise } from '../../src/text.js';
import type { BisectResult, Blamed, BlameResult } from './blame.js';
import type { PassedOver } from './pictures.js';
import type { ToldStep } from './step.js';

export function sayBlame(result: BlameResult): void {
  const { step, picture_of, region, changed_by, earlier, more, passed_over } = result;
  const paint = painter();
  if (picture_of !== step) say(paint('dim', `${step} shows nothing; the picture of ${picture_of} is taken`));
  sayStep(changed_by);
  if (changed_by.kind === 'first')
    say(
      `  ${rect(region)} is as it was in the first picture${result.recipe ? ` of ${neutralise(result.recipe)}` : ''}`,
    );
  else sayChange(changed_by, region);
  for (const [at, change] of earlier.entries())
    say(
      `  ${at === 0 ? 'earlier' : '       '}  ${rowOf(change)}${paint('dim', change.kind === 'changed' ? '' : `  ${KINDS[change.kind]}`)}`,
    );
  if (more) say(paint('dim', '           and more: --all'));
  sayExact(result.exact, result.tile, result.looked_at);
  sayOver(passed_over);
}

const KINDS = { changed: 'changed', resized: 'another size', first: 'the first picture' } as const;

function sayChange({ kind, before, between, unread }: Partial<Blamed>, region: Rect | undefined): void {
  const paint = painter();
  if (kind === 'resized') say(`  changed  its size, ${before} had another; so every place counts as changed`);
  else say(`  changed  ${region ? `${rect(region)}, ` : ''}from ${before}`);
  if (between)
    say(
      paint(
        'yellow',
        `           ${steps(between)} between the two ${between === 1 ? 'has' : 'have'} nothing to compare; it may have come with ${between === 1 ? 'that' : 'one of them'}`,
      ),
    );
  if (unread !== undefined) say(paint('yellow', `           exact to tiles only: ${neutralise(unread)}`));
}

export function sayBisect(result: BisectResult): void {
  const { good, bad, first, changes, differs, fact, region } = result;
  const paint = painter();
  const what = fact === undefined ? rect(region!) : neutralise(fact);
  if (first === null) say(`${what} did not change from ${good} to ${bad}`);
  else {
    sayStep(first);
    sayChange(first, region);
    if (fact !== undefined) say(`  fact     ${neutralise(fact)}  ${value(first.from)} → ${value(first.to)}`);
    if (changes > 1)
      say(
        `  then     changed again at ${steps(changes - 1)}${differs ? '' : `, and at ${bad} it is as it was at ${good}`}`,
      );
  }
  if (result.looked_at) sayExact(result.exact!, result.tile!, result.looked_at);
  else say(paint('dim', '  exact to steps that have this fact'));
  sayOver(result.passed_over);
}

function sayStep(step: ToldStep): void {
  const paint = painter();
  say(
    `${paint('bold', neutralise(step.step_id))}  ${neutralise(cutText(step.command ?? '(no command)', 400))}`,
  );
  if (step.published_at)
    say(`  at       ${neutralise(step.published_at.slice(0, 19).replace('T', ' '))} UTC`);
  say(
    step.picture ? `  picture  ${neutralise(step.picture)}` : paint('dim', '  picture  none, or it is gone'),
  );
}

const rowOf = ({ step_id, published_at, command }: ToldStep): string =>
  `${neutralise(step_id)}  ${neutralise(published_at?.slice(0, 19).replace('T', ' ') ?? '–')}  ${neutralise(cutText(command ?? '(no command)', 80))}`;

function sayExact(exact: 'tile' | 'pixel', tile: number, looked: Rect): void {
  const paint = painter();
  say(
    paint(
      'dim',
      exact === 'pixel'
        ? '  exact to the pixel'
        : `  exact to tiles of ${tile} px: ${rect(looked)} was looked at; --pixels looks at no more than was asked for`,
    ),
  );
}

const WORDS: Record<keyof PassedOver, string> = {
  failed: 'failed',
  nothing: 'with nothing to compare',
  lost: 'lost',
  diff: 'a comparison',
  other_recipe: 'of another recipe',
};

function sayOver(over: PassedOver): void {
  const parts = Object.entries(over).flatMap(([why, count]) =>
    count > 0 ? [`${count} ${WORDS[why as keyof PassedOver]}`] : [],
  );
  if (parts.length > 0) say(painter()('dim', `  steps passed over: ${parts.join(', ')}`));
}

const rect = ({ x, y, width, height }: Rect): string =>
  width === 1 && height === 1 ? `the pixel ${x}, ${y}` : `${width} × ${height} px at ${x}, ${y}`;
const steps = (count: number): string => `${count} ${count === 1 ? 'step' : 'steps'}`;
const value = (fact: unknown): string =>
  neutralise(cutText(typeof fact === 'string' ? fact : JSON.stringify(fact ?? null), 80));
