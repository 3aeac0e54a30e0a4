// What CLI-Anything recorded with real software, read by the built `previews` as if it were ours.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DIST, documentOf, done, errorOf, expectShape, preview, previews, run } from '../helpers/cli.js';
import { recordSession, svg, temporary, write } from '../helpers/project.js';
import { copySample, samplesOf } from '../helpers/samples.js';

type Json = Record<string, any>;
const samples = samplesOf('cli-anything');
if (samples === null)
  process.stderr.write('SKIPPED: ../shared/samples/cli-anything is not on this machine\n');
const read = (path: string): Json => JSON.parse(readFileSync(path, 'utf8'));

/** The live session in a sample, or in a copy of one. */
function sessionIn(folder: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/live\/[^/]+\/session\.json$/.test(name))
    .map((name) => join(folder, dirname(name)));
  expect(found).toHaveLength(1);
  return found[0]!;
}
const quickOf = (session: string) => join(dirname(dirname(session)), 'quick');

/** Every file with its size and time, to see that reading leaves all of it alone. */
const treeOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, size, mtimeMs, ctimeMs } = lstatSync(join(folder, name));
      return [name, mode, size, mtimeMs, ctimeMs].join(' ');
    });

const SESSIONS: [sample: string, steps: number, bundles: number, cached: number][] = [
  ['shotcut/manual', 8, 7, 1],
  ['shotcut/poll', 6, 6, 0],
  ['blender/ok', 5, 5, 0],
  ['blender/failed-pushes', 2, 2, 0],
  ['freecad/manual', 6, 5, 1],
];

describe.skipIf(samples === null)('every recorded session', () => {
  test('the table names all there are', () => {
    const found = readdirSync(samples!, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('/session.json'))
      .map((name) => name.split('/.cli-anything/')[0]);
    expect(found.sort()).toEqual(SESSIONS.map(([name]) => name).sort());
  });

  describe.each(SESSIONS)('%s', (name, count, bundles, cached) => {
    const folder = join(samples ?? '', name);

    test('inspect shows each step with our keys, and no problem', async () => {
      const session = sessionIn(folder);
      const before = treeOf(folder);
      const recorded = read(join(session, 'trajectory.json'));
      const {
        session: head,
        steps,
        problems,
      } = await done(previews('/', ['inspect', session, '--all', '--json']));
      expect(problems).toEqual([]);
      expect(recorded['steps']).toHaveLength(count);
      expect(steps.map((step: Json) => step['step_id'])).toEqual(
        recorded['steps'].map((step: Json) => step['step_id']),
      );
      for (const [n, step] of steps.entries()) {
        const theirs = recorded['steps'][n];
        expect(step).toMatchObject({
          step_index: n + 1,
          command: theirs['command'],
          bundle_id: theirs['bundle_id'],
          status: theirs['status'],
          cached: theirs['cached'],
          source_fingerprint: theirs['source_fingerprint'],
          manifest_sha256: null,
          bundle_dir: join(quickOf(session), theirs['bundle_id']),
        });
        expect(Date.parse(step['published_at'])).toBe(Math.floor(Date.parse(theirs['command_finished_at'])));
        expect(read(step['manifest_path'])['bundle_id']).toBe(theirs['bundle_id']);
        expect(existsSync(step['summary_path'])).toBe(true);
      }
      expect(steps[0]['publish_reason']).toBe('start');
      expect(head).toMatchObject({
        format: 'cli-anything',
        session_name: basename(session),
        status: 'stopped',
        bundle_count: bundles,
        trajectory_step_count: count,
        current_step_id: recorded['current_step_id'],
      });
      expect(lstatSync(head['current_render_path']).isFile()).toBe(true);
      expect(steps.filter((step: Json) => step['cached'])).toHaveLength(cached);
      expect(treeOf(folder)).toEqual(before);
    });

    test('each bundle has its summary, facts, and artifacts that are there', async () => {
      const session = sessionIn(folder);
      const last = read(join(session, 'trajectory.json'))['steps'].at(-1);
      for (const ref of [join(quickOf(session), last['bundle_id']), join(session, last['step_id'])]) {
        const { manifest, summary, step, problems } = await done(previews('/', ['inspect', ref, '--json']));
        const dir = join(quickOf(session), last['bundle_id']);
        expect(problems).toEqual([]);
        expect(step['step_id']).toBe(last['step_id']);
        expect(summary['facts']).toEqual(read(join(dir, 'summary.json'))['facts']);
        expect(summary['headline']).toBe(read(join(dir, 'summary.json'))['headline']);
        expect(manifest['command']).toBe(read(join(dir, 'manifest.json'))['generator']['command']);
        expect(manifest['artifacts']).toHaveLength(read(join(dir, 'manifest.json'))['artifacts'].length);
        for (const { path, bytes } of manifest['artifacts'])
          expect(lstatSync(join(dir, path)).size).toBe(bytes);
      }
    });

    test('status prints the compact document', async () => {
      const session = sessionIn(folder);
      const outcome = await previews('/', ['status', session, '--json']);
      const document = documentOf(outcome);
      expectShape(document, {
        active: 'boolean',
        session_dir: 'string',
        trajectory_summary: 'object',
        status: 'string',
        step: 'string',
        reason: 'string',
        render: 'string',
      });
      expect(document['active']).toBe(false);
      expect(document['trajectory_summary']['total_commands']).toBe(count);
      expect(existsSync(join(session, document['render']))).toBe(true);
      expect(outcome.bytes.length).toBeLessThanOrEqual(1024);
    });

    test('verify finds nothing wrong, and says that it cannot prove it', async () => {
      const verdict = await done(previews('/', ['verify', sessionIn(folder), '--json']));
      expect(verdict).toMatchObject({ ok: true, steps: count, bundles, pending: 0, problems: [] });
      expect(verdict['notes'].map(({ kind }: Json) => kind)).toEqual(['unverifiable']);
    });

    test('list names it, from the project down to the live folder', async () => {
      const session = sessionIn(folder);
      const above = [folder, join(folder, '.cli-anything'), dirname(dirname(dirname(session)))];
      for (const root of [...above, dirname(dirname(session)), dirname(session)]) {
        const { sessions, bundles: loose } = await done(previews('/', ['list', root, '--json']));
        expect(sessions).toEqual([
          expect.objectContaining({
            session: relative(root, session),
            session_dir: session,
            status: 'stopped',
            steps: count,
            problems: [],
          }),
        ]);
        expect(loose).toEqual([]);
      }
    });
  });
});

describe.skipIf(samples === null)('a REF to a recording', () => {
  const folder = join(samples ?? '', 'shotcut/poll');

  test('may be its session.json, its trajectory.json, or a folder above', async () => {
    const session = sessionIn(folder);
    for (const ref of ['session.json', 'trajectory.json', '..', '../..', '../../..', '../../../..']) {
      const shown = await done(previews(session, ['inspect', ref, '--json']));
      expect(shown['session']['session_name'], ref).toBe(basename(session));
    }
  });

  test('may be a manifest.json, or `current`: a file holding the target, or a link', async () => {
    const copy = sessionIn(copySample(folder));
    const { current_bundle_id: id } = read(join(copy, 'session.json'));
    const current = join(copy, 'current');
    const shown = async (ref: string) =>
      (await done(previews(copy, ['inspect', ref, '--json'])))['manifest']?.['bundle_id'];
    expect(lstatSync(current).isSymbolicLink()).toBe(true);
    expect(await shown(join(quickOf(copy), id, 'manifest.json'))).toBe(id);
    expect(await shown(current)).toBe(id);
    rmSync(current);
    symlinkSync(`/home/user/project/.cli-anything/previews/shotcut/quick/${id}`, current);
    expect(await shown(current)).toBe(id);
    rmSync(current);
    writeFileSync(current, `../../quick/${id}`);
    expect(await shown(current)).toBe(id);
    rmSync(current);
    symlinkSync('../../quick/gone', current);
    expect((await previews(copy, ['inspect', current, '--json'])).code).toBe(3);
    const { problems } = await done(previews(copy, ['inspect', copy, '--json']));
    expect(problems).toEqual([
      { kind: 'bundle_missing', where: 'current', detail: '../../quick/gone is not here' },
    ]);
  });

  test('may be the folder of a recipe, which holds bundles only', async () => {
    const copy = sessionIn(copySample(folder));
    rmSync(dirname(copy), { recursive: true });
    const { sessions, bundles } = await done(previews('/', ['list', quickOf(copy), '--json']));
    expect(sessions).toEqual([]);
    expect(bundles).toHaveLength(6);
    expect(bundles.at(-1)).toMatchObject({ bundle: '20261130T151313Z_1129157a_quick', status: 'ok' });
    const newest = await done(previews('/', ['inspect', quickOf(copy), '--json']));
    expect(newest['manifest']['bundle_id']).toBe('20261130T151313Z_1129157a_quick');
    const verdict = await done(previews('/', ['verify', quickOf(copy), '--json']));
    expect(verdict).toMatchObject({ ok: true, steps: 0, bundles: 6 });
  });

  test('and the session that $PREVIEW_SESSION names is read too', async () => {
    const session = sessionIn(folder);
    const shown = await done(previews('/', ['inspect', '--json'], { PREVIEW_SESSION: session }));
    expect(shown['steps']).toHaveLength(6);
  });
});

describe.skipIf(samples === null)('a recording that was moved', () => {
  test('with its bundles beside the session in one folder is found all the same', async () => {
    const session = sessionIn(copySample(join(samples!, 'freecad/manual')));
    const flat = temporary();
    renameSync(session, join(flat, 'session'));
    for (const name of readdirSync(quickOf(session)))
      renameSync(join(quickOf(session), name), join(flat, name));
    const { steps, problems } = await done(previews('/', ['inspect', join(flat, 'session'), '--json']));
    expect(problems.filter(({ where }: Json) => where !== 'current')).toEqual([]);
    expect(steps.map((step: Json) => dirname(step['bundle_dir']))).toEqual(steps.map(() => flat));
    const verdict = await done(previews('/', ['verify', join(flat, 'session'), '--json']), 6);
    expect(verdict['problems'].map(({ where }: Json) => where)).toEqual(['current']);
  });

  test('without its bundles shows its steps, and says for each what is not here', async () => {
    const session = sessionIn(copySample(join(samples!, 'freecad/manual')));
    rmSync(quickOf(session), { recursive: true });
    const { session: head, steps, problems } = await done(previews('/', ['inspect', session, '--json']));
    expect(steps).toHaveLength(6);
    expect(steps.map((step: Json) => step['bundle_dir'])).toEqual(steps.map(() => null));
    expect(head['current_render_path']).toBe(null);
    expect(problems.filter(({ kind }: Json) => kind === 'bundle_missing')).toHaveLength(7);
    const verdict = await done(previews('/', ['verify', session, '--json']), 6);
    expect(verdict['ok']).toBe(false);
    expect((await done(previews('/', ['status', session, '--json'])))['render']).toBe(null);
  });
});

describe.skipIf(samples === null)('failures that it recorded', () => {
  test('a capture that failed left a bundle without a manifest: a stray in inspect, a note in verify', async () => {
    const session = sessionIn(copySample(join(samples!, 'blender/failed-pushes')));
    // As the program left them; git keeps no empty folders, so the sample has them no more.
    const orphans = ['20261130T150250Z_0e3f1c2d_quick', '20261130T150253Z_1a2b3c4d_quick'];
    for (const name of orphans) mkdirSync(join(quickOf(session), name, 'artifacts'), { recursive: true });
    const stray = { kind: 'orphan', detail: 'it has no manifest: its capture failed or was cut off' };
    const expected = orphans.map((name) => ({ ...stray, where: `../../quick/${name}` }));
    const { steps, problems } = await done(previews('/', ['inspect', session, '--json']));
    expect(steps).toHaveLength(2);
    expect(problems).toEqual(expected.map(({ kind, where, detail }) => ({ kind, where, detail })));
    const verdict = await done(previews('/', ['verify', session, '--json']));
    expect(verdict['ok']).toBe(true);
    expect(verdict['notes'].map(({ kind }: Json) => kind)).toEqual(['unverifiable', 'orphan', 'orphan']);
    const bundle = await done(previews('/', ['inspect', join(quickOf(session), orphans[0]!), '--json']));
    expect(bundle['problems'].map(({ where }: Json) => where)).toEqual(['manifest.json', 'summary.json']);
  });

  test('a whole bundle that was never published is a stray, but not one of another project or session', async () => {
    const session = sessionIn(copySample(join(samples!, 'blender/ok')));
    const [first] = readdirSync(quickOf(session)).sort();
    const add = (name: string, project: string) => {
      cpSync(join(quickOf(session), first!), join(quickOf(session), name), { recursive: true });
      const path = join(quickOf(session), name, 'manifest.json');
      const manifest = read(path);
      manifest['bundle_id'] = name;
      manifest['source']['project_path'] = project;
      writeFileSync(path, JSON.stringify(manifest));
    };
    add('20261130T150000Z_aaaaaaaa_quick', '/home/user/project/scene.blend-cli.json');
    add('20261130T150000Z_bbbbbbbb_quick', '/home/user/project/other.blend-cli.json');
    const { problems } = await done(previews('/', ['inspect', session, '--json']));
    expect(problems).toEqual([
      {
        kind: 'orphan',
        where: '../../quick/20261130T150000Z_aaaaaaaa_quick',
        detail: 'no step of a session here names it',
      },
    ]);
    const { bundles } = await done(previews('/', ['list', dirname(quickOf(session)), '--json']));
    expect(bundles.map(({ bundle }: Json) => basename(bundle))).toEqual([
      '20261130T150000Z_aaaaaaaa_quick',
      '20261130T150000Z_bbbbbbbb_quick',
    ]);
  });

  test('a poller that collided and was stopped: what it last wrote of itself', async () => {
    const session = sessionIn(join(samples!, 'shotcut/poll'));
    const { session: head } = await done(previews('/', ['inspect', session, '--json']));
    expect(head['watcher']).toMatchObject({
      pid: 19475,
      heartbeat_at: '2026-11-30T15:13:22.564Z',
      running: false,
      exit_reason: 'manual-stop',
      last_status: 'ok',
      last_error_at: '2026-11-30T15:12:58.897Z',
    });
    expect(head['watcher']['last_error']).toMatch(/^\[Errno 17\] File exists/);
    const manual = await done(previews('/', ['inspect', sessionIn(join(samples!, 'blender/ok')), '--json']));
    expect(manual['session']['watcher']).toBe(null);
  });

  test('a poller whose last look failed, in a session that still says it is active', async () => {
    const session = sessionIn(copySample(join(samples!, 'shotcut/poll')));
    const head = read(join(session, 'session.json'));
    Object.assign(head, { status: 'active', stopped_at: undefined });
    Object.assign(head['poller'], { running: true, last_capture_status: 'error', stopped_at: undefined });
    Object.assign(head['source_state'], {
      last_error: 'no such file\u001b[31m',
      last_error_at: head['updated_at'],
    });
    writeFileSync(join(session, 'session.json'), JSON.stringify(head));
    const shown = await done(previews('/', ['inspect', session, '--json']));
    expect(shown['session']['status']).toBe('active');
    expect(shown['session']['watcher']).toMatchObject({
      running: true,
      last_status: 'error',
      stopped_at: null,
    });
    expect(shown['problems']).toEqual([
      {
        kind: 'capture_failed',
        where: 'session.json',
        detail: "the poller's last look: no such file\u001b[31m",
      },
    ]);
    expect((await previews('/', ['inspect', session])).stdout).not.toContain('\u001b');
    expect((await done(previews('/', ['status', session, '--json'])))['active']).toBe(true);
    // Its capture failed; what it recorded is whole.
    expect((await done(previews('/', ['verify', session, '--json'])))['problems']).toEqual([]);
  });
});

describe.skipIf(samples === null)('what verify can find', () => {
  const broken: [what: string, breakIt: (session: string, bundle: string) => void, kind: string][] = [
    [
      'an artifact that is gone',
      (_, bundle) => rmSync(join(bundle, 'artifacts/hero.png')),
      'artifact_missing',
    ],
    [
      'an artifact of another size',
      (_, bundle) => writeFileSync(join(bundle, 'artifacts/hero.png'), 'x'),
      'artifact_altered',
    ],
    ['a summary that is gone', (_, bundle) => rmSync(join(bundle, 'summary.json')), 'missing'],
    ['a manifest that is cut', (_, bundle) => cut(join(bundle, 'manifest.json')), 'invalid'],
    ['a bundle that is gone', (_, bundle) => rmSync(bundle, { recursive: true }), 'bundle_missing'],
    ['a trajectory that is cut', (session) => cut(join(session, 'trajectory.json')), 'invalid'],
    [
      'a step that was dropped',
      (session) => edit(session, 'trajectory.json', (t) => t['steps'].pop()),
      'head_disagrees',
    ],
    [
      'steps in another order',
      (session) => edit(session, 'trajectory.json', (t) => t['steps'].reverse()),
      'step_order',
    ],
    [
      'a head of another bundle',
      (session) => edit(session, 'session.json', (h) => (h['current_bundle_id'] = 'x')),
      'head_disagrees',
    ],
    [
      'a manifest of another bundle',
      (_, bundle) => edit(bundle, 'manifest.json', (m) => (m['bundle_id'] = 'x')),
      'bundle_disagrees',
    ],
  ];
  const cut = (path: string) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 400));
  const edit = (dir: string, name: string, change: (value: Json) => void) => {
    const value = read(join(dir, name));
    change(value);
    writeFileSync(join(dir, name), JSON.stringify(value));
  };

  test.each(broken)('%s', async (_what, breakIt, kind) => {
    const session = sessionIn(copySample(join(samples!, 'blender/ok')));
    breakIt(session, join(quickOf(session), '20261130T150608Z_fe5839e1_quick'));
    const verdict = await done(previews('/', ['verify', session, '--json']), 6);
    expect(verdict['ok']).toBe(false);
    expect(verdict['problems'].map((problem: Json) => problem['kind'])).toContain(kind);
    expect((await previews('/', ['inspect', session, '--json'])).code).toBe(0);
  });

  test('a hash asked for with --head is not there to be found', async () => {
    const session = sessionIn(join(samples!, 'blender/ok'));
    const hash = `sha256:${'0'.repeat(64)}`;
    const verdict = await done(previews('/', ['verify', session, '--head', hash, '--json']), 6);
    expect(verdict['problems'].map(({ kind }: Json) => kind)).toEqual(['head_hash']);
  });
});

describe.skipIf(samples === null)('nothing of ours is written into it', () => {
  test.each([
    ['capture', (session: string) => ['capture', '--session', session]],
    ['live stop', (session: string) => ['live', 'stop', '--session', session]],
    ['repair', (session: string) => ['repair', session]],
  ])('`preview %s` refuses it', async (_name, argv) => {
    const copy = copySample(join(samples!, 'freecad/manual'));
    const project = temporary();
    write(project, { 'a.svg': svg() });
    const before = treeOf(copy);
    const outcome = await preview(project, [...argv(sessionIn(copy)), '--json']);
    expect(outcome.code).toBe(2);
    expect(errorOf(outcome).code).toBe('session_name');
    expect(treeOf(copy)).toEqual(before);
  });
});

test('the status of one of ours loads nothing of this', async () => {
  const bare = temporary();
  mkdirSync(join(bare, 'commands'));
  for (const name of ['previews.cjs', 'commands/previews-status.cjs'])
    cpSync(join(DIST, name), join(bare, name));
  const { dir } = await recordSession(1);
  const status = (session: string) =>
    run([process.execPath, join(bare, 'previews.cjs'), 'status', session, '--json'], { cwd: bare });
  expect(documentOf(await status(dir))['session_dir']).toBe(dir);
  write(bare, { 'theirs/session.json': '{"protocol_version":"preview-live/v1","status":"active"}' });
  expect((await status(join(bare, 'theirs'))).code).toBe(1);
});
