// `previews open [REF]`: the recording in the browser.
import { runCommand } from '../../src/command.js';
import { refCommand } from '../place.js';
import { watch } from '../server/watch.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('open', 'Open a recording in the browser.').action((ref: string | undefined, options) =>
      watch(ref, { ...options, open: true }),
    ),
  );
}
