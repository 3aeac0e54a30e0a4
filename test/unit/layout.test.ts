// Finding the project, the root and the session; names and their order.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bundleName,
  byNumber,
  findProject,
  findRoot,
  findSession,
  gitTop,
  inMainWorkTree,
  isSessionName,
  numberOf,
  sessionName,
  stepId,
} from '../../src/layout.js';
import { temporary, write } from '../helpers/project.js';

const root = (cwd: string, more: { root?: string; env?: Record<string, string> } = {}) =>
  findRoot({ cwd, env: {}, ...more });
const folder = (...parts: string[]) => {
  const path = join(...parts);
  mkdirSync(path, { recursive: true });
  return path;
};
const git = (cwd: string, ...args: string[]) => {
  const { status, stderr } = spawnSync(
    'git',
    ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'protocol.file.allow=always', ...args],
    {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    },
  );
  expect(status, stderr).toBe(0);
};

describe('the preview root', () => {
  test('--root, then $PREVIEW_ROOT, both from the working directory', () => {
    const dir = temporary();
    expect(root(dir, { root: 'a/b' })).toBe(join(dir, 'a/b'));
    expect(root(dir, { root: '/abs' })).toBe('/abs');
    expect(root(dir, { env: { PREVIEW_ROOT: 'c' } })).toBe(join(dir, 'c'));
    expect(root(dir, { root: 'a', env: { PREVIEW_ROOT: 'c' } })).toBe(join(dir, 'a'));
    expect(() => root(dir, { root: '' })).toThrow(/empty/);
    expect(() => root(dir, { env: { PREVIEW_ROOT: '' } })).toThrow(/empty/);
  });

  test('the nearest ancestor with .preview/ or a config, before the git top, else here', () => {
    const top = temporary();
    const deep = folder(top, 'a/b/c');
    expect(root(deep)).toBe(join(deep, '.preview'));
    folder(top, '.git');
    expect(root(deep)).toBe(join(top, '.preview'));
    write(top, { 'a/preview.config.json': '{}' });
    expect(root(deep)).toBe(join(top, 'a/.preview'));
    folder(top, 'a/b/.preview');
    expect(root(deep)).toBe(join(top, 'a/b/.preview'));
    expect(findProject(deep)).toBe(join(top, 'a/b'));
  });

  test('a file called .preview is no root', () => {
    const top = temporary();
    write(top, { '.preview': 'x', 'preview.config.json': '{}', 'sub/.preview': 'x' });
    expect(findProject(folder(top, 'sub/deeper'))).toBe(top);
  });

  test('in a linked worktree it is that of the same place in the main work tree', () => {
    const dir = temporary();
    const main = folder(dir, 'main');
    git(main, 'init', '-q');
    write(main, { 'sub/a.svg': 'x', 'sub/preview.config.json': '{}' });
    git(main, 'add', '.');
    git(main, 'commit', '-q', '-m', 'x');
    git(main, 'worktree', 'add', '-q', join(dir, 'linked'));
    expect(inMainWorkTree(join(dir, 'linked/sub'))).toBe(join(main, 'sub'));
    expect(root(join(dir, 'linked/sub'))).toBe(join(main, 'sub/.preview'));
    expect(root(join(dir, 'linked'))).toBe(join(main, '.preview'));
    git(main, 'worktree', 'add', '-q', join(main, 'nested'));
    expect(root(join(main, 'nested'))).toBe(join(main, '.preview'));
  });

  test('a submodule has its own', () => {
    const dir = temporary();
    const module = folder(dir, 'module');
    git(module, 'init', '-q');
    write(module, { 'a.svg': 'x' });
    git(module, 'add', '.');
    git(module, 'commit', '-q', '-m', 'x');
    const main = folder(dir, 'main');
    git(main, 'init', '-q');
    git(main, 'submodule', 'add', '-q', module, 'sub');
    expect(gitTop(join(main, 'sub'))).toBe(join(main, 'sub'));
    expect(inMainWorkTree(join(main, 'sub'))).toBe(join(main, 'sub'));
    expect(root(join(main, 'sub'))).toBe(join(main, 'sub/.preview'));
  });

  test('a .git file that is nonsense, or names what is gone, is no worktree', () => {
    const dir = temporary();
    for (const content of ['', 'nonsense', 'gitdir: /nowhere/at/all', 'gitdir: ']) {
      write(dir, { '.git': content });
      expect(inMainWorkTree(dir)).toBe(dir);
      expect(root(dir)).toBe(join(dir, '.preview'));
    }
  });
});

describe('the session', () => {
  const dir = temporary();
  const at = folder(dir, '.preview');
  write(at, { 'session_001/session.json': '{}', 'session_002/session.json': '{}' });
  write(dir, { 'elsewhere/session.json': '{}', 'folder/x': '' });
  const find = (session?: string, env: Record<string, string> = {}) =>
    findSession({ cwd: dir, env, session });

  test('none before there is a current', () => expect(find()).toBeNull());
  test('named, by --session before $PREVIEW_SESSION, by name or folder', () => {
    expect(find('session_002')).toBe(join(at, 'session_002'));
    expect(find(undefined, { PREVIEW_SESSION: 'session_001' })).toBe(join(at, 'session_001'));
    expect(find('session_002', { PREVIEW_SESSION: 'session_001' })).toBe(join(at, 'session_002'));
    expect(find('elsewhere')).toBe(join(dir, 'elsewhere'));
    expect(find(join(at, 'session_001'))).toBe(join(at, 'session_001'));
    expect(find('session_009')).toBe(join(at, 'session_009'));
  });
  test.each([
    '',
    '.',
    '..',
    '../x',
    '/',
    '/etc',
    'CON',
    'folder',
    'x'.repeat(300),
    'session_1',
    'session_001/',
    'session_001\0',
    'Session_001',
    'session_-01',
    'session_0x1',
    'session_001\n',
  ])('G09 %j is refused', (name) => {
    // A trailing slash names the folder by path, which is there only below the root.
    expect(() => find(name)).toThrow(expect.objectContaining({ code: 'session_name' }));
  });
  test("the root's current, which can name nothing outside", () => {
    symlinkSync('session_002', join(at, 'current'));
    expect(find()).toBe(join(at, 'session_002'));
    for (const target of ['../elsewhere', '/etc', 'x', '..', '.']) {
      const other = folder(temporary(), '.preview');
      symlinkSync(target, join(other, 'current'));
      expect(findSession({ cwd: other, env: {}, root: other })).toBeNull();
    }
  });
});

describe('numbering', () => {
  test('names are padded and grow', () => {
    expect([
      bundleName(1),
      bundleName(999),
      bundleName(1000),
      sessionName(12),
      stepId(7),
      stepId(12_345),
    ]).toEqual(['bundle_001', 'bundle_999', 'bundle_1000', 'session_012', 'step-0007', 'step-12345']);
    expect(['bundle_999', 'bundle_1000', 'bundle_002', 'bundle_010'].sort(byNumber)).toEqual([
      'bundle_002',
      'bundle_010',
      'bundle_999',
      'bundle_1000',
    ]);
  });
  test('a name made is read back, and orders as its number', () => {
    const any = fc.integer({ min: 1, max: 2 ** 40 });
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect([
          numberOf(bundleName(a), 'bundle'),
          numberOf(sessionName(a), 'session'),
          numberOf(stepId(a), 'step'),
        ]).toEqual([a, a, a]);
        for (const name of [bundleName, sessionName, stepId])
          expect(Math.sign(byNumber(name(a), name(b)))).toBe(Math.sign(a - b));
      }),
    );
  });
  test.each([
    'bundle_1',
    'bundle_',
    'bundle_01',
    'bundle_001x',
    'xbundle_001',
    'bundle_-01',
    'bundle_1e3',
    'bundle_ 01',
    'session_001',
    'bundle_001\n',
  ])('%j is no bundle', (name) => expect(numberOf(name, 'bundle')).toBeNull());
  test('only plain names are session names', () => {
    expect(isSessionName('session_001')).toBe(true);
    expect(['../session_001', 'session_001/..', 'session_001/', '', '.'].some(isSessionName)).toBe(false);
  });
});
