// `previews compare SESSION SESSION`: two sessions set side by side, step by step.
import { Argument } from 'commander';
import { printJson, progress } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import { EXIT } from '../../src/errors.js';
import { openRecording } from '../../src/recording.js';
import { compareSessions } from '../comparing/compare.js';
import { sayCompare } from '../comparing/saycompare.js';
import { refOf, sessionOfRef } from '../place.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, (done) =>
    command(
      'previews compare',
      'Two sessions side by side, their steps matched by label, command and sources: where they part, and what differs.',
    )
      .usage('[options] <session> <session>')
      .addArgument(
        new Argument('<a>', 'a session: session_003, a folder, or a preview root for its current one'),
      )
      .addArgument(new Argument('<b>', 'the other one'))
      .option('--all', 'steps that do not differ, too')
      .option('--fail-on-divergence', 'exit 7 where a step differs')
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--json', 'print one JSON document')
      .action((a: string, b: string, options) => {
        const [one, two] = [a, b].map((ref) => openRecording(sessionOfRef(refOf(ref, options))));
        let step = 0;
        const end = progress(() => `reading step ${step}`);
        const result = compareSessions([one!, two!], {
          all: options.all === true,
          onProgress: (at) => {
            step = at;
          },
        });
        end();
        if (options.json) printJson(result);
        else sayCompare(result, options.all === true);
        done(options.failOnDivergence && result.first_divergence !== null ? EXIT.differs : EXIT.done);
      }),
  );
}
