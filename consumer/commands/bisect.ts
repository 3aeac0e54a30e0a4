// `previews bisect --good STEP --bad STEP (--region X,Y,W,H | --fact NAME)`: the first step at which it changed.
import { printJson, progress } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { stepId } from '../../src/layout.js';
import { bisectFact, bisectRegion } from '../comparing/blame.js';
import { sayBisect } from '../comparing/sayblame.js';
import { place, stepOfRef } from '../comparing/step.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    command('previews bisect', 'The first step at which a place of the picture, or a fact, changed.')
      .usage('[options] --good <step> --bad <step> (--region <X,Y,W,H> | --fact <name>)')
      .requiredOption('--good <step>', 'a step at which it was right: step-0012 or 12', text)
      .requiredOption('--bad <step>', 'a later step of the same session at which it is not', text)
      .option('--region <X,Y,W,H>', 'a place of the picture in pixels; one pixel as X,Y', place)
      .option('--fact <name>', 'a fact, as `previews inspect` shows it; one within another with dots', text)
      .option('--pixels', 'look at the pixels, not at tiles of 64 px')
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        if ((options.region === undefined) === (options.fact === undefined))
          throw new PreviewError('usage', 'expected either --region or --fact', 'see previews bisect --help');
        const [good, bad] = [stepOfRef(options.good, options), stepOfRef(options.bad, options)];
        if (good.recording.dir !== bad.recording.dir)
          throw new PreviewError(
            'usage',
            `${options.good} and ${options.bad} are steps of two sessions`,
            'name two of one; `previews compare` sets two sessions side by side',
          );
        if (good.index >= bad.index)
          throw new PreviewError(
            'usage',
            `${stepId(good.index)} does not come before ${stepId(bad.index)}`,
            'the good step is the earlier one',
          );
        let at = 0;
        const end = progress(() => `reading step ${at} of ${bad.index}`);
        const onProgress = (step: number) => {
          at = step;
        };
        const result =
          options.fact === undefined
            ? await bisectRegion(bad.recording, good.index, bad.index, options.region, {
                pixels: options.pixels === true,
                onProgress,
              }).finally(end)
            : bisectFact(bad.recording, good.index, bad.index, options.fact, onProgress);
        end();
        if (options.json) printJson(result);
        else sayBisect(result);
      }),
  );
}
