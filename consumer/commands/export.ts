// `previews export [REF] --format FORMAT -o PATH`: a session in another program's form in a new folder, or as a film.
import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { painter, printJson, progress, say } from '../../src/cli.js';
import { runCommand, text } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import type { Recording, SeenHead } from '../../src/formats/seen.js';
import { workingDirectory } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import type { Ref } from '../../src/ref.js';
import type { Problem } from '../../src/schema.js';
import { neutralise } from '../../src/text.js';
import { type ExportFormat, FORMATS } from '../exporting/formats.js';
import { openOutput } from '../exporting/output.js';
import type { Pace } from '../exporting/timelapse/plan.js';
import { refCommand, refOf, sessionOfRef, stepRange } from '../place.js';

const known = Object.keys(FORMATS).join(', ');

interface Options {
  root?: string;
  json?: boolean;
  format: string;
  output: string;
  steps?: { from: number; to: number };
  by?: 'step' | 'time';
  secondsPerStep?: number;
  idleLimit?: number;
  speed?: number;
  size?: { width: number; height: number };
}

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('export', "Write a session in another program's form into a new folder, or as a film.")
      .requiredOption('--format <name>', `the form: ${known}`, text)
      .requiredOption(
        '-o, --output <path>',
        'a folder that is not there yet, or empty; for timelapse a file',
        text,
      )
      .addHelpText('after', FORMS)
      .option('--steps <a..b>', 'timelapse: only these steps, such as 10..20', stepRange)
      .addOption(
        new Option(
          '--by <pace>',
          'timelapse: each step for as long, or as long as it took (default: step)',
        ).choices(['step', 'time']),
      )
      .option(
        '--seconds-per-step <s>',
        'timelapse by step: how long each is seen (default: 1)',
        between(0.12, 60),
      )
      .option(
        '--idle-limit <s>',
        'timelapse by time: no longer than this between two steps (default: 2)',
        between(0.1, 3600),
      )
      .option('--speed <n>', 'timelapse by time: so many times as fast (default: 8)', between(0.1, 10_000))
      .option('--size <w>x<h>', 'timelapse: at most 1920x1080 or 1080x1920 (default: 1920x1080)', frameSize)
      .action(async (ref: string | undefined, options: Options) => {
        const format = formatOf(options.format);
        if (format.kind === 'folder') refuseFilmOptions(options);
        const recording = openRecording(wholeSession(refOf(ref, options)));
        if (format.kind === 'folder' && recording.format === format.same)
          throw new PreviewError(
            'usage',
            `${recording.dir} is in the form ${options.format} already`,
            'copy its folder',
          );
        const { head } = recording;
        if (head === null)
          throw new PreviewError(
            'session_damaged',
            `${recording.dir}: ${recording.problems[0]?.detail ?? 'it cannot be read'}`,
            'see `previews verify`; `preview repair` mends it',
          );
        if (format.kind === 'folder') writeFolder(recording, head, format, options);
        else await writeFilm(recording, options);
      }),
  );
}

/** Behind the options. */
const FORMS = `
Forms:
${Object.entries(FORMATS)
  .map(([name, { description }]) => `  ${name.padEnd(14)}${description}`)
  .join('\n')}
`;

function writeFolder(
  recording: Recording,
  head: SeenHead,
  format: Extract<ExportFormat, { kind: 'folder' }>,
  options: Options,
): void {
  const output = openOutput(resolve(workingDirectory(), options.output), recording.dir);
  try {
    const exported = format.write(recording, head, output);
    output.finish();
    const result = { format: options.format, output: output.dir, ...exported };
    if (options.json) printJson(result);
    else
      report(
        `${result.steps} steps, ${result.bundles} bundles`,
        result.session_dir,
        'left out',
        result.problems,
      );
  } finally {
    output.close();
  }
}

async function writeFilm(recording: Recording, options: Options): Promise<void> {
  const { exportFilm } = await import('../exporting/timelapse/film.js');
  let words = 'looking at the steps';
  const end = progress(() => words);
  try {
    const result = await exportFilm(recording, resolve(workingDirectory(), options.output), {
      steps: options.steps,
      pace: paceOf(options),
      ...(options.size ?? { width: 1920, height: 1080 }),
      onProgress: (said) => {
        words = said;
      },
    });
    end();
    if (options.json) printJson({ format: options.format, ...result });
    else
      report(
        `${result.steps} steps, ${result.pictures} with a picture of their own, ${result.duration_s} s`,
        result.output,
        'not shown',
        result.problems,
      );
  } finally {
    end();
  }
}

/** @throws PreviewError `usage` for what belongs to the other pace. */
function paceOf({ by, secondsPerStep, idleLimit, speed }: Options): Pace {
  const byTime = by === 'time';
  const stray = byTime
    ? secondsPerStep !== undefined && '--seconds-per-step is for --by step'
    : (idleLimit ?? speed) !== undefined && '--idle-limit and --speed are for --by time';
  if (stray) throw new PreviewError('usage', stray, 'see previews export --help');
  if (byTime) return { by, idleLimit: idleLimit ?? 2, speed: speed ?? 8 };
  return { by: 'step', secondsPerStep: secondsPerStep ?? 1 };
}

const FILM_OPTIONS = {
  steps: '--steps',
  by: '--by',
  secondsPerStep: '--seconds-per-step',
  idleLimit: '--idle-limit',
  speed: '--speed',
  size: '--size',
} as const;

function refuseFilmOptions(options: Options): void {
  const given = Object.entries(FILM_OPTIONS).find(([name]) => options[name as keyof Options] !== undefined);
  if (given) throw new PreviewError('usage', `${given[1]} is for --format timelapse`, 'leave it away');
}

const between = (least: number, most: number) => (value: string) => {
  const number = Number(value);
  if (!(number >= least && number <= most))
    throw new InvalidArgumentError(`expected a number from ${least} to ${most}`);
  return number;
};

function frameSize(value: string): { width: number; height: number } {
  const match = /^(\d{3,4})x(\d{3,4})$/.exec(value);
  const [width, height] = [Number(match?.[1]), Number(match?.[2])];
  const fits = Math.max(width, height) <= 1920 && Math.min(width, height) <= 1080;
  if (!match || !fits || Math.min(width, height) < 240 || width % 2 || height % 2)
    throw new InvalidArgumentError('expected even numbers from 240x240 to 1920x1080, such as 1280x720');
  return { width, height };
}

function formatOf(name: string): ExportFormat {
  if (Object.hasOwn(FORMATS, name)) return FORMATS[name]!;
  throw new PreviewError('usage', `there is no export format ${JSON.stringify(name)}`, `there are: ${known}`);
}

function wholeSession(ref: Ref): string {
  if (ref.kind === 'session' || ref.kind === 'root') return sessionOfRef(ref);
  throw new PreviewError('usage', `a ${ref.kind} is not exported by itself`, 'name its session');
}

function report(words: string, path: string, lost: string, problems: Problem[]): void {
  const paint = painter();
  say(`${paint('green', 'exported')}  ${words}`);
  say(`  ${neutralise(path)}`);
  for (const { kind, where, detail } of problems)
    say(paint('yellow', `  ${lost}: ${kind} ${neutralise(where)}: ${neutralise(detail)}`));
}
