// What `previews watch` and `previews open` do: find what to show, serve it, say where, and stay until a signal comes.
import { basename, dirname, join } from 'node:path';
import { painter, printJson, say, tell } from '../../src/cli.js';
import { PreviewError } from '../../src/errors.js';
import { findRoot, isSessionName, stepId, workingDirectory } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import { isOwnRoot, type Ref } from '../../src/ref.js';
import { neutralise } from '../../src/text.js';
import { refOf } from '../place.js';
import { openBrowser } from './browser.js';
import { startServer } from './serve.js';

export interface WatchOptions {
  root?: string | undefined;
  json?: boolean | undefined;
  open?: boolean | undefined;
  port?: number | undefined;
  host?: string | undefined;
  token?: string | undefined;
}

interface Subject {
  root: string | null;
  session: string | null;
  /** The page's address behind the origin, where it begins with one step. */
  fragment: string;
}

/** What a REF has the page show. Without one: the project's root, whether anything is recorded there yet or not. */
export function subjectOf(ref: string | undefined, options: { root?: string | undefined }): Subject {
  if (ref === undefined) {
    const root = findRoot({ cwd: workingDirectory(), env: process.env, root: options.root });
    return { root, session: null, fragment: '' };
  }
  const found = refOf(ref, { ...(options.root === undefined ? {} : { root: options.root }) });
  if (found.kind === 'root') return { root: found.root, session: null, fragment: '' };
  const { session } = found;
  if (session === null)
    throw new PreviewError(
      'not_found',
      `${JSON.stringify(ref)} is a bundle that lies in no session`,
      'see `previews inspect`',
    );
  const above = dirname(session);
  const root = isSessionName(basename(session)) && isOwnRoot(above) ? above : null;
  return { root, session, fragment: fragmentOf(session, found) };
}

/** Where the page begins: at a step, or at the step of a bundle. */
export function fragmentOf(session: string, found: Ref): string {
  const index =
    found.kind === 'step' ? found.index : found.kind === 'bundle' ? stepOf(session, found.bundle) : null;
  return index === null ? '' : `#/${encodeURIComponent(basename(session))}/${stepId(index)}`;
}

/** So far back the step of a bundle is looked for. */
const BACK = 1000;

function stepOf(session: string, bundle: string): number | null {
  const recording = openRecording(session);
  const count = recording.head?.trajectory_step_count ?? 0;
  const { value } = recording.steps(Math.max(1, count - BACK), count);
  return value.findLast((step) => recording.bundleDir(step) === bundle)?.step_index ?? null;
}

/** Serves until SIGINT, SIGTERM or SIGHUP. */
export async function watch(ref: string | undefined, options: WatchOptions): Promise<void> {
  if (options.port !== undefined && (options.port < 0 || options.port > 65_535))
    throw new PreviewError('usage', `${options.port} is no port`, 'name one from 1 to 65535');
  const subject = subjectOf(ref, options);
  const ended = signal();
  const server = await startServer({
    ...subject,
    page: join(__dirname, '..', 'viewer'),
    verifier: join(__dirname, 'verifier.cjs'),
    host: options.host,
    port: options.port,
    token: options.token,
    onWarning: (warning) => tell(`warning: ${neutralise(warning)}`),
  });
  const url = server.url + subject.fragment;
  const where = subject.session ?? subject.root ?? '';
  if (options.json)
    printJson({
      url,
      origin: server.origin,
      port: server.port,
      pid: process.pid,
      root: subject.root,
      session_dir: subject.session,
    });
  else {
    const paint = painter();
    say(`${paint('green', 'watching')}  ${neutralise(where)}`);
    say(`  ${url}`);
    say(paint('dim', '  Ctrl-C ends it'));
  }
  if (options.open) {
    const why = await openBrowser(url);
    if (why !== null) tell(`no browser was opened: ${neutralise(why)}`);
  }
  await ended;
  await server.close();
}

/** Resolves with the first signal that asks this program to end. */
function signal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => resolve());
  });
}
