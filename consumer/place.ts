// Where a consumer's command looks: the REF it was given, resolved from the working directory.

import { join } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { command, text } from '../src/command.js';
import { statOf } from '../src/disk.js';
import { PreviewError } from '../src/errors.js';
import { findSession, workingDirectory } from '../src/layout.js';
import { type Ref, resolveRef, sessionsOf } from '../src/ref.js';

/** A command of `previews` that takes a REF, a root and --json. */
export function refCommand(name: string, summary: string, json = 'print one JSON document'): Command {
  return command(`previews ${name}`, summary)
    .usage('[options] [ref]')
    .addArgument(
      new Argument('[ref]', 'root, session, step or bundle, as a path or a name: session_003/step-0042'),
    )
    .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
    .option('--json', json);
}

export const refOf = (ref: string | undefined, options: { root?: string }): Ref =>
  resolveRef(ref, { cwd: workingDirectory(), env: process.env, root: options.root });

/** A root's current session, or its newest where it has none, or null where nothing is recorded. */
export function sessionIn(root: string): string | null {
  const current = findSession({ cwd: root, env: {}, root }, root);
  if (current !== null && statOf(current)?.isDirectory()) return current;
  const newest = sessionsOf(root).at(-1);
  return newest === undefined ? null : join(root, newest);
}

/** The session that a REF means: a root's current or newest, or the one that was named; a step is part of one. */
export function sessionOfRef(ref: Ref): string {
  if (ref.kind === 'session' || ref.kind === 'step') return ref.session;
  if (ref.kind === 'bundle') {
    if (ref.session !== null) return ref.session;
    throw new PreviewError('usage', 'a bundle of no session is not enough', 'name a session');
  }
  const session = sessionIn(ref.root);
  if (session === null)
    throw new PreviewError(
      'not_found',
      `no session is recorded in ${ref.root}`,
      '`preview capture` begins one',
    );
  return session;
}

/** For options that take steps: `10..20`, or one. */
export function stepRange(value: string): { from: number; to: number } {
  const match = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(value);
  if (!match) throw new InvalidArgumentError('expected steps such as 10..20, or one such as 12');
  return { from: Number(match[1]), to: Number(match[2] ?? match[1]) };
}
