// `previews replay [REF]`: a session in a terminal, step by step as it happened.
import { basename } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { painter, say } from '../../src/cli.js';
import { runCommand, seconds } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import type { Recording } from '../../src/formats/seen.js';
import { numberOf } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import type { Ref } from '../../src/ref.js';
import { neutralise } from '../../src/text.js';
import { MARKS_HELP } from '../outcome.js';
import { refCommand, refOf, sessionOfRef } from '../place.js';
import { framer } from '../replaying/frame.js';
import type { Images } from '../replaying/images.js';
import { play, type Range } from '../replaying/play.js';
import { printAll, printLines } from '../replaying/print.js';

interface Options {
  speed: number;
  idleLimit: number;
  root?: string;
  json?: boolean;
  from?: number;
  to?: number;
  images?: Images;
}

const AFTER = `
On a terminal it plays, and keys are heard: space pauses, → or enter shows the next step, ← the one before, + and -
change the speed, q quits, ? helps. Elsewhere all steps are printed at once.
${MARKS_HELP}`;

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, (done) =>
    refCommand(
      'replay',
      'Show a session in the terminal, step by step as it happened.',
      'print all steps at once, one JSON document a line',
    )
      .option('--speed <n>', 'so many times as fast', speed, 1)
      .option('--idle-limit <s>', 'wait at most so many seconds for a step', seconds, 2)
      .option('--from <step>', 'first step to show, such as 12 or step-0012', step)
      .option('--to <step>', 'last step to show', step)
      .addOption(
        new Option('--images <how>', 'pictures among the text (default: as the terminal can)').choices([
          'kitty',
          'iterm',
          'none',
        ]),
      )
      .addHelpText('after', AFTER)
      .action(async (ref: string | undefined, options: Options) => {
        const found = refOf(ref, options);
        const recording = openRecording(sessionOfRef(found));
        const range = rangeOf(recording, found, options);
        const frame = framer(recording);
        const { json, images, speed, idleLimit } = options;
        if (json) printLines(frame, range);
        else if (process.stdout.isTTY && process.env['TERM'] !== 'dumb')
          done(
            await play(
              frame,
              range,
              { speed, idleLimit_s: idleLimit },
              images ?? null,
              ending(recording, range),
            ),
          );
        else {
          printAll(frame, range, images ?? 'none');
          say(ending(recording, range));
        }
      }),
  );
}

function speed(given: string): number {
  const value = Number(given);
  if (!(value >= 0.01 && value <= 1000))
    throw new InvalidArgumentError('expected a number from 0.01 to 1000');
  return value;
}

function step(given: string): number {
  const value = /^\d{1,15}$/.test(given) ? Number(given) : numberOf(given, 'step');
  if (!value) throw new InvalidArgumentError('expected a step, such as 12 or step-0012');
  return value;
}

/** The steps to show. @throws PreviewError where there are none. */
function rangeOf(recording: Recording, found: Ref, options: Options): Range {
  const { head, dir, problems } = recording;
  if (head === null)
    throw new PreviewError(
      'session_damaged',
      `${dir}: ${problems[0]?.detail ?? 'it cannot be read'}`,
      'see `previews verify`; `preview repair` mends it',
    );
  const count = head.trajectory_step_count;
  const from = options.from ?? (found.kind === 'step' ? found.index : 1);
  const to = Math.min(options.to ?? count, count);
  if (from <= to) return { from, to, count };
  if (from <= count)
    throw new PreviewError(
      'usage',
      `the first step, ${from}, comes after the last, ${to}`,
      'swap --from and --to',
    );
  throw new PreviewError(
    'not_found',
    count === 0 ? `${dir} has no steps yet` : `${dir} has no step ${from}; it has ${count} steps`,
    'see `previews inspect`',
  );
}

/** What is said behind the last step. */
function ending({ head, dir }: Recording, { to, count }: Range): string {
  const name = neutralise(basename(dir));
  const where = to < count ? `step ${to} of ${count} of ${name}` : `the end of ${name}, ${count} steps`;
  const live = head?.status === 'active' || head?.status === 'waiting';
  return painter()(
    'dim',
    live ? `${where}; it is still being recorded: \`previews watch ${name}\` follows it` : where,
  );
}
