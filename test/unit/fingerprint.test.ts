// One fingerprint for one content, whatever the stat cache says; and a cache that is never believed where
// it could be wrong.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { changedFiles, type FileEntry, fingerprint, fingerprintSources } from '../../src/fingerprint.js';
import { readCache, writeCache } from '../../src/statcache.js';

let dir = '';
let cachePath = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'fingerprint-')));
  mkdirSync(join(dir, '.preview'));
  cachePath = join(dir, '.preview/.cache/sources');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const HOUR_MS = 3_600_000;
/** Seen from later, what was written just now is old. */
const later = () => Date.now() + HOUR_MS;
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

function write(name: string, content: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
}

function git(...args: string[]): void {
  const done = spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
    cwd: dir,
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
}

/** Until the file system's clock has moved on, as it has between a person's edits: a few ms at most. */
function tick(): void {
  const probe = join(dir, '.preview/probe');
  writeFileSync(probe, '');
  const from = statSync(probe).ctimeMs;
  while (statSync(probe).ctimeMs === from) writeFileSync(probe, '');
}

describe('the fingerprint', () => {
  test('is SHA-256 over MODE SP HEX SP PATH NUL, sorted by path', async () => {
    write('b', 'two');
    write('a\n', 'one');
    chmodSync(join(dir, 'b'), 0o755);
    symlinkSync('b', join(dir, 'c'));
    const records = [`file ${sha256('one')} a\n\0`, `exec ${sha256('two')} b\0`, `link ${sha256('b')} c\0`];
    const found = await fingerprint(dir, ['c', 'b', 'a\n', 'b']);
    expect(found).toEqual({
      fingerprint: `sha256:${sha256(records.join(''))}`,
      files: [
        { path: 'a\n', sha256: sha256('one'), bytes: 3, mode: 'file' },
        { path: 'b', sha256: sha256('two'), bytes: 3, mode: 'exec' },
        { path: 'c', sha256: sha256('b'), bytes: 1, mode: 'link' },
      ],
      problems: [],
      complete: true,
    });
  });

  test('of nothing', async () => {
    const empty = { fingerprint: `sha256:${sha256('')}`, files: [], problems: [], complete: true };
    expect(await fingerprint(dir, [])).toEqual(empty);
    for (let i = 0; i < 2; i++) expect(await fingerprint(dir, [], { cachePath })).toEqual(empty);
  });

  test('of a file larger than one read', async () => {
    const content = Buffer.alloc(9 * 1024 * 1024 + 1, 'large');
    writeFileSync(join(dir, 'large'), content);
    const found = await fingerprint(dir, ['large']);
    expect(found.files).toEqual([
      { path: 'large', sha256: sha256(content), bytes: content.length, mode: 'file' },
    ]);
  });

  test('leaves out with a word what is not there, and in silence folders', async () => {
    write('a', 'x');
    const alone = await fingerprint(dir, ['a']);
    for (const options of [{}, { cachePath, now: later }, { cachePath, now: later }]) {
      const found = await fingerprint(dir, ['a', 'gone', 'a/b'], options);
      expect(found).toMatchObject({ fingerprint: alone.fingerprint, files: alone.files, complete: true });
      expect(found.problems).toEqual([
        expect.stringMatching(/^a\/b is not there/),
        expect.stringMatching(/^gone is not there/),
      ]);
    }
  });

  test.skipIf(process.getuid?.() === 0)('says unreadable, and says so each time', async () => {
    write('a', 'x');
    const before = await fingerprint(dir, ['a'], { cachePath, now: later });
    chmodSync(join(dir, 'a'), 0);
    for (let i = 0; i < 2; i++) {
      const found = await fingerprint(dir, ['a'], { cachePath, now: later });
      expect(found.files).toEqual([{ path: 'a', sha256: null, bytes: 0, mode: 'unreadable' }]);
      expect(found).toMatchObject({ complete: false, problems: ['a cannot be read (EACCES)'] });
      expect(found.fingerprint).not.toBe(before.fingerprint);
    }
    chmodSync(join(dir, 'a'), 0o600);
    expect(await fingerprint(dir, ['a'], { cachePath, now: later })).toMatchObject({
      fingerprint: before.fingerprint,
      complete: true,
    });
  });

  test('a fifo is not waited for', async () => {
    spawnSync('mkfifo', [join(dir, 'fifo')]);
    expect((await fingerprint(dir, ['fifo'])).files).toEqual([]);
  });

  test('can be given up', async () => {
    write('a', 'x');
    await expect(fingerprint(dir, ['a'], { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });
});

// A model of the tree beside the real one. Contents of one length, so that size alone tells nothing.
type Model = Map<string, string>;
const NAMES = ['a', 'b/c', 'été', '-rf', 'x -> y', 'line\nend'];
const edit = fc.record({
  name: fc.constantFrom(...NAMES),
  content: fc.constantFrom('aaaa', 'bbbb', 'cccc'),
  act: fc.constantFrom('write', 'exec', 'link', 'remove', 'replace', 'keep time', 'touch') as fc.Arbitrary<
    'write' | 'exec' | 'link' | 'remove' | 'replace' | 'keep time' | 'touch'
  >,
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function apply(model: Model, { name, content, act }: Edit): void {
  const full = join(dir, name);
  const old = lstatSync(full, { throwIfNoEntry: false });
  if (act === 'touch') {
    if (old && !old.isSymbolicLink()) utimesSync(full, 1, 1);
    return;
  }
  if (act === 'remove' || act === 'link' || old?.isSymbolicLink()) rmSync(full, { force: true });
  model.delete(name);
  if (act === 'remove') return;
  mkdirSync(dirname(full), { recursive: true });
  if (act === 'link') {
    symlinkSync(content, full);
  } else if (act === 'replace') {
    writeFileSync(`${full}.new`, content);
    renameSync(`${full}.new`, full);
    chmodSync(full, 0o644);
  } else {
    writeFileSync(full, content);
    chmodSync(full, act === 'exec' ? 0o755 : 0o644);
    if (act === 'keep time' && old) utimesSync(full, old.atime, old.mtime);
  }
  model.set(name, `${act === 'link' || act === 'exec' ? act : 'file'} ${content}`);
}

describe('property: equal exactly where paths, modes and contents are', () => {
  const check = (title: string, take: () => Promise<string>) =>
    test(title, async () => {
      const fingerprintOf = new Map<string, string>();
      const modelOf = new Map<string, string>();
      const run = async (edits: Edit[]) => {
        for (const name of readdirSync(dir))
          if (name !== '.preview') rmSync(join(dir, name), { recursive: true });
        const model: Model = new Map();
        for (const one of edits) {
          tick();
          apply(model, one);
          const key = JSON.stringify([...model].sort());
          const found = await take();
          expect(fingerprintOf.get(key) ?? found).toBe(found);
          expect(modelOf.get(found) ?? key).toBe(key);
          fingerprintOf.set(key, found);
          modelOf.set(found, key);
        }
      };
      await fc.assert(fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), run), {
        numRuns: 40,
      });
    });
  const all = () => NAMES.filter((name) => lstatSync(join(dir, name), { throwIfNoEntry: false }));
  check('without a cache', async () => (await fingerprint(dir, all())).fingerprint);
  check('with a cache', async () => (await fingerprint(dir, all(), { cachePath, now: later })).fingerprint);
  check(
    'globs, with a cache',
    async () =>
      (await fingerprintSources(dir, { sources: ['**'], cacheDir: dirname(cachePath), now: later }))
        .fingerprint,
  );
});

describe('I7: the stat cache is believed only where it cannot be wrong', () => {
  const file = () => join(dir, 'a');
  /** Writes other content of the same size and puts the old mtime back. */
  const rewrite = (path: string) => {
    const { atime, mtime } = statSync(file());
    tick();
    writeFileSync(path, 'bbbb');
    utimesSync(path, atime, mtime);
    expect(statSync(file())).toMatchObject({ size: 4, mtimeMs: mtime.getTime() });
  };
  const damage = (how: (cache: Buffer) => Buffer) => () =>
    writeFileSync(cachePath, how(readFileSync(cachePath)));

  // The cache is made to hold a wrong hash: a fingerprint shows whether it was believed.
  const check = (
    title: string,
    isBelieved: boolean,
    act: () => void,
    { hashed = 10_000, asked = 20_000, before = () => {} } = {},
  ) =>
    test(`${title}: ${isBelieved ? '' : 'not '}believed`, async () => {
      write('a', 'aaaa');
      utimesSync(file(), 1_000, 1_000);
      before();
      const start = Date.now();
      await fingerprint(dir, ['a'], { cachePath, now: () => start + hashed });
      const table = readCache(cachePath, start + hashed)!;
      table.hashes.fill(0);
      table.fingerprint = 'sha256:wrong';
      writeCache(cachePath, table, new Uint8Array(1), start + hashed);
      act();
      const found = await fingerprint(dir, ['a'], { cachePath, now: () => start + asked });
      const truth = await fingerprint(dir, ['a']);
      expect(found.fingerprint).toBe(isBelieved ? 'sha256:wrong' : truth.fingerprint);
      if (!isBelieved) expect(found.files).toEqual(truth.files);
    });
  const nothing = () => {};
  check('unchanged', true, nothing);
  check('hashed as soon as written', false, nothing, { hashed: 0 });
  check('hashed a second after it was written', false, nothing, { hashed: 1_000 });
  check('same size, mtime put back', false, () => rewrite(file()));
  check('touched', false, () => utimesSync(file(), 2_000, 2_000));
  check('mode changed', false, () => chmodSync(file(), 0o755));
  check('written through another name', false, () => rewrite(join(dir, 'other')), {
    before: () => linkSync(file(), join(dir, 'other')),
  });
  check('replaced by a file with the same size and mtime', false, () => {
    writeFileSync(join(dir, 'new'), 'bbbb');
    utimesSync(join(dir, 'new'), 1_000, 1_000);
    renameSync(join(dir, 'new'), file());
  });
  check('replaced by a link', false, () => {
    rmSync(file());
    symlinkSync('bbbb', file());
  });
  check('moved away and back', false, () => {
    tick();
    renameSync(file(), join(dir, 'away'));
    renameSync(join(dir, 'away'), file());
  });
  check('an mtime in the future', false, nothing, {
    before: () => utimesSync(file(), Date.now() / 1000 + 7200, Date.now() / 1000 + 7200),
  });
  check('the clock went back since', false, nothing, { asked: 9_000 });
  check('the clock was behind when it was hashed', false, nothing, { hashed: -HOUR_MS });
  check('the cache is cut', false, () => truncateSync(cachePath, statSync(cachePath).size - 1));
  check('the cache is empty', false, () => truncateSync(cachePath, 0));
  check(
    'the cache has a flipped bit',
    false,
    damage((cache) => {
      // In the hash, which nothing but the checksum guards.
      cache[cache.length - 40]! ^= 1;
      return cache;
    }),
  );
  check('the cache grew', false, () => appendFileSync(cachePath, 'x'));
  check(
    "the cache is another program's",
    false,
    damage(() => Buffer.from('{"version":1,"files":{}}\n'.repeat(9))),
  );
  check(
    'the cache is of a later version, its checksum right',
    false,
    damage((cache) => {
      const body = Buffer.from(
        cache.subarray(0, -32).toString('latin1').replace('preview-stat-cache 1', 'preview-stat-cache 2'),
        'latin1',
      );
      return Buffer.concat([body, createHash('sha256').update(body).digest()]);
    }),
  );
  check('the cache is a folder', false, () => {
    rmSync(cachePath);
    mkdirSync(cachePath);
  });

  test('same size within one tick of the clock', async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 200; i++) {
      write('a', String(1000 + i));
      seen.add((await fingerprint(dir, ['a'], { cachePath })).fingerprint);
    }
    expect(seen.size).toBe(200);
  });

  test('the cache is private, leaves nothing beside it, and makes no preview root', async () => {
    write('a', 'x');
    await fingerprint(dir, ['a'], { cachePath });
    expect(statSync(cachePath).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(cachePath)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(cachePath))).toEqual(['sources']);
    rmSync(join(dir, '.preview'), { recursive: true });
    expect((await fingerprint(dir, ['a'], { cachePath })).problems).toEqual([]);
    expect(existsSync(join(dir, '.preview'))).toBe(false);
  });

  test('a cache that cannot be written is not missed', async () => {
    write('a', 'x');
    write('.preview/.cache', 'a file in its place');
    expect((await fingerprint(dir, ['a'], { cachePath })).fingerprint).toBe(
      (await fingerprint(dir, ['a'])).fingerprint,
    );
  });
});

describe('sources and fingerprint at once', () => {
  const cacheDir = () => join(dir, '.preview/.cache');
  const alike = async () => {
    const found = await fingerprintSources(dir, { cacheDir: cacheDir(), now: later });
    const again = await fingerprintSources(dir, { cacheDir: cacheDir(), now: later });
    const plain = await fingerprintSources(dir);
    expect(found).toEqual(plain);
    expect(again).toEqual(plain);
    expect(plain).toMatchObject({ from: 'git', problems: [], complete: true });
    return plain;
  };

  test('git: the same with and without a cache, through a life of edits', async () => {
    git('init', '-q');
    write('.preview/.gitignore', '*\n');
    const seen = new Set<string>();
    const steps: (() => void)[] = [
      () => write('a', '1'),
      () => write('b', '1'),
      () => git('add', '.'),
      () => write('a', '2'),
      () => write('sub/new', 'x'),
      () => rmSync(join(dir, 'b')),
      () => write('.gitignore', 'sub\n'),
      () => git('add', '-A'),
      () => git('commit', '-qm', 'one'),
      () => renameSync(join(dir, 'a'), join(dir, 'c')),
      () => symlinkSync('c', join(dir, 'a')),
    ];
    for (const step of steps) {
      tick();
      step();
      seen.add((await alike()).fingerprint);
    }
    // Adding and committing change nothing on disk.
    expect(seen.size).toBe(steps.length - 3);
  });

  test('git hides no change: filters, line ends, assume-unchanged, skip-worktree', async () => {
    git('init', '-q');
    git('config', 'filter.same.clean', 'echo same');
    write('.gitattributes', '*.txt text eol=lf\n*.dat filter=same\n');
    for (const name of ['text.txt', 'filtered.dat', 'assumed', 'skipped']) write(name, 'one\n');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('update-index', '--assume-unchanged', 'assumed');
    git('update-index', '--skip-worktree', 'skipped');
    const edits: [string, string][] = [
      ['text.txt', 'one\r\n'],
      ['filtered.dat', 'two\n'],
      ['assumed', 'two\n'],
      ['skipped', 'two\n'],
    ];
    for (const [name, content] of edits) {
      const before = await alike();
      tick();
      write(name, content);
      expect(changedFiles(before.files, (await alike()).files)).toEqual([name]);
    }
  });

  test('what a tracked folder became a link to is not read twice', async () => {
    git('init', '-q');
    write('real/f', 'x');
    write('a-b', 'x');
    write('a/f', 'x');
    git('add', '.');
    rmSync(join(dir, 'a'), { recursive: true });
    symlinkSync('real', join(dir, 'a'));
    const found = await alike();
    expect(found.files.map((entry) => entry.path)).toEqual(['a', 'a-b', 'real/f']);
    expect((await fingerprintSources(dir, { sources: ['**'] })).fingerprint).toBe(found.fingerprint);
  });

  test('the same tree elsewhere, listed otherwise, has the same fingerprint', async () => {
    write('one/a', 'x');
    write('one/b/c', 'y');
    spawnSync('cp', ['-R', join(dir, 'one'), join(dir, 'two')]);
    utimesSync(join(dir, 'two/a'), 5, 5);
    spawnSync('git', ['init', '-q'], { cwd: join(dir, 'two') });
    const walked = await fingerprintSources(join(dir, 'one'), { sources: ['**'] });
    const listed = await fingerprintSources(join(dir, 'two'));
    expect([walked.from, listed.from]).toEqual(['walk', 'git']);
    expect(listed.fingerprint).toBe(walked.fingerprint);
  });

  test('each choice of sources has its own cache', async () => {
    write('a.scad', 'x');
    write('b.stl', 'y');
    for (let i = 0; i < 2; i++) {
      for (const sources of [['*.scad'], ['*.stl']])
        await fingerprintSources(dir, { sources, cacheDir: cacheDir(), now: later });
    }
    expect(readdirSync(cacheDir())).toHaveLength(2);
  });

  test('globs start no process', async () => {
    write('a', 'x');
    const path = process.env.PATH;
    process.env.PATH = dir;
    write('git', '#!/bin/sh\ntouch "$0.ran"\n');
    chmodSync(join(dir, 'git'), 0o755);
    await fingerprintSources(dir, { sources: ['a'] });
    process.env.PATH = path;
    expect(existsSync(join(dir, 'git.ran'))).toBe(false);
  });
});

describe('git is asked only where it could list other names', () => {
  const project = () => join(dir, 'project');
  const take = (cached = true) =>
    fingerprintSources(project(), {
      cacheDir: cached ? join(dir, '.preview/.cache') : undefined,
      now: later,
    });
  const warm = async (before: () => void) => {
    git('init', '-q');
    vi.stubEnv('HOME', join(dir, 'home'));
    vi.stubEnv('XDG_CONFIG_HOME', '');
    write('home/.gitconfig', `[user]\n\tname = t\n[core]\n\texcludesFile = ~/ignored  \n`);
    write('home/ignored', '*.aaa\n');
    write('.gitignore', 'home\n*.bbb\n');
    write('.git/info/exclude', '*.ccc\n');
    write('project/.gitignore', '*.ddd\n');
    for (const end of ['aaa', 'bbb', 'ccc', 'ddd', 'eee']) write(`project/sub/f.${end}`, end);
    mkdirSync(join(project(), 'empty'));
    write('project/tracked', 'x');
    git('add', '.');
    before();
    return await take();
  };

  test('not where nothing changed, or contents alone', async () => {
    const first = await warm(() => {});
    const path = process.env.PATH;
    const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
    // A git in front of the real one, which counts.
    write('bin/git', `#!/bin/sh\necho x >> "${dir}/asked"\nexec "${real}" "$@"\n`);
    chmodSync(join(dir, 'bin/git'), 0o755);
    vi.stubEnv('PATH', `${join(dir, 'bin')}:${path}`);
    const asked = () => (existsSync(join(dir, 'asked')) ? readFileSync(join(dir, 'asked')).length / 2 : 0);
    expect(await take()).toEqual(first);
    expect(asked()).toBe(1);
    expect(await take()).toEqual(first);
    tick();
    write('project/tracked', 'y');
    expect(changedFiles(first.files, (await take()).files)).toEqual(['tracked']);
    expect(asked()).toBe(1);
    write('project/new', 'y');
    expect(changedFiles(first.files, (await take()).files)).toEqual(['new', 'tracked']);
    expect(asked()).toBe(2);
  });

  const check = (title: string, act: () => void, before = () => {}) =>
    test(`asked: ${title}`, async () => {
      const first = await warm(before);
      expect(await take()).toEqual(first);
      tick();
      act();
      const plain = await take(false);
      expect(plain.fingerprint).not.toBe(first.fingerprint);
      expect(await take()).toEqual(plain);
      expect(await take()).toEqual(plain);
    });
  check('a new file', () => write('project/sub/new', ''));
  check('a new file in what was an empty folder', () => write('project/empty/new', ''));
  check('an ignore file in the project', () => write('project/.gitignore', '*.eee\n'));
  check('a new ignore file', () => write('project/sub/.gitignore', '*.eee\n'));
  check('an ignore file above', () => write('.gitignore', 'home\n*.eee\n'));
  check("the repository's own", () => write('.git/info/exclude', '*.eee\n'));
  check("the person's own", () => write('home/ignored', '*.eee\n'));
  check(
    "the person's other own",
    () => write('home/.config/git/ignore', '*.aaa\n'),
    () => rmSync(join(dir, 'home/.gitconfig')),
  );
  check('the configuration', () => git('config', 'core.excludesFile', '/dev/null'));
  check('an ignored file that was added', () => git('add', '-f', 'project/sub/f.ddd'));
  check(
    'an ignored file that is no longer tracked',
    () => git('rm', '-q', '--cached', 'project/sub/f.ddd'),
    () => git('add', '-f', 'project/sub/f.ddd'),
  );
  check('a repository begun within', () => {
    git('rm', '-rq', '--cached', 'project/sub');
    git('init', '-q', 'project/sub');
  });
  check('a repository begun nearer', () => {
    write('project/.git/info/exclude', '');
    git('init', '-q', 'project');
  });
  check(
    'a configuration that includes another',
    () => write('home/more', '[core]\n\texcludesFile = ~/other\n'),
    () => {
      write('home/other', '*.eee\n');
      appendFileSync(join(dir, 'home/.gitconfig'), '[include]\n\tpath = more\n');
    },
  );
});

describe('changedFiles', () => {
  const entry = (path: string, sha256: string | null, mode: FileEntry['mode'] = 'file'): FileEntry => ({
    path,
    sha256,
    bytes: 1,
    mode,
  });
  const check = (title: string, before: FileEntry[], now: FileEntry[], changed: string[]) =>
    test(title, () => expect(changedFiles(before, now)).toEqual(changed));
  check('nothing', [entry('a', '1')], [entry('a', '1')], []);
  check('new', [], [entry('a', '1')], ['a']);
  check('changed', [entry('a', '1'), entry('b', '1')], [entry('a', '2'), entry('b', '1')], ['a']);
  check('mode', [entry('a', '1')], [entry('a', '1', 'exec')], ['a']);
  check('removed', [entry('a', '1')], [], []);
  check('unreadable now', [entry('a', '1')], [entry('a', null, 'unreadable')], ['a']);
});
