// `live start --mode watch`: one watcher a session, one step a change, and an end that hits the watcher and nothing else.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readHead } from '../../src/index.js';
import { documentOf, done, errorOf, preview, previews, shell, until } from '../helpers/cli.js';
import { editJson, headFile } from '../helpers/tamper.js';
import {
  beginWatching,
  configOf,
  edit,
  expectNoDoubles,
  headOf,
  startWatching,
  status,
  stepsOf,
  stop,
  untilShown,
  type Watched,
  watchedProject,
  watcherIn,
  watchersOf,
} from '../helpers/watched.js';

const linux = process.platform === 'linux';
const reasons = (site: Watched) => stepsOf(site).map((step) => step.publish_reason);

/** Whether anything is being staged for a session. */
const staging = (site: Watched) =>
  readdirSync(join(site.session, '.work')).some((name) => name.startsWith('stage-'));

async function kill(site: Watched): Promise<void> {
  const [pid] = watchersOf(site.root);
  process.kill(pid!, 'SIGKILL');
  await until(() => watchersOf(site.root).length === 0, 'the watcher is gone');
}

describe.runIf(linux)('beginning', () => {
  test('F01 start returns with its streams closed, another pipe that was left open too, and with what there is', async () => {
    const site = watchedProject();
    // Were any of them still open in the watcher, the shell would wait for it.
    const ended = await shell(
      'out=$(exec 251>&1; timeout 20 "$NODE" "$PREVIEW" live start --mode watch --json 2>&1); printf "%s\\n" "$out"',
      { cwd: site.project, limit_ms: 30_000 },
    );
    const answer = documentOf(ended);
    const watcher = watcherIn(site);
    expect(answer).toMatchObject({ session_dir: site.session, live_mode: 'watch' });
    await untilShown(site, 'one');
    expect(answer['watcher']).toEqual({
      pid: watcher?.pid,
      started_at: watcher?.started_at,
      log: join(site.root, '.cache/watch-session_001.log'),
    });
    expect(stepsOf(site)).toMatchObject([
      { publish_reason: 'start', command: 'preview live start --mode watch --json' },
    ]);
    const proc = `/proc/${watcher!.pid}`;
    expect([0, 1, 2].map((fd) => readlinkSync(`${proc}/fd/${fd}`))).toEqual([
      '/dev/null',
      answer['watcher'].log,
      answer['watcher'].log,
    ]);
    expect(readdirSync(`${proc}/fd`)).not.toContain('251');
    // In a session of its own, it outlives its terminal; in `/`, it keeps no folder busy.
    expect(readFileSync(`${proc}/stat`, 'utf8').split(') ')[1]!.split(' ')[3]).toBe(String(watcher!.pid));
    expect(readlinkSync(`${proc}/cwd`)).toBe('/');
    process.kill(watcher!.pid, 'SIGHUP');
    edit(site, 'two');
    await untilShown(site, 'two');
    expect(stepsOf(site)[1]).toMatchObject({
      publish_reason: 'mutation',
      command: null,
      note: 'changed: scene/a.txt',
    });
    await stop(site);
  });

  test('F01 a first step that takes its time is not waited for', async () => {
    const site = watchedProject('slow');
    const answer = await beginWatching(site);
    expect(answer).toMatchObject({ step_id: null, live_mode: 'watch' });
    expect(answer['warnings']).toEqual([expect.stringMatching(/^first_step_pending: /)]);
    writeFileSync(join(site.project, 'go'), '');
    await untilShown(site, 'one');
    expect(reasons(site)).toEqual(['start']);
    await stop(site);
  });

  test('F04 five starts at once: one watcher, five truthful answers, none left after stop', async () => {
    const site = watchedProject();
    const answers = await Promise.all(Array.from({ length: 5 }, () => startWatching(site)));
    const pids = watchersOf(site.root);
    expect(pids).toHaveLength(1);
    expect(answers.map((answer) => answer['watcher'].pid)).toEqual(Array(5).fill(pids[0]));
    const told = answers.map((answer) => answer['warnings'].map((text: string) => text.split(':')[0]));
    expect(told.filter((codes) => codes.includes('already_watched')).length).toBeGreaterThanOrEqual(4);
    expect(await status(site)).toMatchObject({ active: true, watcher: 'alive' });
    expect(await stop(site)).toMatchObject({ active: false, status: 'stopped' });
    expect(watchersOf(site.root)).toEqual([]);
    expect(headOf(site)).toMatchObject({ watcher: null, live_mode: 'watch', status: 'stopped' });
    expect(reasons(site)).toEqual(['start']);
    // Again, with nothing left to end.
    expect(await stop(site)).toMatchObject({ status: 'stopped' });
  });

  test('a session that is active is watched from then on; a wrong mode or recipe begins nothing', async () => {
    const site = watchedProject();
    const wrong = await preview(site.project, ['live', 'start', '--mode', 'sometimes', '--json']);
    expect([wrong.code, errorOf(wrong).code]).toEqual([2, 'usage']);
    const unknown = await preview(site.project, [
      'live',
      'start',
      '--mode',
      'watch',
      '--recipe',
      'nope',
      '--json',
    ]);
    expect([unknown.code, errorOf(unknown).code]).toEqual([2, 'recipe_unknown']);
    expect(existsSync(site.session)).toBe(false);
    await done(preview(site.project, ['live', 'start', '--json']));
    expect(await status(site)).not.toHaveProperty('watcher');
    const answer = await startWatching(site, ['--mode', 'poll']);
    expect(answer).toMatchObject({ step_id: 'step-0001', session_dir: site.session });
    expect(answer['warnings']).toEqual([expect.stringMatching(/^now_watched: /)]);
    edit(site, 'two');
    await untilShown(site, 'two');
    expect(reasons(site)).toEqual(['start', 'mutation']);
    await stop(site);
  });
});

describe.runIf(linux)('recording', () => {
  test('one step a change, none lost and none doubled, with pushes in between', async () => {
    const site = watchedProject();
    await startWatching(site);
    const pushes: string[] = [];
    for (let n = 1; n <= 20; n++) {
      edit(site, `state ${n}`, 'scene/a.txt', n % 2 ? 'write' : 'rename');
      if (n % 4 === 0) {
        const pushed = await done(
          preview(site.project, ['live', 'push', '--command', `draw ${n}`, '--json']),
        );
        pushes.push(pushed['step_id']);
      }
      // Every fifth change is followed by the next one at once: then one step for both will do.
      if (n % 5 !== 0) await untilShown(site, `state ${n}`);
    }
    await untilShown(site, 'state 20');
    const steps = stepsOf(site);
    expectNoDoubles(site);
    expect(steps.filter((step) => step.command !== null).map((step) => step.step_id)).toEqual([
      'step-0001',
      ...pushes,
    ]);
    // 1 + 20 changes, of which at least 16 were waited for; a push may follow the watcher's step of the same change.
    expect(steps.length).toBeGreaterThanOrEqual(17);
    expect(steps.length).toBeLessThanOrEqual(21 + pushes.length);
    await stop(site);
    expect((await previews(site.project, ['verify', '--json'])).code).toBe(0);
  });

  test('H01 fifty replacements by rename, a folder deleted and made again: the last state is shown', async () => {
    const site = watchedProject();
    await startWatching(site);
    for (let n = 1; n <= 50; n++) edit(site, `replaced ${n}`, 'scene/a.txt', 'rename');
    await untilShown(site, 'replaced 50');
    const before = stepsOf(site).length;
    rmSync(join(site.project, 'scene'), { recursive: true });
    await until(() => stepsOf(site).length === before + 1, 'the deletion is recorded');
    mkdirSync(join(site.project, 'scene'));
    edit(site, 'made again');
    await untilShown(site, 'made again');
    // Its watch is a new one: what follows is seen too, in a folder that is made later as well.
    mkdirSync(join(site.project, 'scene/deep/er'), { recursive: true });
    const steps = stepsOf(site).length;
    edit(site, 'b', 'scene/deep/er/b.txt');
    await until(() => stepsOf(site).length > steps, 'the file in the new folder is recorded');
    expectNoDoubles(site);
    await stop(site);
  });

  test('H01 a file that is written slowly is recorded once it is whole', async () => {
    const site = watchedProject();
    await startWatching(site, ['--quiet-ms', '2500']);
    const body = 'for n in 1 2 3 4 5 6; do printf x; sleep 0.1; done > "$0"';
    await once(spawn('sh', ['-c', body, join(site.project, 'scene/a.txt')]), 'exit');
    await untilShown(site, 'xxxxxx');
    expect(stepsOf(site)).toHaveLength(2);
    await stop(site);
  });

  test('a change during a render is recorded after it; a state that a push recorded meanwhile is not', async () => {
    const site = watchedProject('slow');
    const started = join(site.project, 'started');
    writeFileSync(join(site.project, 'go'), '');
    await startWatching(site);
    await untilShown(site, 'one');
    rmSync(join(site.project, 'go'));
    rmSync(started);
    edit(site, 'two');
    await until(() => existsSync(started), 'the renderer runs');
    edit(site, 'three');
    writeFileSync(join(site.project, 'go'), '');
    await untilShown(site, 'three');
    rmSync(join(site.project, 'go'));
    rmSync(started);
    const before = stepsOf(site).length;
    edit(site, 'four');
    await until(() => existsSync(started), 'the renderer runs');
    await done(preview(site.project, ['live', 'push', '--recipe', 'plain', '--json']));
    writeFileSync(join(site.project, 'go'), '');
    await until(() => !staging(site), 'the render of what is recorded by now is given up');
    expect(stepsOf(site).slice(before)).toMatchObject([{ recipe: 'plain' }]);
    edit(site, 'five');
    await untilShown(site, 'five');
    expect(stepsOf(site).slice(before)).toMatchObject([{ recipe: 'plain' }, { recipe: 'slow' }]);
    await stop(site);
  });

  test('a config that is broken is told, and forgotten once it is mended; a changed recipe is a change', async () => {
    const site = watchedProject();
    await startWatching(site);
    const config = join(site.project, 'preview.config.json');
    writeFileSync(config, '{');
    await until(() => watcherIn(site)?.last_error, 'the error is told');
    expect(watcherIn(site)?.last_error).toMatch(/^config_invalid: .*is not JSON/);
    const text = await preview(site.project, ['live', 'status']);
    expect(text.stdout).toMatch(/watcher {2}alive {2}process \d+ .*heartbeat/);
    expect(text.stdout).toMatch(/error {4}config_invalid: /);
    edit(site, 'two');
    writeFileSync(config, configOf('plain'));
    await untilShown(site, 'two');
    await until(() => watcherIn(site)?.last_error === null, 'the error is forgotten');
    const changed = JSON.parse(configOf('plain'));
    changed.recipes.plain.artifacts[0].label = 'Scene';
    writeFileSync(config, JSON.stringify(changed));
    await until(() => stepsOf(site).length === 3, 'the changed recipe is recorded');
    expect(stepsOf(site)[2]).toMatchObject({ cached: false, publish_reason: 'mutation' });
    await stop(site);
  });

  test('a renderer that fails is a step and an error, until one succeeds', async () => {
    const site = watchedProject('fail');
    await startWatching(site);
    edit(site, 'broken');
    await until(() => stepsOf(site).length === 2, 'the failure is recorded');
    await until(() => watcherIn(site)?.last_error, 'the error is told');
    expect(watcherIn(site)?.last_error).toMatch(/^renderer_failed: /);
    edit(site, 'mended');
    await untilShown(site, 'mended');
    await until(() => watcherIn(site)?.last_error === null, 'the error is forgotten');
    expect(stepsOf(site).map((step) => step.status)).toEqual(['ok', 'error', 'ok']);
    await stop(site);
  });
});

describe.runIf(linux)('living and ending', () => {
  test('killed, it is dead to status; the next start takes over and records what was missed', async () => {
    const site = watchedProject();
    await startWatching(site);
    await kill(site);
    expect(await status(site)).toMatchObject({ active: true, watcher: 'dead' });
    expect((await preview(site.project, ['live', 'status'])).stdout).toMatch(/watcher {2}dead/);
    edit(site, 'meanwhile');
    const answer = await startWatching(site);
    expect(answer['watcher'].pid).toBe(watchersOf(site.root)[0]);
    await untilShown(site, 'meanwhile');
    await kill(site);
    expect(await stop(site)).toMatchObject({ status: 'stopped' });
    expect(headOf(site)).toMatchObject({ watcher: null });
  });

  test('F03 a pid that is another process by now is dead, and no signal reaches that process', async () => {
    const site = watchedProject();
    await startWatching(site);
    await kill(site);
    const other = spawn('sleep', ['600']);
    onTestFinished(() => void other.kill('SIGKILL'));
    editJson(headFile(site.session), (head) => {
      head['watcher'].pid = other.pid;
      head['watcher'].heartbeat_at = new Date().toISOString();
    });
    expect(await status(site)).toMatchObject({ watcher: 'dead' });
    await stop(site);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    expect(headOf(site)).toMatchObject({ watcher: null });
  });

  test('F03 another boot of this machine is dead; another machine or container is respected until its heartbeat ages', async () => {
    const site = watchedProject();
    await startWatching(site);
    const { boot_id, host } = watcherIn(site)!;
    await kill(site);
    // A process that lives here, as the pid of the record may do by chance.
    const record = (change: Record<string, unknown>, age_s: number) =>
      editJson(headFile(site.session), (head) => {
        const heartbeat_at = new Date(Date.now() - age_s * 1000).toISOString();
        Object.assign(head['watcher'], { pid: process.pid, boot_id, host, heartbeat_at, ...change });
      });
    const otherBoot = { boot_id: '00000000-0000-4000-8000-000000000000' };
    record(otherBoot, 1);
    expect(await status(site)).toMatchObject({ watcher: 'dead' });
    for (const elsewhere of [{ ...otherBoot, host: 'ffffffff' }, { pid_namespace: '1' }]) {
      record(elsewhere, 1);
      expect(await status(site)).toMatchObject({ watcher: 'alive' });
      const answer = await startWatching(site);
      expect(answer['warnings'][0]).toMatch(/^already_watched: /);
      expect(watchersOf(site.root)).toEqual([]);
      record(elsewhere, 120);
      expect(await status(site)).toMatchObject({ watcher: 'dead' });
    }
    const taken = await startWatching(site);
    expect(watchersOf(site.root)).toEqual([taken['watcher'].pid]);
    await stop(site);
  });

  test('stop during a render ends the renderer, records nothing more and leaves nothing', async () => {
    const site = watchedProject('slow');
    writeFileSync(join(site.project, 'go'), '');
    await startWatching(site);
    await untilShown(site, 'one');
    rmSync(join(site.project, 'go'));
    rmSync(join(site.project, 'started'));
    edit(site, 'two');
    const renderer = Number(
      await until(
        () =>
          existsSync(join(site.project, 'started')) && readFileSync(join(site.project, 'started'), 'utf8'),
        'the renderer runs',
      ),
    );
    await stop(site);
    expect(watchersOf(site.root)).toEqual([]);
    expect(existsSync(`/proc/${renderer}`)).toBe(false);
    expect(stepsOf(site)).toHaveLength(1);
    expect(staging(site)).toBe(false);
  });

  test('where its session is damaged, it goes on in the one that follows', async () => {
    const site = watchedProject();
    const { watcher } = await startWatching(site);
    writeFileSync(headFile(site.session), '{');
    const next = { ...site, session: join(site.root, 'session_002') };
    edit(site, 'two');
    await until(() => watcherIn(next)?.pid === watcher.pid, 'it has its seat in the next session');
    edit(site, 'three');
    await untilShown(next, 'three');
    expect(headOf(next)).toMatchObject({ status: 'active', continues: 'session_001', live_mode: 'watch' });
    expect(readFileSync(join(site.root, '.cache/watch-session_002.log'), 'utf8')).toMatch(/goes on in/);
    expect(await stop(site)).toMatchObject({ status: 'stopped', session_dir: next.session });
    expect(watchersOf(site.root)).toEqual([]);
  });

  test('it ends by itself with its session, and with its project', async () => {
    const site = watchedProject();
    await startWatching(site);
    editJson(headFile(site.session), (head) => {
      head['status'] = 'stopped';
    });
    await until(() => watchersOf(site.root).length === 0, 'it sees that its session was stopped');
    expect(readHead(site.session).value?.watcher).toBeNull();
    const other = watchedProject();
    await startWatching(other);
    renameSync(other.project, `${other.project}-moved`);
    await until(() => watchersOf(other.root).length === 0, 'it sees that its project is gone');
    expect(existsSync(other.project)).toBe(false);
  });
});
