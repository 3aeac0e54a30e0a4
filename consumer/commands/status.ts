// `previews status [REF]`: the same document as `preview live status`, for any session.
import { runCommand } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { findSession, type Place, workingDirectory } from '../../src/layout.js';
import { resolveRef } from '../../src/ref.js';
import { printStatus, readStatus } from '../../src/status.js';
import { refCommand } from '../place.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('status', 'Say what is recorded in a session and what is current.')
      .option('--full', 'with --json: the whole head')
      .action((ref: string | undefined, options) => {
        const dir = sessionOf(ref, { cwd: workingDirectory(), env: process.env, root: options.root });
        printStatus(readStatus(dir), dir, { json: options.json === true, full: options.full === true });
      }),
  );
}

/** The session a REF lies in; null where none is recorded and none was named. */
function sessionOf(ref: string | undefined, place: Place): string | null {
  if (ref === undefined) return findSession(place);
  const found = resolveRef(ref, place);
  if (found.kind === 'root') return findSession({ ...place, env: {}, root: found.root }, found.root);
  if (found.session === null)
    throw new PreviewError(
      'not_found',
      `${JSON.stringify(ref)} is a bundle that lies in no session`,
      'see `previews inspect`',
    );
  return found.session;
}
