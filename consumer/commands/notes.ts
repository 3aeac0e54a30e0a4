// `previews notes [REF]`: what people said of the steps, the newest first and few, for who works on the project.
import { relative } from 'node:path';
import { painter, printJson, say } from '../../src/cli.js';
import { runCommand, text, whole } from '../../src/command.js';
import { findRoot, workingDirectory } from '../../src/layout.js';
import { readNotes, rootOfSession } from '../../src/notefiles.js';
import { foldNotes } from '../../src/notes.js';
import type { Problem } from '../../src/schema.js';
import { neutralise } from '../../src/text.js';
import { type Listed, listNotes, since } from '../noting/list.js';
import { refCommand, refOf } from '../place.js';

interface Options {
  root?: string;
  json?: boolean;
  since?: string;
  open?: boolean;
  limit: number;
}

/** Notes of one answer, unless told otherwise. */
const FEW = 20;

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('notes', 'List what people noted of the steps, the newest first.')
      .option('--since <id|time>', 'only notes behind this one, or later than this time', text)
      .option(
        '--open',
        'only notes that nobody has settled: neither their step nor their thread was accepted since',
      )
      .option('--limit <n>', 'at most this many', whole, FEW)
      .action((ref: string | undefined, options: Options) => {
        const { root, isAsked } = asked(ref, options);
        const { value, problems } = readNotes(root);
        const behind = options.since === undefined ? () => true : since(options.since, value);
        const { notes, deleted } = foldNotes(value);
        const taken = value.filter((note) => note.deleted && behind(note) && isAsked(note));
        const listed = listNotes(
          root,
          notes.filter((note) => isAsked(note) && behind(note) && (!options.open || note.open)),
          options.limit,
        );
        const latest = value.at(-1)?.id ?? null;
        const gone = taken.flatMap(({ replies_to }) =>
          replies_to && deleted.includes(replies_to) ? [replies_to] : [],
        );
        if (options.json)
          printJson({ ...listed, deleted: gone.slice(-options.limit), latest, problems: few(problems) });
        else report(listed, problems);
      }),
  );
}

const few = (problems: Problem[]): Problem[] => problems.slice(0, 20);

/** The root whose notes are asked for, and which of them. */
function asked(
  ref: string | undefined,
  options: Options,
): { root: string; isAsked: (note: { session: string; step_index: number }) => boolean } {
  if (ref === undefined)
    return {
      root: findRoot({ cwd: workingDirectory(), env: process.env, root: options.root }),
      isAsked: () => true,
    };
  const found = refOf(ref, options);
  if (found.kind === 'root') return { root: found.root, isAsked: () => true };
  const folder = found.session ?? (found.kind === 'bundle' ? found.bundle : '');
  const root = rootOfSession(folder);
  const session = relative(root, folder);
  const index = found.kind === 'step' ? found.index : null;
  return {
    root,
    isAsked: (note) => note.session === session && (index === null || note.step_index === index),
  };
}

const MARKS = { accept: ['green', 'accepted'], reject: ['red', 'rejected'] } as const;

function report({ notes, left }: Listed, problems: Problem[]): void {
  const paint = painter();
  if (notes.length === 0) say('No notes here. `previews note STEP TEXT` writes one.');
  for (const note of notes) {
    const [style, word] = note.verdict ? MARKS[note.verdict] : (['dim', ''] as const);
    const words = [
      paint('bold', note.id),
      neutralise(`${note.session}/${note.step_id}`),
      neutralise(note.author),
      neutralise(note.at.slice(0, 19).replace('T', ' ')),
      ...(word ? [paint(style, word)] : []),
      ...(note.replies_to ? [paint('dim', `answers ${neutralise(note.replies_to)}`)] : []),
    ];
    say(words.join('  '));
    for (const line of note.text === '' ? [] : note.text.split('\n')) say(`  ${neutralise(line)}`);
    if (note.box || note.artifact) say(paint('dim', `  ${placeOf(note)}`));
  }
  if (left > 0)
    say(paint('dim', `(${left} older ${left === 1 ? 'note is' : 'notes are'} left out: --limit)`));
  for (const { kind, where, detail } of few(problems))
    say(paint('red', `problem: ${kind} ${neutralise(where)}: ${neutralise(detail)}`));
}

function placeOf({ box, artifact, picture }: Listed['notes'][number]): string {
  const at = box ? `at ${box.x},${box.y},${box.width},${box.height} of ` : '';
  return `${at}${neutralise(picture ?? artifact ?? '')}`;
}
