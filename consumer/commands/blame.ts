// `previews blame STEP X,Y[,W,H]`: which step last changed a place of the picture.
import { Argument } from 'commander';
import { printJson, progress } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import type { Rect } from '../../src/compare/boxes.js';
import { blame } from '../comparing/blame.js';
import { sayBlame } from '../comparing/sayblame.js';
import { place, stepOfRef } from '../comparing/step.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    command(
      'previews blame',
      'Which step last changed a place of the picture, and which did before. Told from the hashes of its tiles.',
    )
      .usage('[options] <step> <X,Y[,W,H]>')
      .addArgument(
        new Argument(
          '<step>',
          'the step whose picture is asked about: step-0042 or 42; a session for its newest',
        ),
      )
      .addArgument(
        new Argument('<place>', 'in pixels from the top left: one as X,Y, a rectangle as X,Y,W,H').argParser(
          place,
        ),
      )
      .option('--all', 'every step that changed it, back to the first picture')
      .option(
        '--pixels',
        'look at the pixels, not at tiles of 64 px: decodes the pictures of the steps in question',
      )
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--json', 'print one JSON document')
      .action(async (ref: string, where: Rect, options) => {
        const { recording, index } = stepOfRef(ref, options);
        let at = 0;
        const end = progress(() => `reading step ${at} of ${index}`);
        const result = await blame(recording, index, where, {
          all: options.all === true,
          pixels: options.pixels === true,
          onProgress: (step) => {
            at = step;
          },
        }).finally(end);
        if (options.json) printJson(result);
        else sayBlame(result);
      }),
  );
}
