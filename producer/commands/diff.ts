// `preview diff`: compares two steps or bundles and records the comparison.
import { Argument, InvalidArgumentError } from 'commander';
import { progress } from '../../src/cli.js';
import { command, runCommand, seconds, text, withPlace } from '../../src/command.js';
import { shellQuote } from '../../src/text.js';
import { diff } from '../diff.js';
import { reportDiff } from '../reportdiff.js';

const REF =
  'a step or bundle: step-0042 or 42, bundle_002, session_003/step-0001, a folder; of a session its current step';

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, (done) => {
    const made = command(
      'preview diff',
      'Compare two steps, any two: pictures pixel by pixel, facts and files. The comparison is recorded as a bundle.',
    );
    withPlace(made)
      .usage('[options] <before> <after>')
      .addArgument(new Argument('<before>', REF))
      .addArgument(new Argument('<after>', 'the other one'))
      .option('--recipe <name>', 'only what this recipe made: its newest picture up to each step', text)
      .option(
        '--threshold <n>',
        'how far colours may be apart and count as equal, 0 to 1 (default: 0.1)',
        share,
      )
      .option('--label <text>', 'a short name for the step', text)
      .option('--lock-timeout <seconds>', 'how long to wait for the session (default: 10)', seconds)
      .option('--json', 'print one JSON document')
      .action(async (before: string, after: string, options) => {
        let phase = 'reading';
        const finish = progress(() => phase);
        try {
          const result = await diff({
            root: options.root,
            session: options.session,
            before,
            after,
            recipe: options.recipe,
            threshold: options.threshold,
            label: options.label,
            own_command: shellQuote(['preview', 'diff', ...argv]),
            lock_timeout_ms: options.lockTimeout === undefined ? undefined : options.lockTimeout * 1000,
            onPhase: (now) => {
              phase = now;
            },
          });
          finish();
          done(reportDiff(result, options.json === true));
        } finally {
          finish();
        }
      });
    return made;
  });
}

/** For options that take a number from 0 to 1. */
function share(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1))
    throw new InvalidArgumentError('expected a number from 0 to 1, such as 0.1');
  return number;
}
