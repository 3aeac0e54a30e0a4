// `preview live start|push|stop`: a session that is told it is being watched. `live status` is a bundle of its own.
import { basename } from 'node:path';
import type { Command } from 'commander';
import { command, runCommand, seconds, text, withPlace } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { findRoot, findSession, type Place, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import { type OpenSession, openSession, startSession, stopSession } from '../../src/session.js';
import { printStatus, readStatus } from '../../src/status.js';
import { shellQuote } from '../../src/text.js';
import type { CaptureOptions } from '../attempt.js';
import { loadProject } from '../config.js';
import { captureAndReport } from '../recording.js';
import { reportCapture } from '../report.js';
import { currentResult } from '../result.js';

interface Options {
  root?: string;
  session?: string;
  recipe?: string;
  command?: string;
  title?: string;
  label?: string;
  note?: string;
  force?: boolean;
  reason?: string;
  outcome?: string;
  lockTimeout?: number;
  json?: boolean;
}

const ACTIVE = ['active', 'waiting'];

export function main(argv: string[]): Promise<number> {
  return runCommand('preview live', argv, (done) => {
    const made = command('preview live', 'A live session: start it, push steps, ask its state, stop it.')
      .usage('<start|push|status|stop> [options]')
      .helpCommand(false);
    const own = shellQuote(['preview', 'live', ...argv]);
    const part = (name: string, summary: string, act: (options: Options) => Promise<number>) =>
      common(made.command(name).description(summary)).action(async (options: Options) =>
        done(await act(options)),
      );
    part(
      'start',
      'Begin a live session with a first step, or answer with the one that is active.',
      (options) => start(options, own),
    )
      .option('--title <text>', 'what this is about', text)
      .option('--recipe <name>', 'how to render', text)
      .option('--note <text>', 'a remark kept with the first step', text);
    part('push', 'Record one step into the active session.', (options) => push(options, own))
      .option('--recipe <name>', 'how to render', text)
      .option('--command <text>', 'the command this step shows the outcome of', text)
      .option('--label <text>', 'a short name for the step', text)
      .option('--note <text>', 'a remark kept with the step', text)
      .option('--force', 'render although nothing changed');
    part('stop', 'End the session: nothing more is recorded into it.', stop)
      .option('--reason <text>', 'why', text)
      .option('--outcome <text>', 'what came of it', text);
    made
      .command('status')
      .description('Say what is recorded and what is current (see preview live status --help).');
    return made;
  });
}

function common(made: Command): Command {
  return withPlace(made)
    .option('--lock-timeout <seconds>', 'how long to wait for the session (default: 10)', seconds)
    .option('--json', 'print one JSON document');
}

const placeOf = ({ root, session }: Options): Place => ({
  cwd: workingDirectory(),
  env: process.env,
  root,
  session,
});
const lockOf = ({ lockTimeout }: Options) => (lockTimeout === undefined ? undefined : lockTimeout * 1000);

const record = (options: Options, more: Partial<CaptureOptions>): Promise<number> =>
  captureAndReport(
    {
      root: options.root,
      session: options.session,
      recipe: options.recipe,
      label: options.label,
      note: options.note,
      force: options.force,
      lock_timeout_ms: lockOf(options),
      ...more,
    },
    options.json === true,
  );

async function start(options: Options, own: string): Promise<number> {
  const { dir, config } = loadProject(workingDirectory());
  const session: OpenSession = await startSession({
    ...placeOf(options),
    title: options.title ?? null,
    software: config?.software ?? null,
    recipe: options.recipe ?? config?.default_recipe ?? null,
    project_name: basename(dir),
    project_path: dir,
    timeout_ms: lockOf(options),
  });
  const head = readHead(session.dir).value;
  if (!session.created && head)
    return reportCapture(
      {
        ...currentResult(session.dir, head),
        warnings: [`already_active: ${session.name} is active; nothing was recorded`],
      },
      options.json === true,
    );
  return record(options, { into: session, own_command: own, reason: 'start' });
}

async function push(options: Options, own: string): Promise<number> {
  const place = placeOf(options);
  const dir = findSession(place);
  const status = dir === null ? undefined : readHead(dir).value?.status;
  if (dir === null || status === undefined || !ACTIVE.includes(status)) {
    const what = status === undefined ? `no session is active in ${findRoot(place)}` : `${dir} is ${status}`;
    throw new PreviewError('session_not_active', what, 'begin one with `preview live start`');
  }
  const session = await openSession({ ...place, session: dir, timeout_ms: lockOf(options) });
  return record(options, {
    into: session,
    own_command: own,
    command: options.command,
    reason: 'capture',
    allowed: ACTIVE,
  });
}

async function stop(options: Options): Promise<number> {
  const place = placeOf(options);
  const dir = findSession(place);
  if (dir === null || readHead(dir).problems[0]?.kind === 'missing')
    throw new PreviewError(
      'not_found',
      `no session is recorded in ${findRoot(place)}`,
      'nothing needs stopping',
    );
  await stopSession(dir, { reason: options.reason, outcome: options.outcome, timeout_ms: lockOf(options) });
  printStatus(readStatus(dir), dir, { json: options.json === true, full: false });
  return 0;
}
