// `preview capture`: records the state of the project as one step.
import { command, instant, runCommand, seconds, text, whole, withPlace } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { shellQuote } from '../../src/text.js';
import { captureAndReport } from '../recording.js';

/** All that it prints is written at once. */
export const endsAtOnce = true;

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, (done) => {
    const made = command('preview capture', 'Render the project as it is now and record it as one step.');
    withPlace(made)
      .usage('[options]')
      .option(
        '--recipe <name>',
        "how to render (see `preview recipes`; default: the config's, or what fits the files)",
        text,
      )
      .option(
        '--from <dir>',
        'record what another program rendered into that folder, instead of rendering',
        text,
      )
      .option('--command <text>', 'the command this step shows the outcome of', text)
      .option('--started-at <time>', 'when that command began', instant)
      .option('--exit-code <n>', 'how it ended', whole)
      .option('--label <text>', 'a short name for the step', text)
      .option('--stage <text>', 'the same as --label', text)
      .option('--note <text>', 'a remark kept with the step', text)
      .option('--force', 'render although nothing changed')
      .option('--no-redact', 'keep secrets in commands and captured text (they are masked otherwise)')
      .option('--lock-timeout <seconds>', 'how long to wait for the session (default: 10)', seconds)
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        if (options.from !== undefined && options.recipe !== undefined)
          throw new PreviewError(
            'usage',
            '--from and --recipe exclude each other',
            'a folder is taken as it is',
          );
        done(
          await captureAndReport(
            {
              root: options.root,
              session: options.session,
              recipe: options.recipe,
              from: options.from,
              command: options.command,
              own_command: shellQuote(['preview', 'capture', ...argv]),
              started_at: options.startedAt,
              exit_code: options.exitCode,
              label: options.label ?? options.stage,
              note: options.note,
              force: options.force,
              redact: options.redact,
              lock_timeout_ms: options.lockTimeout === undefined ? undefined : options.lockTimeout * 1000,
            },
            options.json === true,
          ),
        );
      });
    return made;
  });
}
