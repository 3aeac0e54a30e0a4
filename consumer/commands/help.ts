// `previews --help`.
import { say } from '../../src/cli.js';

const TEXT = `Usage: previews <command> [options] [ref]

Reads what \`preview\` recorded, and what CLI-Anything did. Never writes into a recording.

  list       the sessions of a preview root
  status     what is recorded in a session and what is current, in a few hundred bytes
  inspect    a session and its newest steps, or one step or bundle
  watch      show it in the browser while it grows
  open       open it in the browser: live, or as a page of its own
  replay     a session in the terminal, step by step as it happened
  note       say something of a step: a comment, a box on its picture, accept or reject
  notes      what people said, the newest first
  verify     check every step and file against its recorded hashes
  diff       what changed from one step to another: facts, files, pixels
  compare    two sessions set side by side: where they part, and what differs
  blame      which step last changed a place of the picture
  bisect     the first step at which a place of the picture, or a fact, changed
  html       write a session as one page that opens in any browser
  export     write a session in another program's form into a new folder, or as a film

A ref is a preview root, a session, a step or a bundle: a path, or a name such as
session_003, session_003/step-0042, step-0042. Without one: the current session.
\`previews <command> --help\` tells more. Every command takes --json.
`;

export function main(): number {
  say(TEXT.trimEnd());
  return 0;
}
