// `previews export --format cli-anything`: one of our sessions in CLI-Anything's form, and read back from it.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { done, errorOf, previews, REPOSITORY } from '../helpers/cli.js';
import { snapshot, temporary } from '../helpers/project.js';
import { samplesOf } from '../helpers/samples.js';

type Json = Record<string, any>;
const read = (path: string): Json => JSON.parse(readFileSync(path, 'utf8'));
/** A session with a long command, a reused bundle, an error, a partial bundle and a diff. */
const golden = join(REPOSITORY, 'test/fixtures/golden/full');

/** A copy of that session in a folder of the test's own. */
function copyOf(): { folder: string; session: string; out: string } {
  const folder = temporary();
  const session = join(folder, '.preview/session_001');
  cpSync(golden, session, { recursive: true, verbatimSymlinks: true });
  return { folder, session, out: join(folder, 'out') };
}

const exportTo = (session: string, out: string, ...more: string[]) =>
  previews('/', ['export', session, '--format', 'cli-anything', '-o', out, '--json', ...more]);
const inspect = (ref: string) => done(previews('/', ['inspect', ref, '--all', '--json']));

describe('exported and read back', () => {
  test('each step has its command, times, outcome and words', async () => {
    const { session, out } = copyOf();
    const exported = await done(exportTo(session, out));
    expect(exported).toMatchObject({
      format: 'cli-anything',
      output: out,
      steps: 6,
      bundles: 5,
      problems: [],
    });
    const ours = await inspect(session);
    const theirs = await inspect(exported['session_dir']);
    expect(theirs['problems']).toEqual([]);
    expect(theirs['session']['format']).toBe('cli-anything');
    const keys = [
      'step_id',
      'step_index',
      'command_started_at',
      'command_finished_at',
      'duration_ms',
      'published_at',
      'exit_code',
      'signal',
      'publish_reason',
      'recipe',
      'source_fingerprint',
      'status',
      'cached',
      'stage_label',
      'note',
    ];
    const comparable = (step: Json) => keys.map((key) => [key, step[key] ?? null]);
    expect(theirs['steps'].map(comparable)).toEqual(ours['steps'].map(comparable));
    for (const [n, step] of ours['steps'].entries()) {
      const whole = step['command_path']
        ? readFileSync(join(session, step['command_path']), 'utf8')
        : step['command'];
      expect(theirs['steps'][n]['command']).toBe(whole);
    }
    expect(ours['steps'].filter((step: Json) => step['command_path'])).toHaveLength(1);
    const same = (steps: Json[]) =>
      steps.map((step) => steps.findIndex((other) => other['bundle_id'] === step['bundle_id']));
    expect(same(theirs['steps'])).toEqual(same(ours['steps']));
  });

  test('each bundle has its facts, and artifacts with the same bytes', async () => {
    const { session, out } = copyOf();
    const { session_dir } = await done(exportTo(session, out));
    const ours = await inspect(session);
    const theirs = await inspect(session_dir);
    let files = 0;
    for (const [n, step] of ours['steps'].entries()) {
      const one = await inspect(join(session, step['bundle_id']));
      const other = await inspect(join(session_dir, step['step_id']));
      expect(other['problems']).toEqual([]);
      expect(other['summary']['facts']).toEqual(one['summary']['facts']);
      expect(other['summary']['headline']).toBe(one['summary']['headline']);
      const facts = ({ artifact_id, role, kind, path, bytes, sha256 }: Json) => ({
        artifact_id,
        role,
        kind,
        path,
        bytes,
        sha256,
      });
      expect(other['manifest']['artifacts'].map(facts)).toEqual(one['manifest']['artifacts'].map(facts));
      expect(other['manifest']['context']['recorded_as']).toBe(step['bundle_id']);
      for (const { path } of one['manifest']['artifacts']) {
        const copied = readFileSync(join(theirs['steps'][n]['bundle_dir'], path));
        expect(copied.equals(readFileSync(join(session, step['bundle_dir'], path)))).toBe(true);
        files++;
      }
    }
    expect(files).toBeGreaterThan(8);
  });

  test('verify checks the hashes that went along, and finds an altered file', async () => {
    const { session, out } = copyOf();
    const { session_dir } = await done(exportTo(session, out));
    const verdict = await done(previews('/', ['verify', session_dir, '--json']));
    expect(verdict).toMatchObject({ ok: true, steps: 6, bundles: 5, problems: [] });
    expect(verdict['notes'][0]['detail']).toMatch(/^12 files have a hash, which was checked; 0 files/);
    const { current_render_path: picture } = (await inspect(session_dir))['session'];
    const bytes = readFileSync(picture);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(picture, bytes);
    const broken = await done(previews('/', ['verify', session_dir, '--json']), 6);
    expect(broken['problems']).toMatchObject([{ kind: 'artifact_altered' }]);
  });

  test('the export can be moved', async () => {
    const { session, out, folder } = copyOf();
    const { session_dir } = await done(exportTo(session, out));
    cpSync(out, join(folder, 'elsewhere'), { recursive: true, verbatimSymlinks: true });
    rmSync(out, { recursive: true });
    const moved = session_dir.replace(out, join(folder, 'elsewhere'));
    expect((await inspect(moved))['problems']).toEqual([]);
    expect((await previews('/', ['verify', moved])).code).toBe(0);
  });
});

describe('the form', () => {
  test('has what its reader asks for: absolute folders that are there, a relative link, texts where it takes texts', async () => {
    const { session, out } = copyOf();
    const { session_dir } = await done(exportTo(session, out));
    const head = read(join(session_dir, 'session.json'));
    const trajectory = read(join(session_dir, 'trajectory.json'));
    expect(dirname(session_dir)).toBe(join(out, 'openscad/live'));
    expect(basename(session_dir)).toMatch(/^project-[0-9a-f]{8}-quick$/);
    expect(readlinkSync(join(session_dir, 'current'))).toBe(`../../quick/${head['current_bundle_id']}`);
    expect(realpathSync(join(session_dir, 'current'))).toBe(head['current_bundle_dir']);
    expect(trajectory['step_count']).toBe(trajectory['steps'].length);
    expect(head['history'].map((step: Json) => step['step_id'])).toEqual([
      'step-0006',
      'step-0005',
      'step-0004',
      'step-0003',
      'step-0001',
    ]);
    for (const step of trajectory['steps']) {
      for (const key of ['bundle_dir', 'manifest_path', 'summary_path'])
        expect(isAbsolute(step[key]) && existsSync(step[key])).toBe(true);
      expect(step['bundle_id']).toMatch(/^\d{8}T\d{6}Z_[0-9a-f]{8}_quick$/);
      expect(Object.values(step)).not.toContain(null);
      const manifest = read(step['manifest_path']);
      expect(manifest['bundle_id']).toBe(step['bundle_id']);
      for (const key of ['software', 'recipe', 'status', 'created_at', 'summary_path'])
        expect(manifest[key]).toEqual(expect.any(String));
      expect(manifest['generator']['command'] ?? '').toEqual(expect.any(String));
      for (const artifact of manifest['artifacts'])
        for (const key of ['artifact_id', 'role', 'kind', 'label', 'media_type', 'path'])
          expect(artifact[key]).toEqual(expect.any(String));
      expect(read(step['summary_path'])['facts']).toEqual(expect.any(Object));
    }
    expect(new Set(trajectory['steps'].map((step: Json) => step['bundle_id'])).size).toBe(5);
  });

  const samples = samplesOf('cli-anything');
  test.skipIf(samples === null)('has each key that its own programs write', async () => {
    const { session, out } = copyOf();
    const { session_dir } = await done(exportTo(session, out));
    const recorded = join(samples!, 'shotcut/manual/.cli-anything/previews/shotcut/live/cut-9ff937cc-quick');
    const missing = (name: string) =>
      Object.keys(read(join(recorded, name))).filter((key) => !(key in read(join(session_dir, name))));
    expect(missing('trajectory.json')).toEqual([]);
    // Commands that publish, which nothing can into a copy, and what only its `live status` adds.
    expect(missing('session.json').sort()).toEqual([
      'monitor_command',
      'publish_command',
      'start_command',
      'trajectory_summary',
    ]);
    const [theirs] = read(join(recorded, 'trajectory.json'))['steps'];
    const step = read(join(session_dir, 'trajectory.json'))['steps'].find(
      (each: Json) => each['command_started_at'],
    );
    expect(Object.keys(theirs).filter((key) => !(key in step))).toEqual([]);
  });
});

describe('what it does not do', () => {
  test('I6 it changes nothing in the session, and leaves nothing beside the export', async () => {
    const { folder, session, out } = copyOf();
    const before = snapshot(session);
    mkdirSync(out);
    await done(exportTo(session, out));
    expect(snapshot(session)).toEqual(before);
    expect(readdirSync(folder).sort()).toEqual(['.preview', 'out']);
    expect(lstatSync(join(out, 'openscad')).mode & 0o200).toBe(0o200);
  });

  test.each<[what: string, out: (at: ReturnType<typeof copyOf>) => string, message: RegExp]>([
    ['a folder that holds something', ({ folder }) => folder, /is not empty/],
    ['a file', ({ session }) => join(session, '../a-file'), /is no folder/],
    ['a place in the session', ({ session }) => join(session, 'out'), /lies in the session/],
    [
      'a place in a preview root',
      ({ session }) => join(session, '../../elsewhere/.preview/out'),
      /lies in a preview root/,
    ],
    ['the session itself', ({ session }) => session, /lies in the session/],
    [
      'a place in the session behind a link',
      ({ folder }) => join(folder, 'link/deep/out'),
      /lies in the session/,
    ],
  ])('%s is refused, and nothing is written', async (_what, place, message) => {
    const at = copyOf();
    writeFileSync(join(at.session, '../a-file'), 'x');
    symlinkSync(at.session, join(at.folder, 'link'));
    const before = snapshot(at.folder);
    const outcome = await exportTo(at.session, place(at));
    expect(outcome.code).toBe(2);
    expect(errorOf(outcome).code).toBe('usage');
    expect(errorOf(outcome).message).toMatch(message);
    expect(snapshot(at.folder)).toEqual(before);
  });

  test('a format that nobody knows, a step, and an export of an export are usage errors', async () => {
    const { session, out } = copyOf();
    const unknown = await previews('/', ['export', session, '--format', 'svg', '-o', out, '--json']);
    expect([unknown.code, errorOf(unknown).hint]).toEqual([2, 'there are: cli-anything, timelapse']);
    const step = await exportTo(join(session, 'step-0002'), out);
    expect([step.code, errorOf(step).message]).toEqual([2, 'a step is not exported by itself']);
    await done(exportTo(session, out));
    const again = await exportTo(out, `${out}-2`);
    expect(errorOf(again).message).toMatch(/in the form cli-anything already/);
    expect((await previews('/', ['export', session, '--json'])).code).toBe(2);
  });
});

test('a damaged session is exported as far as it goes, and what is left out is named', async () => {
  const { session, out } = copyOf();
  rmSync(join(session, 'bundle_001'), { recursive: true });
  rmSync(join(session, 'bundle_002/artifacts/top.png'));
  symlinkSync('/etc/hostname', join(session, 'bundle_002/artifacts/top.png'));
  const exported = await done(exportTo(session, out));
  expect(exported).toMatchObject({ steps: 6, bundles: 4 });
  expect(exported['problems'].map(({ kind, where }: Json) => `${kind} ${where}`)).toEqual([
    'missing bundle_001/manifest.json',
    'missing bundle_001/summary.json',
    'artifact_missing bundle_002/artifacts/top.png',
  ]);
  const { steps, problems } = await inspect(exported['session_dir']);
  expect(problems).toEqual([]);
  expect(steps[0]['bundle_dir']).toBe(null);
});

test('I9 a session made to do harm writes nothing outside the export', async () => {
  const { folder, session, out } = copyOf();
  const manifest = read(join(session, 'bundle_001/manifest.json'));
  Object.assign(manifest, { created_at: '../../../../escaped', recipe: '../../x', software: '../y' });
  const [hero] = manifest['artifacts'];
  for (const path of [
    'manifest.json',
    'artifacts/../summary.json',
    '../bundle_002/render.png',
    '/etc/hostname',
  ])
    manifest['artifacts'].push({ ...hero, artifact_id: path, path });
  rmSync(join(session, 'bundle_001/manifest.json'));
  writeFileSync(join(session, 'bundle_001/manifest.json'), JSON.stringify(manifest));
  const head = read(join(session, 'session.json'));
  Object.assign(head, {
    software: '../../../z',
    recipe: '..',
    project_name: '../../p',
    session_name: '../..',
  });
  rmSync(join(session, 'session.json'));
  writeFileSync(join(session, 'session.json'), JSON.stringify(head));
  const exported = await done(exportTo(session, out));
  expect(exported['bundles']).toBe(5);
  expect(exported['problems'].map(({ where }: Json) => where)).toEqual([
    'bundle_001/manifest.json',
    'bundle_001/artifacts/../summary.json',
    'bundle_001/../bundle_002/render.png',
    'bundle_001//etc/hostname',
  ]);
  expect(readdirSync(folder).sort()).toEqual(['.preview', 'out']);
  expect(exported['session_dir']).toMatch(new RegExp(`^${out}/z/live/p-[0-9a-f]{8}-preview$`));
  const { steps } = await inspect(exported['session_dir']);
  expect(steps[0]['bundle_id']).toMatch(/^00000000T000000Z_[0-9a-f]{8}_x$/);
});

test('a root exports its current session, and a session that is no more is said so', async () => {
  const { folder, session, out } = copyOf();
  symlinkSync(basename(session), join(dirname(session), 'current'));
  const exported = await done(
    previews(folder, ['export', '--root', '.preview', '--format', 'cli-anything', '-o', 'out', '--json']),
  );
  expect(exported['output']).toBe(out);
  expect((await exportTo(join(folder, 'gone'), `${out}-2`)).code).toBe(3);
  writeFileSync(join(session, 'session.json'), '');
  const damaged = await exportTo(session, `${out}-2`);
  expect([damaged.code, errorOf(damaged).code]).toEqual([6, 'session_damaged']);
  expect(existsSync(`${out}-2`)).toBe(false);
});
