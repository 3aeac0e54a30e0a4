// Section I of the known failures: full disks, folders that may not be written, and file systems that lack something.
// Everything happens in private mount namespaces that vanish with the test.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dist,
  type Ended,
  errorOf,
  isRaw,
  previewArgv,
  previewsArgv,
  resultOf,
  run,
  STOPPER,
  scratch,
  script,
  until,
} from '../helpers/children.js';
import { processState } from '../helpers/fault.js';
import { mountNamespace, mountSkip, type Namespace } from '../helpers/namespace.js';
import { contentOf, headOf, type Json, makeProject, type Site, stepsOf } from '../helpers/publish.js';

const reason = mountSkip();
const place = scratch();
const spaces: Namespace[] = [];
afterAll(async () => {
  for (const space of spaces) await space.close();
  place.remove();
});
let folders = 0;
/** A project whose `.preview` is what `mount` puts there; `{}` stands for that folder. */
async function mounted(
  mount: string,
  more: Json = {},
): Promise<Site & { space: Namespace; seen: string; root: string }> {
  const folder = join(place.path, `case-${folders++}`);
  mkdirSync(folder);
  const site = makeProject(folder, more);
  mkdirSync(site.root);
  const space = await mountNamespace(mount.replaceAll('{}', site.root));
  spaces.push(space);
  return { ...site, space, seen: space.seen(site.session) };
}
const capture = (
  { project, space }: { project: string; space: Namespace },
  ...more: string[]
): Promise<Ended> =>
  run([...space.inside(project), ...previewArgv('capture', '--json', ...more)], { cwd: project });

beforeAll(() => {
  if (reason) console.warn(`failures-i: skipped, ${reason}`);
});

describe.skipIf(reason)('I01 a full disk', () => {
  // A recipe whose bundles are large, so that few captures fill the disk.
  const large = (kilobytes: number): Json => ({
    plain: {
      sources: ['scene.txt'],
      run: [['sh', '-c', `head -c ${kilobytes}K /dev/urandom > "$1/render.bin"`, 'sh', '{out}']],
      artifacts: [{ path: 'render.bin', role: 'render-output' }],
    },
  });
  for (const kilobytes of [300, 40, 3]) {
    it(`I01 I3 captures of ${kilobytes} KB until it is full: old head and trajectory are intact, and after freeing space the next one works`, async () => {
      const site = await mounted("mount -t tmpfs -o size=1m,mode=700 tmpfs '{}'", large(kilobytes));
      const { seen, space } = site;
      if (kilobytes === 3) {
        resultOf(await capture(site));
        // The last pages are taken by something else, to the byte where a head or an append no longer fits.
        space.sh(
          `head -c 900K /dev/zero > ${site.root}/ballast; dd if=/dev/zero of=${site.root}/crumbs bs=4k 2>/dev/null || true`,
        );
        space.sh(`truncate -s -12k ${site.root}/crumbs`);
      }
      let before = existsSync(seen) ? contentOf(seen) : {};
      let ended: Ended;
      for (let n = 0; ; n++) {
        ended = await capture(site, '--force');
        // A renderer that finds no room has failed, which is recorded as long as there is room for that.
        if (ended.code !== 0 && ended.code !== 4) break;
        if (ended.code === 4) expect(resultOf(ended, 4).warnings.join()).toContain('No space left');
        before = contentOf(seen);
        expect(n).toBeLessThan(80);
      }
      expect(ended.code, `${ended.signal} ${ended.stdout} ${ended.stderr}`).toBe(1);
      expect(ended.stdout).toBe('');
      expect(isRaw(ended.stderr), ended.stderr).toBe(false);
      expect(errorOf(ended)).toMatchObject({ code: 'disk_full' });
      expect(errorOf(ended).message).toMatch(/disk is full/);
      const after = contentOf(seen);
      expect(after['session.json']).toBe(before['session.json']);
      expect(after['trajectory.json']).toBe(before['trajectory.json']);
      for (const [name, hash] of Object.entries(before)) expect(after[name], name).toBe(hash);
      // Readers need no room.
      const inspected = await run([...space.inside(site.project), ...previewsArgv('inspect', '--json')], {
        cwd: site.project,
      });
      // A bundle whose commit found no room is named as a stray; nothing else is wrong.
      const { problems } = JSON.parse(inspected.stdout);
      expect(problems.filter((problem: { kind: string }) => problem.kind !== 'orphan')).toEqual([]);
      const steps = stepsOf(seen).length;
      // And once more, while full.
      expect((await capture(site, '--force')).code).toBe(1);
      space.sh(`rm -f ${site.root}/ballast ${site.root}/crumbs; mount -o remount,size=4m ${site.root}`);
      const next = resultOf(await capture(site, '--force'));
      expect(next.step_id).toBe(`step-${String(steps + 1).padStart(4, '0')}`);
      const verified = await run([...space.inside(site.project), ...previewsArgv('verify', '--json')], {
        cwd: site.project,
      });
      expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, steps: steps + 1, pending: 0 });
      expect(readdirSync(join(seen, '.work'))).toEqual([]);
    }, 240_000);
  }

  /** A capture that stops at a point of its publication, finds the disk full to the last page when it goes on, and what it says. */
  async function fullAt(site: Site & { space: Namespace }, point: string): Promise<Ended> {
    const source = `${STOPPER(point)}require(process.argv[2]).main(['--json', '--force', '--command', 'full']).then((code) => { process.exitCode = code; });`;
    const victim = script(place.path, `full-${point}`, source, [join(dist, 'commands/preview-capture.cjs')], {
      cwd: site.project,
      prefix: site.space.inside(site.project),
    });
    await victim.said('stopped');
    await until(() => processState(victim.pid) === 'T', { deadline_ms: 10_000, what: 'the stop' });
    site.space.sh(`dd if=/dev/zero of=${site.root}/ballast bs=4k 2>/dev/null || true`);
    victim.kill('SIGCONT');
    return victim.done;
  }
  const tiny = "mount -t tmpfs -o size=1m,mode=700 tmpfs '{}'";

  it('I01 I3 full at the moment when the head is written: the old one stands, and nothing is recorded', async () => {
    const site = await mounted(tiny);
    for (let n = 0; n < 2; n++) resultOf(await capture(site, '--force'));
    // The next head needs a page more than this one, so that writing it in place would lose both.
    const path = join(site.seen, 'session.json');
    const head = { ...headOf(site.seen), pad: '' };
    const room = 3 * 4096 - 50 - Buffer.byteLength(JSON.stringify(head, null, 1));
    writeFileSync(path, JSON.stringify({ ...head, pad: 'x'.repeat(room) }, null, 1));
    const before = readFileSync(path);
    const ended = await fullAt(site, 'before-bundle');
    expect(ended.code, `${ended.signal} ${ended.stdout} ${ended.stderr}`).toBe(1);
    expect(errorOf(ended).code).toBe('disk_full');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(stepsOf(site.seen)).toHaveLength(2);
    site.space.sh(`rm ${site.root}/ballast`);
    expect(resultOf(await capture(site, '--force')).step_id).toBe('step-0003');
    const verified = await run([...site.space.inside(site.project), ...previewsArgv('verify', '--json')], {
      cwd: site.project,
    });
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, steps: 3, pending: 0 });
  });

  it('I01 I3 full after the commit: the step is recorded, the append that failed is a warning, and the next capture redoes it', async () => {
    const site = await mounted(tiny);
    const path = join(site.seen, 'trajectory.json');
    const left = () => (existsSync(path) ? 4096 - (statSync(path).size % 4096) : 4096);
    let steps = 0;
    // Until the next line needs a page more.
    do {
      resultOf(await capture(site, '--force'));
      expect(++steps).toBeLessThan(40);
    } while (left() > 600);
    const before = readFileSync(path);
    const ended = await fullAt(site, 'after-head');
    const result = resultOf({ ...ended, stdout: ended.stdout.slice(ended.stdout.indexOf('{')) });
    expect(result.step_id).toBe(`step-${String(steps + 1).padStart(4, '0')}`);
    expect(result.warnings.join()).toMatch(/append_pending: .*(ENOSPC|full|space)/);
    expect(
      readFileSync(path)
        .subarray(0, before.length - 3)
        .equals(before.subarray(0, before.length - 3)),
    ).toBe(true);
    expect(stepsOf(site.seen).at(-1)!.command).toBe('full');
    const verify = async () => {
      const { stdout } = await run(
        [...site.space.inside(site.project), ...previewsArgv('verify', '--json')],
        { cwd: site.project },
      );
      return JSON.parse(stdout) as Json;
    };
    expect(await verify()).toMatchObject({ ok: true, steps: steps + 1, pending: 1 });
    site.space.sh(`rm ${site.root}/ballast`);
    resultOf(await capture(site, '--force'));
    expect(await verify()).toMatchObject({ ok: true, steps: steps + 2, pending: 0 });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(steps + 2);
  });

  it('I01 no room for even the first session: exit 1, and it begins once there is some', async () => {
    const site = await mounted(
      "mount -t tmpfs -o size=1m,mode=700 tmpfs '{}'; dd if=/dev/zero of='{}/ballast' bs=4k 2>/dev/null || true",
    );
    const ended = await capture(site);
    expect(ended.code, `${ended.signal} ${ended.stdout} ${ended.stderr}`).toBe(1);
    expect(errorOf(ended).code).toBe('disk_full');
    site.space.sh(`rm ${site.root}/ballast`);
    expect(resultOf(await capture(site)).step_id).toBe('step-0001');
  }, 60_000);

  it('I01 no inode left: exit 1, the same', async () => {
    const site = await mounted("mount -t tmpfs -o size=4m,nr_inodes=60,mode=700 tmpfs '{}'");
    let ended: Ended;
    let steps = 0;
    for (;;) {
      ended = await capture(site, '--force');
      if (ended.code !== 0) break;
      expect(++steps).toBeLessThan(20);
    }
    expect(ended.code, `${ended.signal} ${ended.stdout} ${ended.stderr}`).toBe(1);
    expect(errorOf(ended).code).toBe('disk_full');
    expect(stepsOf(site.seen)).toHaveLength(steps);
    site.space.sh(`mount -o remount,nr_inodes=400 ${site.root}`);
    expect(resultOf(await capture(site, '--force')).step_id).toBe(
      `step-${String(steps + 1).padStart(4, '0')}`,
    );
  }, 240_000);
});

const USER = 65_534;
const asUser = ['setpriv', '--reuid', String(USER), '--regid', String(USER), '--clear-groups'];

describe.skipIf(reason)('I02 a session that may not be written', () => {
  /** A producer that must fail with one line naming the path, and write nothing anywhere. */
  async function refused(
    site: Site,
    prefix: string[],
    home: string,
    lookedAt: string,
    names: RegExp,
  ): Promise<void> {
    const before = contentOf(lookedAt);
    const env = {
      HOME: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_CONFIG_HOME: join(home, 'config'),
      TMPDIR: join(home, 'tmp'),
    };
    for (const args of [['capture'], ['capture', '--force'], ['live', 'start'], ['live', 'stop']]) {
      const ended = await run([...prefix, ...previewArgv(...args, '--json')], {
        cwd: site.project,
        env,
        limit_ms: 10_000,
      });
      expect(ended.code, args.join(' ') + ended.stdout + ended.stderr).toBe(1);
      expect(ended.stdout).toBe('');
      expect(isRaw(ended.stderr), ended.stderr).toBe(false);
      expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(errorOf(ended).code).toBe('not_writable');
      expect(errorOf(ended).message).toMatch(names);
      expect(errorOf(ended).message).toContain(site.root);
      const plain = await run([...prefix, ...previewArgv(...args)], {
        cwd: site.project,
        env,
        limit_ms: 10_000,
      });
      expect(plain.stderr).toMatch(/^preview( live)?: (?!preview)[^\n]*\n( {2}[^\n]*\n)?$/);
    }
    expect(contentOf(lookedAt)).toEqual(before);
    expect(readdirSync(home)).toEqual(['tmp']);
    expect(readdirSync(join(home, 'tmp'))).toEqual([]);
  }

  /** Every reading command works. */
  async function readable(site: Site, prefix: string[], steps: number): Promise<void> {
    for (const args of [['list'], ['status'], ['inspect'], ['inspect', 'step-0001'], ['verify']]) {
      const ended = await run([...prefix, ...previewsArgv(...args, '--json')], {
        cwd: site.project,
        env: { HOME: '/nonexistent' },
      });
      expect([ended.code, ended.stderr], args.join(' ')).toEqual([0, '']);
    }
    const status = await run([...prefix, ...previewArgv('live', 'status', '--json')], { cwd: site.project });
    expect(JSON.parse(status.stdout).trajectory_summary.total_commands).toBe(steps);
  }

  const homeOf = (name: string, owner?: number): string => {
    const home = join(place.path, name);
    mkdirSync(join(home, 'tmp'), { recursive: true });
    for (const path of [home, join(home, 'tmp')]) if (owner) chownSync(path, owner, owner);
    return home;
  };

  it('I02 on a read-only mount: one line naming the path, exit 1, nothing written elsewhere; readers work', async () => {
    const site = await mounted('true');
    resultOf(await capture(site));
    site.space.sh(`mount --bind ${site.root} ${site.root}; mount -o remount,bind,ro ${site.root}`);
    await refused(site, site.space.inside(site.project), homeOf('home-ro'), site.root, /EROFS/);
    await readable(site, site.space.inside(site.project), 1);
  }, 60_000);

  it("I02 another user's: one line naming the path, exit 1, nothing written elsewhere; readers work where they may read", async () => {
    const folder = join(place.path, 'foreign');
    mkdirSync(folder);
    const site = makeProject(folder);
    resultOf(await run(previewArgv('capture', '--json'), { cwd: site.project }));
    // Private as it was made, the other user cannot even look.
    chmodSync(place.path, 0o755);
    const home = homeOf('home-foreign', USER);
    const closed = await run([...asUser, ...previewArgv('capture', '--json')], {
      cwd: site.project,
      env: { HOME: home },
    });
    expect(closed.code, closed.stdout + closed.stderr).toBe(1);
    expect(errorOf(closed).code).toBe('not_writable');
    expect(errorOf(closed).message).toContain(site.root);
    execFileSync('chmod', ['-R', 'a+rX', site.root]);
    await refused(site, asUser, home, site.root, /EACCES|EPERM/);
    await readable(site, asUser, 1);
  }, 60_000);

  it('I02 a project folder that may not be written, without any recording yet', async () => {
    const folder = join(place.path, 'fresh');
    mkdirSync(folder);
    const site = makeProject(folder);
    const ended = await run([...asUser, ...previewArgv('capture', '--json')], { cwd: site.project });
    expect(ended.code, `${ended.signal} ${ended.stdout} ${ended.stderr}`).toBe(1);
    expect(errorOf(ended).code).toBe('not_writable');
    expect(errorOf(ended).message).toContain('.preview');
    expect(existsSync(site.root)).toBe(false);
  });
});

describe.skipIf(reason)('I04 file systems that lack something', () => {
  it('I04 TMPDIR on another device', async () => {
    const tmp = join(place.path, 'tmp-device');
    mkdirSync(tmp);
    const site = await mounted(`mount -t tmpfs tmpfs '${tmp}'`);
    const made = await run([...site.space.inside(site.project), ...previewArgv('capture', '--json')], {
      cwd: site.project,
      env: { TMPDIR: tmp },
    });
    expect(resultOf(made).status).toBe('ok');
    expect(readdirSync(site.space.seen(tmp))).toEqual([]);
  });

  it('I04 a renderer whose output lies on another device, and the preview root apart from the project', async () => {
    const site = await mounted("mount -t tmpfs -o mode=700 tmpfs '{}'");
    const made = resultOf(await capture(site));
    expect(readFileSync(site.space.seen(join(made.bundle_dir, 'artifacts/scene.txt')), 'utf8')).toBe('one\n');
  });

  const image = (type: string): string | null => {
    const file = join(place.path, `${type}.img`);
    try {
      execFileSync('truncate', ['-s', '16M', file]);
      execFileSync(`mkfs.${type}`, [file], { stdio: 'ignore' });
      execFileSync(
        'unshare',
        ['-m', 'sh', '-c', `mkdir -p '${file}.d' && mount -o loop '${file}' '${file}.d'`],
        { stdio: 'ignore' },
      );
      return file;
    } catch {
      return null;
    }
  };
  for (const type of ['vfat', 'exfat', 'ext4']) {
    it(`I04 ${type} through a loop mount: modes refused and no symlinks only cost the protection and the link`, async ({
      skip,
    }) => {
      const file = reason ? null : image(type);
      if (file === null) skip(`mkfs.${type} or loop mounts are not available here`);
      const site = await mounted(`mount -o loop '${file}' '{}'`);
      const first = resultOf(await capture(site));
      expect(resultOf(await capture(site, '--force')).step_id).toBe('step-0002');
      expect(resultOf(await capture(site)).cached).toBe(true);
      expect(readFileSync(site.space.seen(join(first.bundle_dir, 'artifacts/scene.txt')), 'utf8')).toBe(
        'one\n',
      );
      const verified = await run([...site.space.inside(site.project), ...previewsArgv('verify', '--json')], {
        cwd: site.project,
      });
      expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, steps: 3 });
    }, 60_000);
  }

  for (const [what, calls, errno] of [
    ['refuses symlinks', ['symlink', 'symlinkat'], 'EPERM'],
    ['has no symlinks', ['symlink', 'symlinkat'], 'ENOSYS'],
    ['refuses chmod', ['chmod', 'fchmod', 'fchmodat'], 'EPERM'],
    ['has no chmod', ['chmod', 'fchmod', 'fchmodat'], 'ENOTSUP'],
  ] as const) {
    it(`I04 one that ${what} (${errno}): a capture works, the current one is found, verify is clean`, async () => {
      const folder = join(place.path, `${what.replaceAll(' ', '-')}`);
      mkdirSync(folder);
      const site = makeProject(folder);
      const lacking = fakeErrno(folder, calls, errno);
      const at = (...argv: string[]) => run(argv, { cwd: site.project, env: { LD_PRELOAD: lacking } });
      expect(resultOf(await at(...previewArgv('capture', '--json'))).step_id).toBe('step-0001');
      const second = resultOf(await at(...previewArgv('capture', '--json', '--force')));
      expect([second.step_id, second.session_dir]).toEqual(['step-0002', site.session]);
      const status = JSON.parse((await at(...previewArgv('live', 'status', '--json'))).stdout);
      expect(status.trajectory_summary.total_commands).toBe(2);
      expect(JSON.parse((await at(...previewsArgv('inspect', '--json'))).stdout).steps).toHaveLength(2);
      const verified = await at(...previewsArgv('verify', '--json'));
      expect(verified.code, verified.stdout).toBe(0);
      if (what.endsWith('symlinks')) {
        expect(statSync(join(site.session, 'current')).isFile()).toBe(true);
        expect(readFileSync(join(site.session, 'current'), 'utf8')).toBe('bundle_002');
      }
    });
  }
});

/** Builds a library under which the named C functions fail with `errno`. */
function fakeErrno(folder: string, calls: readonly string[], errno: string): string {
  const library = join(folder, 'lacking.so');
  const source = `#include <errno.h>\n${calls.map((name) => `int ${name}() { errno = ${errno}; return -1; }`).join('\n')}\n`;
  execFileSync('gcc', ['-w', '-fno-builtin', '-shared', '-fPIC', '-o', library, '-x', 'c', '-'], {
    input: source,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  return library;
}

it('the build under test is there', () => {
  expect(existsSync(join(dist, 'preview.cjs'))).toBe(true);
});
