// The frame of every command of both programs: options by commander, errors and exit codes in one place.
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { fail } from './cli.js';
import { PreviewError } from './errors.js';
import { wellFormed } from './text.js';

/** A command with the program's manners: usage errors end with exit 2, `--help` with 0. */
export function command(name: string, summary: string): Command {
  const made = new Command(name).description(summary).exitOverride().showHelpAfterError(false);
  made.configureHelp({ helpWidth: 100 });
  return made;
}

/**
 * Defines a command and runs it with `argv`. Resolves to the exit code: what the action handed to `done`, else 0, or
 * that of the error. With `--json` errors are one JSON line on stderr.
 */
export async function runCommand(
  program: string,
  argv: string[],
  define: (done: (code: number) => void) => Command,
): Promise<number> {
  let code = 0;
  const json = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--json');
  const made = define((value) => {
    code = value;
  });
  for (const each of [made, ...made.commands]) {
    each.exitOverride();
    // The message is printed below, in the form that was asked for.
    each.configureOutput({ writeErr: () => {} });
  }
  try {
    await made.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error, { json, program });
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') {
      made.configureOutput({ writeErr: (help) => process.stderr.write(help) });
      made.outputHelp({ error: true });
      return 2;
    }
    return fail(
      new PreviewError(
        'usage',
        error.message.replace(/^error: /, '').replaceAll('\n', ' '),
        `see ${made.name()} --help`,
      ),
      { json, program },
    );
  }
}

/** For options that take seconds. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('expected seconds, such as 2.5');
  return value;
}

/** For options that take a whole number. */
export function whole(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

/** For options that take a time: any form that Date reads, kept as RFC 3339 in UTC. */
export function instant(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('expected a time, such as 2026-05-31T10:45:00Z');
  return at.toISOString();
}

/** For options that take text. A `--` taken as a value is a forgotten value. */
export function text(value: string): string {
  if (value === '--') throw new InvalidArgumentError('expected a text, got "--"');
  return wellFormed(value);
}

/** Options that say where the recording is. */
export function withPlace(made: Command): Command {
  return made
    .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
    .option('--session <name|dir>', 'session (default: $PREVIEW_SESSION, or the current one)', text);
}
