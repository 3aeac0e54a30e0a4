// `previews list [ROOT]`: the sessions of a preview root.
import { basename, dirname, join } from 'node:path';
import { painter, printJson, say } from '../../src/cli.js';
import { runCommand } from '../../src/command.js';
import { errnoOf } from '../../src/errors.js';
import { findRoot, TRAJECTORY_NAME, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import { sessionsOf } from '../../src/ref.js';
import type { Head } from '../../src/schema.js';
import { neutralise } from '../../src/text.js';
import { isWhole } from '../../src/trajectory.js';
import { refCommand, refOf } from '../place.js';

/** One row of `list --json` (protocol, section 7). */
function rowOf(root: string, name: string) {
  const dir = join(root, name);
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

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('list', 'List the sessions of a preview root.').action((ref: string | undefined, options) => {
      const sessions = rowsOf(ref, options);
      if (options.json) {
        printJson({ sessions });
        return;
      }
      if (sessions.length === 0) say('No sessions here. `preview capture` begins one.');
      const paint = painter();
      for (const { session, status, steps, updated_at, title, software, problems } of sessions) {
        const words = [
          paint('bold', session),
          (status ?? 'damaged').padEnd(8),
          `${steps ?? '?'} steps`.padStart(11),
          updated_at ?? '',
          software ?? '',
          title ?? '',
        ];
        say(
          neutralised(words).join('  ').trimEnd() +
            (problems.length
              ? paint('yellow', `  ${problems.length} problems: see previews verify ${session}`)
              : ''),
        );
      }
    }),
  );
}

/** Everything but our own colours. */
const neutralised = ([first, ...rest]: string[]) => [first!, ...rest.map(neutralise)];

function rowsOf(ref: string | undefined, options: { root?: string }) {
  if (ref === undefined)
    return allOf(findRoot({ cwd: workingDirectory(), env: process.env, root: options.root }));
  const found = refOf(ref, options);
  if (found.kind === 'root') return allOf(found.root);
  const session = found.session;
  return session === null ? [] : [rowOf(dirname(session), basename(session))];
}

const allOf = (root: string) => sessionsOf(root).map((name) => rowOf(root, name));

function trajectoryIsWhole(dir: string, head: Head): boolean {
  try {
    return isWhole(join(dir, TRAJECTORY_NAME), head);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
