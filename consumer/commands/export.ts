// `previews export [REF] --format FORMAT -o DIR`: a session in another program's form, in a new folder.
import { resolve } from 'node:path';
import { painter, printJson, say } from '../../src/cli.js';
import { runCommand, text } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { workingDirectory } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import type { Ref } from '../../src/ref.js';
import { neutralise } from '../../src/text.js';
import { type ExportFormat, FORMATS } from '../exporting/formats.js';
import { openOutput } from '../exporting/output.js';
import { refCommand, refOf, sessionOfRef } from '../place.js';

const known = Object.keys(FORMATS).join(', ');

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('export', "Write a session in another program's form into a new folder.")
      .requiredOption('--format <name>', `the form: ${known}`, text)
      .requiredOption('-o, --output <dir>', 'a folder that is not there yet, or empty', text)
      .action((ref: string | undefined, options) => {
        const format = formatOf(options.format);
        const recording = openRecording(wholeSession(refOf(ref, options)));
        if (recording.format === format.same)
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
        const output = openOutput(resolve(workingDirectory(), options.output), recording.dir);
        try {
          const exported = format.write(recording, head, output);
          output.finish();
          const result = { format: options.format, output: output.dir, ...exported };
          if (options.json) printJson(result);
          else report(result);
        } finally {
          output.close();
        }
      }),
  );
}

function formatOf(name: string): ExportFormat {
  if (Object.hasOwn(FORMATS, name)) return FORMATS[name]!;
  throw new PreviewError('usage', `there is no export format ${JSON.stringify(name)}`, `there are: ${known}`);
}

function wholeSession(ref: Ref): string {
  if (ref.kind === 'session' || ref.kind === 'root') return sessionOfRef(ref);
  throw new PreviewError('usage', `a ${ref.kind} is not exported by itself`, 'name its session');
}

function report(result: {
  output: string;
  session_dir: string;
  steps: number;
  bundles: number;
  problems: { kind: string; where: string; detail: string }[];
}): void {
  const paint = painter();
  say(`${paint('green', 'exported')}  ${result.steps} steps, ${result.bundles} bundles`);
  say(`  ${neutralise(result.session_dir)}`);
  for (const { kind, where, detail } of result.problems)
    say(paint('yellow', `  left out: ${kind} ${neutralise(where)}: ${neutralise(detail)}`));
}
