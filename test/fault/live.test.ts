// Live sessions and what befalls a capture on its way: several starts at once, readers of `current`, sessions that
// are moved or copied, Ctrl-C, sources that change, renders that overtake each other, bundles that were altered.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Child,
  dist,
  errorOf,
  isRaw,
  preview,
  previewArgv,
  previews,
  type Result,
  resultOf,
  run,
  scratch,
  script,
  start,
  until,
  verifyClean,
} from '../helpers/children.js';
import { plainEnv } from '../helpers/fault.js';
import {
  contentOf,
  headOf,
  type Json,
  leftInWork,
  makeProject,
  type Site,
  stepsOf,
} from '../helpers/publish.js';

const place = scratch();
afterAll(place.remove);
let folders = 0;
type Case = Site & { folder: string };
function makeCase(more: Json = {}): Case {
  const folder = join(place.path, `case-${folders++}`);
  mkdirSync(folder);
  return { ...makeProject(folder, more), folder };
}
const capture = async ({ project }: Site, ...more: string[]): Promise<Result> =>
  resultOf(await preview(project, 'capture', '--json', ...more));
const sessionsOf = (root: string): string[] =>
  readdirSync(root).filter((name) => name.startsWith('session_'));
const write = (site: Site, content: string) => writeFileSync(join(site.project, 'scene.txt'), content);
const json = (text: string): Json => JSON.parse(text) as Json;

describe('F04 live start and stop', () => {
  it('F04 five starts at once: one active session, five truthful answers, none left after stop', async () => {
    const site = makeCase();
    const ended = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        preview(site.project, 'live', 'start', '--json', '--title', `number ${n}`),
      ),
    );
    const answers = ended.map((each) => resultOf(each));
    expect(sessionsOf(site.root)).toEqual(['session_001']);
    expect(new Set(answers.map((answer) => answer.session_dir))).toEqual(new Set([site.session]));
    // One says that it began the session; the others that it was active, with nothing or its first step to show.
    const began = answers.filter(
      (answer) => !answer.warnings.some((warning) => warning.startsWith('already_active')),
    );
    expect(began.map((answer) => answer.step_id)).toEqual(['step-0001']);
    for (const answer of answers) expect([null, 'step-0001']).toContain(answer.step_id);
    expect(stepsOf(site.session).map((step) => step.publish_reason)).toEqual(['start']);
    const status = async () => json((await preview(site.project, 'live', 'status', '--json')).stdout);
    expect(await status()).toMatchObject({ active: true, status: 'active', session_dir: site.session });
    const stopped = await preview(
      site.project,
      'live',
      'stop',
      '--json',
      '--reason',
      'done',
      '--outcome',
      'fine',
    );
    expect([stopped.code, json(stopped.stdout)]).toMatchObject([0, { active: false, status: 'stopped' }]);
    expect(await status()).toMatchObject({ active: false, status: 'stopped' });
    expect(headOf(site.session)).toMatchObject({ stop_kind: 'user', stop_reason: 'done', outcome: 'fine' });
    const push = await preview(site.project, 'live', 'push', '--json');
    expect([push.code, errorOf(push).code]).toEqual([3, 'session_not_active']);
    expect(sessionsOf(site.root)).toEqual(['session_001']);
    // The next start is a new one; so is the next capture into a stopped one.
    expect(resultOf(await preview(site.project, 'live', 'start', '--json')).session_dir).toBe(
      join(site.root, 'session_002'),
    );
    await verifyClean(site.session);
  }, 60_000);

  it('F04 F01 a start returns with its streams closed, so a script can wait for it', async () => {
    const site = makeCase();
    const ended = await run(
      ['sh', '-c', 'out=$("$@"); printf "%s" "$out"', 'sh', ...previewArgv('live', 'start', '--json')],
      { cwd: site.project, limit_ms: 20_000 },
    );
    expect(resultOf(ended).step_id).toBe('step-0001');
  });

  it('F04 a push that was rendering when the session was stopped says so and records nothing', async () => {
    const site = makeCase();
    resultOf(await preview(site.project, 'live', 'start', '--json'));
    const push = start(previewArgv('live', 'push', '--json', '--recipe', 'slow'), { cwd: site.project });
    await until(() => existsSync(join(site.project, 'started')), {
      deadline_ms: 20_000,
      what: 'the renderer runs',
    });
    expect((await preview(site.project, 'live', 'stop', '--json')).code).toBe(0);
    writeFileSync(join(site.project, 'go'), '');
    const ended = await push.done;
    expect([ended.code, errorOf(ended).code]).toEqual([3, 'session_not_active']);
    expect(stepsOf(site.session)).toHaveLength(1);
    expect(leftInWork(site.session)).toEqual([]);
    expect(sessionsOf(site.root)).toEqual(['session_001']);
    await verifyClean(site.session);
  }, 60_000);

  it('F04 a capture that was rendering when the session was stopped goes into a new one', async () => {
    const site = makeCase();
    await capture(site);
    const late = start(previewArgv('capture', '--json', '--recipe', 'slow'), { cwd: site.project });
    await until(() => existsSync(join(site.project, 'started')), {
      deadline_ms: 20_000,
      what: 'the renderer runs',
    });
    expect((await preview(site.project, 'live', 'stop', '--json')).code).toBe(0);
    writeFileSync(join(site.project, 'go'), '');
    expect(resultOf(await late.done)).toMatchObject({
      session_dir: join(site.root, 'session_002'),
      step_id: 'step-0001',
    });
    await verifyClean(join(site.root, 'session_002'));
  }, 60_000);
});

/** Two hundred pushes, each with a bundle of its own, by the built command in one process. */
const PUSHER = `
const { main } = require(process.argv[2]);
(async () => {
  for (let n = 0; n < 200; n++) {
    const code = await main(['push', '--json', '--force']);
    if (code !== 0) console.log('failed ' + code);
  }
  console.log('pushed');
})();
`;
/** Follows \`current\` of root and session until \`stop\` is there. */
const FOLLOWER = `
const { existsSync, readFileSync, readlinkSync, statSync } = require('node:fs');
const { join } = require('node:path');
const [root, stop] = process.argv.slice(2);
const bad = new Set(), seen = new Set();
let looks = 0;
for (; !existsSync(stop); looks++) {
  try {
    const name = readlinkSync(join(root, 'current', 'current'));
    seen.add(name);
    if (!/^bundle_\\d{3,}$/.test(name)) bad.add('it is ' + name);
    JSON.parse(readFileSync(join(root, 'current', 'current', 'manifest.json'), 'utf8'));
    if (!statSync(join(root, 'current', 'current', 'artifacts', 'scene.txt')).isFile()) bad.add('half a bundle');
  } catch (error) {
    bad.add(String(error));
  }
  // The pushes shall have the processors.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}
console.log('followed ' + JSON.stringify({ looks, seen: seen.size, bad: [...bad].slice(0, 5) }));
`;

it('F05 I1 current, read in a loop during 200 pushes, is never missing and never half', async () => {
  const site = makeCase();
  resultOf(await preview(site.project, 'live', 'start', '--json'));
  const stop = join(site.folder, 'stop');
  const follower = script(site.folder, 'follower', FOLLOWER, [site.root, stop], { limit_ms: 150_000 });
  const pusher = script(site.folder, 'pusher', PUSHER, [join(dist, 'commands/preview-live.cjs')], {
    cwd: site.project,
    limit_ms: 150_000,
  });
  await pusher.said('pushed', 140_000);
  writeFileSync(stop, '');
  const { looks, seen, bad } = JSON.parse(await follower.said('followed')) as {
    looks: number;
    seen: number;
    bad: string[];
  };
  expect(bad).toEqual([]);
  expect(looks).toBeGreaterThan(500);
  expect(seen).toBeGreaterThan(20);
  expect(pusher.lines().filter((line) => line.startsWith('failed'))).toEqual([]);
  expect(readlinkSync(join(site.session, 'current'))).toBe('bundle_201');
  expect(await verifyClean(site.session)).toMatchObject({ steps: 201, bundles: 201 });
}, 160_000);

describe('a session somewhere else', () => {
  const read = async (session: string): Promise<Json> => {
    const inspected = await previews(place.path, 'inspect', session, '--all', '--json');
    expect([inspected.code, inspected.stderr]).toEqual([0, '']);
    const { session: head, steps, problems } = json(inspected.stdout);
    expect(problems).toEqual([]);
    await verifyClean(session);
    return { head, steps };
  };
  it('moved, copied, through a link or made read-only, it opens unchanged', async () => {
    const site = makeCase();
    for (const text of ['one', 'two', 'three']) {
      write(site, text);
      await capture(site, '--command', `write ${text}`);
    }
    const before = await read(site.session);
    const copied = join(site.folder, 'copied', 'with spaces #1');
    cpSync(site.session, copied, { recursive: true, verbatimSymlinks: true });
    expect(await read(copied)).toEqual(before);
    const archived = join(site.folder, 'elsewhere');
    renameSync(site.project, archived);
    const moved = join(archived, '.preview', 'session_001');
    expect(await read(moved)).toEqual(before);
    expect(readFileSync(join(moved, 'current', 'artifacts', 'scene.txt'), 'utf8')).toBe('three');
    const content = contentOf(moved);
    chmodSync(moved, 0o500);
    expect(await read(moved)).toEqual(before);
    expect(contentOf(moved)).toEqual(content);
    chmodSync(moved, 0o700);
    // And it is recorded into where it is now.
    expect(resultOf(await preview(archived, 'capture', '--json'))).toMatchObject({
      session_dir: moved,
      step_id: 'step-0004',
      cached: true,
    });
    // A copy is recorded into by itself.
    expect(resultOf(await preview(archived, 'capture', '--json', '--session', copied))).toMatchObject({
      session_dir: copied,
      step_id: 'step-0004',
    });
    await read(moved);
    await read(copied);
  }, 60_000);

  it('copied with cp -r that follows links, it still opens', async () => {
    const site = makeCase();
    await capture(site);
    const copied = join(site.folder, 'followed');
    cpSync(site.session, copied, { recursive: true, dereference: true });
    await read(copied);
  });
});

/** Pids of the processes that have `text` in their command line. */
const running = (text: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
        ? [Number(name)]
        : [];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });

describe('Ctrl-C', () => {
  const stubborn = (folder: string): Json => ({
    // Ignores SIGTERM, and has a child that left its process group.
    stubborn: {
      sources: ['scene.txt'],
      run: [
        [
          'sh',
          '-c',
          `trap "" TERM; setsid sh -c "sleep 333; : ${folder}" & echo $$ > "{project}/started.tmp"; mv "{project}/started.tmp" "{project}/started"; while :; do sleep 1; : ${folder}; done`,
        ],
      ],
      artifacts: [],
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`I1 ${signal} during a slow renderer: exit 130, no half bundle, no running renderer, and the next capture works`, async () => {
      const mark = mkdtempSync(join(tmpdir(), 'preview-mark-'));
      onTestFinished(() => {
        // Where the test fails, they are still there.
        for (const pid of running(mark)) process.kill(pid, 'SIGKILL');
        rmSync(mark, { recursive: true });
      });
      const site = makeCase(stubborn(mark));
      await capture(site);
      const before = contentOf(site.session);
      const victim: Child = start(previewArgv('capture', '--json', '--force', '--recipe', 'stubborn'), {
        cwd: site.project,
      });
      await until(() => existsSync(join(site.project, 'started')), {
        deadline_ms: 20_000,
        what: 'the renderer runs',
      });
      expect(running(mark)).not.toEqual([]);
      victim.kill(signal);
      const ended = await victim.done;
      expect([ended.code, ended.signal], ended.stderr).toEqual([130, null]);
      expect(ended.stdout).toBe('');
      expect(errorOf(ended).code).toBe('interrupted');
      expect(isRaw(ended.stderr)).toBe(false);
      await until(() => running(mark).length === 0, { deadline_ms: 3000, what: 'no renderer runs' });
      expect(contentOf(site.session)).toEqual(before);
      expect(leftInWork(site.session)).toEqual([]);
      expect((await capture(site)).step_id).toBe('step-0002');
      await verifyClean(site.session);
    }, 60_000);
  }
});

describe('renders that overtake each other', () => {
  it('one begun earlier that ends later is recorded without moving current', async () => {
    const site = makeCase();
    await capture(site);
    const early = start(previewArgv('capture', '--json', '--recipe', 'slow', '--command', 'early'), {
      cwd: site.project,
    });
    await until(() => existsSync(join(site.project, 'started')), {
      deadline_ms: 20_000,
      what: 'the renderer runs',
    });
    const late = await capture(site, '--force', '--command', 'late');
    expect(late.bundle_id).toBe('bundle_002');
    writeFileSync(join(site.project, 'go'), '');
    expect(resultOf(await early.done)).toMatchObject({ bundle_id: 'bundle_003', step_id: 'step-0003' });
    expect(headOf(site.session)).toMatchObject({
      current_bundle_id: 'bundle_002',
      current_step_id: 'step-0002',
      latest_command: 'early',
      trajectory_step_count: 3,
    });
    expect(readlinkSync(join(site.session, 'current'))).toBe('bundle_002');
    expect(json((await preview(site.project, 'live', 'status', '--json')).stdout).step).toBe('step-0003');
    expect(json((await preview(site.project, 'latest', '--json')).stdout).bundle_id).toBe('bundle_002');
    await verifyClean(site.session);
    expect((await capture(site, '--force')).bundle_id).toBe('bundle_004');
    expect(readlinkSync(join(site.session, 'current'))).toBe('bundle_004');
  }, 60_000);
});

describe('sources that change while they are rendered', () => {
  // Counts its runs, and changes the source in the first `times` of them.
  const changing = (times: number): Json => ({
    changing: {
      sources: ['scene.txt'],
      run: [
        [
          'sh',
          '-c',
          `echo run >> "$2/runs"; n=$(wc -l < "$2/runs"); cp "$2/scene.txt" "$1/render.txt"; [ $n -gt ${times} ] || echo $n >> "$2/scene.txt"`,
          'sh',
          '{out}',
          '{project}',
        ],
      ],
      artifacts: [{ path: 'render.txt', role: 'render-output' }],
    },
  });
  const runs = (site: Site): number =>
    readFileSync(join(site.project, 'runs'), 'utf8').split('\n').length - 1;

  it('once: they are rendered again, and the bundle shows the new state', async () => {
    const site = makeCase(changing(1));
    const result = await capture(site, '--recipe', 'changing');
    expect([runs(site), result.status, result.warnings]).toEqual([2, 'ok', []]);
    expect(readFileSync(join(result.bundle_dir, 'artifacts/render.txt'), 'utf8')).toBe('one\n1\n');
    expect((await capture(site, '--recipe', 'changing')).cached).toBe(true);
    await verifyClean(site.session);
  });

  it('twice: the bundle is partial, says sources_changed, and is never reused', async () => {
    const site = makeCase(changing(2));
    const result = await capture(site, '--recipe', 'changing');
    expect([runs(site), result.status]).toEqual([2, 'partial']);
    expect(result.warnings.join()).toContain('sources_changed');
    write(site, 'one\n1\n');
    const next = await capture(site, '--recipe', 'changing');
    expect([next.cached, runs(site), next.status]).toEqual([false, 3, 'ok']);
    await verifyClean(site.session);
  });
});

describe('bundles that are not reused', () => {
  const spoil: [string, (bundle: string) => void][] = [
    ['an artifact was altered', (bundle) => overwrite(join(bundle, 'artifacts/scene.txt'), 'ONE\n')],
    ['an artifact is gone', (bundle) => rmSync(join(bundle, 'artifacts/scene.txt'))],
    [
      'the manifest was altered',
      (bundle) =>
        overwrite(
          join(bundle, 'manifest.json'),
          readFileSync(join(bundle, 'manifest.json'), 'utf8').replace('fault-test', 'other-test'),
        ),
    ],
    [
      'the summary was altered',
      (bundle) =>
        overwrite(
          join(bundle, 'summary.json'),
          readFileSync(join(bundle, 'summary.json'), 'utf8').replace('"headline": "', '"headline": "!'),
        ),
    ],
    ['the bundle is gone', (bundle) => rmSync(bundle, { recursive: true })],
  ];
  const overwrite = (path: string, content: string): void => {
    chmodSync(path, 0o600);
    writeFileSync(path, content);
  };
  for (const [what, act] of spoil) {
    it(`I1 ${what}: it is rendered anew`, async () => {
      const site = makeCase();
      const first = await capture(site);
      expect((await capture(site)).cached).toBe(true);
      act(first.bundle_dir);
      const next = await capture(site);
      expect([next.cached, next.bundle_id]).toEqual([false, 'bundle_002']);
      expect((await previews(site.project, 'verify')).code).toBe(6);
      expect((await capture(site)).bundle_id).toBe('bundle_002');
    });
  }

  it('a bundle of status error', async () => {
    const site = makeCase();
    writeFileSync(join(site.project, 'output.bin'), 'broken');
    for (const bundle of ['bundle_001', 'bundle_002'])
      expect(
        resultOf(await preview(site.project, 'capture', '--json', '--recipe', 'failing'), 4),
      ).toMatchObject({ bundle_id: bundle, cached: false, status: 'error' });
  });

  it('I1 files of a bundle have no write bits', async () => {
    const site = makeCase();
    const { bundle_dir } = await capture(site);
    for (const name of ['manifest.json', 'summary.json', 'artifacts/scene.txt'])
      expect(statSync(join(bundle_dir, name)).mode & 0o222).toBe(0);
  });
});

describe('numbers', () => {
  it('I2 a folder that no step names is passed over, listed as an orphan by one commit, and removed after it', async () => {
    const site = makeCase();
    await capture(site);
    for (const name of ['bundle_002', 'bundle_003'])
      cpSync(join(site.session, 'bundle_001'), join(site.session, name), { recursive: true });
    const next = await capture(site, '--force');
    expect([next.bundle_id, next.step_id]).toEqual(['bundle_004', 'step-0002']);
    expect(
      readdirSync(site.session)
        .filter((name) => name.startsWith('bundle_'))
        .sort(),
    ).toEqual(['bundle_001', 'bundle_004']);
    expect(headOf(site.session)).toMatchObject({
      orphans: ['bundle_002', 'bundle_003'],
      bundle_last: 4,
      bundle_count: 2,
    });
    expect((await capture(site, '--force')).bundle_id).toBe('bundle_005');
    expect(headOf(site.session).orphans).toEqual([]);
    await verifyClean(site.session);
  });

  it('I2 a listed orphan that could not be removed yet is removed by the next, and nothing that is no bundle is', async () => {
    const site = makeCase();
    await capture(site);
    const head = headOf(site.session);
    cpSync(join(site.session, 'bundle_001'), join(site.session, 'bundle_002'), { recursive: true });
    const victim = join(site.folder, 'not ours');
    mkdirSync(victim);
    // A head is untrusted: what it calls an orphan may lie elsewhere.
    writeFileSync(
      join(site.session, 'session.json'),
      JSON.stringify({ ...head, bundle_last: 2, orphans: ['bundle_002', '../../../not ours', '.'] }),
    );
    await capture(site, '--force');
    expect(existsSync(victim)).toBe(true);
    expect(existsSync(join(site.session, 'bundle_002'))).toBe(false);
  });

  it('I2 bundle_1000 comes after bundle_999, session_1000 after session_999, step-10000 after step-9999', async () => {
    const site = makeCase();
    await capture(site);
    const head = headOf(site.session);
    writeFileSync(join(site.session, 'session.json'), JSON.stringify({ ...head, bundle_last: 998 }));
    const made = [
      await capture(site, '--force'),
      await capture(site, '--force'),
      await capture(site, '--force'),
    ];
    expect(made.map((result) => result.bundle_id)).toEqual(['bundle_999', 'bundle_1000', 'bundle_1001']);
    expect(readlinkSync(join(site.session, 'current'))).toBe('bundle_1001');
    await verifyClean(site.session);
    // Session numbers: the next one follows the highest there is.
    renameSync(site.session, join(site.root, 'session_999'));
    const session = join(site.root, 'session_999');
    expect((await preview(site.project, 'live', 'stop', '--json', '--session', 'session_999')).code).toBe(0);
    const next = await capture(site, '--session', 'session_999');
    expect(next.session_dir).toBe(join(site.root, 'session_1000'));
    expect(
      json((await previews(site.project, 'list', '--json')).stdout).sessions.map(
        (each: Json) => each.session,
      ),
    ).toEqual(expect.arrayContaining(['session_999', 'session_1000']));
    expect(json((await previews(site.project, 'inspect', '--json')).stdout).session.session_name).toBe(
      'session_1000',
    );
    await verifyClean(session);
  }, 60_000);
});

describe('E06 E07 E11 around a capture', () => {
  it('E06 a capture never reads its stdin, which may never end', async () => {
    const site = makeCase({
      reader: {
        sources: ['scene.txt'],
        run: [['sh', '-c', 'cat > "$1/render.txt"', 'sh', '{out}']],
        artifacts: [{ path: 'render.txt', role: 'render-output' }],
      },
    });
    const child = spawn(process.execPath, previewArgv('capture', '--json', '--recipe', 'reader').slice(1), {
      cwd: site.project,
      env: plainEnv(),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    // Neither does its renderer: `cat` ends at once.
    child.stdin.write('not for you');
    const [code] = (await once(child, 'exit')) as [number];
    child.stdin.destroy();
    expect(code).toBe(0);
    expect(readFileSync(join(site.session, 'bundle_001/artifacts/render.txt'), 'utf8')).toBe('');
  });

  it('E07 what inspect prints through a pipe is whole', async () => {
    const site = makeCase();
    await capture(site);
    const source = `
      const { openSession, publish } = require(process.argv[2]);
      (async () => {
        const session = await openSession({ root: process.argv[3], cwd: '/', env: {} });
        for (let n = 0; n < 150; n++) await publish(session, { headline: 'x', artifacts: [] }, { command: 'x'.repeat(4000) });
        console.log('published');
      })();`;
    await script(site.folder, 'many', source, [join(dist, 'index.cjs'), site.root]).said('published', 60_000);
    const file = await run(
      [
        'sh',
        '-c',
        '"$@" > out.json; cat out.json',
        'sh',
        process.execPath,
        join(dist, 'previews.cjs'),
        'inspect',
        '--all',
        '--json',
      ],
      { cwd: site.project },
    );
    const piped = await run(
      [
        'sh',
        '-c',
        '"$@" | (sleep 0.5; cat)',
        'sh',
        process.execPath,
        join(dist, 'previews.cjs'),
        'inspect',
        '--all',
        '--json',
      ],
      { cwd: site.project },
    );
    expect(file.bytes.length).toBeGreaterThan(600_000);
    expect(piped.bytes.equals(file.bytes)).toBe(true);
    expect(json(piped.stdout).steps).toHaveLength(151);
  }, 60_000);

  it('E11 the current folder is gone: one clear line; --help and --version work', async () => {
    const site = makeCase();
    const gone = (...argv: string[]) =>
      run(['sh', '-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', 'sh', ...argv], {
        cwd: site.project,
      });
    for (const argv of [
      previewArgv('live', 'status', '--json'),
      previewArgv('capture', '--json'),
      previewArgv('live', 'start', '--json'),
      [process.execPath, join(dist, 'previews.cjs'), 'inspect', '--json'],
    ]) {
      const ended = await gone(...argv);
      expect(ended.code, argv.slice(2).join(' ') + ended.stdout).toBe(1);
      expect(isRaw(ended.stderr), ended.stderr).toBe(false);
      expect(errorOf(ended).message).toMatch(/(working|current) (directory|folder)/);
    }
    for (const flag of ['--help', '--version']) expect((await gone(...previewArgv(flag))).code).toBe(0);
    expect((await gone(...previewArgv('capture', '--help'))).code).toBe(0);
    expect(existsSync(site.root)).toBe(false);
  });
});
