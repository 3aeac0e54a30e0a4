// Projects that are watched, and their watchers: each is ended when its test file is over, whatever became of the test.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { readHead, readSession, type Step } from '../../src/index.js';
import { type Watcher, watcherOf } from '../../src/watcher.js';
import { done, preview, type RunOptions, until } from './cli.js';
import { temporary, write } from './project.js';

export interface Watched {
  project: string;
  root: string;
  session: string;
}

const sites: Watched[] = [];

afterAll(() => {
  for (const { root } of sites) for (const pid of watchersOf(root)) process.kill(pid, 'SIGKILL');
});

const sh = (body: string): string[] => ['sh', '-c', body, 'renderer', '{out}', '{project}'];

/**
 * `plain` keeps what lies in `scene` and starts no program; `slow` copies scene/a.txt, says that it runs (file `started`,
 * holding its pid) and waits for the file `go`; `fail` fails where scene/a.txt says so.
 */
export const RECIPES: Record<string, unknown> = {
  plain: {
    sources: ['scene/**'],
    artifacts: [{ path: '{project}/scene/a.txt', role: 'render-output' }],
  },
  slow: {
    sources: ['scene/**'],
    run: [
      sh(
        'cat "$2/scene/a.txt" > "$1/a.txt"; echo $$ > "$2/started.tmp"; mv "$2/started.tmp" "$2/started"; until [ -e "$2/go" ]; do sleep 0.02; done',
      ),
    ],
    artifacts: [{ path: 'a.txt', role: 'render-output' }],
    timeout_s: 50,
  },
  fail: {
    sources: ['scene/**'],
    run: [sh('! grep -q broken "$2/scene/a.txt" && cp "$2/scene/a.txt" "$1/a.txt"')],
    artifacts: [{ path: 'a.txt', role: 'render-output' }],
  },
};

export const configOf = (first: string): string =>
  JSON.stringify({ software: 'test', default_recipe: first, recipes: RECIPES });

/** A project whose default recipe is `recipe`, with one source. */
export function watchedProject(recipe = 'plain'): Watched {
  const project = join(temporary('preview-watch-'), 'project');
  write(project, { 'scene/a.txt': 'one', 'preview.config.json': configOf(recipe) });
  const root = join(project, '.preview');
  const site = { project, root, session: join(root, 'session_001') };
  sites.push(site);
  return site;
}

/** `live start --mode watch --json`, which must succeed. Its first step may still be under way. */
export const beginWatching = (
  { project }: Watched,
  more: string[] = [],
  env?: RunOptions['env'],
): Promise<Record<string, any>> =>
  done(preview(project, ['live', 'start', '--mode', 'watch', '--quiet-ms', '100', '--json', ...more], env));

/** The same, and the first step is recorded. */
export async function startWatching(
  site: Watched,
  more: string[] = [],
  env?: RunOptions['env'],
): Promise<Record<string, any>> {
  const answer = await beginWatching(site, more, env);
  await until(() => stepsOf(site).length > 0, 'the first step is recorded');
  return answer;
}

export const stop = ({ project }: Watched): Promise<Record<string, any>> =>
  done(preview(project, ['live', 'stop', '--json']));

export const status = ({ project }: Watched): Promise<Record<string, any>> =>
  done(preview(project, ['live', 'status', '--json']));

/** A source's new content, written in place or put there by a rename. */
export function edit(
  { project }: Watched,
  content: string,
  name = 'scene/a.txt',
  by: 'write' | 'rename' = 'write',
): void {
  if (by === 'write') writeFileSync(join(project, name), content);
  else {
    writeFileSync(join(project, `${name}.tmp~`), content);
    renameSync(join(project, `${name}.tmp~`), join(project, name));
  }
}

export const stepsOf = ({ session }: Watched): Step[] => readSession(session).value.steps;
export const headOf = ({ session }: Watched) => readHead(session).value;
export const watcherIn = (site: Watched): Watcher | null => watcherOf(headOf(site));

/** What the current bundle shows of scene/a.txt. */
export function shown(site: Watched): string | null {
  const head = headOf(site);
  if (!head?.current_bundle_dir) return null;
  try {
    return readFileSync(join(site.session, head.current_bundle_dir, 'artifacts/a.txt'), 'utf8');
  } catch {
    // ENOENT: a render that failed shows nothing.
    return null;
  }
}

/** Waits until the current bundle shows `content`. */
export const untilShown = (site: Watched, content: string, deadline_ms?: number): Promise<unknown> =>
  until(() => shown(site) === content, `the recording shows ${content}`, deadline_ms);

/** The pids of all watchers of sessions in a root. */
export function watchersOf(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const line = commandLine(pid);
      return line.includes(root) && /preview watch|watcher\.cjs/.test(line);
    });
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // ENOENT, ESRCH: it has ended.
    return '';
  }
}

/** No step of a watcher shows what the step before it shows. */
export function expectNoDoubles(site: Watched): void {
  const steps = stepsOf(site);
  const doubles = steps.filter(
    (step, n) =>
      n > 0 &&
      step.publish_reason === 'mutation' &&
      step.source_fingerprint === steps[n - 1]!.source_fingerprint,
  );
  expect(doubles.map((step) => step.step_id)).toEqual([]);
}
