// Where a consumer's command looks: the REF it was given, resolved from the working directory.

import { Argument, type Command } from 'commander';
import { command, text } from '../src/command.js';
import { workingDirectory } from '../src/layout.js';
import { type Ref, resolveRef } from '../src/ref.js';

/** A command of `previews` that takes a REF, a root and --json. */
export function refCommand(name: string, summary: string): Command {
  return command(`previews ${name}`, summary)
    .usage('[options] [ref]')
    .addArgument(
      new Argument('[ref]', 'root, session, step or bundle, as a path or a name: session_003/step-0042'),
    )
    .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
    .option('--json', 'print one JSON document');
}

export const refOf = (ref: string | undefined, options: { root?: string }): Ref =>
  resolveRef(ref, { cwd: workingDirectory(), env: process.env, root: options.root });
