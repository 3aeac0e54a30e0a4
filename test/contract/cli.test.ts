// What the commands print with --json and how they end, against the built programs (protocol, section 7).
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/hash.js';
import { documentOf, done, errorOf, expectShape, preview, previews } from '../helpers/cli.js';
import { makeProject, png, snapshot, svg, temporary, write } from '../helpers/project.js';
import { linesOf, readJson } from '../helpers/tamper.js';

const CAPTURE = {
  session_dir: 'string',
  bundle_dir: 'string',
  bundle_id: 'string',
  manifest_path: 'string',
  summary_path: 'string',
  render: 'string',
  step_id: 'string',
  status: 'string',
  cached: 'boolean',
  artifact_count: 'number',
  warnings: 'strings',
};
const STATUS = {
  active: 'boolean',
  session_dir: 'string',
  trajectory_summary: 'object',
  status: 'string',
  step: 'string|null',
  reason: 'string|null',
  render: 'string|null',
};
const FIXED = { active: false, session_dir: null, trajectory_summary: null };
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The step that a capture's document names. */
const stepOf = (result: Record<string, any>) => JSON.parse(linesOf(result.session_dir).at(-1)!);

describe('init and recipes', () => {
  test('init writes a small config once, and never overwrites it', async () => {
    const project = temporary();
    write(project, { 'a.svg': svg(), 'sub/b.svg': svg() });
    const result = await done(preview(project, ['init', '--json']));
    expect(result['config_path']).toBe(join(project, 'preview.config.json'));
    const config = readJson(join(project, 'preview.config.json'));
    expect(config).toMatchObject({ default_recipe: expect.any(String), recipes: expect.any(Object) });
    expect(existsSync(join(project, config['$schema']))).toBe(true);
    const before = snapshot(project);
    const again = await preview(project, ['init', '--json']);
    expect(again.code).toBe(2);
    expect(errorOf(again).code).toBe('usage');
    expect(again.stdout).toBe('');
    expect(snapshot(project)).toEqual(before);
  });

  test('init in an empty folder takes what fits nothing', async () => {
    const project = temporary();
    await done(preview(project, ['init', '--json']));
    expect(existsSync(join(project, 'preview.config.json'))).toBe(true);
  });

  test("recipes lists the project's own and the built-in ones", async () => {
    const { recipes, ...rest } = await done(preview(makeProject(), ['recipes', '--json']));
    expect(rest).toEqual({});
    expect(recipes.map((recipe: any) => recipe.name)).toEqual(
      expect.arrayContaining(['copy', 'fail', 'missing']),
    );
    for (const recipe of recipes)
      expectShape(recipe, {
        name: 'string',
        description: 'string',
        emits: 'strings',
        needs: 'strings',
        available: 'boolean',
        missing: 'strings',
      });
    expect(recipes.find((recipe: any) => recipe.name === 'copy')).toMatchObject({
      emits: ['hero', 'thumb'],
      needs: ['cp'],
      available: true,
      missing: [],
    });
    expect(recipes.find((recipe: any) => recipe.name === 'missing')).toMatchObject({
      needs: ['no-such-renderer-anywhere'],
      available: false,
      missing: ['no-such-renderer-anywhere'],
    });
  });
});

describe('capture', () => {
  let project = '';
  const capture = (...args: string[]) => done(preview(project, ['capture', '--json', ...args]));
  beforeAll(() => {
    project = makeProject();
  });

  test('without a command records its own command line, reason capture', async () => {
    const result = await capture();
    expectShape(result, CAPTURE);
    const session = join(project, '.preview/session_001');
    expect(result).toEqual({
      session_dir: session,
      bundle_dir: join(session, 'bundle_001'),
      bundle_id: 'bundle_001',
      manifest_path: join(session, 'bundle_001/manifest.json'),
      summary_path: join(session, 'bundle_001/summary.json'),
      render: join(session, 'bundle_001/render.png'),
      step_id: 'step-0001',
      status: 'ok',
      cached: false,
      artifact_count: 2,
      warnings: [],
    });
    for (const path of [
      result['bundle_dir'],
      result['manifest_path'],
      result['summary_path'],
      result['render'],
    ])
      expect(existsSync(path)).toBe(true);
    const step = stepOf(result);
    expect(step).toMatchObject({
      command: 'preview capture --json',
      publish_reason: 'capture',
      exit_code: null,
      signal: null,
      prev_sha256: null,
      recipe: 'copy',
    });
    for (const key of ['command_started_at', 'command_finished_at', 'published_at'])
      expect(step[key]).toMatch(STAMP);
    expect(step.duration_ms).toBeGreaterThanOrEqual(0);
    expect(step.manifest_sha256).toBe(sha256(readFileSync(result['manifest_path'])));
  });

  test('unchanged sources use the bundle again, --force renders', async () => {
    expect(await capture()).toMatchObject({
      cached: true,
      bundle_id: 'bundle_001',
      step_id: 'step-0002',
      artifact_count: 2,
    });
    expect(await capture('--force')).toMatchObject({
      cached: false,
      bundle_id: 'bundle_002',
      step_id: 'step-0003',
    });
    write(project, { 'a.png': png(32, 24, 1) });
    expect(await capture()).toMatchObject({ cached: false, bundle_id: 'bundle_003' });
    write(project, { 'a.png': png() });
    expect(await capture()).toMatchObject({ cached: true, step_id: 'step-0005' });
  });

  test('with a command the reason is mutation; nothing that is not known is invented', async () => {
    const step = stepOf(await capture('--command', 'chassis build --fast'));
    expect(step).toMatchObject({
      command: 'chassis build --fast',
      publish_reason: 'mutation',
      command_started_at: null,
      duration_ms: null,
      exit_code: null,
    });
  });

  test('--started-at, --exit-code, --label, --note', async () => {
    const step = stepOf(
      await capture(
        '--command',
        'x',
        '--started-at',
        '2026-05-31T12:00:00+02:00',
        '--exit-code',
        '3',
        '--label',
        'wheels',
        '--note',
        'a note',
      ),
    );
    expect(step).toMatchObject({
      command_started_at: '2026-05-31T10:00:00.000Z',
      exit_code: 3,
      stage_label: 'wheels',
      note: 'a note',
    });
    expect(stepOf(await capture('--stage', 'engine'))).toMatchObject({ stage_label: 'engine' });
    expect(stepOf(await capture('--command', 'x', '--exit-code', '0'))).toMatchObject({ exit_code: 0 });
    expect(stepOf(await capture('--command', 'x', '--exit-code', '-1'))).toMatchObject({ exit_code: -1 });
  });

  test('a command is recorded as it was given', async () => {
    for (const command of ['--weird', 'a "b" \'c\' $HOME `id`\nline 2', '汉字 😀', ' ']) {
      expect(stepOf(await capture(`--command=${command}`))).toMatchObject({
        command,
        publish_reason: 'mutation',
      });
    }
  });

  test('the manifest and the summary have what the protocol names', async () => {
    const result = await capture('--force', '--command', 'draw');
    const manifest = readJson(result['manifest_path']);
    expect(manifest).toMatchObject({
      protocol_version: 'preview-bundle/v1',
      bundle_id: result['bundle_id'],
      bundle_kind: 'capture',
      command: 'draw',
      recipe: 'copy',
      status: 'ok',
      created_at: expect.stringMatching(STAMP),
      cache_key: expect.any(String),
      source_fingerprint: expect.stringMatching(/^sha256:/),
      generator: { entry_point: expect.any(String), version: expect.any(String), command: expect.any(Array) },
      source: {
        project_name: 'project',
        project_path: project,
        project_fingerprint: expect.any(String),
        files: [{ path: 'a.png', sha256: sha256(png()), bytes: png().length }],
      },
      summary_path: 'summary.json',
      summary_sha256: sha256(readFileSync(result['summary_path'])),
    });
    expect(manifest['artifacts'][0]).toMatchObject({
      artifact_id: 'hero',
      role: 'hero',
      kind: 'image',
      label: 'Picture',
      media_type: 'image/png',
      path: 'render.png',
      bytes: png().length,
      sha256: sha256(png()),
      width: 32,
      height: 24,
    });
    expect(Object.keys(readJson(result['summary_path']))).toEqual([
      'command',
      'headline',
      'facts',
      'warnings',
      'next_actions',
    ]);
  });

  test('text for people goes to stdout without --json, warnings to stderr', async () => {
    const { code, stdout, stderr } = await preview(project, ['capture']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(join(project, '.preview'));
    expect(stdout).not.toContain('{');
  });

  test('a session is named; one that is not there is nothing', async () => {
    const missing = await preview(project, ['capture', '--json', '--session', 'session_077']);
    expect([missing.code, errorOf(missing).code, missing.stdout]).toEqual([3, 'not_found', '']);
    expect(existsSync(join(project, '.preview/session_077'))).toBe(false);
    expect(await capture('--session', 'session_001')).toMatchObject({
      session_dir: join(project, '.preview/session_001'),
    });
  });

  test('without a config it renders what init would have detected, and writes no config', async () => {
    const bare = temporary();
    write(bare, { 'drawing.svg': svg() });
    const result = await done(preview(bare, ['capture', '--json']));
    expectShape(result, CAPTURE);
    expect(result).toMatchObject({ status: 'ok', render: expect.stringMatching(/render\.png$/) });
    expect(readdirSync(bare).sort()).toEqual(['.preview', 'drawing.svg']);
    expect(readFileSync(join(bare, '.preview/.gitignore'), 'utf8')).toBe('*\n');
  });

  test('a hero without a thumb gets one', async () => {
    const own = makeProject(temporary(), {
      hero: {
        sources: ['a.png'],
        run: [['cp', '{project}/a.png', '{out}/render.png']],
        artifacts: [{ path: 'render.png', role: 'hero' }],
      },
    });
    const result = await done(preview(own, ['capture', '--json']));
    expect(readdirSync(result['bundle_dir'])).toEqual(
      expect.arrayContaining(['manifest.json', 'summary.json', 'render.png', 'thumb.png']),
    );
  });
});

describe('latest', () => {
  test('prints what capture prints, and whether the sources have changed since', async () => {
    const project = makeProject();
    const captured = await done(preview(project, ['capture', '--json']));
    const latest = await done(preview(project, ['latest', '--json']));
    expectShape(latest, { ...CAPTURE, stale: 'boolean' });
    expect(latest).toEqual({ ...captured, stale: false });
    write(project, { 'a.png': png(32, 24, 7) });
    expect(await done(preview(project, ['latest', '--json']))).toEqual({ ...captured, stale: true });
    await done(preview(project, ['capture', '--json']));
    expect(await done(preview(project, ['latest', '--json']))).toMatchObject({
      stale: false,
      step_id: 'step-0002',
    });
  });
});

describe('live', () => {
  test('start, push, status, stop', async () => {
    const project = makeProject();
    await done(preview(project, ['capture', '--json']));
    const started = await done(preview(project, ['live', 'start', '--json', '--title', 'wheels']));
    expectShape(started, CAPTURE);
    expect(started).toMatchObject({
      session_dir: join(project, '.preview/session_002'),
      step_id: 'step-0001',
      status: 'ok',
    });
    expect(stepOf(started)).toMatchObject({
      publish_reason: 'start',
      command: 'preview live start --json --title wheels',
    });
    const again = await done(preview(project, ['live', 'start', '--json']));
    expectShape(again, CAPTURE);
    expect(again).toMatchObject({ session_dir: started['session_dir'], step_id: 'step-0001' });
    write(project, { 'a.png': png(32, 24, 9) });
    const pushed = await done(preview(project, ['live', 'push', '--json', '--command', 'turn']));
    expectShape(pushed, CAPTURE);
    expect(pushed).toMatchObject({ step_id: 'step-0002', bundle_id: 'bundle_002' });
    expect(stepOf(pushed)).toMatchObject({ command: 'turn', publish_reason: 'capture' });
    const status = await preview(project, ['live', 'status', '--json']);
    expect(Buffer.byteLength(status.stdout)).toBeLessThanOrEqual(1024);
    const document = documentOf(status);
    expectShape(document, STATUS);
    expect(document).toEqual({
      active: true,
      session_dir: started['session_dir'],
      trajectory_summary: {
        total_commands: 2,
        latest: { command: 'turn', bundle: 'bundle_002', timestamp: stepOf(pushed).published_at },
      },
      status: 'active',
      step: 'step-0002',
      reason: 'capture',
      render: 'bundle_002/render.png',
    });
    expect(await done(previews(project, ['status', '--json']))).toEqual(document);
    expect(await done(previews(project, ['status', 'session_002', '--json']))).toEqual(document);
    expect(await done(previews(project, ['status', 'session_001', '--json']))).toMatchObject({
      active: false,
      status: 'open',
    });
    const full = await done(preview(project, ['live', 'status', '--json', '--full']));
    expect(full).toMatchObject({
      active: true,
      current_bundle_id: 'bundle_002',
      current_step_id: 'step-0002',
      latest_publish_reason: 'capture',
      title: 'wheels',
      trajectory_summary: {
        step_count: 2,
        recent_steps: [{ step_id: 'step-0002' }, { step_id: 'step-0001' }],
      },
    });
    const stopped = await done(
      preview(project, ['live', 'stop', '--json', '--reason', 'finished', '--outcome', 'it turns']),
    );
    expect(stopped).toEqual({ ...document, active: false, status: 'stopped' });
    expect(readJson(join(started['session_dir'], 'session.json'))).toMatchObject({
      stop_reason: 'finished',
      outcome: 'it turns',
      stopped_at: expect.stringMatching(STAMP),
    });
    const push = await preview(project, ['live', 'push', '--json']);
    expect([push.code, errorOf(push).code, push.stdout]).toEqual([3, 'session_not_active', '']);
    expect(await done(preview(project, ['capture', '--json']))).toMatchObject({
      session_dir: join(project, '.preview/session_003'),
    });
  });

  test('push needs a session that is active', async () => {
    const project = makeProject();
    expect((await preview(project, ['live', 'push', '--json'])).code).toBe(3);
    expect(existsSync(join(project, '.preview'))).toBe(false);
    await done(preview(project, ['capture', '--json']));
    const push = await preview(project, ['live', 'push', '--json']);
    expect([push.code, errorOf(push).code]).toEqual([3, 'session_not_active']);
  });
});

describe('where nothing is recorded', () => {
  test('status prints the fixed document and ends with 0; everything else ends with 3', async () => {
    const project = makeProject();
    for (const outcome of [
      preview(project, ['live', 'status', '--json']),
      previews(project, ['status', '--json']),
    ]) {
      const { code, stdout, stderr } = await outcome;
      expect([code, stdout, stderr]).toEqual([0, `${JSON.stringify(FIXED)}\n`, '']);
    }
    for (const args of [['latest'], ['live', 'stop'], ['live', 'push']]) {
      const outcome = await preview(project, [...args, '--json']);
      expect([args, outcome.code, outcome.stdout]).toEqual([args, 3, '']);
      expect(errorOf(outcome).hint).not.toBe('');
    }
    for (const args of [
      ['inspect'],
      ['verify'],
      ['inspect', 'session_001'],
      ['verify', 'step-0001'],
      ['status', 'session_001'],
      ['inspect', '/nonexistent'],
    ]) {
      const outcome = await previews(project, [...args, '--json']);
      expect([args, outcome.code, outcome.stdout]).toEqual([args, 3, '']);
      expect(errorOf(outcome).code).toBe('not_found');
    }
    expect(await done(previews(project, ['list', '--json']))).toEqual({ sessions: [] });
    expect(existsSync(join(project, '.preview'))).toBe(false);
  });
});

describe.concurrent('wrong usage ends with 2 and changes nothing', () => {
  const project = makeProject();
  test.each([
    ['preview', 'nonsense'],
    ['preview', 'capture', '--nonsense'],
    ['preview', 'capture', 'surplus'],
    ['preview', 'capture', '--exit-code', 'many'],
    ['preview', 'capture', '--exit-code', '1.5'],
    ['preview', 'capture', '--exit-code', ''],
    ['preview', 'capture', '--started-at', 'yesterday-ish'],
    ['preview', 'capture', '--lock-timeout', 'soon'],
    ['preview', 'capture', '--lock-timeout', '-1'],
    ['preview', 'capture', '--lock-timeout', ''],
    ['preview', 'capture', '--lock-timeout'],
    ['preview', 'capture', '--lock-timeout', '--'],
    ['preview', 'capture', '--command', '--'],
    ['preview', 'capture', '--root', '--'],
    ['preview', 'capture', '--session', '--'],
    ['preview', 'capture', '--root', ''],
    ['preview', 'capture', '--recipe', 'nonsense'],
    ['preview', 'capture', '--recipe', '../x'],
    ['preview', 'capture', '--recipe', '__proto__'],
    ['preview', 'capture', '--recipe', 'constructor'],
    ['preview', 'live', 'nonsense'],
    ['preview', 'live', 'status', '--nonsense'],
    ['preview', 'live', 'status', 'surplus'],
    ['preview', 'live', 'status', '--session', '--'],
    ['preview', 'live', 'status', '--session'],
    ['preview', 'init', 'surplus'],
    ['preview', 'recipes', '--nonsense'],
    ['preview', '__proto__'],
    ['preview', 'help.cjs'],
    ['preview', '../commands/preview-help'],
    ['previews', 'nonsense'],
    ['previews', 'inspect', '--from', 'x'],
    ['previews', 'list', 'a', 'b'],
    ['previews', 'verify', '--head'],
    ['previews', 'status', '--nonsense'],
    ['previews', 'capture'],
  ])('%s %s %s %s', async (program, ...args) => {
    const project = makeProject();
    const outcome = await (program === 'preview' ? preview : previews)(project, [
      ...args.filter((arg) => arg !== undefined),
      ...(args.at(-1) === '--lock-timeout' || args.at(-1) === '--session' || args.at(-1) === '--head'
        ? []
        : ['--json']),
    ]);
    expect([outcome.code, outcome.stdout]).toEqual([2, '']);
    if (outcome.stderr.startsWith('{')) expect(['usage', 'recipe_unknown']).toContain(errorOf(outcome).code);
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
    expect(existsSync(join(project, '.preview'))).toBe(false);
  });

  test('an unknown recipe names those there are', async () => {
    const error = errorOf(await preview(project, ['capture', '--recipe', 'nonsense', '--json']));
    expect(error).toMatchObject({
      code: 'recipe_unknown',
      message: expect.stringContaining('nonsense'),
      hint: expect.stringContaining('copy'),
    });
  });

  test('no arguments: help on stdout or stderr, exit 2; --help and --version: exit 0', async () => {
    for (const program of [preview, previews]) {
      expect((await program(project, [])).code).toBe(2);
      for (const flag of ['--help', '-h', 'help'])
        expect(await program(project, [flag])).toMatchObject({
          code: 0,
          stderr: '',
          stdout: expect.stringMatching(/^Usage: /),
        });
      const version = await program(project, ['--version']);
      expect(version).toMatchObject({ code: 0, stderr: '' });
      expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
  });

  test.each([
    'init',
    'capture',
    'latest',
    'live',
    'recipes',
    'live start',
    'live push',
    'live stop',
    'live status',
  ])('preview %s --help', async (name) => {
    expect(await preview(project, [...name.split(' '), '--help'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Usage: preview /),
    });
  });
  test.each(['list', 'status', 'inspect', 'verify', 'export'])('previews %s --help', async (name) => {
    expect(await previews(project, [name, '--help'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Usage: previews /),
    });
  });
});

describe("the consumer's documents", () => {
  let project = '';
  let session = '';
  beforeAll(async () => {
    project = makeProject();
    for (let n = 1; n <= 23; n++)
      session = (
        await done(
          preview(project, [
            'capture',
            '--json',
            '--command',
            `draw ${n}`,
            ...(n % 8 === 0 ? ['--force'] : []),
          ]),
        )
      )['session_dir'];
    await done(preview(project, ['live', 'start', '--json', '--title', 'second']));
  }, 120_000);

  test('list', async () => {
    const { sessions, ...rest } = await done(previews(project, ['list', '--json']));
    expect(rest).toEqual({});
    expect(sessions.map((row: any) => row.session)).toEqual(['session_001', 'session_002']);
    for (const row of sessions)
      expectShape(row, {
        session: 'string',
        session_dir: 'string',
        status: 'string',
        steps: 'number',
        updated_at: 'string',
        title: 'string|null',
        software: 'string|null',
        problems: 'objects',
      });
    expect(sessions[0]).toMatchObject({
      session_dir: session,
      status: 'open',
      steps: 23,
      title: null,
      software: 'test',
      problems: [],
      updated_at: expect.stringMatching(STAMP),
    });
    expect(sessions[1]).toMatchObject({ status: 'active', steps: 1, title: 'second' });
  });

  test('inspect of a session: the newest 20 steps, all, or a range', async () => {
    const steps = async (...args: string[]) => {
      const result = await done(previews(project, ['inspect', 'session_001', '--json', ...args]));
      expectShape(result, { session: 'object', steps: 'objects', problems: 'objects' });
      expect(result['problems']).toEqual([]);
      expect(result['session']).toMatchObject({ session_name: 'session_001', trajectory_step_count: 23 });
      return result['steps'].map((step: any) => step.step_index);
    };
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    expect(await steps()).toEqual(range(4, 23));
    expect(await steps('--all')).toEqual(range(1, 23));
    expect(await steps('--from', '5', '--to', '7')).toEqual([5, 6, 7]);
    expect(await steps('--from', '22')).toEqual([22, 23]);
    expect(await steps('--to', '2')).toEqual([1, 2]);
    expect(await steps('--from', '20', '--to', '99')).toEqual(range(20, 23));
    expect(await steps('--from', '0', '--to', '1')).toEqual([1]);
    expect(await steps('--from', '-5', '--to', '1')).toEqual([1]);
    expect(await steps('--from', '30')).toEqual([]);
    expect(await steps('--from', '7', '--to', '5')).toEqual([]);
  });

  test('inspect of a step and of a bundle', async () => {
    for (const ref of [
      'session_001/step-0008',
      'session_001/bundle_002',
      join(session, 'bundle_002/manifest.json'),
    ]) {
      const result = await done(previews(project, ['inspect', ref, '--json']));
      expectShape(result, { manifest: 'object', summary: 'object', step: 'object', problems: 'objects' });
      expect(result).toMatchObject({
        manifest: { bundle_id: 'bundle_002', command: 'draw 8' },
        summary: { command: 'draw 8' },
        step: { bundle_id: 'bundle_002' },
        problems: [],
      });
    }
    const none = await previews(project, ['inspect', 'session_001/step-0099', '--json']);
    expect([none.code, errorOf(none).code]).toEqual([3, 'not_found']);
  });

  test('verify, with the right head hash and a wrong one', async () => {
    const verify = (...args: string[]) => previews(project, ['verify', 'session_001', '--json', ...args]);
    const result = await done(verify());
    expectShape(result, {
      ok: 'boolean',
      steps: 'number',
      bundles: 'number',
      pending: 'number',
      problems: 'objects',
    });
    expect(result).toEqual({ ok: true, steps: 23, bundles: 3, pending: 0, problems: [] });
    for (const line of [linesOf(session)[0]!, linesOf(session).at(-1)!])
      expect(await done(verify('--head', sha256(line)))).toEqual(result);
    const wrong = await done(verify('--head', sha256('other')), 6);
    expect(wrong).toMatchObject({ ok: false });
    for (const problem of wrong['problems'])
      expectShape(problem, { kind: 'string', where: 'string', detail: 'string' });
    for (const nonsense of ['abc', '', 'sha256:xyz', sha256('x').slice(7)]) {
      const outcome = await verify('--head', nonsense);
      expect([nonsense, outcome.code, outcome.stdout]).toEqual([nonsense, 2, '']);
    }
  });

  test('every form of a REF names the same', async () => {
    const inspect = async (ref: string[], cwd = project) =>
      done(previews(cwd, ['inspect', '--json', ...ref]));
    const first = await inspect(['session_001']);
    for (const ref of [
      session,
      join(session, 'session.json'),
      join(session, 'trajectory.json'),
      '.preview/session_001',
      './.preview/session_001/',
    ])
      expect(await inspect([ref]), ref).toEqual(first);
    const current = await inspect([]);
    expect(current['session']).toMatchObject({ session_name: 'session_002' });
    for (const ref of ['.preview', '.', join(project, '.preview')])
      expect((await inspect([ref]))['session'], ref).toEqual(current['session']);
    expect((await inspect(['step-0001']))['step']).toMatchObject({
      step_id: 'step-0001',
      publish_reason: 'start',
    });
    expect(await inspect(['.'], session)).toEqual(first);
    expect(
      (
        await done(
          previews(temporary(), [
            'inspect',
            '--json',
            '--root',
            join(project, '.preview'),
            'session_001/step-0003',
          ]),
        )
      )['step'],
    ).toMatchObject({ step_index: 3 });
    expect(await done(previews(project, ['verify', '.preview', '--json']))).toMatchObject({
      ok: true,
      steps: 24,
    });
    expect(await done(previews(project, ['verify', join(session, 'bundle_001'), '--json']))).toMatchObject({
      ok: true,
      bundles: 1,
    });
  });

  test('I6 the consumer changes nothing', async () => {
    const before = snapshot(join(project, '.preview'));
    for (const args of [['list'], ['status'], ['inspect', '--all'], ['inspect', 'step-0001'], ['verify']])
      for (const json of [[], ['--json']]) expect((await previews(project, [...args, ...json])).code).toBe(0);
    expect(snapshot(join(project, '.preview'))).toEqual(before);
  });

  test('the current links name the newest', () => {
    expect(basename(session)).toBe('session_001');
    expect(lstatSync(join(project, '.preview/current')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(session, 'current/manifest.json'))).toBe(true);
  });
});
