// `previews watch [REF]`: serves the page that shows a recording while it grows, until it is told to end.
import { runCommand, text, whole } from '../../src/command.js';
import { refCommand } from '../place.js';
import { watch } from '../server/watch.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('watch', 'Show a recording in the browser while it grows. Ends with Ctrl-C.')
      .option('--open', 'open the page in the browser (not where an agent or CI runs this)')
      .option('--port <n>', 'port (default: any that is free)', whole)
      .option('--host <address>', 'address to listen on (default: 127.0.0.1); others need --token', text)
      .option('--token <text>', 'secret of your own, at least 32 characters (default: a fresh one)', text)
      .addHelpText(
        'after',
        `
A root shows all its sessions, the newest in front; a step or a bundle is where the page begins.
The printed address holds a secret: whoever has it sees the recording. It works for this server only.
With --json one line is printed: {"url","origin","port","pid","root","session_dir"}.`,
      )
      .action((ref: string | undefined, options) => watch(ref, options)),
  );
}
