// What both programs' tiny entry files do: `--version`, `--help`, or the named command's own bundle.
import { neutralise } from './text.js';
import { PACKAGE_VERSION } from './version.js';

export interface CommandModule {
  /** Runs with the arguments behind the command's name; resolves to the exit code. */
  main(argv: string[]): number | Promise<number>;
  /** True where all is done and written by then: the process ends at once, and does not put its memory in order first. */
  endsAtOnce?: boolean;
}

/** Loads and runs a command. `load` returns null for a name there is no bundle of; `end` ends the process. */
export function dispatch(
  program: 'preview' | 'previews',
  name: string | undefined,
  load: (file: string) => CommandModule | null,
  end?: () => void,
): void {
  const argv = process.argv.slice(2);
  if (name === '--version' || name === '-V') {
    process.stdout.write(`${PACKAGE_VERSION}\n`);
    return;
  }
  const asksHelp = name === undefined || name === 'help' || name === '--help' || name === '-h';
  if (name === 'help' && argv[1] && !argv[1].startsWith('-')) {
    // `preview help capture` is `preview capture --help`.
    run(load(argv[1]) ?? load('help'), [...argv.slice(2), '--help']);
    return;
  }
  const known = !asksHelp && /^[a-z]+$/.test(name) ? load(name) : null;
  if (!asksHelp && known === null) {
    const message = neutralise(`there is no command ${JSON.stringify(name)}`);
    const hint = `see ${program} --help`;
    process.stderr.write(
      argv.includes('--json')
        ? `${JSON.stringify({ error: { code: 'usage', message, hint } })}\n`
        : `${program}: ${message}\n  ${hint}\n`,
    );
    process.exitCode = 2;
    return;
  }
  run(known ?? load('help'), argv.slice(1), end);
  if (name === undefined) process.exitCode = 2;
}

function run(module: CommandModule | null, argv: string[], end?: () => void): void {
  if (module === null) throw new Error('the package is incomplete: its help is missing');
  const outcome = module.main(argv);
  if (typeof outcome === 'number') process.exitCode = outcome;
  else
    outcome.then((code) => {
      process.exitCode = code;
      if (module.endsAtOnce) end?.();
    });
}
