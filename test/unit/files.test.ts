// Which files are listed: by globs, by git, by a plain walk.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listSources, type SourceOptions } from '../../src/files.js';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'files-')));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const ODD = [
  'a\nb.scad',
  'say "hi".scad',
  "it's.scad",
  'été.scad',
  '模型.scad',
  '🚀.scad',
  '-rf',
  'a -> b',
  ' lead',
  'x b/y',
  'back\\slash',
];

function write(...names: string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), `content of ${name}`);
  }
}

function git(...args: string[]): string {
  const name = [
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@example.invalid',
    '-c',
    'protocol.file.allow=always',
  ];
  const done = spawnSync('git', [...name, ...args], { cwd: dir, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

const list = async (options?: SourceOptions, from = dir) => listSources(from, options);

describe('globs', () => {
  const tree = [
    'rover.scad',
    'notes.txt',
    '.hidden/a.scad',
    '.env',
    'parts/a.scad',
    'parts/.b.scad',
    'parts/deep/c.scad',
    'node_modules/m/m.scad',
    '.git/x.scad',
    '.preview/p.scad',
    'nested/.preview/q.scad',
    'nested/n.scad',
    'rec/r.scad',
    'part[1].scad',
  ];
  const check = (
    title: string,
    sources: string[],
    files: string[],
    more: Omit<SourceOptions, 'sources'> = {},
  ) =>
    test(title, async () => {
      write(...tree);
      const found = await list({
        sources,
        ...more,
        previewRoot: more.previewRoot && join(dir, more.previewRoot),
      });
      expect(found).toEqual({ files, from: 'walk', problems: [], complete: true });
    });
  check('a name', ['rover.scad'], ['rover.scad']);
  check('a name with ./', ['./rover.scad'], ['rover.scad']);
  check('one folder only', ['parts/*.scad'], ['parts/a.scad']);
  check('folders below', ['parts/**/*.scad'], ['parts/a.scad', 'parts/deep/c.scad']);
  check('a folder is all in it', ['parts'], ['parts/a.scad', 'parts/deep/c.scad']);
  check('a folder with a slash', ['parts/'], ['parts/a.scad', 'parts/deep/c.scad']);
  check(
    'no dotfiles, node_modules, .git, preview roots',
    ['**/*.scad'],
    ['nested/n.scad', 'part[1].scad', 'parts/a.scad', 'parts/deep/c.scad', 'rec/r.scad', 'rover.scad'],
  );
  check('a preview root of another name', ['**/r*.scad'], ['rover.scad'], { previewRoot: 'rec' });
  check('a preview root that is the project hides nothing', ['r*.scad'], ['rover.scad'], {
    previewRoot: '.',
  });
  check(
    'a dot that is named',
    ['.hidden/*', '.env', 'parts/.*'],
    ['.env', '.hidden/a.scad', 'parts/.b.scad'],
  );
  check('node_modules by name', ['node_modules/**'], ['node_modules/m/m.scad']);
  check('node_modules by name, deeper', ['**/node_modules/**/*.scad'], ['node_modules/m/m.scad']);
  check('braces', ['{parts,nested}/*.scad'], ['nested/n.scad', 'parts/a.scad']);
  check('each file once', ['parts/*', 'parts/a.scad', '**/a.scad'], ['parts/a.scad']);
  check('a leading ! takes away', ['parts/**', '!parts/deep'], ['parts/a.scad']);
  check('exclude: a folder', ['**/*.scad'], ['part[1].scad', 'rec/r.scad', 'rover.scad'], {
    exclude: ['parts/', 'nested'],
  });
  check('exclude: a glob', ['*'], ['notes.txt'], { exclude: ['*.scad'] });
  check('a name that could be a glob', ['part[1].scad'], ['part[1].scad']);
  check('an escaped name', ['part\\[1\\].scad'], ['part[1].scad']);
  check('none asked for', [], []);

  const checkProblem = (title: string, source: string, says: RegExp) =>
    test(`a problem: ${title}`, async () => {
      write(...tree);
      symlinkSync('parts', join(dir, 'link'));
      spawnSync('mkfifo', [join(dir, 'fifo')]);
      const found = await list({ sources: [source] });
      expect(found.files).toEqual([]);
      expect(found.problems).toEqual([expect.stringMatching(says)]);
    });
  checkProblem('outside', '../x/*', /not inside the project/);
  checkProblem('outside after all', 'parts/../../x', /not inside the project/);
  checkProblem('absolute', '/etc/*', /not inside the project/);
  checkProblem('empty', '', /not inside the project/);
  checkProblem('nothing there', 'gone.scad', /no file matches/);
  checkProblem('nothing matches', 'parts/*.stl', /no file matches/);
  checkProblem('a preview root', '.preview/p.scad', /excluded/);
  checkProblem('through a symlink', 'link/a.scad', /symlink/);
  checkProblem('below a symlink', 'link/*.scad', /symlink/);
  checkProblem('a fifo', 'fifo', /neither a file nor a folder/);

  test('symlinks are listed as themselves; loops, fifos and sockets do no harm', async () => {
    write('a/f.txt');
    symlinkSync('..', join(dir, 'a/up'));
    symlinkSync('self', join(dir, 'self'));
    symlinkSync('gone', join(dir, 'dangling'));
    spawnSync('mkfifo', [join(dir, 'fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(dir, 's'), resolve));
    const found = await list({ sources: ['**'] });
    await new Promise((resolve) => server.close(resolve));
    expect(found).toEqual({
      files: ['a/f.txt', 'a/up', 'dangling', 'self'],
      from: 'walk',
      problems: [],
      complete: true,
    });
  });

  test('odd names', async () => {
    write(...ODD);
    expect((await list({ sources: ['**'] })).files).toEqual([...ODD].sort());
    // Found literally even where a backslash would escape.
    expect((await list({ sources: ODD.filter((name) => !name.includes('\\')) })).files).toEqual(
      ODD.filter((name) => !name.includes('\\')).sort(),
    );
  });

  test('a name that is not UTF-8 is left out aloud', async () => {
    write('good');
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff])]), 'x');
    const found = await list({ sources: ['**'] });
    expect(found).toEqual({
      files: ['good'],
      from: 'walk',
      problems: [expect.stringMatching(/not UTF-8/)],
      complete: false,
    });
  });

  // Nothing is unreadable for root.
  test.skipIf(process.getuid?.() === 0)('an unreadable folder makes the list incomplete', async () => {
    write('shut/a', 'b');
    chmodSync(join(dir, 'shut'), 0);
    const found = await list({ sources: ['**'] });
    chmodSync(join(dir, 'shut'), 0o700);
    expect(found).toEqual({
      files: ['b'],
      from: 'walk',
      problems: [expect.stringMatching(/cannot be read \(EACCES\)/)],
      complete: false,
    });
  });

  test('I10: a walk ends after so many files and folders, whatever matches, and says so', async () => {
    for (const name of ['a/1.txt', 'b/2.txt', 'c/3.txt']) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), '');
    }
    const list = (look: number) => listSources(dir, { sources: ['**/*.svg', '**/3.txt'], look });
    expect(await list(6)).toMatchObject({ files: ['c/3.txt'], complete: true });
    const cut = await list(2);
    expect([cut.files, cut.complete]).toEqual([[], false]);
    expect(cut.problems.join()).toMatch(/not all were looked at; name the folders in the recipe's sources/);
  });

  test('I10: a list stops at its limit and says so', async () => {
    write('a', 'b', 'c');
    expect(await list({ sources: ['*'], limit: 3 })).toMatchObject({ problems: [], complete: true });
    const found = await list({ sources: ['*'], limit: 2 });
    expect(found).toMatchObject({ problems: [expect.stringMatching(/more than 2 files/)], complete: false });
    expect(found.files).toHaveLength(2);
  });

  test('problems are counted beyond a number', async () => {
    const found = await list({ sources: Array.from({ length: 30 }, (_, i) => `gone-${i}`) });
    expect(found.problems).toHaveLength(21);
    expect(found.problems.at(-1)).toMatch(/and 10 more/);
  });
});

describe('git', () => {
  beforeEach(() => {
    git('init', '-q');
  });
  const files = async (from = dir, options?: SourceOptions) => {
    const found = await list(options, from);
    expect(found).toMatchObject({ from: 'git', problems: [], complete: true });
    return found.files;
  };

  test('tracked and untracked, neither ignored nor deleted; no commit needed', async () => {
    write('tracked', 'deleted', 'untracked', 'build/out', 'force.log', 'other.log', '.gitignore');
    writeFileSync(join(dir, '.gitignore'), 'build/\n*.log\n');
    git('add', 'tracked', 'deleted');
    git('add', '-f', 'force.log');
    rmSync(join(dir, 'deleted'));
    expect(await files()).toEqual(['.gitignore', 'force.log', 'tracked', 'untracked']);
  });

  test('C18: odd names', async () => {
    write(...ODD);
    git('add', '--', ...ODD.slice(0, 5));
    expect(await files()).toEqual([...ODD].sort());
  });

  test('a subfolder, a linked worktree, hidden index flags', async () => {
    write('top', 'sub/a', 'sub/b', 'sub/c');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('update-index', '--assume-unchanged', 'sub/a');
    git('update-index', '--skip-worktree', 'sub/b');
    write('sub/new');
    expect(await files(join(dir, 'sub'))).toEqual(['a', 'b', 'c', 'new']);
    const other = join(dir, 'other');
    git('worktree', 'add', '-q', other);
    expect(await files(other)).toEqual(['sub/a', 'sub/b', 'sub/c', 'top']);
  });

  test('C16: no preview root, even a committed one', async () => {
    write('a', '.preview/session.json', 'nested/.preview/x', 'rec/x');
    git('add', '-f', '.');
    expect(await files(dir, { previewRoot: join(dir, 'rec'), exclude: [] })).toEqual(['a']);
    expect(await files(dir, { exclude: ['re?'] })).toEqual(['a']);
  });

  test('a conflict is listed once', async () => {
    write('f');
    git('add', '.');
    git('commit', '-qm', 'one');
    const base = git('rev-parse', '--abbrev-ref', 'HEAD').trim();
    git('checkout', '-qb', 'other');
    writeFileSync(join(dir, 'f'), 'theirs');
    git('commit', '-qam', 'theirs');
    git('checkout', '-q', base);
    writeFileSync(join(dir, 'f'), 'ours');
    git('commit', '-qam', 'ours');
    expect(() => git('merge', '-q', 'other')).toThrow();
    expect(await files()).toEqual(['f']);
  });

  test('submodules and nested repositories are not read', async () => {
    write('sub/x', 'a');
    for (const args of [
      ['init', '-q'],
      ['add', 'x'],
      ['commit', '-qm', 'x'],
    ])
      git('-C', 'sub', ...args);
    git('add', 'a', 'sub');
    write('nested/y');
    git('init', '-q', 'nested');
    expect(await files()).toEqual(['a']);
  });

  test('C02: the index stays byte for byte, its times too; no fsmonitor, no environment of a hook', async () => {
    write('a', 'ran');
    rmSync(join(dir, 'ran'));
    git('add', '.');
    writeFileSync(join(dir, 'hook.sh'), `#!/bin/sh\ntouch "${dir}/ran"\n`, { mode: 0o755 });
    git('config', 'core.fsmonitor', join(dir, 'hook.sh'));
    // Stat-dirty, which a refresh would write into the index.
    writeFileSync(join(dir, 'a'), 'content of a');
    const index = join(dir, '.git/index');
    const before = { bytes: readFileSync(index), stat: lstatSync(index) };
    vi.stubEnv('GIT_DIR', join(dir, 'nowhere'));
    vi.stubEnv('GIT_INDEX_FILE', join(dir, 'nothing'));
    expect(await files()).toEqual(['a', 'hook.sh']);
    expect(readFileSync(index).equals(before.bytes)).toBe(true);
    expect(lstatSync(index)).toMatchObject({ mtimeMs: before.stat.mtimeMs, ino: before.stat.ino });
  });

  test('a name that is not UTF-8 is left out aloud', async () => {
    write('good', 'émoi');
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff])]), 'x');
    expect(await list()).toEqual({
      files: ['good', 'émoi'],
      from: 'git',
      problems: [expect.stringMatching(/^1 file name.*not UTF-8/)],
      complete: false,
    });
  });

  test('I10: a list stops at its limit and says so', async () => {
    write('a', 'b', 'c');
    expect(await list({ limit: 2 })).toMatchObject({
      files: ['a', 'b'],
      complete: false,
      problems: [expect.stringMatching(/more than 2/)],
    });
  });
});

describe('without git', () => {
  const check = (title: string, prepare: () => void, says?: RegExp) =>
    test(title, async () => {
      write('a', 'b/.c', 'node_modules/x', '.preview/y');
      prepare();
      expect(await list()).toEqual({
        files: ['a', 'b/.c'],
        from: 'walk',
        problems: says ? [expect.stringMatching(says)] : [],
        complete: true,
      });
    });
  check('no repository', () => vi.stubEnv('GIT_CEILING_DIRECTORIES', dirname(dir)));
  check('no git program', () => vi.stubEnv('PATH', join(dir, 'nothing')));
  check(
    'C15: ownership refused',
    () => {
      git('init', '-q');
      vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
    },
    /dubious ownership/,
  );
  check(
    'a folder that its repository ignores',
    () => {
      git('init', '-q');
      writeFileSync(join(dir, '.git/info/exclude'), '*\n');
    },
    /git knows no file in it/,
  );

  test('a project that is not there', async () => {
    await expect(list({}, join(dir, 'gone'))).rejects.toMatchObject({ code: 'not_found' });
    write('file');
    await expect(list({}, join(dir, 'file'))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a project reached through a symlink', async () => {
    write('real/a', 'real/rec/b');
    renameSync(join(dir, 'real'), join(dir, 'moved'));
    symlinkSync('moved', join(dir, 'way'));
    const found = await list({ sources: ['**'], previewRoot: join(dir, 'moved/rec') }, join(dir, 'way'));
    expect(found.files).toEqual(['a']);
  });
});
