// Where a consumer's command looks: the REF it was given, resolved from the working directory.

import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { command, text } from '../src/command.js';
import { PreviewError } from '../src/errors.js';
import { findSession, workingDirectory } from '../src/layout.js';
import { type Ref, resolveRef, sessionsOf } from '../src/ref.js';

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

/** The session that a REF means: a root's current or newest, or the one that was named; a step is part of one. */
export function sessionOfRef(ref: Ref): string {
  if (ref.kind === 'session' || ref.kind === 'step') return ref.session;
  if (ref.kind === 'bundle') {
    if (ref.session !== null) return ref.session;
    throw new PreviewError('usage', 'a bundle of no session is not enough', 'name a session');
  }
  const current = findSession({ cwd: ref.root, env: {}, root: ref.root }, ref.root);
  const newest = sessionsOf(ref.root).at(-1);
  if (current !== null) return current;
  if (newest === undefined)
    throw new PreviewError(
      'not_found',
      `no session is recorded in ${ref.root}`,
      '`preview capture` begins one',
    );
  return join(ref.root, newest);
}
