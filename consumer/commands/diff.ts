// `previews diff A B`: what changed from one step to another. Reads only; `preview diff` records it.
import { Argument, InvalidArgumentError } from 'commander';
import { printJson, progress } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import { EXIT } from '../../src/errors.js';
import { workingDirectory } from '../../src/layout.js';
import { diff, type Limit } from '../comparing/diff.js';
import { sayDiff } from '../comparing/saydiff.js';

const REF =
  'a step or bundle: step-0042 or 42, bundle_002, session_003/step-0001, a folder; of a session its current step';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, (done) =>
    command(
      'previews diff',
      'What changed from one step to another: facts, files and pixels. Nothing is recorded; `preview diff` does that.',
    )
      .usage('[options] <before> <after>')
      .addArgument(new Argument('<before>', REF))
      .addArgument(new Argument('<after>', 'the other one'))
      .option('--recipe <name>', 'only what this recipe made: its newest picture up to each step', text)
      .option(
        '--threshold <n>',
        'how far colours may be apart and count as equal, 0 to 1 (default: 0.1)',
        share,
      )
      .option(
        '--fail-over <limit>',
        'exit 7 where more changed: a share such as 0.5%, or a number such as 100px',
        limit,
      )
      .option('--no-pixels', 'compare tiles of 64 px by the hashes in the manifests, and decode nothing')
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--json', 'print one JSON document')
      .action(async (before: string, after: string, options) => {
        const end = progress(() => 'comparing');
        const place = { cwd: workingDirectory(), env: process.env, root: options.root };
        const result = await diff([before, after], place, options).finally(end);
        if (options.json) printJson(result);
        else sayDiff(result, options.failOver);
        done(result.over ? EXIT.differs : EXIT.done);
      }),
  );
}

/** For options that take a number from 0 to 1. */
function share(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1))
    throw new InvalidArgumentError('expected a number from 0 to 1, such as 0.1');
  return number;
}

function limit(value: string): Limit {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)(%|px)$/.exec(value.trim());
  if (!match)
    throw new InvalidArgumentError('expected a share such as 0.5%, or a number of pixels such as 100px');
  return { value: Number(match[1]), unit: match[2] as Limit['unit'] };
}
