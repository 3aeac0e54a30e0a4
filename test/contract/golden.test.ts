// Sessions that were recorded once and must stay readable: minimal, full, damaged, and one from a later version.
// test/fixtures/golden/make.ts makes them.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/hash.js';
import {
  done,
  errorOf,
  type Outcome,
  preview,
  previews,
  previewsArgv,
  REPOSITORY,
  run,
} from '../helpers/cli.js';
import { makeProject, snapshot, temporary } from '../helpers/project.js';
import {
  copySession,
  cutTail,
  editJson,
  editLines,
  editStep,
  forgeChain,
  headFile,
  linesOf,
  overwrite,
  readJson,
  trajectoryFile,
  undoAppend,
} from '../helpers/tamper.js';

const golden = (name: string) => join(REPOSITORY, 'test/fixtures/golden', name);
const json = (...args: string[]): Promise<Outcome> => previews(temporary(), [...args, '--json']);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
/** A root without what is only derived. */
const written = (root: string) =>
  Object.fromEntries(Object.entries(snapshot(root)).filter(([name]) => !name.startsWith('.cache')));
const indexes = (steps: any[]) => steps.map((step) => step.step_index);

/** A root that holds a copy of a golden session as session_001, the current one. */
function rootWith(name: string): { root: string; session: string } {
  const root = join(temporary(), '.preview');
  mkdirSync(root);
  cpSync(golden(name), join(root, 'session_001'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('session_001', join(root, 'current'));
  return { root, session: join(root, 'session_001') };
}

test("they are small, and hold no machine's paths", () => {
  const files = readdirSync(golden('.'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.ts'),
  );
  const contents = files.map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  expect(files.length).toBeGreaterThan(40);
  for (const content of contents)
    expect(content.toString('latin1')).not.toMatch(/\/(tmp|work|root|Users|dev)\/|"boot_id":"/);
  const own = readdirSync(golden('.'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => Object.entries(snapshot(golden(entry.name))).filter(([name]) => !name.endsWith('/')));
  expect(own.flat().reduce((sum, [, content]) => sum + content.length, 0)).toBeLessThan(64_000);
});

describe.each([
  ['minimal', 1, 1],
  ['full', 6, 5],
])('%s', (name, steps, bundles) => {
  test('verifies clean as it is committed, without modes and empty folders', async () => {
    const expected = { ok: true, steps, bundles, pending: 0, problems: [] };
    expect(await done(json('verify', golden(name)))).toEqual(expected);
    const { root } = rootWith(name);
    expect(await done(json('verify', root))).toEqual(expected);
  });

  test('is read whole', async () => {
    const result = await done(json('inspect', golden(name)));
    expect(result['problems']).toEqual([]);
    expect(indexes(result['steps'])).toEqual(range(1, steps));
    expect(result['steps'].map((step: any) => JSON.stringify(step))).toEqual(linesOf(golden(name)));
    for (const index of range(1, steps)) {
      const shown = await done(json('inspect', join(golden(name), `step-000${index}`)));
      expect(shown).toMatchObject({
        problems: [],
        step: { step_index: index },
        manifest: { bundle_id: shown['step'].bundle_id },
        summary: { headline: expect.any(String) },
      });
      expect(sha256(readFileSync(join(golden(name), shown['step'].manifest_path)))).toBe(
        shown['step'].manifest_sha256,
      );
    }
  });

  test('I6 reading it changes nothing', async () => {
    const before = snapshot(golden(name));
    await done(json('status', golden(name)));
    await done(json('list', golden(name)));
    expect(snapshot(golden(name))).toEqual(before);
  });
});

describe('minimal', () => {
  test('a step can be published into a copy, and what was there does not change', async () => {
    const { root, session } = rootWith('minimal');
    const before = snapshot(session);
    const project = makeProject();
    expect(await done(preview(project, ['capture', '--json', '--root', root]))).toMatchObject({
      session_dir: session,
      step_id: 'step-0002',
      bundle_id: 'bundle_002',
    });
    const after = snapshot(session);
    for (const [name, content] of Object.entries(before))
      if (name.startsWith('bundle_001')) expect(after[name]).toBe(content);
    expect(after['trajectory.json']!.startsWith(before['trajectory.json']!.slice(0, -3))).toBe(true);
    expect(await done(json('verify', session))).toMatchObject({ ok: true, steps: 2 });
  });

  test('a head without a version is version 1', async () => {
    const { root, session } = rootWith('minimal');
    editJson(headFile(session), (head) => delete head['version']);
    expect(await done(json('verify', session))).toMatchObject({ ok: true });
    expect(await done(preview(makeProject(), ['capture', '--json', '--root', root]))).toMatchObject({
      step_id: 'step-0002',
    });
    expect(readJson(headFile(session))['version']).toBe(1);
  });

  test('unknown keys survive a rewrite', async () => {
    const { root, session } = rootWith('minimal');
    const unknown = { x_mine: { deep: [1, null] } };
    editJson(headFile(session), (head) => Object.assign(head, unknown));
    await done(preview(makeProject(), ['capture', '--json', '--root', root]));
    expect(readJson(headFile(session))).toMatchObject(unknown);
  });
});

describe('full', () => {
  test('has every kind of step and artifact', async () => {
    const { session, steps } = await done(json('inspect', golden('full')));
    expect(session).toMatchObject({
      version: 1,
      title: 'A rover, from four wheels to six',
      status: 'stopped',
      outcome: 'six wheels turn',
      project_path: '/home/user/project',
    });
    expect(steps.map((step: any) => [step.publish_reason, step.status, step.cached, step.bundle_id])).toEqual(
      [
        ['start', 'ok', false, 'bundle_001'],
        ['mutation', 'ok', false, 'bundle_002'],
        ['mutation', 'ok', true, 'bundle_002'],
        ['mutation', 'error', false, 'bundle_003'],
        ['mutation', 'partial', false, 'bundle_004'],
        ['diff', 'ok', false, 'bundle_005'],
      ],
    );
    const [, long] = steps;
    expect(long).toMatchObject({
      stage_label: 'wheels',
      git: { branch: 'main' },
      usage: { cost_usd: 0.004 },
      actor: { name: 'agent' },
    });
    expect(long.command.endsWith('…')).toBe(true);
    expect(Buffer.byteLength(long.command)).toBeLessThanOrEqual(4096);
    expect(readFileSync(join(golden('full'), long.command_path), 'utf8')).toMatch(/^chassis build .* --end$/);
  });
  test('status is small', async () => {
    const { stdout } = await json('status', golden('full'));
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(1024);
    expect(JSON.parse(stdout)).toMatchObject({
      active: false,
      status: 'stopped',
      step: 'step-0006',
      reason: 'diff',
      trajectory_summary: { total_commands: 6, latest: { command: null, bundle: 'bundle_005' } },
    });
  });
});

describe('damaged', () => {
  test('A13 later steps are shown, bad ones flagged by index', async () => {
    const result = await done(json('inspect', golden('damaged')));
    expect(indexes(result['steps'])).toEqual([1, 4, 5]);
    expect(result['problems'].map((problem: any) => problem.where)).toEqual(['step 2', 'step 3']);
    for (const problem of result['problems'])
      expect(problem).toEqual({
        kind: 'invalid',
        where: expect.any(String),
        detail: expect.stringMatching(/./),
      });
    const { stdout, code } = await previews(temporary(), ['inspect', golden('damaged')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/step 2.*\n.*step 3/);
  });

  test('verify names the steps and the missing bundles, exit 6', async () => {
    const result = await done(json('verify', golden('damaged')), 6);
    expect(result['ok']).toBe(false);
    expect(result['problems'].map((problem: any) => `${problem.kind} ${problem.where}`)).toEqual(
      expect.arrayContaining([
        'invalid step 2',
        'invalid step 3',
        'chain_broken step 4',
        'bundle_missing bundle_001',
        'bundle_missing bundle_004',
      ]),
    );
  });

  test('a step of a missing bundle is shown with the problem; a bad step likewise', async () => {
    const gone = await done(json('inspect', join(golden('damaged'), 'step-0001')));
    expect(gone).toMatchObject({ step: { step_index: 1 }, manifest: null, summary: null });
    expect(gone['problems'].length).toBeGreaterThan(0);
    expect(await done(json('inspect', join(golden('damaged'), 'step-0002')))).toMatchObject({
      step: null,
      problems: [{ where: 'step 2' }],
    });
    expect(await done(json('inspect', join(golden('damaged'), 'step-0005')))).toMatchObject({
      step: { step_index: 5 },
      problems: [],
    });
  });

  // Further variants, made from the full one; `shown` are the steps that inspect still shows.
  test.each<[string, (dir: string) => void, number[], number]>([
    [
      'null first',
      (dir) => editLines(dir, (lines) => ['null', ...lines.slice(1)], { follow: true }),
      [2, 3, 4, 5, 6],
      6,
    ],
    [
      'a text in the middle',
      (dir) =>
        editLines(dir, (lines) => lines.map((line, n) => (n === 3 ? '"step"' : line)), { follow: true }),
      [1, 2, 3, 5, 6],
      6,
    ],
    [
      'a step without its bundle',
      (dir) => editStep(dir, 3, (step) => delete step['bundle_id'], { follow: true }),
      [1, 2, 4, 5, 6],
      6,
    ],
    [
      'a step with a status of its own',
      (dir) =>
        editStep(
          dir,
          3,
          (step) => {
            step['status'] = 9;
          },
          { follow: true },
        ),
      [1, 2, 4, 5, 6],
      6,
    ],
    [
      'a line that is no JSON',
      (dir) =>
        overwrite(
          trajectoryFile(dir),
          readFileSync(trajectoryFile(dir), 'utf8').replace(
            '{"step_id":"step-0003"',
            '{"step_id":!step-0003"',
          ),
        ),
      [1, 2, 4, 5, 6],
      6,
    ],
    [
      'a missing bundle',
      (dir) => rmSync(join(dir, 'bundle_002'), { recursive: true }),
      [1, 2, 3, 4, 5, 6],
      6,
    ],
    ['a pending append', (dir) => undoAppend(dir), [1, 2, 3, 4, 5, 6], 0],
    ['a missing current link', (dir) => rmSync(join(dir, 'current')), [1, 2, 3, 4, 5, 6], 0],
    [
      'a trajectory of a moment ago',
      (dir) =>
        forgeChain(
          dir,
          linesOf(dir).map((line) => JSON.parse(line)),
        ),
      [1, 2, 3, 4, 5, 6],
      0,
    ],
  ])('%s', async (_name, change, shown, exit) => {
    const dir = copySession(golden('full'));
    change(dir);
    const before = snapshot(dir);
    const result = await done(json('inspect', dir, '--all'));
    expect(indexes(result['steps'])).toEqual(shown);
    expect(result['problems'].map((problem: any) => problem.where)).toEqual(
      range(1, 6)
        .filter((index) => !shown.includes(index))
        .map((index) => `step ${index}`),
    );
    expect((await done(json('verify', dir), exit))['ok']).toBe(exit === 0);
    expect(snapshot(dir)).toEqual(before);
  });

  test.each(['bundle_004/manifest.json', 'bundle_004/summary.json', 'session.json', 'trajectory.json'])(
    'a pipe in place of %s is damage, and holds no reader up',
    async (name) => {
      const dir = copySession(golden('full'));
      rmSync(join(dir, name));
      expect((await run(['mkfifo', join(dir, name)], { cwd: dir })).code).toBe(0);
      for (const command of ['verify', 'inspect']) {
        const outcome = await run(previewsArgv(command, dir, '--json'), { cwd: dir, limit_ms: 10_000 });
        expect([command, outcome.code, outcome.signal]).toEqual([
          command,
          command === 'verify' ? 6 : 0,
          null,
        ]);
      }
    },
  );

  test('a cut tail: what the head holds and what is left is shown', async () => {
    const dir = copySession(golden('full'));
    cutTail(trajectoryFile(dir), 2500);
    const result = await done(json('inspect', dir, '--all'));
    expect(result['steps'].at(-1)).toMatchObject({ step_index: 6 });
    expect(result['problems'].length).toBeGreaterThan(0);
    expect(result['steps'][0]).toMatchObject({ step_index: 1 });
    for (const step of result['steps']) expect(linesOf(golden('full'))).toContain(JSON.stringify(step));
    await done(json('verify', dir), 6);
  });

  test.each([
    ['empty', ''],
    ['cut', '{"version": 1, "session_n'],
    ['an array', '[]'],
  ])('A10 a head that is %s: told, never taken for new', async (_name, content) => {
    const { root, session } = rootWith('full');
    overwrite(headFile(session), content);
    const before = snapshot(session);
    expect(await done(json('inspect', session))).toMatchObject({
      steps: [],
      problems: [{ where: 'session.json' }],
    });
    const status = await json('status', session);
    expect([status.code, errorOf(status).code, status.stdout]).toEqual([6, 'session_damaged', '']);
    const { sessions } = await done(json('list', root));
    expect(sessions).toEqual([
      expect.objectContaining({
        session: 'session_001',
        problems: [expect.objectContaining({ where: 'session.json' })],
      }),
    ]);
    const result = await done(preview(makeProject(), ['capture', '--json', '--root', root]));
    expect(result).toMatchObject({
      session_dir: join(root, 'session_002'),
      warnings: [expect.stringMatching(/session_damaged: session_001/)],
    });
    expect(readJson(headFile(result['session_dir']))).toMatchObject({ continues: 'session_001' });
    expect(snapshot(session)).toEqual(before);
  });

  test('a damaged trajectory of an open session: nothing is written into it, recording goes on', async () => {
    const { root, session } = rootWith('minimal');
    overwrite(trajectoryFile(session), '{"not":"a trajectory"}\n');
    const before = snapshot(session);
    const result = await done(preview(makeProject(), ['capture', '--json', '--root', root]));
    expect(result).toMatchObject({
      session_dir: join(root, 'session_002'),
      warnings: [expect.stringMatching(/session_damaged: session_001/)],
    });
    const after = snapshot(session);
    for (const [name, content] of Object.entries(before)) expect(after[name], name).toBe(content);
    expect(Object.keys(after).filter((name) => !name.startsWith('.work') && !(name in before))).toEqual([]);
  });
});

describe('future', () => {
  const dir = golden('future');
  test('is read for what is known', async () => {
    const { session: head, steps, problems } = await done(json('inspect', dir));
    expect(head).toMatchObject({ version: 2, status: 'active', x_future: { more: true } });
    expect(steps).toEqual([
      expect.objectContaining({
        step_index: 1,
        publish_reason: 'dream',
        x_future: { deep: [1, 'two', null], more: true },
      }),
      expect.objectContaining({ step_index: 2 }),
    ]);
    expect(problems).toEqual([
      { kind: 'version_newer', where: 'session.json', detail: expect.stringMatching(/version 2.*1/) },
    ]);
    const shown = await done(json('inspect', join(dir, 'step-0002')));
    expect(shown['manifest'].artifacts.at(-1)).toMatchObject({ role: 'hologram', kind: 'hologram' });
    expect(shown['manifest']).toMatchObject({ bundle_kind: 'dream', x_future: { more: true } });
    expect(shown['summary']).toMatchObject({ x_future: { more: true } });
    const text = await previews(temporary(), ['inspect', join(dir, 'step-0002')]);
    expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/hologram/)]);
  });

  test('status, list and verify', async () => {
    expect(await done(json('status', dir))).toMatchObject({
      active: true,
      status: 'active',
      step: 'step-0002',
      reason: 'dream',
      trajectory_summary: { total_commands: 2 },
    });
    const { root } = rootWith('future');
    expect((await done(json('list', root)))['sessions']).toEqual([
      expect.objectContaining({
        session: 'session_001',
        status: 'active',
        steps: 2,
        title: 'From a later version',
        problems: [expect.objectContaining({ kind: 'version_newer' })],
      }),
    ]);
    expect(await done(json('verify', dir))).toEqual({
      ok: true,
      steps: 2,
      bundles: 2,
      pending: 0,
      problems: [],
    });
  });

  test.each([
    ['capture', '--session', 'session_001'],
    ['capture'],
    ['live', 'push'],
    ['live', 'push', '--session', 'session_001'],
    ['live', 'stop'],
    ['live', 'stop', '--session', 'session_001'],
  ])('%s %s %s is refused before any write, naming both versions', async (...args) => {
    const { root } = rootWith('future');
    const before = written(root);
    const outcome = await preview(makeProject(), [...args, '--root', root, '--json']);
    const error = errorOf(outcome);
    expect([outcome.code, outcome.stdout, error.code]).toEqual([2, '', 'version_newer']);
    expect(error.message).toMatch(/version 2\b.*version 1\b/);
    expect(written(root)).toEqual(before);
  });

  test('so is one whose status is unknown here: it is not taken for a stopped one', async () => {
    for (const args of [['capture'], ['capture', '--session', 'session_001'], ['live', 'stop']]) {
      const { root, session } = rootWith('future');
      editJson(headFile(session), (head) => {
        head['status'] = 'dreaming';
      });
      const before = written(root);
      const outcome = await preview(makeProject(), [...args, '--root', root, '--json']);
      expect([args, outcome.code, outcome.stdout]).toEqual([args, 2, '']);
      expect(errorOf(outcome).code).toBe('version_newer');
      expect(written(root)).toEqual(before);
    }
  });

  test('one whose head is beyond what this version can check is still not written', async () => {
    const { root, session } = rootWith('future');
    editJson(headFile(session), (head) =>
      Object.assign(head, {
        latest_step: { of: 'another form' },
        history: 'gone',
        trajectory_step_count: { many: true },
        version: 3,
      }),
    );
    const before = written(root);
    for (const args of [['capture'], ['capture', '--session', 'session_001']]) {
      const outcome = await preview(makeProject(), [...args, '--root', root, '--json']);
      expect([args, outcome.code, outcome.stdout, errorOf(outcome).code]).toEqual([
        args,
        2,
        '',
        'version_newer',
      ]);
    }
    expect(written(root)).toEqual(before);
    expect(await done(json('inspect', session))).toMatchObject({
      problems: expect.arrayContaining([expect.objectContaining({ kind: 'version_newer' })]),
    });
    expect(existsSync(join(root, 'session_002'))).toBe(false);
  });
});
