// `previews status [REF]`: the same document as `preview live status`, for any session.
import { painter, printJson, say } from '../../src/cli.js';
import { runCommand } from '../../src/command.js';
import { EXIT, PreviewError } from '../../src/errors.js';
import { isObject } from '../../src/json.js';
import { findSession, type Place } from '../../src/layout.js';
import { resolveRef } from '../../src/ref.js';
import { fullStatus, readStatus } from '../../src/status.js';
import { neutralise } from '../../src/text.js';
import { refCommand } from '../place.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, (done) =>
    refCommand('status', 'Say what is recorded in a session and what is current.')
      .option('--full', 'with --json: the whole head')
      .action((ref: string | undefined, options) => {
        const dir = sessionOf(ref, { cwd: process.cwd(), env: process.env, root: options.root });
        const { document, head, problem } = readStatus(dir);
        if (document === null) throw new PreviewError('session_damaged', `${dir}: session.json: ${problem}`, 'see `previews verify`; `preview repair` mends it');
        if (options.json) printJson(options.full && head && dir ? fullStatus(dir, head) : document);
        else text(document);
        done(EXIT.done);
      }),
  );
}

/** The session a REF lies in; null where none is recorded and none was named. */
function sessionOf(ref: string | undefined, place: Place): string | null {
  if (ref === undefined) return findSession(place);
  const found = resolveRef(ref, place);
  if (found.kind === 'root') return findSession({ ...place, env: {}, root: found.root }, found.root);
  if (found.session === null) throw new PreviewError('not_found', `${JSON.stringify(ref)} is a bundle that lies in no session`, 'see `previews inspect`');
  return found.session;
}

function text(document: Record<string, unknown>): void {
  const paint = painter();
  const summary = document['trajectory_summary'];
  if (!isObject(summary)) {
    say('Nothing is recorded here yet.');
    return;
  }
  const said = (value: unknown) => neutralise(String(value ?? '–'));
  const latest = isObject(summary['latest']) ? summary['latest'] : {};
  say(`${paint('bold', said(document['session_dir']))}  ${said(document['status'])}  ${said(summary['total_commands'])} steps`);
  say(`  latest   ${said(document['step'])}  ${said(latest['bundle'])}  ${said(document['reason'])}  ${said(latest['timestamp'])}`);
  say(`  command  ${said(latest['command'])}`);
  if (document['render']) say(`  picture  ${said(document['session_dir'])}/${said(document['render'])}`);
}
