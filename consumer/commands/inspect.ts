// `previews inspect [REF]`: a session with its newest steps, or one step or bundle with all that is known of it.
import { basename, join, resolve } from 'node:path';
import { humanBytes, painter, printJson, say } from '../../src/cli.js';
import { runCommand, whole } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { cliAnythingBundles } from '../../src/formats/clianything/find.js';
import type { Recording, SeenBundle, SeenHead, SeenStep } from '../../src/formats/seen.js';
import { stepId } from '../../src/layout.js';
import { asWarnings } from '../../src/read.js';
import { openRecording, readAnyBundle, sessionOfBundle } from '../../src/recording.js';
import { isOwnRoot } from '../../src/ref.js';
import type { Problem, Reading } from '../../src/schema.js';
import { neutralise } from '../../src/text.js';
import { MARKS_HELP, outcomeOf } from '../outcome.js';
import { refCommand, refOf, sessionIn } from '../place.js';
import { printedLines } from '../printed.js';

const NEWEST = 20;

interface Options {
  root?: string;
  json?: boolean;
  all?: boolean;
  from?: number;
  to?: number;
}

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('inspect', 'Show a session and its newest steps, or one step or bundle.')
      .option('--all', 'all steps of the session')
      .option('--from <n>', 'first step to show', whole)
      .option('--to <n>', 'last step to show', whole)
      .addHelpText('after', `\n${MARKS_HELP}`)
      .action((ref: string | undefined, options: Options) => {
        const found = refOf(ref, options);
        if (found.kind === 'step') return inspectStep(found.session, found.index, options);
        if (found.kind === 'bundle') return inspectOneBundle(found.session, found.bundle, options);
        if (found.kind === 'session') return showSession(openRecording(found.session), options);
        const session = sessionIn(found.root);
        if (session !== null) return showSession(openRecording(session), options);
        return inspectOneBundle(null, newestBundle(found.root), options);
      }),
  );
}

/** CLI-Anything's bundles lie in no session where nobody began one. */
function newestBundle(root: string): string {
  const newest = isOwnRoot(root) ? undefined : cliAnythingBundles(root).at(-1);
  if (newest === undefined)
    throw new PreviewError('not_found', `no session is recorded in ${root}`, '`preview capture` begins one');
  return newest;
}

function showSession(recording: Recording, options: Options): void {
  const { dir, head, raw, problems } = recording;
  if (head === null) {
    if (options.json) printJson({ session: raw, steps: [], problems });
    else {
      say(`${neutralise(dir)} cannot be read.`);
      sayProblems(problems);
    }
    return;
  }
  const count = head.trajectory_step_count;
  const to = options.to ?? count;
  const from = options.from ?? (options.all ? 1 : Math.max(1, to - NEWEST + 1));
  const { value: steps, problems: bad } = recording.steps(from, Math.min(to, count));
  const all = [...problems, ...bad, ...recording.strays()];
  if (options.json) printJson({ session: head, steps, problems: all });
  else sayText(dir, head, steps, all);
}

function sayText(session: string, head: SeenHead, steps: SeenStep[], problems: Problem[]): void {
  const paint = painter();
  const about = [head.status, head.software, head.recipe]
    .filter((word): word is string => Boolean(word))
    .join(', ');
  say(
    `${paint('bold', neutralise(basename(session)))}  ${neutralise(about)}  ${head.trajectory_step_count} steps, ${head.bundle_count} bundles`,
  );
  if (head.title) say(`  ${neutralise(head.title)}`);
  if (head.continues) say(`  continues ${neutralise(head.continues)}`);
  say(`  ${neutralise(session)}`);
  if (head.recoveries.length > 0)
    say(
      paint(
        'dim',
        `  mended ${head.recoveries.length === 1 ? 'once' : `${head.recoveries.length} times`} (recoveries in session.json), last at ${neutralise(head.recoveries.at(-1)!.at)}`,
      ),
    );
  say('');
  for (const step of steps) say(rowOf(step));
  if (steps.length < head.trajectory_step_count) say(paint('dim', '  (others: --all, or --from and --to)'));
  if (head.current_render_path) say(`\npicture  ${neutralise(resolve(session, head.current_render_path))}`);
  sayProblems(problems);
}

function rowOf(step: SeenStep): string {
  const paint = painter();
  const { style, mark, words } = outcomeOf(step);
  if (step['lost'])
    return paint(style, `${mark} ${neutralise(step.step_id)}  lost: nothing of what was recorded is left`);
  const cached = step.cached ? paint('dim', ' (reused)') : '';
  const said = words.length > 0 ? paint(style, `  ${neutralise(words.join(', '))}`) : '';
  return `${paint(style, mark)} ${neutralise(step.step_id)}  ${neutralise(step.published_at?.slice(0, 19).replace('T', ' ') ?? '–')}  ${neutralise(step.bundle_id ?? '–')}${cached}  ${neutralise(step.command ?? step.publish_reason)}${said}`;
}

function inspectStep(session: string, index: number, options: Options): void {
  const recording = openRecording(session);
  const { head, problems } = recording;
  if (head === null) {
    showSession(recording, options);
    return;
  }
  const { value: steps, problems: bad } = recording.steps(index, index);
  const step = steps[0];
  if (!step) {
    if (bad.length === 0)
      throw new PreviewError(
        'not_found',
        `${session} has no ${stepId(index)}; it has ${head.trajectory_step_count} steps`,
        'see `previews inspect --all`',
      );
    if (options.json)
      printJson({ manifest: null, summary: null, step: null, problems: [...problems, ...bad] });
    else sayProblems(bad);
    return;
  }
  const bundle = recording.bundleDir(step);
  const more = [...problems, ...bad];
  if (bundle === null && !step['lost'] && recording.format === 'preview')
    more.push({ kind: 'path_leaves', where: step.step_id, detail: 'its bundle lies outside the session' });
  const nothing = { value: { dir: '', manifest: null, summary: null }, problems: [] };
  showBundle(bundle, step, bundle === null ? nothing : recording.readBundle(bundle), more, options);
}

/** The problem that this one bundle is a stray, if it is. */
function strayProblems(recording: Recording, bundle: string): Problem[] {
  return recording.strays().filter(({ where }) => join(recording.dir, where) === bundle);
}

/** The newest step that shows this bundle, among those that cost little to look at. */
function stepOf(recording: Recording, bundle: string): SeenStep | null {
  const count = recording.head?.trajectory_step_count ?? 0;
  const { value } = recording.steps(Math.max(1, count - 1000), count);
  return value.filter((step) => recording.bundleDir(step) === bundle).at(-1) ?? null;
}

function inspectOneBundle(session: string | null, bundle: string, options: Options): void {
  const owner = session ?? sessionOfBundle(bundle);
  if (owner === null) {
    showBundle(bundle, null, readAnyBundle(bundle), [], options);
    return;
  }
  const recording = openRecording(owner);
  const step = stepOf(recording, bundle);
  showBundle(bundle, step, recording.readBundle(bundle), strayProblems(recording, bundle), options);
}

function showBundle(
  bundle: string | null,
  step: SeenStep | null,
  { value, problems: found }: Reading<SeenBundle>,
  before: Problem[],
  options: Options,
): void {
  const problems = [...before, ...found];
  const { manifest, summary } = value;
  if (options.json) {
    printJson({ manifest, summary, step, problems });
    return;
  }
  const paint = painter();
  if (step) say(rowOf(step));
  if (step?.note) say(`  note: ${neutralise(step.note)}`);
  if (manifest) {
    say(
      `${paint('bold', neutralise(manifest.bundle_id))}  ${neutralise([manifest.status, manifest.software, manifest.recipe].filter(Boolean).join(', '))}  ${neutralise(manifest.created_at)}`,
    );
  }
  if (summary) {
    say(`  ${neutralise(summary.headline)}`);
    for (const [name, fact] of Object.entries(summary.facts))
      say(`  ${neutralise(name)}: ${neutralise(typeof fact === 'string' ? fact : JSON.stringify(fact))}`);
    for (const warning of asWarnings(summary.warnings))
      say(paint('yellow', `  warning: ${neutralise(warning)}`));
    for (const action of asWarnings(summary.next_actions)) say(`  next: ${neutralise(action)}`);
  }
  for (const line of printedLines(manifest?.context)) say(paint('dim', `  │ ${neutralise(line)}`));
  for (const { role, path, media_type, bytes, width, height, label } of manifest?.artifacts ?? []) {
    const size = width && height ? `${width} × ${height}  ` : '';
    say(
      `  ${neutralise(role).padEnd(13)} ${neutralise(bundle === null ? path : join(bundle, path))}  ${size}${humanBytes(bytes)}  ${paint('dim', neutralise(`${media_type ?? ''} ${label ?? ''}`))}`,
    );
  }
  sayProblems(problems);
}

function sayProblems(problems: Problem[]): void {
  const paint = painter();
  for (const { kind, where, detail } of problems)
    say(paint('red', `problem: ${kind} ${neutralise(where)}: ${neutralise(detail)}`));
}
