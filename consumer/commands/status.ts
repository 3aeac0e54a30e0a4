// `previews status [REF]`: the same document as `preview live status`, for any session.
import { join } from 'node:path';
import { runCommand } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { isCliAnythingHead, isCliAnythingSession } from '../../src/formats/clianything/shape.js';
import { findSession, type Place, workingDirectory } from '../../src/layout.js';
import { isOwnRoot, resolveRef, sessionsOf } from '../../src/ref.js';
import { printStatus, readStatus, type Status, shorten } from '../../src/status.js';
import { refCommand } from '../place.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('status', 'Say what is recorded in a session and what is current.')
      .option('--full', 'with --json: the whole head')
      .action(async (ref: string | undefined, options) => {
        const dir = sessionOf(ref, { cwd: workingDirectory(), env: process.env, root: options.root });
        const own = readStatus(dir);
        const status = dir === null ? own : await theirs(dir, own);
        printStatus(status, dir, { json: options.json === true, full: options.full === true });
      }),
  );
}

/** The status of a CLI-Anything session, or the given one where it is ours: then their reader is not loaded. */
async function theirs(dir: string, status: Status): Promise<Status> {
  const { head, document } = status;
  const isTheirs = head === null ? document === null && isCliAnythingSession(dir) : isCliAnythingHead(head);
  if (!isTheirs) return status;
  const { readCompact } = await import('../../src/formats/clianything/compact.js');
  const compact = readCompact(dir);
  return compact === null ? status : { ...compact, document: shorten(compact.document), problem: null };
}

/** The session a REF lies in; null where none is recorded and none was named. */
function sessionOf(ref: string | undefined, place: Place): string | null {
  if (ref === undefined) return findSession(place);
  const found = resolveRef(ref, place);
  if (found.kind === 'root') {
    if (isOwnRoot(found.root)) return findSession({ ...place, env: {}, root: found.root }, found.root);
    const newest = sessionsOf(found.root).at(-1);
    return newest === undefined ? null : join(found.root, newest);
  }
  if (found.session === null)
    throw new PreviewError(
      'not_found',
      `${JSON.stringify(ref)} is a bundle that lies in no session`,
      'see `previews inspect`',
    );
  return found.session;
}
