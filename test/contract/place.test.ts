// Where things are written: hostile session names, a deleted working directory, modes whatever the umask.
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { documentOf, done, errorOf, preview, previews, shell } from '../helpers/cli.js';
import { makeProject, png, snapshot, temporary, write } from '../helpers/project.js';
import { editJson } from '../helpers/tamper.js';

describe('G09 session names', () => {
  let project = '';
  beforeAll(async () => {
    project = makeProject();
    await done(preview(project, ['capture', '--json']));
    write(join(project, '../x'), { keep: '' });
  });

  test.each([
    '../x',
    '../../x',
    '/tmp',
    '/',
    '',
    '.',
    '..',
    'CON',
    'nul',
    'x'.repeat(300),
    'session_1',
    'Session_001',
    'session_001/../../../x',
    'session_001\n',
    ' session_001',
    'bundle_001',
    '~',
    '$HOME',
    '%2e%2e',
    '..\\x',
  ])('%j is refused before any write', async (name) => {
    const before = snapshot(join(project, '..'));
    for (const [args, env] of [
      [['capture', `--session=${name}`]],
      [['live', 'push', `--session=${name}`]],
      [['live', 'stop', `--session=${name}`]],
      [['capture'], { PREVIEW_SESSION: name }],
    ] as [string[], Record<string, string>?][]) {
      const outcome = await preview(project, [...args, '--json'], env);
      expect([args, outcome.code, outcome.stdout, errorOf(outcome).code]).toEqual([
        args,
        2,
        '',
        'session_name',
      ]);
    }
    expect(snapshot(join(project, '..'))).toEqual(before);
  });

  test.each([
    ['session_name', '../x'],
    ['session_name', '/tmp/x'],
    ['session_id', '../../x'],
    ['trajectory_path', '../../stolen.json'],
    ['current_link', '../../x'],
    ['current_bundle_dir', '../..'],
    ['project_path', '/nonexistent'],
  ])('a stored %s of %j decides nothing about where to write', async (key, value) => {
    const own = makeProject();
    const { session_dir } = await done(preview(own, ['capture', '--json']));
    editJson(join(session_dir, 'session.json'), (head) => {
      head[key] = value;
    });
    const parent = join(own, '..');
    const outside = () =>
      readdirSync(parent, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !name.startsWith('project/.preview'),
      );
    const before = outside();
    const result = await done(preview(own, ['capture', '--json', '--force']));
    expect(result['session_dir'].startsWith(join(own, '.preview/session_'))).toBe(true);
    expect(readdirSync(session_dir)).toContain('bundle_002');
    expect(outside()).toEqual(before);
  });

  test('orphans that name a path outside are not removed', async () => {
    const own = makeProject();
    const { session_dir } = await done(preview(own, ['capture', '--json']));
    write(own, { 'precious/x': 'x' });
    editJson(join(session_dir, 'session.json'), (head) => {
      head['orphans'] = ['../../precious', '/etc/hostname', 'bundle_001', 'trajectory.json'];
    });
    await preview(own, ['capture', '--json', '--force']);
    expect(readFileSync(join(own, 'precious/x'), 'utf8')).toBe('x');
    expect(readdirSync(session_dir)).toEqual(expect.arrayContaining(['trajectory.json', 'bundle_001']));
  });

  test('a current that leads out of the root is not followed', async () => {
    const own = makeProject();
    const other = temporary();
    write(other, { 'session.json': '{}' });
    mkdirSync(join(own, '.preview'));
    symlinkSync(other, join(own, '.preview/current'));
    const before = snapshot(other);
    expect(await done(preview(own, ['capture', '--json']))).toMatchObject({
      session_dir: join(own, '.preview/session_001'),
    });
    expect(snapshot(other)).toEqual(before);
  });
});

describe('E11 a working directory that was deleted', () => {
  const gone = (command: string) =>
    shell(`mkdir gone && cd gone && rmdir ../gone && ${command}`, { cwd: temporary() });

  test.each([
    'preview --version',
    'preview --help',
    'previews --version',
    'previews --help',
    'preview live status --help',
    'preview capture --help',
    'previews inspect --help',
  ])('%s works', async (command) => {
    expect(await gone(command)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/./) });
  });

  test.each([
    'preview live status --json',
    'preview capture --json',
    'preview latest --json',
    'preview init --json',
    'preview recipes --json',
    'preview live start --json',
    'preview live stop --json',
    'previews status --json',
    'previews list --json',
    'previews inspect --json',
    'previews verify --json',
  ])('%s says so', async (command) => {
    const outcome = await gone(command);
    expect([outcome.code, outcome.stdout]).toEqual([1, '']);
    const error = errorOf(outcome);
    expect(error.message).toMatch(/working directory|current (folder|directory)/);
    expect(error.code).toBe('io');
  });

  test('text for people is one clear line, no stack', async () => {
    const { stderr } = await gone('preview live status');
    expect(stderr).toMatch(/^preview: the working directory no longer exists\n/);
    expect(stderr).not.toMatch(/\n\s+at |uv_cwd/);
  });
});

describe('G12 modes, whatever the umask', () => {
  test.each(['000', '022', '077', '0177'])(
    'umask %s gives 0700 and 0600; what is published has no write bits',
    async (umask) => {
      const project = makeProject();
      const outcome = await shell(
        `umask ${umask}; preview capture --json --note "$(printf 'n%.0s' $(seq 3000))"`,
        { cwd: project },
      );
      const { session_dir, bundle_dir } = documentOf(outcome);
      expect(outcome.code).toBe(0);
      await done(shell(`umask ${umask}; preview capture --json --force`, { cwd: project }));
      const modes: Record<string, string> = {};
      const look = (path: string, name: string) => {
        const stat = lstatSync(path);
        if (stat.isSymbolicLink()) return;
        modes[name] = `${stat.isDirectory() ? 'd' : 'f'} ${(stat.mode & 0o777).toString(8)}`;
        if (stat.isDirectory())
          for (const entry of readdirSync(path)) look(join(path, entry), `${name}/${entry}`);
      };
      look(join(project, '.preview'), '.preview');
      const wrong = Object.entries(modes).filter(
        ([name, mode]) =>
          mode !==
          (mode.startsWith('d') ? 'd 700' : /session_\d+\/bundle_\d+\//.test(name) ? 'f 400' : 'f 600'),
      );
      expect(Object.keys(modes).length).toBeGreaterThan(12);
      expect(wrong).toEqual([]);
      expect(session_dir.length < bundle_dir.length).toBe(true);
    },
  );
});

test('a project whose path has spaces, quotes, unicode and a newline', async () => {
  const parent = join(temporary(), 'a "b" \'c\' 汉\n\u202e$HOME');
  const project = makeProject(parent);
  const result = await done(preview(project, ['capture', '--json']));
  expect(result['session_dir']).toBe(join(project, '.preview/session_001'));
  expect(await done(previews(project, ['verify', '--json']))).toMatchObject({ ok: true });
  const { stdout } = await previews(project, ['inspect']);
  expect(stdout).not.toMatch(/\u202e/);
});

test('a read-only project is told, exit 1', async ({ skip }) => {
  if (process.getuid?.() === 0) return skip('root writes everywhere');
  const project = makeProject();
  await shell('chmod 0500 .', { cwd: project });
  const outcome = await preview(project, ['capture', '--json']);
  await shell('chmod 0700 .', { cwd: project });
  expect([outcome.code, errorOf(outcome).code]).toEqual([1, 'not_writable']);
});

test('a preview root elsewhere, by --root and by $PREVIEW_ROOT', async () => {
  const project = makeProject();
  const elsewhere = join(temporary(), 'deep/er');
  expect(await done(preview(project, ['capture', '--json', '--root', elsewhere]))).toMatchObject({
    session_dir: join(elsewhere, 'session_001'),
  });
  write(project, { 'a.png': png(4, 4) });
  expect(await done(preview(project, ['capture', '--json'], { PREVIEW_ROOT: elsewhere }))).toMatchObject({
    step_id: 'step-0002',
  });
  expect(readdirSync(project).sort()).toEqual(['a.png', 'preview.config.json']);
});
