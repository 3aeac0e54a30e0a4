// Section A of the known failures of neighbouring tools (head, lock, trajectory, numbering), each with the built
// command. Those that need many processes or the lock's inside are in contention.test.ts and lock.test.ts.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  dist,
  type Ended,
  errorOf,
  fakeClock,
  type Helper,
  isRaw,
  preview,
  previewArgv,
  previews,
  type Result,
  resultOf,
  run,
  STOPPER,
  scratch,
  script,
  start,
  until,
  verifyClean,
} from '../helpers/children.js';
import { processState } from '../helpers/fault.js';
import {
  contentOf,
  headOf,
  type Json,
  leftInWork,
  makeProject,
  type Site,
  seedSteps,
  sha256,
  stepsOf,
} from '../helpers/publish.js';

const place = scratch();
afterAll(place.remove);
let folders = 0;
type Case = Site & { folder: string };
function makeCase(): Case {
  const folder = join(place.path, `case-${folders++}`);
  mkdirSync(folder);
  return { ...makeProject(folder), folder };
}
async function withSteps(count: number): Promise<Case> {
  const site = makeCase();
  for (let n = 1; n <= count; n++)
    resultOf(await preview(site.project, 'capture', '--json', '--force', '--command', `make ${n}`));
  return site;
}
/** A session of `count` published steps with a bundle each, as fast as the library makes them. */
async function published(count: number): Promise<Case> {
  const site = makeCase();
  const source = `
    const { openSession, publish } = require(process.argv[2]);
    (async () => {
      const session = await openSession({ root: process.argv[3], cwd: '/', env: {} });
      for (let n = 1; n <= Number(process.argv[4]); n++) {
        await publish(session, { headline: 'made', artifacts: [{ content: String(n), role: 'log', name: 'made.txt' }] }, { command: 'make ' + n });
      }
      console.log('published');
    })();`;
  const made = script(site.folder, 'publish', source, [join(dist, 'index.cjs'), site.root, String(count)]);
  await made.said('published');
  return site;
}
const capture = async ({ project }: Site, ...more: string[]): Promise<Result> =>
  resultOf(await preview(project, 'capture', '--json', '--lock-timeout', '1', ...more));

/** The built capture, stopped at a point of its publication. */
async function stoppedAt(site: Case, point: string): Promise<Helper> {
  const source = `${STOPPER(point)}require(process.argv[2]).main(['--json', '--force', '--command', 'victim']).then((code) => { process.exitCode = code; });`;
  const victim = script(
    site.folder,
    `capture-${point}`,
    source,
    [join(dist, 'commands/preview-capture.cjs')],
    { cwd: site.project },
  );
  await victim.said('stopped');
  await until(() => processState(victim.pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
  return victim;
}
async function killed(site: Case, point: string): Promise<void> {
  const victim = await stoppedAt(site, point);
  victim.kill('SIGKILL');
  await victim.done;
}
const json = (ended: Ended): Json => {
  expect(isRaw(ended.stderr), ended.stderr).toBe(false);
  return JSON.parse(ended.stdout) as Json;
};

it('A02 I1 two writers, of whom one is killed at each point in turn: what it left is no artifact, and is swept', async () => {
  const site = await withSteps(1);
  let count = 1;
  for (const point of ['before-heal', 'before-bundle', 'before-write', 'before-head', 'after-head']) {
    const victim = await stoppedAt(site, point);
    // The other writer is on its way, and must wait, when the first one dies.
    const other = preview(site.project, 'capture', '--json', '--force');
    await until(
      () => readdirSync(join(site.session, '.work')).filter((name) => name.startsWith('new-')).length > 0,
      { deadline_ms: 20_000, what: 'the other waits' },
    );
    headOf(site.session);
    victim.kill('SIGKILL');
    await victim.done;
    const result = resultOf(await other);
    count += point === 'after-head' ? 2 : 1;
    expect(result.step_id).toBe(`step-000${count}`);
    expect(leftInWork(site.session)).toEqual([]);
    for (const name of readdirSync(site.session).filter((entry) => entry.startsWith('bundle_'))) {
      const manifest = JSON.parse(readFileSync(join(site.session, name, 'manifest.json'), 'utf8')) as Json;
      expect(manifest.artifacts.map((artifact: Json) => artifact.path)).toEqual(['artifacts/scene.txt']);
    }
  }
  expect(
    readdirSync(site.session)
      .filter((name) => !/^bundle_\d+$/.test(name))
      .sort(),
  ).toEqual(['.work', 'current', 'session.json', 'trajectory.json']);
  await verifyClean(site.session);
}, 60_000);

it('A03 a capture killed while it holds the lock is taken over at once by the next', async () => {
  const site = await withSteps(1);
  await killed(site, 'before-head');
  expect(readdirSync(join(site.session, '.work', 'lock'))).toHaveLength(1);
  const ended = await preview(site.project, 'capture', '--json', '--lock-timeout', '1');
  expect(isRaw(ended.stderr), ended.stderr).toBe(false);
  expect(resultOf(ended).step_id).toBe('step-0002');
});

it('A04 a capture frozen in the critical section blocks the next one, which says who it is, and finishes when woken', async () => {
  const site = await withSteps(1);
  const frozen = await stoppedAt(site, 'before-head');
  const second = await preview(site.project, 'capture', '--json', '--lock-timeout', '1');
  expect(second.code).toBe(5);
  expect(errorOf(second).message).toMatch(new RegExp(`process ${frozen.pid} has held it for \\d+\\.\\d s`));
  frozen.kill('SIGCONT');
  const first = await frozen.done;
  expect([first.code, first.stderr]).toEqual([0, '']);
  expect((await capture(site)).step_id).toBe('step-0003');
  await verifyClean(site.session);
});

it('A04 a waiter without --json says the same in two plain lines', async () => {
  const site = await withSteps(1);
  const frozen = await stoppedAt(site, 'before-head');
  const second = await preview(site.project, 'capture', '--lock-timeout', '0.2');
  expect(second.code).toBe(5);
  expect(second.stderr).toMatch(
    /^preview: .* stayed locked for 0\.2 s: process \d+ has held it for \d+\.\d s\n {2}let that process finish.*\n$/,
  );
  frozen.kill('SIGKILL');
  await frozen.done;
});

it('A07 five first captures at once into a nested folder that does not exist begin one session', async () => {
  const site = makeCase();
  const root = join(site.folder, 'a', 'b', 'c');
  const ended = await Promise.all(
    Array.from({ length: 5 }, () => preview(site.project, 'capture', '--json', '--root', root)),
  );
  expect(new Set(ended.map((each) => resultOf(each).step_id)).size).toBe(5);
  expect(new Set(ended.map((each) => resultOf(each).session_dir))).toEqual(
    new Set([join(root, 'session_001')]),
  );
  expect(readdirSync(root).sort()).toEqual(['.cache', '.gitignore', '.work', 'current', 'session_001']);
  for (const folder of [root, join(root, 'session_001')]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  await verifyClean(join(root, 'session_001'));
});

describe('A09 killed between the bundle, its manifest and the step', () => {
  it('A09 I3 while the renderer runs: nothing is recorded, and nothing is left', async () => {
    const site = await withSteps(1);
    const victim = start(previewArgv('capture', '--json', '--recipe', 'slow'), { cwd: site.project });
    await until(() => existsSync(join(site.project, 'started')), {
      deadline_ms: 20_000,
      what: 'the renderer runs',
    });
    victim.kill('SIGKILL');
    await victim.done;
    writeFileSync(join(site.project, 'go'), '');
    expect(json(await previews(site.project, 'inspect', '--json')).steps).toHaveLength(1);
    expect((await capture(site, '--recipe', 'slow')).bundle_id).toBe('bundle_002');
    expect(leftInWork(site.session)).toEqual([]);
    await verifyClean(site.session);
  });

  for (const [point, next, steps] of [
    ['before-bundle', 'bundle_002', 2],
    ['after-bundle', 'bundle_003', 2],
    ['before-head', 'bundle_003', 2],
    ['after-head', 'bundle_003', 3],
  ] as [string, string, number][]) {
    it(`A09 I2 I3 ${point}: the next capture works and uses no number twice`, async () => {
      const site = await withSteps(1);
      await killed(site, point);
      const orphan = steps === 2 && existsSync(join(site.session, 'bundle_002'));
      expect(orphan).toBe(next === 'bundle_003' && steps === 2);
      const seen = json(await previews(site.project, 'inspect', '--json'));
      expect(seen.steps).toHaveLength(steps - 1);
      const { code } = await previews(site.project, 'verify');
      expect(code).toBe(0);
      if (orphan) {
        // Whole as it is, no step stands for it: that must be said wherever it is shown.
        const shown = json(await previews(site.project, 'inspect', 'session_001/bundle_002', '--json'));
        expect(shown.step).toBeNull();
        expect(JSON.stringify([...shown.problems, ...seen.problems])).toContain('bundle_002');
      }
      const result = await capture(site, '--force');
      expect([result.bundle_id, result.step_id]).toEqual([next, `step-000${steps}`]);
      expect(existsSync(join(site.session, 'bundle_002'))).toBe(!orphan);
      expect(headOf(site.session).recoveries.map((each: Json) => each.kind)).toEqual(
        orphan ? ['orphans'] : steps === 3 ? ['append'] : [],
      );
      expect(leftInWork(site.session)).toEqual([]);
      await verifyClean(site.session);
    });
  }

  it('A09 F05 after-head, before the link was moved: a capture that reuses the new bundle moves it', async () => {
    const site = await withSteps(1);
    writeFileSync(join(site.project, 'scene.txt'), 'two\n');
    // A reused bundle must be known by its key, which the killed one had no time to write down: a whole capture does.
    const two = await capture(site);
    writeFileSync(join(site.project, 'scene.txt'), 'one\n');
    await capture(site, '--force');
    writeFileSync(join(site.project, 'scene.txt'), 'two\n');
    const source = `${STOPPER('after-head')}require(process.argv[2]).main(['--json']);`;
    const victim = script(site.folder, 'cached', source, [join(dist, 'commands/preview-capture.cjs')], {
      cwd: site.project,
    });
    await victim.said('stopped');
    victim.kill('SIGKILL');
    await victim.done;
    expect(headOf(site.session).current_bundle_id).toBe(two.bundle_id);
    expect((await capture(site)).bundle_id).toBe(two.bundle_id);
    expect(readlinkSync(join(site.session, 'current'))).toBe(two.bundle_id);
  });
});

describe('A10 a damaged head or trajectory', () => {
  const half = (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2));
  const damages: [string, string, (path: string) => void][] = [
    ['an empty session.json', 'session.json', (path) => truncateSync(path, 0)],
    ['session.json cut to half', 'session.json', half],
    ['session.json that is an array', 'session.json', (path) => writeFileSync(path, '[]\n')],
    ['trajectory.json cut to half', 'trajectory.json', half],
    ['an empty trajectory.json', 'trajectory.json', (path) => truncateSync(path, 0)],
    ['trajectory.json that is not there', 'trajectory.json', (path) => rmSync(path)],
    [
      'trajectory.json with another last entry',
      'trajectory.json',
      (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('"make 30"', '"take 30"')),
    ],
  ];
  for (const [what, name, damage] of damages) {
    it(`A10 ${what}: nothing is written into it, recording goes on in a session that continues it, and repair gives it back`, async () => {
      const site = await published(30);
      const before = stepsOf(site.session);
      const path = join(site.session, name);
      damage(path);
      const bytes = existsSync(path) ? readFileSync(path) : null;
      const damaged = contentOf(site.session);

      const status = await preview(site.project, 'live', 'status', '--json');
      expect(isRaw(status.stderr)).toBe(false);
      // The trajectory is not opened for a status.
      if (name === 'session.json') {
        expect(status.code).toBe(6);
        expect(errorOf(status).code).toBe('session_damaged');
      } else expect(status.code).toBe(0);
      const inspected = await previews(site.project, 'inspect', '--json');
      expect(inspected.code).toBe(0);
      expect((await previews(site.project, 'verify', '--json')).code).toBe(6);
      if (name === 'session.json') expect(json(inspected).problems).not.toEqual([]);

      const first = await capture(site, '--force');
      expect(first.session_dir).toBe(join(site.root, 'session_002'));
      expect(first.warnings.join()).toMatch(
        /session_damaged: session_001 is damaged.*session_002.*preview repair/,
      );
      expect(headOf(first.session_dir).continues).toBe('session_001');
      const second = await capture(site);
      expect([second.session_dir, second.step_id]).toEqual([first.session_dir, 'step-0002']);
      expect(readdirSync(site.root).filter((entry) => entry.startsWith('session_'))).toEqual([
        'session_001',
        'session_002',
      ]);
      expect(contentOf(site.session)).toEqual(damaged);
      await verifyClean(first.session_dir);

      const repaired = json(await preview(site.project, 'repair', 'session_001', '--json'));
      expect(repaired.repaired).toBe(true);
      expect(repaired.actions.join()).toMatch(/\d+ steps/);
      const kept = repaired.kept
        .filter((copy: string) => copy.endsWith(name))
        .map((copy: string) => readFileSync(join(site.session, copy)));
      expect(kept).toEqual(bytes === null ? [] : [bytes]);
      expect(await verifyClean(site.session)).toMatchObject({ steps: 30, bundles: 30 });
      const after = stepsOf(site.session);
      expect(after.map((step) => [step.step_id, step.command, step.bundle_id, step.manifest_sha256])).toEqual(
        before.map((step) => [step.step_id, step.command, step.bundle_id, step.manifest_sha256]),
      );
      // Of these the entries in between were known from nowhere else.
      if (/half|empty|not there/.test(what) && name === 'trajectory.json')
        expect(repaired.actions.join()).toMatch(/rebuilt from their bundles' manifests/);

      const whole = contentOf(site.session);
      const again = json(await preview(site.project, 'repair', 'session_001', '--json'));
      expect(again).toMatchObject({ repaired: false, kept: [] });
      expect(contentOf(site.session)).toEqual(whole);
    }, 60_000);
  }

  it('A10 head and trajectory both gone: the steps come back from the bundles alone', async () => {
    const site = await published(3);
    for (const name of ['session.json', 'trajectory.json']) truncateSync(join(site.session, name), 0);
    expect((await capture(site, '--force')).session_dir).toBe(join(site.root, 'session_002'));
    const repaired = json(await preview(site.project, 'repair', 'session_001', '--json'));
    expect(repaired.actions.join()).toMatch(/3 steps were rebuilt from their bundles' manifests/);
    expect(stepsOf(site.session).map((step) => step.command)).toEqual(['make 1', 'make 2', 'make 3']);
    await verifyClean(site.session);
  });
});

describe('A13 a bad entry among good ones', () => {
  for (const [what, pad] of [
    ['of the same length', true],
    ['of another length', false],
  ] as const) {
    it(`A13 ${what}: later steps are still shown, the bad ones flagged by index`, async () => {
      const site = await published(7);
      const path = join(site.session, 'trajectory.json');
      const lines = readFileSync(path, 'utf8').split('\n');
      const swap = (index: number, text: string) => {
        const old = lines[index]!;
        lines[index] = `${pad ? text.padEnd(Buffer.byteLength(old) - 1) : text},`;
      };
      swap(3, 'null');
      swap(5, '{"step_index":"five","step_id":5}');
      writeFileSync(path, lines.join('\n'));
      const seen = json(await previews(site.project, 'inspect', '--all', '--json'));
      expect(seen.steps.map((step: Json) => step.step_id)).toEqual([
        'step-0001',
        'step-0002',
        'step-0004',
        'step-0006',
        'step-0007',
      ]);
      expect(seen.problems.map((problem: Json) => problem.where)).toEqual(
        expect.arrayContaining(['step 3', 'step 5']),
      );
      const verdict = await previews(site.project, 'verify', '--json');
      expect(verdict.code).toBe(6);
      const where = (JSON.parse(verdict.stdout) as Json).problems.map((problem: Json) => problem.where);
      expect(where).toEqual(expect.arrayContaining(['step 3', 'step 5']));
      const said = await previews(site.project, 'inspect', '--all');
      expect(said.stdout).toMatch(
        /step-0004[\s\S]*step-0007[\s\S]*problem: .*step 3[\s\S]*problem: .*step 5/,
      );
    });
  }
});

/** A command of the build, and how many bytes it read and wrote in its own process. */
async function counted(
  site: Case,
  name: string,
  argv: string[],
): Promise<{ read: number; written: number; rss: number }> {
  const source = `
    const { readFileSync } = require('node:fs');
    const io = () => Object.fromEntries([...readFileSync('/proc/self/io', 'latin1').matchAll(/(\\w+): (\\d+)/g)].map(([, key, value]) => [key, Number(value)]));
    const { main } = require(process.argv[2]);
    const before = io();
    Promise.resolve(main(process.argv.slice(3))).then((code) => {
      const after = io();
      console.log('counted ' + JSON.stringify({ code, read: after.rchar - before.rchar, written: after.wchar - before.wchar, rss: process.resourceUsage().maxRSS * 1024 }));
    });`;
  const helper = script(site.folder, 'counted', source, [join(dist, 'commands', `${name}.cjs`), ...argv], {
    cwd: site.project,
  });
  const found = JSON.parse(await helper.said('counted', 60_000)) as {
    code: number;
    read: number;
    written: number;
    rss: number;
  };
  expect(found.code).toBe(0);
  return found;
}

describe('A15 long and large', () => {
  it('A15 I4 one capture, status and inspect read and write as much at step 20,000 as at step 3', async () => {
    const site = await withSteps(2);
    const long = await withSteps(2);
    seedSteps(long.session, 20_000);
    const bytes = readFileSync(join(long.session, 'trajectory.json'));
    expect(bytes.length).toBeGreaterThan(10_000_000);
    const end = headOf(long.session).trajectory_bytes;
    for (const [name, ...argv] of [
      ['preview-capture', '--json', '--force'],
      ['preview-capture', '--json'],
      ['preview-status', 'status', '--json'],
      ['previews-inspect', '--json'],
    ] as [string, ...string[]][]) {
      const few = await counted(site, name, argv);
      const many = await counted(long, name, argv);
      // inspect reads the newest twenty steps, of which the short session has fewer, in pieces of 64 KB.
      expect(many.read - few.read, `${name} reads`).toBeLessThan(100_000);
      expect(many.written - few.written, `${name} writes`).toBeLessThan(40_000);
    }
    expect(
      readFileSync(join(long.session, 'trajectory.json')).subarray(0, end).equals(bytes.subarray(0, end)),
    ).toBe(true);
    expect(stepsOf(long.session)).toHaveLength(20_002);
    expect(await verifyClean(long.session)).toMatchObject({ steps: 20_002, pending: 0 });
  }, 60_000);

  it('A15 a renderer that prints 300 MB costs bounded memory and a step of the usual size', async () => {
    const site = await withSteps(1);
    const config = JSON.parse(readFileSync(join(site.project, 'preview.config.json'), 'utf8')) as Json;
    config.recipes.loud = {
      sources: ['scene.txt'],
      run: [['sh', '-c', 'head -c 150M /dev/zero; head -c 150M /dev/zero >&2; echo end >&2; exit 3']],
      artifacts: [],
    };
    writeFileSync(join(site.project, 'preview.config.json'), JSON.stringify(config));
    const source = `require(process.argv[2]).main(['--json', '--recipe', 'loud']).then((code) => console.log('counted ' + code + ' ' + process.resourceUsage().maxRSS));`;
    const helper = script(site.folder, 'loud', source, [join(dist, 'commands/preview-capture.cjs')], {
      cwd: site.project,
    });
    const [code, rss] = (await helper.said('counted', 60_000)).split(' ').map(Number);
    expect(code).toBe(4);
    expect(rss! * 1024).toBeLessThan(250_000_000);
    const step = stepsOf(site.session).at(-1)!;
    expect(Buffer.byteLength(JSON.stringify(step))).toBeLessThan(4096);
    const log = JSON.parse(readFileSync(join(site.session, step.manifest_path), 'utf8')).artifacts.find(
      (artifact: Json) => artifact.role === 'log',
    );
    expect(log.bytes).toBeLessThan(2_000_000);
    expect(readFileSync(join(site.session, step.bundle_dir, log.path), 'latin1')).toMatch(
      /bytes left out[\s\S]*end\n$/,
    );
    await verifyClean(site.session);
  }, 60_000);
});

it('A16 I2 two forced captures of one state, one after the other and at once, are two bundles each', async () => {
  const site = makeCase();
  const results = [
    await capture(site, '--force'),
    await capture(site, '--force'),
    ...(await Promise.all([capture(site, '--force'), capture(site, '--force')])),
  ];
  expect(results.map((result) => result.bundle_id).sort()).toEqual([
    'bundle_001',
    'bundle_002',
    'bundle_003',
    'bundle_004',
  ]);
  for (const { bundle_dir } of results)
    expect(readFileSync(join(bundle_dir, 'artifacts/scene.txt'), 'utf8')).toBe('one\n');
  expect(await verifyClean(site.session)).toMatchObject({ steps: 4, bundles: 4 });
});

it('A17 a clock that goes back a day: order and latest come from the sequence, durations are not negative, times are UTC', async () => {
  const site = makeCase();
  const clock = fakeClock(site.folder);
  const at = (env: Record<string, string>, ...more: string[]) =>
    run(previewArgv('capture', '--json', ...more), {
      cwd: site.project,
      env: { TZ: 'Asia/Kathmandu', ...env },
    });
  resultOf(await at(clock(86_400), '--command', 'tomorrow'));
  writeFileSync(join(site.project, 'scene.txt'), 'two\n');
  const second = resultOf(await at({}, '--command', 'today'));
  // The clock goes back an hour with each look, a command is said to have begun in the future.
  writeFileSync(join(site.project, 'scene.txt'), 'three\n');
  resultOf(await at(clock(0, -3600), '--force'));
  resultOf(
    await at(
      {},
      '--force',
      '--command',
      'late',
      '--started-at',
      new Date(Date.now() + 7_200_000).toISOString(),
    ),
  );
  expect(second.bundle_id).toBe('bundle_002');
  const steps = stepsOf(site.session);
  expect(steps[0]!.published_at > steps[1]!.published_at).toBe(true);
  for (const step of steps) {
    expect(step.published_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(step.duration_ms ?? 0).toBeGreaterThanOrEqual(0);
    expect(step.duration_ms ?? 0).toBeLessThan(60_000);
  }
  const status = json(await preview(site.project, 'live', 'status', '--json'));
  expect([
    status.step,
    status.trajectory_summary.latest.command,
    status.trajectory_summary.latest.bundle,
  ]).toEqual(['step-0004', 'late', 'bundle_004']);
  expect(readlinkSync(join(site.session, 'current'))).toBe('bundle_004');
  expect(headOf(site.session).history.map((each: Json) => each.step_id)).toEqual([
    'step-0004',
    'step-0003',
    'step-0002',
    'step-0001',
  ]);
  expect(json(await preview(site.project, 'latest', '--json')).step_id).toBe('step-0004');
  expect(
    json(await previews(site.project, 'inspect', '--json')).steps.map((step: Json) => step.step_index),
  ).toEqual([1, 2, 3, 4]);
  await verifyClean(site.session);
});

it('I4 what is behind the closing bracket is cut off, and what is before it is as it was', async () => {
  const site = await withSteps(2);
  const path = join(site.session, 'trajectory.json');
  const before = readFileSync(path);
  appendFileSync(path, 'left by a longer writer');
  await capture(site, '--force');
  expect(
    readFileSync(path)
      .subarray(0, before.length - 3)
      .equals(before.subarray(0, before.length - 3)),
  ).toBe(true);
  expect(sha256(JSON.stringify(JSON.parse(readFileSync(path, 'utf8')).at(-1)))).toBe(
    headOf(site.session).trajectory_sha256,
  );
  expect(headOf(site.session).recoveries.map((each: Json) => each.kind)).toEqual(['surplus']);
  await verifyClean(site.session);
});
