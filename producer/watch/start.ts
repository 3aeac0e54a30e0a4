// `live start --mode watch`: an active session and one watcher for it, whoever began them, and what is current.

import { PreviewError } from '../../src/errors.js';
import { findRoot, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import type { OpenSession } from '../../src/session.js';
import { watcherLife, watcherLog, watcherOf } from '../../src/watcher.js';
import { chooseRecipe } from '../capture.js';
import { loadProject } from '../config.js';
import { type CaptureResult, currentResult } from '../result.js';
import { launchWatcher } from './launch.js';
import { QUIET_MS } from './request.js';

/** What a capture prints, and the watcher that records from now on. */
export interface WatchResult extends CaptureResult {
  live_mode: 'watch';
  watcher: { pid: number; started_at: string; log: string } | null;
}

export interface WatchOptions {
  root?: string | undefined;
  recipe?: string | undefined;
  note?: string | undefined;
  quiet_ms?: number | undefined;
  /** The command line, for the first step. */
  command: string;
}

/**
 * Lets a watcher record the session that `begin` answers with. One that lives already is left as it is.
 * @throws PreviewError for a config or recipe that is wrong, before anything is begun; what kept the watcher from beginning.
 */
export async function watchSession(
  options: WatchOptions,
  begin: () => Promise<OpenSession>,
  onPhase: (phase: string) => void,
): Promise<WatchResult> {
  const project = loadProject(workingDirectory());
  const place = { cwd: workingDirectory(), env: process.env, root: options.root };
  // A wrong recipe would be found by the watcher too, but nobody would be told.
  await chooseRecipe(project, options.recipe, findRoot(place));
  const session = await begin();
  const warnings: string[] = [];
  const before = readHead(session.dir).value;
  const living = watcherOf(before);
  const isNew = session.created || before?.trajectory_step_count === 0;
  if (living && watcherLife(living) === 'alive') warnings.push(already(session.name, living.pid));
  else {
    onPhase('beginning the watcher');
    const { outcome, failure, looked } = await launchWatcher(
      {
        session: session.dir,
        root: session.root,
        project: project.dir,
        recipe: options.recipe ?? null,
        command: options.command,
        note: options.note ?? null,
        quiet_ms: options.quiet_ms ?? QUIET_MS,
      },
      isNew,
    );
    if (outcome === 'closed')
      throw new PreviewError(
        'session_not_active',
        `${session.name} was stopped meanwhile`,
        'start a new one with `preview live start`',
      );
    const other = outcome === 'elsewhere' ? watcherOf(readHead(session.dir).value) : null;
    if (outcome === 'elsewhere') warnings.push(already(session.name, other?.pid));
    else if (!isNew)
      warnings.push(`now_watched: ${session.name} was active already and is watched from now on`);
    if (failure)
      warnings.push(`first_step_failed: ${failure.code}: ${failure.message}; the watcher tries again`);
    else if (outcome === 'watching' && !looked)
      warnings.push('first_step_pending: the first step is still being rendered');
  }
  const head = readHead(session.dir).value;
  if (head === null)
    throw new PreviewError(
      'not_found',
      `${session.dir} was removed meanwhile`,
      'start a new one with `preview live start`',
    );
  const result = currentResult(session.dir, head);
  const watcher = watcherOf(head);
  return {
    ...result,
    warnings: [...warnings, ...result.warnings],
    live_mode: 'watch',
    watcher: watcher && { pid: watcher.pid, started_at: watcher.started_at, log: watcherLog(session.dir) },
  };
}

const already = (name: string, pid: number | undefined) =>
  `already_watched: ${name} is watched already${pid === undefined ? '' : ` by process ${pid}`}; nothing was recorded`;
