// `preview live start|push|stop`: a session that is told it is being watched. `live status` is a bundle of its own.
import { basename } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { say } from '../../src/cli.js';
import { command, runCommand, seconds, text, whole, withPlace } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { findRoot, findSession, type Place, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import { type OpenSession, openSession, startSession, stopSession } from '../../src/session.js';
import { printStatus, readStatus } from '../../src/status.js';
import { neutralise, shellQuote } from '../../src/text.js';
import { watcherOf } from '../../src/watcher.js';
import type { CaptureOptions } from '../attempt.js';
import { capture } from '../capture.js';
import { loadProject } from '../config.js';
import { waiting, withProgress } from '../recording.js';
import { reportCapture } from '../report.js';
import { type CaptureResult, currentResult } from '../result.js';

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
  mode?: 'manual' | 'watch';
  quietMs?: number;
  lockTimeout?: number;
  json?: boolean;
}

type OnPhase = (phase: string) => void;

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
      .option('--note <text>', 'a remark kept with the first step', text)
      .option(
        '--mode <mode>',
        'manual: steps are pushed (default); watch: a process of its own records each change of the sources too',
        mode,
      )
      .option(
        '--quiet-ms <ms>',
        'watch: how long nothing may have happened before a change is recorded (default: 300)',
        quiet,
      );
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

/** `poll` is what `watch` is called elsewhere. */
function mode(value: string): 'manual' | 'watch' {
  if (value === 'manual') return value;
  if (value === 'watch' || value === 'poll') return 'watch';
  throw new InvalidArgumentError('expected manual or watch');
}

function quiet(value: string): number {
  const ms = whole(value);
  if (ms < 50 || ms > 60_000) throw new InvalidArgumentError('expected milliseconds, from 50 to 60000');
  return ms;
}

const placeOf = ({ root, session }: Options): Place => ({
  cwd: workingDirectory(),
  env: process.env,
  root,
  session,
});
const lockOf = ({ lockTimeout }: Options) => (lockTimeout === undefined ? undefined : lockTimeout * 1000);

/** Captures into a live session, with progress, and reports. */
async function record(
  options: Options,
  prepare: (onPhase: OnPhase) => Promise<Partial<CaptureOptions> | CaptureResult>,
): Promise<number> {
  const result = await withProgress(async (onPhase) => {
    const prepared = await prepare(onPhase);
    if ('session_dir' in prepared) return prepared;
    return capture({
      root: options.root,
      session: options.session,
      recipe: options.recipe,
      label: options.label,
      note: options.note,
      force: options.force,
      lock_timeout_ms: lockOf(options),
      onPhase,
      ...prepared,
    });
  });
  return reportCapture(result, options.json === true);
}

function begin(options: Options, onPhase: OnPhase): Promise<OpenSession> {
  const { dir, config } = loadProject(workingDirectory());
  return startSession({
    ...placeOf(options),
    title: options.title ?? null,
    software: config?.software ?? null,
    recipe: options.recipe ?? config?.default_recipe ?? null,
    project_name: basename(dir),
    project_path: dir,
    timeout_ms: lockOf(options),
    onWait: waiting(onPhase),
  });
}

async function start(options: Options, own: string): Promise<number> {
  if (options.mode === 'watch') return startWatched(options, own);
  return record(options, async (onPhase) => {
    const session = await begin(options, onPhase);
    const head = readHead(session.dir).value;
    if (session.created || !head) return { into: session, own_command: own, reason: 'start' };
    return {
      ...currentResult(session.dir, head),
      warnings: [`already_active: ${session.name} is active; nothing was recorded`],
    };
  });
}

/** The first step is the watcher's: it is waited for, but not for long. */
async function startWatched(options: Options, own: string): Promise<number> {
  const { watchSession } = await import('../watch/start.js');
  const result = await withProgress(async (onPhase) =>
    watchSession(
      {
        root: options.root,
        recipe: options.recipe,
        note: options.note,
        quiet_ms: options.quietMs,
        command: own,
      },
      () => begin(options, onPhase),
      onPhase,
    ),
  );
  const code = reportCapture(result, options.json === true);
  if (!options.json && result.watcher)
    say(`  watcher  process ${result.watcher.pid}, log ${neutralise(result.watcher.log)}`);
  return code;
}

async function push(options: Options, own: string): Promise<number> {
  const place = placeOf(options);
  const dir = findSession(place);
  const status = dir === null ? undefined : readHead(dir).value?.status;
  if (dir === null || status === undefined || !ACTIVE.includes(status)) {
    const what = status === undefined ? `no session is active in ${findRoot(place)}` : `${dir} is ${status}`;
    throw new PreviewError('session_not_active', what, 'begin one with `preview live start`');
  }
  return record(options, async (onPhase) => ({
    into: await openSession({
      ...place,
      session: dir,
      timeout_ms: lockOf(options),
      onWait: waiting(onPhase),
    }),
    own_command: own,
    command: options.command,
    reason: 'capture',
    allowed: ACTIVE,
  }));
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
  await withProgress(async (onPhase) => {
    const { reason, outcome } = options;
    const lock = { timeout_ms: lockOf(options), onWait: waiting(onPhase) };
    const watcher = watcherOf(await stopSession(dir, { reason, outcome, ...lock }));
    if (watcher === null) return;
    onPhase('ending the watcher');
    const { endWatcher } = await import('../watch/end.js');
    await endWatcher(dir, watcher);
  });
  printStatus(readStatus(dir), dir, { json: options.json === true, full: false });
  return 0;
}
