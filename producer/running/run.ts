// One `preview run`: the place found, the command run to its end, the step recorded, and the command's own code given
// back, whatever becomes of the recording.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { printJson, tell } from '../../src/cli.js';
import { asPreviewError, PreviewError } from '../../src/errors.js';
import { workingDirectory } from '../../src/layout.js';
import { neutralise } from '../../src/text.js';
import { type CaptureResult, emptyResult } from '../captureresult.js';
import type { Asked } from './asked.js';
import { type Outcome, runToEnd } from './command.js';
import { findRecording, type Recording } from './place.js';

/**
 * Runs and records; resolves to the exit code.
 * @throws PreviewError for a mistake on the command line; then nothing was run.
 */
export async function run(asked: Asked): Promise<number> {
  const here = whereWeAre();
  const cwd = asked.cwd === undefined ? undefined : folderOf(asked.cwd, here);
  if (asked.recipe !== undefined && here !== null)
    (await import('./recipe.js')).refuseUnknown(asked.recipe, here);
  const recording =
    here === null
      ? null
      : await findRecording({
          cwd: here,
          root: asked.root,
          session: asked.session,
          lock_timeout_ms: asked.lockTimeout === undefined ? undefined : asked.lockTimeout * 1000,
        });
  const added = Object.fromEntries(asked.env.map(pairOf));
  // Loaded while the command runs.
  let recorder: Promise<typeof import('./record.js')> | undefined;
  const outcome = await runToEnd({
    argv: asked.argv,
    cwd,
    env: environment(recording, cwd, added),
    // As with `timeout` of GNU, 0 is no limit.
    timeout_ms: asked.timeout_s ? asked.timeout_s * 1000 : undefined,
    aside: asked.json,
    onStart: () => {
      recorder = import('./record.js');
    },
  });
  const keepOn = ignoreInterrupts();
  try {
    await record(asked, recording, { cwd: cwd ?? here, env: added, outcome }, recorder);
  } finally {
    keepOn();
  }
  return outcome.code;
}

async function record(
  asked: Asked,
  recording: Recording | null,
  ran: { cwd: string | null; env: Record<string, string>; outcome: Outcome },
  recorder: Promise<typeof import('./record.js')> | undefined,
): Promise<void> {
  const { exit_code, signal, timed_out, duration_ms } = ran.outcome;
  const ending = { exit_code, signal, timed_out, duration_ms: Math.round(duration_ms) };
  let result: CaptureResult | null = null;
  try {
    if (recording === null) workingDirectory();
    else {
      const { recordRun } = await (recorder ?? import('./record.js'));
      const run = {
        ...ran,
        argv: asked.argv,
        project: recording.project,
        term: process.env['TERM'],
        redact: asked.redact,
      };
      result = await recordRun(run, asked, recording);
      complain(result);
    }
  } catch (error) {
    const known = asPreviewError(error);
    if (asked.json)
      printJson({ ...emptyResult(''), warnings: [`${known.code}: ${known.message}`], ...ending });
    tell(`preview: warning: nothing was recorded: ${neutralise(known.message)}`);
    return;
  }
  if (asked.json) printJson({ ...result, ...ending });
}

/** Nothing of ours is said among the command's output but what somebody must see to. */
function complain({ status, warnings }: CaptureResult): void {
  const about = warnings.filter((warning) => /^session_(damaged|full):/.test(warning));
  if (status === 'error')
    about.push(warnings.find((warning) => !OF_THE_RUN.test(warning)) ?? 'rendering failed');
  for (const warning of about) tell(`preview: warning: ${neutralise(warning)}`);
}
const OF_THE_RUN =
  /^(not_started|timed_out|left_behind|not_shown|output_truncated|secrets_masked|sources|session_\w+):/;

/** The working directory, or null where it has been deleted: the command may run there all the same. */
function whereWeAre(): string | null {
  try {
    return workingDirectory();
  } catch {
    // It is said when there is something to record.
    return null;
  }
}

function folderOf(named: string, here: string | null): string {
  const dir = resolve(here ?? '/', named);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new PreviewError(
      'usage',
      `--cwd ${named} is no folder`,
      'nothing was run; name a folder that is there',
    );
  return dir;
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The command's environment: ours, where nested `preview` commands record, and what --env adds. */
function environment(
  recording: Recording | null,
  cwd: string | undefined,
  added: Record<string, string>,
): NodeJS.ProcessEnv {
  const into = recording?.session ? { PREVIEW_SESSION: recording.session, PREVIEW_ROOT: recording.root } : {};
  return { ...process.env, ...into, ...(cwd === undefined ? {} : { PWD: cwd }), ...added };
}

/** Ctrl-C after the command's end ends a renderer, not the record of the command. */
function ignoreInterrupts(): () => void {
  const nothing = () => {};
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, nothing);
  return () => {
    for (const name of names) process.off(name, nothing);
  };
}
