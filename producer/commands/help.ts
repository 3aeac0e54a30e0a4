// `preview --help`.
import { say } from '../../src/cli.js';

const TEXT = `Usage: preview <command> [options]

Records what each command did to something that can be looked at: one command,
one picture, one immutable step in .preview/.

  init       look at this project and write a small preview.config.json
  capture    render the project as it is now and record it as one step
  run        run a command and record it: what it printed, how it ended, and the
             project after it
  latest     the current bundle, and whether the sources have changed since
  diff       compare two steps, and record what differs
  live       a live session: start, push, status, stop
  recipes    what can be rendered here
  repair     mend a damaged session, keeping its bytes

\`preview <command> --help\` tells more. Every command takes --json.
To look at what was recorded: previews --help
`;

export function main(): number {
  say(TEXT.trimEnd());
  return 0;
}
