// `previews list [ROOT]`: the sessions of a preview root.
import { basename, dirname, join, relative } from 'node:path';
import { painter, printJson, say } from '../../src/cli.js';
import { runCommand } from '../../src/command.js';
import { errnoOf } from '../../src/errors.js';
import { holdsCliAnything } from '../../src/formats/clianything/find.js';
import { isCliAnythingSession } from '../../src/formats/clianything/shape.js';
import { findRoot, TRAJECTORY_NAME, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import { looseBundles, openRecording, readAnyBundle } from '../../src/recording.js';
import { isOwnRoot, sessionsOf } from '../../src/ref.js';
import type { Head } from '../../src/schema.js';
import { neutralise } from '../../src/text.js';
import { isWhole } from '../../src/trajectory.js';
import { LIMITS } from '../../src/version.js';
import { refCommand, refOf } from '../place.js';

/** One row of `list --json` (protocol, section 7). */
function rowOf(root: string, name: string) {
  const dir = join(root, name);
  if (isCliAnythingSession(dir)) return theirRow(name, dir);
  const { value, raw, problems } = readHead(dir);
  if (value && !trajectoryIsWhole(dir, value))
    problems.push({
      kind: 'trajectory_cut',
      where: TRAJECTORY_NAME,
      detail: 'it does not end as the head says',
    });
  const text = (key: string) => (typeof raw?.[key] === 'string' ? raw[key] : null);
  return {
    session: name,
    session_dir: dir,
    status: text('status'),
    steps:
      value?.trajectory_step_count ??
      (typeof raw?.['trajectory_step_count'] === 'number' ? raw['trajectory_step_count'] : null),
    updated_at: text('updated_at'),
    title: text('title'),
    software: text('software'),
    problems,
  };
}

/** The same of a session that CLI-Anything recorded. */
function theirRow(name: string, dir: string) {
  const { head, problems } = openRecording(dir);
  return {
    session: name,
    session_dir: dir,
    status: head?.status ?? null,
    steps: head?.trajectory_step_count ?? null,
    updated_at: head?.updated_at ?? null,
    title: null,
    software: head?.software ?? null,
    problems,
  };
}

/** A bundle that no session names, which only a root of CLI-Anything's has. */
function bundleRow(root: string, dir: string) {
  const { value, problems } = readAnyBundle(dir);
  const { manifest, summary } = value;
  return {
    bundle: relative(root, dir),
    bundle_dir: dir,
    status: manifest?.status ?? null,
    created_at: manifest?.created_at ?? null,
    software: manifest?.software ?? null,
    headline: summary?.headline ?? null,
    problems,
  };
}

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('list', 'List the sessions of a preview root.').action((ref: string | undefined, options) => {
      const { sessions, bundles, left_out } = rowsOf(ref, options);
      if (options.json) {
        printJson(bundles === null ? { sessions } : { sessions, bundles, bundles_left_out: left_out });
        return;
      }
      if (sessions.length === 0 && !bundles?.length) say('No sessions here. `preview capture` begins one.');
      const paint = painter();
      for (const { session, status, steps, updated_at, title, software, problems } of sessions) {
        const words = [
          paint('bold', neutralise(session)),
          (status ?? 'damaged').padEnd(8),
          `${steps ?? '?'} steps`.padStart(11),
          updated_at ?? '',
          software ?? '',
          title ?? '',
        ];
        say(
          neutralised(words).join('  ').trimEnd() +
            (problems.length
              ? paint('yellow', `  ${problems.length} problems: see previews verify ${neutralise(session)}`)
              : ''),
        );
      }
      if (left_out > 0) say(paint('dim', `  (${left_out} older bundles are left out)`));
      for (const { bundle, status, created_at, software, headline } of bundles ?? []) {
        const words = [
          bundle,
          (status ?? 'damaged').padEnd(8),
          created_at ?? '',
          software ?? '',
          headline ?? '',
        ];
        say(words.map(neutralise).join('  ').trimEnd());
      }
    }),
  );
}

/** Everything but our own colours. */
const neutralised = ([first, ...rest]: string[]) => [first!, ...rest.map(neutralise)];

interface Rows {
  sessions: ReturnType<typeof rowOf>[];
  /** Null in a root of ours, where every bundle lies in a session. */
  bundles: ReturnType<typeof bundleRow>[] | null;
  /** How many older ones are not among them. */
  left_out: number;
}

function rowsOf(ref: string | undefined, options: { root?: string }): Rows {
  if (ref === undefined)
    return allOf(findRoot({ cwd: workingDirectory(), env: process.env, root: options.root }));
  const found = refOf(ref, options);
  if (found.kind === 'root') return allOf(found.root);
  const session = found.session;
  const sessions = session === null ? [] : [rowOf(dirname(session), basename(session))];
  return { sessions, bundles: null, left_out: 0 };
}

function allOf(root: string): Rows {
  const sessions = sessionsOf(root).map((name) => rowOf(root, name));
  if (isOwnRoot(root) || !holdsCliAnything(root)) return { sessions, bundles: null, left_out: 0 };
  const loose = looseBundles(root);
  const bundles = loose.slice(-LIMITS.neighbourEntries).map((dir) => bundleRow(root, dir));
  return { sessions, bundles, left_out: loose.length - bundles.length };
}

function trajectoryIsWhole(dir: string, head: Head): boolean {
  try {
    return isWhole(join(dir, TRAJECTORY_NAME), head);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
