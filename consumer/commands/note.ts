// `previews note STEP [TEXT]`: what a person says of a step, kept beside the root.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, InvalidArgumentError } from 'commander';
import { painter, printJson, say, warnAll } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { inside } from '../../src/inside.js';
import { findRoot, workingDirectory } from '../../src/layout.js';
import { NOTE_LIMITS, type NoteBox } from '../../src/notes.js';
import { openRecording } from '../../src/recording.js';
import { neutralise } from '../../src/text.js';
import { answered, takeNote, userName } from '../noting/take.js';
import { refOf } from '../place.js';

interface Options {
  root?: string;
  json?: boolean;
  box?: NoteBox;
  artifact?: string;
  accept?: boolean;
  reject?: boolean;
  author?: string;
  reply?: string;
  delete?: string;
}

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    command('previews note', 'Say something of a step: a comment, a box on its picture, accept or reject.')
      .usage('[options] [step] [text]')
      .addArgument(new Argument('[step]', 'step-0042, session_003/step-0042, or a path to one'))
      .addArgument(new Argument('[text]', 'the comment; - reads it from standard input'))
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--box <x,y,w,h>', 'a place of the picture, in its pixels', box)
      .option(
        '--artifact <path>',
        'the file that is meant, as `previews inspect` names it (default: the picture)',
        text,
      )
      .option('--accept', 'the step is good')
      .option('--reject', 'the step is not')
      .option('--author <name>', 'who says it (default: the user)', text)
      .option('--reply <id>', 'answer this note; its step needs no naming', text)
      .option('--delete <id>', 'take this note back; its step needs no naming', text)
      .option('--json', 'print one JSON document')
      .addHelpText('after', PLACE)
      .action((step: string | undefined, words: string | undefined, options: Options) => {
        if (options.accept && options.reject) throw usage('a step is accepted or rejected, not both');
        if (options.reply && options.delete) throw usage('a note is answered or taken back, not both');
        const aimed = aim(step, words, options);
        const said = takeNote(
          openRecording(aimed.session),
          {
            step_index: aimed.index,
            artifact: options.artifact ?? null,
            box: options.box ?? null,
            text: aimed.text === '-' ? fromStdin() : (aimed.text ?? ''),
            verdict: options.accept ? 'accept' : options.reject ? 'reject' : null,
            replies_to: options.delete ?? options.reply ?? null,
            deleted: options.delete !== undefined,
          },
          options.author ?? userName(),
        );
        if (options.json) printJson({ note: said.note, path: said.path, warnings: said.warnings });
        else {
          const { id, session, step_id, deleted, replies_to } = said.note;
          say(
            deleted
              ? `${painter()('green', 'taken back')}  ${neutralise(replies_to ?? '')}`
              : `${painter()('green', 'noted')}  ${id} on ${neutralise(`${session}/${step_id}`)}`,
          );
          warnAll(said.warnings);
        }
      }),
  );
}

/** Behind the options. */
const PLACE = `
Notes lie in a folder beside the preview root (.preview-notes), never in a session. They are for whoever works on the
project: \`previews notes\` lists them.
`;

const usage = (message: string) => new PreviewError('usage', message, 'see previews note --help');

interface Aim {
  session: string;
  index: number;
  text: string | undefined;
}

const STEP = /^(?:.*\/)?step-\d{4,}$/;

/** Which step is meant. With a note to answer or to take back, a single word that names no step is the text. */
function aim(step: string | undefined, words: string | undefined, options: Options): Aim {
  const other = options.delete ?? options.reply;
  if (other !== undefined && (step === undefined || (words === undefined && !STEP.test(step)))) {
    const root = findRoot({ cwd: workingDirectory(), env: process.env, root: options.root });
    const note = answered(root, other);
    // I9: a note may say anything, also that its session lies elsewhere.
    const session = inside(root, note.session);
    if (session === null) throw usage(`${other} names no session of ${join(root)}`);
    return { session, index: note.step_index, text: step };
  }
  if (step === undefined) throw usage('no step is named');
  const found = refOf(step, options);
  if (found.kind !== 'step')
    throw new PreviewError('usage', `${JSON.stringify(step)} names no step`, 'name one, such as step-0042');
  return { session: found.session, index: found.index, text: words };
}

function box(value: string): NoteBox {
  const match = /^(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})$/.exec(value);
  const [x, y, width, height] = (match?.slice(1) ?? []).map(Number) as [number, number, number, number];
  if (!match || width === 0 || height === 0)
    throw new InvalidArgumentError('expected X,Y,WIDTH,HEIGHT in pixels, such as 120,80,64,48');
  return { x, y, width, height };
}

/** More than may be kept is read, so that it is refused and not cut. */
function fromStdin(): string {
  const bytes = readFileSync(0);
  if (bytes.length > 16 * NOTE_LIMITS.text) throw usage(`the note has ${bytes.length} bytes`);
  return bytes.toString('utf8').trimEnd();
}
