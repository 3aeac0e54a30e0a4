// The promises of the lock (protocol, section 4): who is taken over and when, who never is, and that whoever
// was taken over all the same changes nothing.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentOwner, type Owner, ownerName } from '../../src/owner.js';
import {
  dist,
  type Ended,
  errorOf,
  fakeClock,
  type Helper,
  isRaw,
  previewArgv,
  resultOf,
  run,
  STOPPER,
  scratch,
  script,
  until,
  verifyClean,
} from '../helpers/children.js';
import { plainEnv, processState } from '../helpers/fault.js';
import { mountNamespace, mountSkip, pidSkip } from '../helpers/namespace.js';
import {
  contentOf,
  headOf,
  internals,
  leftInWork,
  makeProject,
  type Site,
  stepsOf,
} from '../helpers/publish.js';

const place = scratch();
afterAll(place.remove);
let library: string;
beforeAll(async () => {
  library = await internals(place.path);
});

let folders = 0;
/** A project with a session of one step, and the folder that a lock test plays in. */
async function oneStep(): Promise<Site & { folder: string; lock: string }> {
  const folder = join(place.path, `case-${folders++}`);
  mkdirSync(folder);
  const site = makeProject(folder);
  resultOf(await capture(site));
  return { ...site, folder, lock: join(site.session, '.work', 'lock') };
}

const capture = ({ project }: { project: string }, timeout_s = 1, ...more: string[]): Promise<Ended> =>
  run(previewArgv('capture', '--json', '--lock-timeout', String(timeout_s), ...more), { cwd: project });

/** Takes a lock by the library's internals and keeps it until the file `go` is there. */
const HOLDER = `
const { existsSync } = require('node:fs');
const [library, dir, go] = process.argv.slice(2);
require(library).acquireLock(dir, { timeout_ms: 60000, onWait: (owner) => console.log('waiting ' + owner) }).then((lock) => {
  console.log('held ' + process.pid + ' ' + lock.owner);
  const wait = async () => {
    if (!existsSync(go)) return setTimeout(wait, 5);
    console.log('still ' + lock.held());
    await lock.release();
    console.log('released');
  };
  wait();
});
`;
let holders = 0;
const hold = (
  site: { folder: string; session: string },
  dir = site.session,
  prefix: string[] = [],
): Helper & { go: () => void } => {
  const go = join(site.folder, `go-${holders++}`);
  const helper = script(site.folder, 'holder', HOLDER, [library, dir, go], { prefix });
  return { ...helper, go: () => writeFileSync(go, '') };
};

const self = currentOwner();
const owner = (changes: Partial<Owner>): string => ownerName({ ...self, token: 'feedfeedfeed', ...changes });
const elsewhere = owner({ host: 'aaaaaaaa', boot: 'bbbbbbbb' });

/** Puts an entry into the lock, as its owner would have left it. */
function plant(lock: string, name: string, mtime?: Date): void {
  mkdirSync(join(lock, name), { recursive: true });
  if (mtime) utimesSync(join(lock, name), mtime, mtime);
}

const future = () => new Date(Date.now() + 86_400_000);

describe.concurrent('who is taken over', () => {
  it('A03 a killed owner, at once', async () => {
    const site = await oneStep();
    const holder = hold(site);
    const [, name] = (await holder.said('held')).split(' ');
    holder.kill('SIGKILL');
    await holder.done;
    expect(readdirSync(site.lock)).toEqual([name]);
    const ended = await capture(site);
    expect(isRaw(ended.stderr)).toBe(false);
    expect(resultOf(ended).step_id).toBe('step-0002');
    expect(leftInWork(site.session)).toEqual([]);
  });

  it('A03 a killed owner that nobody has waited for yet (a zombie), at once', async () => {
    const site = await oneStep();
    const go = join(site.folder, 'never');
    // The shell becomes a sleep, which reaps nobody.
    const parent = script(site.folder, 'holder', HOLDER, [library, site.session, go], {
      prefix: ['sh', '-c', '"$@" & exec sleep 600', 'sh'],
    });
    const pid = Number((await parent.said('held')).split(' ')[0]);
    process.kill(pid, 'SIGKILL');
    await until(() => processState(pid) === 'Z', { deadline_ms: 10_000, what: 'the zombie' });
    expect(resultOf(await capture(site)).step_id).toBe('step-0002');
    expect(processState(pid)).toBe('Z');
    parent.kill('SIGKILL');
  });

  const dead = spawnSync('true').pid;
  const once: [string, (lock: string) => void][] = [
    ['a lock without an entry', (lock) => mkdirSync(lock, { recursive: true })],
    [
      'an owner whose pid is another process by now',
      (lock) => plant(lock, owner({ pid: process.pid, started: '1' })),
    ],
    ['an owner without a process', (lock) => plant(lock, owner({ pid: dead }))],
    [
      'an owner of an older boot, though its pid lives',
      (lock) => plant(lock, owner({ boot: 'bbbbbbbb', pid: process.pid })),
    ],
    ['a dead owner stamped in the future', (lock) => plant(lock, owner({ pid: dead }), future())],
    [
      'two dead owners',
      (lock) => [1, 2].map((n) => plant(lock, owner({ pid: dead, token: `${n}`.repeat(12) }))),
    ],
  ];
  for (const [what, make] of once) {
    it(`A03 ${what}, at once`, async () => {
      const site = await oneStep();
      make(site.lock);
      expect(resultOf(await capture(site)).step_id).toBe('step-0002');
      expect(leftInWork(site.session)).toEqual([]);
    });
  }

  const later: [string, (lock: string) => void][] = [
    ['A06 a plain file in its place', (lock) => writeFileSync(lock, 'put here by a sync tool')],
    [
      'A06 a stray file in it',
      (lock) => {
        mkdirSync(lock);
        writeFileSync(join(lock, 'stray'), '');
      },
    ],
    [
      'A06 a folder with something in it',
      (lock) => {
        plant(lock, 'not an owner');
        writeFileSync(join(lock, 'not an owner', 'x'), '');
      },
    ],
    ['F03 an owner on another machine', (lock) => plant(lock, elsewhere)],
    ['F03 an owner in another pid namespace', (lock) => plant(lock, owner({ namespace: '1', pid: dead }))],
    [
      'F03 an owner on another machine with the pid of a live process here',
      (lock) => plant(lock, owner({ host: 'aaaaaaaa', boot: 'bbbbbbbb', pid: process.pid })),
    ],
    ['F03 an owner on another machine, stamped long ago', (lock) => plant(lock, elsewhere, new Date(0))],
    ['F03 an owner on another machine, stamped in the future', (lock) => plant(lock, elsewhere, future())],
  ];
  for (const [what, make] of later) {
    it(`${what}, after five seconds without a change`, async () => {
      const site = await oneStep();
      make(site.lock);
      const refused = await capture(site, 1);
      expect(refused.code, refused.stdout + refused.stderr).toBe(5);
      expect(errorOf(refused).code).toBe('lock_timeout');
      expect(isRaw(refused.stderr)).toBe(false);
      expect(stepsOf(site.session)).toHaveLength(1);
      const began = performance.now();
      const taken = await capture(site, 60);
      expect(resultOf(taken).step_id).toBe('step-0002');
      expect(performance.now() - began).toBeGreaterThan(5000);
      expect(leftInWork(site.session)).toEqual([]);
    }, 90_000);
  }
});

describe.concurrent('who is not', () => {
  it('F03 an unknown owner whose entry changes', async () => {
    const site = await oneStep();
    plant(site.lock, elsewhere);
    let stamp = Date.now();
    const beat = setInterval(() => {
      stamp += 1000;
      utimesSync(join(site.lock, elsewhere), new Date(stamp), new Date(stamp));
    }, 200);
    const ended = await capture(site, 6.5);
    clearInterval(beat);
    expect(ended.code, ended.stdout + ended.stderr).toBe(5);
    expect(errorOf(ended).message).toMatch(/another machine/);
    expect(readdirSync(site.lock)).toEqual([elsewhere]);
  }, 60_000);

  it('F03 A17 an unknown owner, for a wall clock that races', async () => {
    const site = await oneStep();
    plant(site.lock, elsewhere);
    const clock = fakeClock(site.folder);
    const ended = await run(previewArgv('capture', '--json', '--lock-timeout', '3'), {
      cwd: site.project,
      env: clock(0, 60),
    });
    expect(ended.code, ended.stdout + ended.stderr).toBe(5);
    expect(readdirSync(site.lock)).toEqual([elsewhere]);
  }, 60_000);

  it('A04 a living owner, though its stamp is an hour old', async () => {
    const site = await oneStep();
    plant(site.lock, owner({}), new Date(Date.now() - 3_600_000));
    const ended = await capture(site, 6.5);
    expect(ended.code, ended.stdout + ended.stderr).toBe(5);
    expect(errorOf(ended).message).toContain(`process ${process.pid} has held it for 36`);
    expect(readdirSync(site.lock)).toEqual([owner({})]);
  }, 60_000);

  it('A04 a stopped owner: the waiter gives up with exit 5, naming it and its age', async () => {
    const site = await oneStep();
    const holder = hold(site);
    const pid = Number((await holder.said('held')).split(' ')[0]);
    holder.kill('SIGSTOP');
    await until(() => processState(pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
    const ended = await capture(site, 6.5);
    expect(ended.code, ended.stdout + ended.stderr).toBe(5);
    expect(ended.stdout).toBe('');
    const { code, message, hint } = errorOf(ended);
    expect(code).toBe('lock_timeout');
    expect(message).toMatch(new RegExp(`process ${pid} has held it for \\d+\\.\\d s`));
    expect(hint).toContain('--lock-timeout');
    expect(isRaw(ended.stderr)).toBe(false);
    expect(stepsOf(site.session)).toHaveLength(1);
    holder.kill('SIGCONT');
    holder.go();
    expect(await holder.said('still')).toBe('true');
    await holder.said('released');
    expect(resultOf(await capture(site)).step_id).toBe('step-0002');
  }, 60_000);

  const noPids = pidSkip();
  it.skipIf(noPids)(
    `F03 a living owner in another pid namespace, as long as it lives${noPids ? ` (skipped: ${noPids})` : ''}`,
    async () => {
      const site = await oneStep();
      const holder = hold(site, site.session, ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']);
      const [pid, name] = (await holder.said('held')).split(' ');
      expect(Number(pid)).toBeLessThan(20);
      const ended = await capture(site, 6.5);
      expect(ended.code, ended.stdout + ended.stderr).toBe(5);
      expect(errorOf(ended).message).toMatch(/in another container has held it/);
      expect(readdirSync(site.lock)).toEqual([name]);
      holder.kill('SIGKILL');
      await holder.done;
      const began = performance.now();
      expect(resultOf(await capture(site, 60)).step_id).toBe('step-0002');
      // Counted from the last change that the waiter saw, which may be before it came.
      expect(performance.now() - began).toBeGreaterThan(5000);
    },
    90_000,
  );

  it('a holder that comes by another spelling of the path', async () => {
    const site = await oneStep();
    const other = join(site.folder, 'other');
    symlinkSync(site.project, other);
    const holder = hold(site, join(other, '.preview', 'session_001'));
    await holder.said('held');
    expect((await capture(site)).code).toBe(5);
    holder.go();
    await holder.said('released');
    expect(resultOf(await capture(site)).step_id).toBe('step-0002');
  }, 60_000);

  const noMounts = mountSkip();
  it.skipIf(noMounts)(
    `a holder that comes through a bind mount${noMounts ? ` (skipped: ${noMounts})` : ''}`,
    async () => {
      const site = await oneStep();
      const bound = join(site.folder, 'bound');
      mkdirSync(bound);
      const space = await mountNamespace(`mount --bind '${site.project}' '${bound}'`);
      const holder = hold(site, join(bound, '.preview', 'session_001'), space.inside(site.folder));
      await holder.said('held');
      expect((await capture(site)).code).toBe(5);
      holder.go();
      await holder.said('released');
      expect(resultOf(await capture(site)).step_id).toBe('step-0002');
      await space.close();
    },
    60_000,
  );
});

type Word = { waiting?: number; held?: number; released?: number; double?: string };

/** A waiter that takes the lock when told a round, and keeps it until told to free it. */
const WAITER = `
const fs = require('node:fs');
const [library, dir, inside] = process.argv.slice(2);
const { acquireLock } = require(library);
let free;
process.on('message', async ({ round, free: now }) => {
  if (now) return free();
  const freed = new Promise((resolve) => { free = resolve; });
  const lock = await acquireLock(dir, { timeout_ms: 60000, onWait: () => process.send({ waiting: round }) });
  try {
    fs.mkdirSync(inside);
  } catch (error) {
    process.send({ double: 'another is inside: ' + error.code });
  }
  process.send({ held: round });
  await freed;
  if (!lock.held()) process.send({ double: 'lost while held' });
  fs.rmSync(inside, { recursive: true, force: true });
  await lock.release();
  process.send({ released: round });
});
`;

it('twelve waiters on one dead owner: one wins each time, none is inside together with another (16 rounds)', async () => {
  const site = await oneStep();
  const file = join(site.folder, 'waiter.cjs');
  writeFileSync(file, WAITER);
  const words: { from: ChildProcess; word: Word }[] = [];
  const waiters = Array.from({ length: 12 }, () => {
    const child = fork(file, [library, site.session, join(site.folder, 'inside')], {
      env: plainEnv(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (word: Word) => words.push({ from: child, word }));
    return child;
  });
  const count = (key: keyof Word, round: number) => words.filter(({ word }) => word[key] === round).length;
  const deadPid = spawnSync('true').pid;
  try {
    for (let round = 1; round <= 16; round++) {
      // By turns: killed under the eyes of twelve waiters, and dead before they all come at once.
      if (round % 2) {
        const holder = hold(site);
        await holder.said('held');
        for (const waiter of waiters) waiter.send({ round });
        await until(() => count('waiting', round) === 12, { deadline_ms: 30_000, what: 'twelve wait' });
        expect(count('held', round)).toBe(0);
        holder.kill('SIGKILL');
        await holder.done;
      } else {
        plant(site.lock, owner({ pid: deadPid, token: String(round).padStart(12, '0') }));
        for (const waiter of waiters) waiter.send({ round });
      }
      let freed = 0;
      while (freed < 12) {
        await until(() => count('held', round) > freed, {
          deadline_ms: 30_000,
          what: `holder ${freed + 1} of round ${round}`,
        });
        expect(count('held', round)).toBe(freed + 1);
        const holding = words.filter(({ word }) => word.held === round)[freed]!;
        holding.from.send({ free: true });
        freed++;
      }
      await until(() => count('released', round) === 12, { deadline_ms: 30_000, what: 'all released' });
      expect(words.filter(({ word }) => word.double)).toEqual([]);
      expect(leftInWork(site.session)).toEqual([]);
    }
  } finally {
    for (const waiter of waiters) waiter.kill('SIGKILL');
  }
}, 120_000);

/** Renames the only entry of the lock away, as an evictor on another machine would. */
function evictByHand(site: { lock: string; session: string }): string {
  const [name] = readdirSync(site.lock);
  renameSync(join(site.lock, name!), join(site.session, '.work', `evicted-${name}`));
  return name!;
}

/** A forced capture by the built command that stops itself at `point`. */
const stoppingAt = (site: Site & { folder: string }, point: string, force = true): Helper =>
  script(
    site.folder,
    `capture-${point}`,
    `${STOPPER(point)}
require(process.argv[2]).main(['--json', '--command', 'evicted', ...(process.argv[3] ? ['--force'] : [])]).then((code) => console.log('code ' + code));`,
    [join(dist, 'commands/preview-capture.cjs'), ...(force ? ['force'] : [])],
    { cwd: site.project },
  );

describe('who is taken over all the same', () => {
  for (const point of ['before-heal', 'before-bundle', 'after-bundle', 'before-write', 'before-head']) {
    it(`I2 I3 A04 commits nothing: stopped ${point}, evicted, overtaken, woken; then it records its step once`, async () => {
      const site = await oneStep();
      const victim = stoppingAt(site, point);
      await victim.said('stopped');
      await until(() => processState(victim.pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
      const name = evictByHand(site);
      expect(resultOf(await capture(site, 1, '--force')).step_id).toBe('step-0002');
      const next = hold(site);
      await next.said('held');
      const before = contentOf(site.session);
      victim.kill('SIGCONT');
      // It is waiting again, as an owner with a new token.
      await until(
        () =>
          readdirSync(join(site.session, '.work')).some(
            (entry) => entry.startsWith('new-') && entry.includes(`.${victim.pid}.`) && !entry.includes(name),
          ),
        { deadline_ms: 20_000, what: 'the evicted one waits' },
      );
      const after = contentOf(site.session);
      expect(after['session.json']).toBe(before['session.json']);
      expect(after['trajectory.json']).toBe(before['trajectory.json']);
      next.go();
      expect(await next.said('still')).toBe('true');
      const ended = await victim.done;
      expect(ended.stderr).toBe('');
      expect(ended.stdout).toContain('code 0');
      const steps = stepsOf(site.session);
      expect(steps.map((step) => step.command === 'evicted')).toEqual([false, false, true]);
      expect(new Set(steps.map((step) => step.bundle_id)).size).toBe(3);
      expect(await verifyClean(site.session)).toMatchObject({ steps: 3, pending: 0 });
      expect(readlinkSync(join(site.session, 'current'))).toBe(headOf(site.session).current_bundle_id);
    }, 60_000);
  }

  for (const point of ['after-head', 'after-append']) {
    it(`I3 A04 F05 harms nothing: stopped ${point}, evicted, overtaken, woken`, async () => {
      const site = await oneStep();
      const victim = stoppingAt(site, point);
      await victim.said('stopped');
      await until(() => processState(victim.pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
      evictByHand(site);
      expect(resultOf(await capture(site, 1, '--force')).step_id).toBe('step-0003');
      const head = readFileSync(join(site.session, 'session.json'));
      victim.kill('SIGCONT');
      expect((await victim.done).stdout).toContain('code 0');
      expect(readFileSync(join(site.session, 'session.json'))).toEqual(head);
      // Read by the rule, nothing is missing; three bytes of the last entry may have to be written again.
      expect(stepsOf(site.session).map((step) => step.command === 'evicted')).toEqual([false, true, false]);
      await verifyClean(site.session);
      expect(readlinkSync(join(site.session, 'current'))).toBe(headOf(site.session).current_bundle_id);
      expect(resultOf(await capture(site)).step_id).toBe('step-0004');
      expect(await verifyClean(site.session)).toMatchObject({ steps: 4, pending: 0 });
      expect(JSON.parse(readFileSync(join(site.session, 'trajectory.json'), 'utf8'))).toHaveLength(4);
    }, 60_000);
  }

  it('I3 changes no head when it only wanted to stop the session', async () => {
    const site = await oneStep();
    const victim = script(
      site.folder,
      'stopper',
      `${STOPPER('before-head')}
      require(process.argv[2]).stopSession(process.argv[3], { reason: 'mine' }).then((head) => console.log('done ' + head.status));`,
      [library, site.session],
    );
    await victim.said('stopped');
    await until(() => processState(victim.pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
    evictByHand(site);
    resultOf(await capture(site, 1, '--force'));
    victim.kill('SIGCONT');
    expect(await victim.said('done')).toBe('stopped');
    await victim.done;
    expect(headOf(site.session)).toMatchObject({
      status: 'stopped',
      stop_reason: 'mine',
      trajectory_step_count: 2,
    });
    expect(stepsOf(site.session)).toHaveLength(2);
    await verifyClean(site.session);
  }, 60_000);

  it('removes no lock that somebody else has taken since', async () => {
    const site = await oneStep();
    const first = hold(site);
    await first.said('held');
    evictByHand(site);
    const second = hold(site);
    const [, name] = (await second.said('held')).split(' ');
    first.go();
    expect(await first.said('still')).toBe('false');
    await first.said('released');
    expect((await first.done).code).toBe(0);
    expect(readdirSync(site.lock)).toEqual([name]);
    expect((await capture(site)).code).toBe(5);
    second.go();
    expect(await second.said('still')).toBe('true');
    await second.said('released');
    rmSync(join(site.session, '.work'), { recursive: true });
    // Safe to delete when nothing runs.
    expect(resultOf(await capture(site)).step_id).toBe('step-0002');
    expect(existsSync(join(site.session, '.work'))).toBe(true);
  }, 60_000);
});
