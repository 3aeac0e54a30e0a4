// What watching costs, and what it does where the system grants no watches or stays silent.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { done, previewArgv, run, until } from '../helpers/cli.js';
import { write } from '../helpers/project.js';
import { limitSkip, silentWatches, withoutWatches } from '../helpers/silent.js';
import {
  edit,
  expectNoDoubles,
  startWatching,
  stepsOf,
  stop,
  untilShown,
  type Watched,
  watchedProject,
  watcherIn,
} from '../helpers/watched.js';

const linux = process.platform === 'linux';

/** Begins a watcher in a user namespace with a limit of its own. */
const startLimited = ({ project }: Watched, limit: string) =>
  done(
    run(
      [
        ...withoutWatches(limit),
        ...previewArgv('live', 'start', '--mode', 'watch', '--quiet-ms', '100', '--json'),
      ],
      { cwd: project },
    ),
  );

/** How many folders and files a process watches. */
function watches(pid: number): number {
  const proc = `/proc/${pid}`;
  return readdirSync(`${proc}/fd`)
    .filter((fd) => readlinkSync(`${proc}/fd/${fd}`) === 'anon_inode:inotify')
    .flatMap((fd) => readFileSync(`${proc}/fdinfo/${fd}`, 'utf8').match(/^inotify wd:/gm) ?? []).length;
}

const skip = limitSkip();
describe.skipIf(skip)(`limits${skip ? ` (${skip})` : ''}`, () => {
  test.each([
    ['ENOSPC', 'max_inotify_watches'],
    ['EMFILE', 'max_inotify_instances'],
  ])('H03 %s: one warning, and changes are recorded all the same', async (code, limit) => {
    const site = watchedProject();
    const { watcher } = await startLimited(site, limit);
    await untilShown(site, 'one');
    await until(() => watcherIn(site)?.watching === 'polling', 'it polls');
    expect(watcherIn(site)?.last_error).toMatch(new RegExp(`^watch_polling: .*${code}`));
    expect(watches(watcher.pid)).toBe(0);
    for (const state of ['two', 'three']) {
      edit(site, state, 'scene/a.txt', 'rename');
      await untilShown(site, state);
    }
    expect(stepsOf(site)).toHaveLength(3);
    const log = readFileSync(watcher.log, 'utf8');
    expect(log.match(/watch_polling/g)).toHaveLength(1);
    expect(watcherIn(site)?.last_error).toMatch(/^watch_polling: /);
    await stop(site);
  });
});

describe.runIf(linux)('a file system that tells of no change', () => {
  test('H03 the slow look records it; after three of them it polls', async () => {
    const site = watchedProject();
    await startWatching(site, [], silentWatches(join(site.project, '..')));
    for (const state of ['two', 'three', 'four']) {
      expect(watcherIn(site)?.watching).toBe('events');
      edit(site, state);
      await untilShown(site, state);
    }
    await until(() => watcherIn(site)?.watching === 'polling', 'it polls');
    edit(site, 'five');
    await untilShown(site, 'five');
    expectNoDoubles(site);
    expect(stepsOf(site)).toHaveLength(5);
    await stop(site);
  });
});

describe.runIf(linux)('costs', () => {
  test('I10 folders are watched, not files; nothing below node_modules, .git, the preview root or other folders', async () => {
    const site = watchedProject();
    const files: Record<string, string> = {};
    for (let n = 0; n < 2000; n++) files[`scene/part${n % 20}/file${n}.txt`] = String(n);
    for (const heavy of ['node_modules', '.git', 'scene/node_modules', 'elsewhere', 'scene/.hidden'])
      for (let n = 0; n < 30; n++) files[`${heavy}/${n}/file.txt`] = '';
    write(site.project, files);
    const { watcher } = await startWatching(site);
    edit(site, 'changed', 'scene/part7/file7.txt');
    await until(() => stepsOf(site).length === 2, 'the change is recorded');
    // The project, scene, and its 20 folders.
    expect(watches(watcher.pid)).toBe(22);
    await stop(site);
  });

  test('in a git work tree only folders that hold what git lists are watched, and those that are made later', async () => {
    const site = watchedProject();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: site.project,
        stdio: 'ignore',
      });
    write(site.project, {
      'preview.config.json': JSON.stringify({
        recipes: { all: { artifacts: [{ path: '{project}/scene/a.txt', role: 'render-output' }] } },
      }),
      '.gitignore': 'build/\n*.log\n',
      'build/deep/er/x.o': '',
    });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'one');
    const { watcher } = await startWatching(site);
    expect(watches(watcher.pid)).toBe(2);
    git('checkout', '-qb', 'other');
    edit(site, 'other');
    await untilShown(site, 'other');
    git('commit', '-qam', 'two');
    git('checkout', '-q', '-');
    await untilShown(site, 'one');
    mkdirSync(join(site.project, 'later'));
    edit(site, 'new', 'later/new.txt');
    await until(() => stepsOf(site).length === 4, 'the new folder is recorded');
    // What git ignores is no change, however often it is written.
    for (let n = 0; n < 20; n++) edit(site, String(n), 'scene/noise.log');
    edit(site, 'last');
    await untilShown(site, 'last');
    expect(stepsOf(site)).toHaveLength(5);
    expectNoDoubles(site);
    await stop(site);
  });

  test('I10 the log begins anew when it is too long', async () => {
    const site = watchedProject();
    const { watcher } = await startWatching(site);
    writeFileSync(watcher.log, 'x'.repeat(300 * 1024));
    edit(site, 'two');
    await untilShown(site, 'two');
    await until(() => statSync(watcher.log).size < 2000, 'the log begins anew');
    expect(readFileSync(watcher.log, 'utf8')).toMatch(/step-0002/);
    await stop(site);
  });
});
