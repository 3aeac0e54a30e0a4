// The command line of `preview run` in full: its help, and what is said of mistakes. Nothing is run for a mistake.
import { InvalidArgumentError } from 'commander';
import { command, runCommand, seconds, text, withPlace } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import type { Asked } from './asked.js';

/** What is asked for, or the code to end with where help was given or something was wrong. */
export async function readInFull(argv: string[]): Promise<Asked | number> {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  let asked: Asked | null = null;
  const code = await runCommand('preview', own, () => {
    const made = command(
      'preview run',
      'Run a command as it would run without us, and record it: what it printed, how it ended, and a picture of the project after it.',
    );
    return withPlace(made)
      .usage('[options] -- COMMAND [ARGUMENT…]')
      .allowExcessArguments()
      .option(
        '--timeout <seconds>',
        'end the command and all it started after so long (exit code 124); 0: never',
        seconds,
      )
      .option('--cwd <dir>', 'run it there; it is recorded in the project of this folder', text)
      .option('--env <name=value>', 'add to its environment (more than once)', variable)
      .option('--recipe <name>', 'how to render afterwards (see `preview recipes`)', text)
      .option('--label <text>', 'a short name for the step', text)
      .option('--note <text>', 'a remark kept with the step', text)
      .option('--force', 'render although nothing changed')
      .option('--no-capture', 'render nothing: record the command and what it printed')
      .option('--no-redact', 'keep secrets in the command and what it printed (they are masked otherwise)')
      .option('--lock-timeout <seconds>', 'how long to wait for the session (default: 10)', seconds)
      .option('--json', 'print one JSON document; what the command prints, on either stream, goes to stderr')
      .addHelpText(
        'after',
        `
Ends with the command's own exit code: 128 + n for signal n, 127 where it is not found, 126 where it
may not be run, also when nothing could be recorded, which is a warning. A wrong command line of ours
is exit 2, and nothing is run.`,
      )
      .action((options, { args }: { args: string[] }) => {
        const command = end < 0 ? [] : argv.slice(end + 1);
        if (!command[0] || args.length > 0) throw mistake(end, command, args);
        const { timeout, env, force, capture, json, ...rest } = options;
        asked = {
          ...rest,
          argv: command,
          env: env ?? [],
          force: force === true,
          capture,
          json: json === true,
          ...(timeout === undefined ? {} : { timeout_s: timeout }),
        };
      });
  });
  return asked ?? code;
}

function mistake(end: number, command: string[], before: string[]): PreviewError {
  const what =
    end >= 0 && before.length > 0
      ? `${JSON.stringify(before[0])} stands before the --, behind which the command begins`
      : end < 0
        ? 'the command is to follow a --, and there is none'
        : command.length === 0
          ? 'there is no command behind the --'
          : 'the command is an empty text';
  return new PreviewError('usage', what, 'preview run [options] -- COMMAND [ARGUMENT…]');
}

function variable(value: string, before: string[] = []): string[] {
  if (!/^[^=]+=/.test(value)) throw new InvalidArgumentError('expected NAME=VALUE');
  return [...before, value];
}
