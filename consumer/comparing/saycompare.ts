// How `previews compare` tells two sessions to people: where they part, a table of what differs, and the sums.
import { basename } from 'node:path';
import { painter, say } from '../../src/cli.js';
import { percent } from '../../src/compare/percent.js';
import { cutText, neutralise } from '../../src/text.js';
import type { CompareResult, ToldRow, Totals } from './compare.js';

/** Rows that are listed without `--all`, and facts of a row. */
const [ROWS, FACTS] = [40, 3];

export function sayCompare(result: CompareResult, all: boolean): void {
  const { a, b, pairs, only_a, only_b, differing, first_divergence, rows } = result;
  const paint = painter();
  const names = namesOf(a, b);
  const alone = [only_a && `${only_a} only in ${names[0]}`, only_b && `${only_b} only in ${names[1]}`].filter(
    Boolean,
  );
  say(
    `${paint('bold', `${names[0]} ↔ ${names[1]}`)}  ${[`${pairs} steps side by side`, ...alone].join(', ')}`,
  );
  if (first_divergence === null) say('  they do not part: no step differs');
  else {
    say(
      `  ${paint('bold', 'first divergence')}  ${idsOf(first_divergence)}  ${commandOf(first_divergence, 100)}`,
    );
    say(`                    ${wordsOf(first_divergence, names)}`);
  }
  if (rows.length > 0 && (all || differing > 1)) say('');
  const wide = Math.max(0, ...rows.map((row) => idsOf(row).length));
  const listed = all ? rows : rows.slice(0, ROWS);
  if (all || differing > 1)
    for (const row of listed)
      say(
        `  ${idsOf(row).padEnd(wide)}  ${commandOf(row, 48).padEnd(48)}  ${row.differs.length === 0 ? paint('dim', 'the same') : wordsOf(row, names)}`,
      );
  if (listed.length < rows.length) say(paint('dim', `  and ${rows.length - listed.length} more: --all`));
  sayTotals(a, b);
}

/** The folders' names, with the project's where they are alike. */
function namesOf(a: Totals, b: Totals): [string, string] {
  const [one, two] = [basename(a.session_dir), basename(b.session_dir)];
  return one === two
    ? [neutralise(a.session_dir), neutralise(b.session_dir)]
    : [neutralise(one), neutralise(two)];
}

const idsOf = ({ a, b }: ToldRow): string => `${neutralise(a ?? '–')} ↔ ${neutralise(b ?? '–')}`;

const commandOf = ({ label, command }: ToldRow, most: number): string =>
  neutralise(
    cutText((label ?? command ?? '(no command)').replaceAll('\n', ' '), most, (text) => text.length),
  );

function wordsOf({ differs, command_b, outcome, changed, facts }: ToldRow, names: [string, string]): string {
  return differs
    .map((what) => {
      if (what === 'only_a') return `only in ${names[0]}`;
      if (what === 'only_b') return `only in ${names[1]}`;
      if (what === 'command')
        return command_b === undefined
          ? 'label'
          : `command (${neutralise(cutText(command_b ?? 'none', 60))})`;
      if (what === 'outcome') return `outcome (${neutralise(outcome[0]!)} → ${neutralise(outcome[1]!)})`;
      if (what === 'picture') return changed === null ? 'picture' : `picture (${percent(changed)} by tiles)`;
      if (what === 'facts') {
        const some = facts
          .slice(0, FACTS)
          .map(({ name, before, after }) => `${short(name)} ${short(before)} → ${short(after)}`);
        const more = facts.length > FACTS ? `, and ${facts.length - FACTS} more` : '';
        return `facts (${some.join(', ')}${more})`;
      }
      return what;
    })
    .join(', ');
}

const short = (value: unknown): string =>
  neutralise(cutText(typeof value === 'string' ? value : JSON.stringify(value), 30));

function sayTotals(a: Totals, b: Totals): void {
  const rows: [string, string, string][] = [
    ['steps', `${a.steps}`, `${b.steps}`],
    ...(a.unread + b.unread > 0
      ? [['unread', `${a.unread}`, `${b.unread}`] as [string, string, string]]
      : []),
    ['not ok', `${a.not_ok}`, `${b.not_ok}`],
    ['time', seconds(a.duration_ms), seconds(b.duration_ms)],
    ...[...new Set([...Object.keys(a.usage), ...Object.keys(b.usage)])].map(
      (name): [string, string, string] => [short(name), amount(a.usage[name]), amount(b.usage[name])],
    ),
  ];
  const [wide, left] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]!.length))) as [
    number,
    number,
  ];
  say('');
  for (const [name, one, two] of rows) say(`  ${name.padEnd(wide)}  ${one.padStart(left)} ↔ ${two}`);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const amount = (value: number | undefined): string =>
  value === undefined
    ? '–'
    : Number(value.toPrecision(12)).toLocaleString('en-US', { maximumFractionDigits: 6 });
