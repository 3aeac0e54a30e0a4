// What `preview run` records: how a command ended, what it printed, what it is shown with; and how it ends itself.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  documentOf,
  done,
  errorOf,
  preview,
  previewArgv,
  previews,
  run,
  shell,
  until,
} from '../helpers/cli.js';
import { makeProject, png, RECIPES, temporary, write } from '../helpers/project.js';

interface Recorded {
  manifest: Record<string, any>;
  step: Record<string, any>;
  summary: Record<string, any>;
  bundle: string;
  run: Record<string, any>;
}

/** The newest step of a project, with its bundle. */
async function newest(project: string): Promise<Recorded> {
  const { steps } = await done(previews(project, ['inspect', '--json']));
  const step = steps.at(-1);
  const { manifest, summary } = await done(previews(project, ['inspect', step.step_id, '--json']));
  const bundle = join(project, '.preview/session_001', step.bundle_dir);
  return { manifest, step, summary, bundle, run: manifest.context.run };
}

const alive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // ENOENT: it is gone.
    return false;
  }
};
const sha = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('how it ended', () => {
  test.each([
    ['E03 a signal', 'kill -9 $$', 137, null, 'SIGKILL'],
    ['E03 another signal', 'kill -TERM $$', 143, null, 'SIGTERM'],
    ['E03 a code that looks like one', 'exit 137', 137, 137, null],
    ['E03 well', 'exit 0', 0, 0, null],
  ])('%s', async (_name, script, code, exit_code, signal) => {
    const project = makeProject();
    expect((await preview(project, ['run', '--', 'sh', '-c', script])).code).toBe(code);
    const { step, run, summary } = await newest(project);
    expect([step.exit_code, step.signal, step.publish_reason]).toEqual([exit_code, signal, 'mutation']);
    expect([run.exit_code, run.signal, run.timed_out]).toEqual([exit_code, signal, false]);
    expect(summary.facts.exit_code).toBe(exit_code);
    expect(step.duration_ms).toBeGreaterThanOrEqual(0);
    expect(Date.parse(step.command_finished_at)).toBeGreaterThanOrEqual(Date.parse(step.command_started_at));
  });

  test('127 and 126 are said, recorded, and not taken for codes of the command', async () => {
    const project = makeProject();
    const missing = await preview(project, ['run', '--', 'no-such-command-anywhere']);
    expect([missing.code, missing.stderr]).toEqual([127, 'preview: no-such-command-anywhere: not found\n']);
    expect((await newest(project)).run.not_started).toMatch(/not found/);
    const folder = await preview(project, ['run', '--', '/']);
    expect([folder.code, folder.stderr]).toEqual([126, expect.stringMatching(/^preview: \/: not allowed/)]);
    expect((await newest(project)).step.exit_code).toBe(126);
  });

  test('E02 --timeout ends all that was started, also in a session of its own', async () => {
    const project = makeProject();
    const script =
      'sleep 100 & echo $!; setsid sleep 100 & echo $!; (trap "" TERM; sleep 100) & echo $!; sleep 100';
    const { code, stdout } = await preview(project, ['run', '--timeout', '1', '--', 'sh', '-c', script]);
    expect(code).toBe(124);
    const pids = stdout.trim().split('\n').map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.filter(alive)).toEqual([]);
    const { run, manifest, summary, step } = await newest(project);
    expect([run.timed_out, run.signal, step.signal]).toEqual([true, 'SIGTERM', 'SIGTERM']);
    expect(summary.headline).toMatch(/timed out after 1\.\d s/);
    expect(manifest.warnings[0]).toMatch(/^timed_out: /);
  });

  test('E01 what it leaves behind is not waited for, not killed, and noted', async () => {
    const project = makeProject();
    for (const start of ['', 'setsid ']) {
      const file = join(temporary(), 'later');
      const script = `${start}sh -c 'while [ ! -e ${file} ]; do sleep 0.05; done; echo late; echo went on > ${file}.2; exec sleep 60' & echo $!; echo hi`;
      // Piped into something that reads to the end: that does not wait either.
      const { stdout, stderr } = await shell(`preview run -- sh -c "$SCRIPT" | cat; echo "$PIPESTATUS" >&2`, {
        cwd: project,
        env: { SCRIPT: script },
      });
      expect([stdout, stderr]).toEqual([expect.stringMatching(/^\d+\nhi\n$/), '0\n']);
      const pid = Number.parseInt(stdout, 10);
      expect(alive(pid)).toBe(true);
      expect((await newest(project)).manifest.warnings).toEqual([expect.stringMatching(/^left_behind: /)]);
      // It prints into a pipe whose reader has ended, and goes on.
      write(file, { '../later': '' });
      await until(() => existsSync(`${file}.2`), 'it goes on after printing');
      process.kill(pid, 'SIGKILL');
    }
  });

  test('each signal is delivered once; to all for what ends a job, to the command alone for a message', async () => {
    const project = makeProject();
    const script = `
      process.on('SIGTERM', () => { console.log('TERM'); setTimeout(() => process.exit(7), 300); });
      for (const s of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) process.on(s, () => console.log(s.slice(3)));
      setInterval(() => {}, 1000); console.log('ready');`;
    for (const name of ['INT', 'HUP', 'QUIT', 'USR1', 'USR2']) {
      const driver = `
        preview run -- "$NODE" -e "$SCRIPT" > out & p=$!
        until grep -q ready out; do sleep 0.05; done
        kill -${name} $(pgrep -P $p -f preview.cjs || echo $p)
        until grep -q ${name} out; do sleep 0.05; done
        kill -TERM $(pgrep -P $p -f preview.cjs || echo $p)
        wait $p; echo $?; cat out; rm out`;
      const { stdout } = await shell(driver, { cwd: project, env: { SCRIPT: script } });
      expect(stdout).toBe(`7\nready\n${name}\nTERM\n`);
    }
  });
});

describe('what it printed', () => {
  test('B03 B05 raw bytes, exact argv, a safe excerpt', async () => {
    const project = makeProject();
    const argv = ['printf', '%b', 'a\\0b\\0377c\\u2028\\n', ''];
    const { bytes } = await run(previewArgv('run', '--', ...argv), { cwd: project });
    const { manifest, run: recorded, bundle } = await newest(project);
    expect(recorded).toMatchObject({ argv, binary: true, stdout_bytes: bytes.length, stderr_bytes: 0 });
    const log = manifest.artifacts.find((artifact: any) => artifact.role === 'log');
    expect(log.media_type).toBe('application/octet-stream');
    expect(log.label).toMatch(/binary/);
    expect(readFileSync(join(bundle, log.path)).equals(bytes)).toBe(true);
    expect(log.sha256).toBe(`sha256:${sha(bytes)}`);
    expect(recorded.head).toBe('ab\ufffdc\n');
    const odd = ['printf', '%s|', 'a b', '', 'x\ny', '-z', '🚀'];
    await preview(project, ['run', '--', ...odd]);
    const { run: again, step } = await newest(project);
    expect(again.argv).toEqual(odd);
    // The display form, pasted, runs the same.
    const pasted = await shell(step.command, { cwd: project });
    expect(pasted.stdout).toBe('a b||x\ny|-z|🚀|');
  });

  test('B02 characters split over writes come out whole everywhere', async () => {
    const project = makeProject();
    await preview(project, [
      'run',
      '--',
      'sh',
      '-c',
      "printf '\\360\\237'; sleep 0.3; printf '\\232\\200\\n'",
    ]);
    const { run: recorded, bundle, manifest } = await newest(project);
    expect(recorded.head).toBe('🚀\n');
    const terminal = manifest.artifacts.find((artifact: any) => artifact.role === 'terminal');
    expect(terminal).toMatchObject({ media_type: 'application/x-asciicast', kind: 'capture' });
    const [header, ...events] = readFileSync(join(bundle, terminal.path), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ version: 2, width: 80, height: 24 });
    expect(events.map(([, code, text]) => [code, text])).toEqual([['o', '🚀\r\n']]);
    expect(events[0][0]).toBeGreaterThan(0.25);
    const cjk = '日本語'.repeat(116_508);
    await preview(project, [
      'run',
      '--',
      process.execPath,
      '-e',
      `process.stdout.write('日本語'.repeat(116508))`,
    ]);
    const whole = await newest(project);
    expect(readFileSync(join(whole.bundle, 'artifacts/stdout.log'), 'utf8') === cjk).toBe(true);
    expect(`${whole.run.head}${whole.run.tail}`).not.toContain('\ufffd');
    expect(Buffer.byteLength(whole.run.head)).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(whole.run.tail)).toBeLessThanOrEqual(1024);
  });

  test('E12 the text view collapses progress, drops the alternate screen and every escape', async () => {
    const project = makeProject();
    const text =
      '10%\\r20%\\r100%\\n\\033[?1049hmenu\\033[?1049labove\\n\\033[1;31mred\\033[0m \\033]0;title\\007end\\nabc\\r\\033[KX\\n';
    const { stdout } = await preview(project, ['run', '--', 'printf', text.replaceAll('%', '%%')]);
    expect(stdout).toContain('\x1b[?1049hmenu');
    expect((await newest(project)).run.head).toBe('100%\nabove\nred end\nX\n');
  });

  test('E09 I10 600 MB: memory is bounded, start and end are kept, the rest is counted', async () => {
    const project = makeProject();
    const folder = temporary();
    write(folder, {
      'peak.cjs': `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(join(folder, 'peak'))}, String(process.resourceUsage().maxRSS)));`,
    });
    const [node, ...rest] = previewArgv(
      'run',
      '--',
      'sh',
      '-c',
      'echo first; yes 0123456789 | head -c 600000000; echo last',
    );
    const argv = ['sh', '-c', '"$@" | tail -c 5', 'sh', node!, '-r', join(folder, 'peak.cjs'), ...rest];
    expect((await run(argv, { cwd: project })).stdout).toBe('last\n');
    expect(Number(readFileSync(join(folder, 'peak'), 'utf8')) / 1024).toBeLessThan(300);
    const { run: recorded, bundle, manifest } = await newest(project);
    expect(recorded).toMatchObject({
      truncated: true,
      stdout_bytes: 600_000_011,
      head: expect.stringMatching(/^first\n0123456789\n/),
    });
    expect(recorded.tail).toMatch(/\n012345last\n$/);
    expect(recorded.kept_bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    const kept = statSync(join(bundle, 'artifacts/stdout.log')).size;
    expect(kept).toBe(recorded.kept_bytes);
    expect(recorded.left_out.stdout.bytes + kept).toBe(600_000_011);
    expect(statSync(join(bundle, 'artifacts/terminal.cast')).size).toBeLessThan(4 * 1024 * 1024);
    expect(manifest.warnings).toContainEqual(expect.stringMatching(/^output_truncated: /));
  });

  test('E05 a command that ends at once: all 300 outputs are there', async () => {
    const project = makeProject();
    const script = `const { main } = require(process.env.RUN);
      (async () => { for (let n = 0; n < 300; n++) await main(['--no-capture', '--', 'echo', 'x' + n]); })();`;
    const { stdout, stderr } = await run([process.execPath, '-e', script], {
      cwd: project,
      env: { RUN: join(previewArgv()[1]!, '../commands/preview-run.cjs') },
      limit_ms: 110_000,
    });
    const wanted = Array.from({ length: 300 }, (_, n) => `x${n}\n`);
    expect([stdout, stderr]).toEqual([wanted.join(''), '']);
    const { steps } = await done(previews(project, ['inspect', '--all', '--json']));
    const kept = steps.map(({ bundle_dir }: { bundle_dir: string }) =>
      readFileSync(join(project, '.preview/session_001', bundle_dir, 'artifacts/stdout.log'), 'utf8'),
    );
    expect(kept).toEqual(wanted);
  }, 120_000);

  test('nothing printed leaves neither terminal nor log', async () => {
    const project = makeProject();
    await preview(project, ['run', '--', 'true']);
    const { manifest } = await newest(project);
    expect(manifest.artifacts.map(({ role }: any) => role)).toEqual(['hero', 'thumb']);
  });

  test('two streams that are one with us are one for the command: their order stays', async () => {
    const project = makeProject();
    const script = 'for i in $(seq 300); do echo out $i; echo err $i >&2; done';
    const { stdout } = await shell(`preview run -- sh -c "$SCRIPT" 2>&1 | cat`, {
      cwd: project,
      env: { SCRIPT: script },
    });
    expect(stdout).toBe(Array.from({ length: 300 }, (_, n) => `out ${n + 1}\nerr ${n + 1}\n`).join(''));
  });

  test('a reader that leaves ends the command, as without us; output that cannot be written is a fault', async () => {
    const project = makeProject();
    const left = await shell('preview run -- yes | head -n 1; echo $PIPESTATUS', { cwd: project });
    expect(left.stdout).toBe('y\n141\n');
    expect((await newest(project)).step.signal).toBe('SIGPIPE');
    const full = await shell('preview run -- echo x > /dev/full; echo $?', { cwd: project });
    expect(full.stdout).toBe('1\n');
    expect((await newest(project)).manifest.warnings).toContainEqual(
      expect.stringMatching(/^not_shown: .*ENOSPC/),
    );
  });

  test('E07 a million lines through the pipe, and E06 input that is not for us', async () => {
    const project = makeProject();
    const { stdout } = await shell('preview run -- seq 1 1000000 | tail -1; printf x | preview run -- cat', {
      cwd: project,
    });
    expect(stdout).toBe('1000000\nx');
    const plain = await shell(
      'sleep 100 | (timeout 40 "$NODE" "$PREVIEW" capture --json > r; echo $?; kill $(pgrep -P $$ sleep) 2>/dev/null)',
      { cwd: project },
    );
    expect(plain.stdout).toBe('0\n');
  });
});

describe('what it is shown with', () => {
  test('the pictures of the same sources are taken over: linked, not drawn again', async () => {
    const project = makeProject();
    const first = documentOf(await preview(project, ['capture', '--json']));
    const second = documentOf(
      await preview(project, ['run', '--json', '--label', 'look', '--', 'echo', 'hi']),
    );
    expect([second.cached, second.bundle_id, second.status]).toEqual([false, 'bundle_002', 'ok']);
    expect(statSync(second.render).ino).toBe(statSync(first.render).ino);
    const { manifest, step } = await newest(project);
    expect([manifest.context.reused_from, manifest.cache_key]).toEqual(['bundle_001', null]);
    // The same pictures, so what was told of them holds: without tiles nobody could say what changed since.
    const drawn = JSON.parse(readFileSync(first.manifest_path, 'utf8'));
    expect(manifest.metrics.tiles).toEqual(drawn.metrics.tiles);
    expect(manifest.metrics.tiles.hashes).toMatch(/^[0-9a-f]{8}/);
    expect([step.stage_label, step.cached]).toEqual(['look', false]);
    expect(manifest.artifacts.map(({ artifact_id }: any) => artifact_id)).toEqual([
      'hero',
      'thumb',
      'terminal',
      'log',
    ]);
    // A capture is never shown with what a run printed.
    const third = documentOf(await preview(project, ['capture', '--json']));
    expect([third.cached, third.bundle_id]).toEqual([true, 'bundle_001']);
    expect((await done(previews(project, ['verify', '--json']))).ok).toBe(true);
  });

  test('what a run has drawn serves later runs and captures, without its output', async () => {
    const project = makeProject();
    const drawn = documentOf(await preview(project, ['run', '--json', '--', 'echo', 'one']));
    const run2 = documentOf(await preview(project, ['run', '--json', '--', 'true']));
    expect(statSync(run2.render).ino).toBe(statSync(drawn.render).ino);
    expect((await newest(project)).manifest.artifacts).toHaveLength(2);
    const captured = documentOf(await preview(project, ['capture', '--json']));
    expect([captured.cached, captured.bundle_id, captured.artifact_count]).toEqual([false, 'bundle_003', 2]);
    expect(statSync(captured.render).ino).toBe(statSync(drawn.render).ino);
    const { summary } = await newest(project);
    expect(summary.facts).not.toHaveProperty('exit_code');
    const cached = documentOf(await preview(project, ['capture', '--json']));
    expect([cached.cached, cached.bundle_id]).toEqual([true, 'bundle_003']);
  });

  test('what the command changed is drawn anew; --force always draws', async () => {
    const project = makeProject();
    const first = documentOf(await preview(project, ['run', '--json', '--', 'true']));
    write(project, { 'next.png': png(32, 24, 9) });
    const moved = documentOf(await preview(project, ['run', '--json', '--', 'cp', 'next.png', 'a.png']));
    expect(readFileSync(moved.render).equals(png(32, 24, 9))).toBe(true);
    const forced = documentOf(await preview(project, ['run', '--json', '--force', '--', 'true']));
    expect(statSync(forced.render).ino).not.toBe(statSync(moved.render).ino);
    expect(first.render).not.toBe(forced.render);
  });

  test('a render that fails, a program that is missing, a broken config: recorded, and the code is the command’s', async () => {
    const project = makeProject();
    for (const [recipe, warning] of [
      ['fail', /renderer_failed/],
      ['missing', /renderer_missing/],
    ] as const) {
      const { code, stdout, stderr } = await preview(project, [
        'run',
        '--recipe',
        recipe,
        '--',
        'sh',
        '-c',
        'echo hi; exit 3',
      ]);
      expect([code, stdout]).toEqual([3, 'hi\n']);
      expect(stderr).toMatch(warning);
      const { step, manifest, run: recorded } = await newest(project);
      expect([step.status, recorded.exit_code]).toEqual(['error', 3]);
      expect(manifest.artifacts.some(({ path }: any) => path.endsWith('stdout.log'))).toBe(true);
    }
    const broken = await preview(project, [
      'run',
      '--',
      'sh',
      '-c',
      'echo "{" > preview.config.json; exit 4',
    ]);
    expect([broken.code, broken.stderr]).toEqual([4, expect.stringMatching(/config_invalid/)]);
  });

  test('--no-capture leaves what was seen last current', async () => {
    const project = makeProject();
    const seen = await done(preview(project, ['capture', '--json']));
    await preview(project, ['run', '--no-capture', '--', 'echo', 'hi']);
    const status = await done(preview(project, ['live', 'status', '--json']));
    expect(status).toMatchObject({ step: 'step-0002', render: `${seen['bundle_id']}/render.png` });
    expect((await done(preview(project, ['latest', '--json'])))['bundle_id']).toBe(seen['bundle_id']);
  });

  test('--no-capture renders nothing', async () => {
    const project = makeProject(temporary(), { copy: RECIPES.fail });
    const { code, stderr } = await preview(project, ['run', '--no-capture', '--', 'echo', 'hi']);
    expect([code, stderr]).toEqual([0, '']);
    const { step, manifest } = await newest(project);
    expect([step.status, manifest.artifacts.length]).toEqual(['ok', 2]);
  });

  test('nested commands record into the same session, and the outer step comes last', async () => {
    const project = makeProject();
    const { stdout } = await shell(
      `preview run -- sh -c '"$NODE" "$PREVIEW" capture --json; mkdir sub; cd sub; "$NODE" "$PREVIEW" run -- sh -c "echo \\$PREVIEW_SESSION"'`,
      { cwd: project },
    );
    expect(stdout).toMatch(/"step_id":"step-0001".*\n.*\/project\/\.preview\/session_001\n$/);
    const { step } = await newest(project);
    expect(step.step_id).toBe('step-0003');
    const { steps, problems } = await done(previews(project, ['verify', '--json']));
    expect([steps, problems]).toEqual([3, []]);
    expect((await done(preview(project, ['live', 'status', '--json']))).step).toBe('step-0003');
  });
});

describe('when it cannot be recorded', () => {
  const script = ['run', '--', 'sh', '-c', 'echo out; exit 3'];

  test('I02 a root that cannot be written: one line, and the command’s own code', async () => {
    const project = makeProject();
    write(project, { blocked: 'a file\n' });
    const { code, stdout, stderr } = await preview(project, script, {
      PREVIEW_ROOT: join(project, 'blocked/root'),
    });
    expect([code, stdout]).toEqual([3, 'out\n']);
    expect(stderr).toMatch(/^preview: warning: nothing was recorded: .*blocked.*\n$/);
    const asJson = await preview(project, ['run', '--json', '--', 'false'], {
      PREVIEW_ROOT: join(project, 'blocked/root'),
    });
    expect(asJson.code).toBe(1);
    expect(documentOf(asJson)).toMatchObject({
      bundle_id: null,
      exit_code: 1,
      warnings: [expect.any(String)],
    });
  });

  test('I01 a full disk', async ({ skip }) => {
    const project = makeProject();
    const inside = `set -e; mkdir -p .preview; mount -t tmpfs -o size=256k none .preview; set +e
      preview capture --json >/dev/null; head -c 1M /dev/zero > .preview/filler 2>/dev/null
      preview run -- sh -c 'exit 3'; echo $?; rm .preview/filler; preview run -- sh -c 'exit 4'; echo $?; previews verify`;
    const namespaced = await run(
      [
        'unshare',
        '-rm',
        'bash',
        '-c',
        `preview() { "$NODE" "$PREVIEW" "$@"; }; previews() { "$NODE" "$PREVIEWS" "$@"; }\n${inside}`,
      ],
      {
        cwd: project,
        env: {
          NODE: process.execPath,
          PREVIEW: previewArgv()[1],
          PREVIEWS: previewArgv()[1]!.replace(/preview\.cjs$/, 'previews.cjs'),
        },
      },
    );
    if (/unshare|mount:/.test(namespaced.stderr)) return skip('no mount namespaces here');
    expect(namespaced.stdout).toMatch(/^3\n4\nwhole {2}2 steps/);
    expect(namespaced.stderr).toMatch(/warning: nothing was recorded: the disk is full/);
  });

  test('E11 the folder is gone before, or is removed by the command', async () => {
    const parent = temporary();
    const before = await shell(
      'mkdir gone; cd gone; rmdir ../gone; preview run -- sh -c "echo hi; exit 5"; echo $?',
      { cwd: parent },
    );
    expect(before.stdout).toBe('hi\n5\n');
    expect(before.stderr).toMatch(
      /preview: warning: nothing was recorded: the working directory no longer exists\n$/,
    );
    const project = makeProject();
    mkdirSync(join(project, 'sub'));
    const after = await shell('cd sub; preview run -- sh -c "rm -rf $PWD; exit 6"; echo $?', {
      cwd: project,
    });
    expect([after.stdout, after.stderr]).toEqual(['6\n', '']);
    expect((await newest(project)).run).toMatchObject({ cwd: 'sub', exit_code: 6 });
    // The project itself, with its session: what is recorded begins a new one in its place.
    const whole = await shell(
      'preview capture --json > /dev/null; preview run -- sh -c "rm -rf $PWD; exit 7"; echo $?',
      { cwd: project },
    );
    expect(whole.stdout).toBe('7\n');
    expect((await newest(project)).run.exit_code).toBe(7);
  });

  test('a session that is damaged is left, and what follows it is named', async () => {
    const project = makeProject();
    await preview(project, ['capture', '--json']);
    write(join(project, '.preview/session_001'), { 'session.json': '{' });
    const { code, stderr } = await preview(project, script);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^preview: warning: session_damaged: .*session_002/),
    ]);
  });
});

describe('E13 the command line', () => {
  test('everything behind -- is the command’s', async () => {
    const project = makeProject();
    expect((await preview(project, ['run', '--', 'echo', '--json', '--help'])).stdout).toBe(
      '--json --help\n',
    );
    expect((await preview(project, ['run', '--label=x', '--', 'echo', '--', '-f'])).stdout).toBe('-- -f\n');
  });

  test.each([
    ['no --', ['run', 'touch', 'made']],
    ['nothing', ['run']],
    ['no command', ['run', '--']],
    ['an empty command', ['run', '--', '']],
    ['an option that swallows --', ['run', '--label', '--', 'touch', 'made']],
    ['a word before --', ['run', 'x', '--', 'touch', 'made']],
    ['an unknown option', ['run', '--nope', '--', 'touch', 'made']],
    ['a time that is none', ['run', '--timeout', 'soon', '--', 'touch', 'made']],
    ['a variable that is none', ['run', '--env', 'x', '--', 'touch', 'made']],
    ['a folder that is not there', ['run', '--cwd', 'nowhere', '--', 'touch', 'made']],
    ['a recipe that is none', ['run', '--recipe', 'nope', '--', 'touch', 'made']],
    ['one among several', ['run', '--recipe=copy,nope', '--', 'touch', 'made']],
    ['a session that is none', ['run', '--session', '../x', '--', 'touch', 'made']],
  ])('%s: exit 2, and nothing is run or recorded', async (_name, args) => {
    const project = makeProject();
    const got = await preview(project, args);
    expect([got.code, got.stdout]).toEqual([2, '']);
    expect(got.stderr).toMatch(/^preview: /);
    const json = await preview(project, [args[0]!, '--json', ...args.slice(1)]);
    expect(json.code).toBe(2);
    expect(errorOf(json).code).toMatch(/^usage$|^session_name$|^recipe_unknown$/);
    expect([existsSync(join(project, 'made')), existsSync(join(project, '.preview'))]).toEqual([
      false,
      false,
    ]);
  });

  test('a config that is broken is not in the way: the command runs, and its record says so', async () => {
    for (const recipe of [[], ['--recipe', 'copy'], ['--recipe', 'nope']]) {
      const project = makeProject();
      write(project, { 'preview.config.json': '{' });
      const { code, stderr } = await preview(project, ['run', ...recipe, '--', 'touch', 'made']);
      expect([code, existsSync(join(project, 'made'))]).toEqual([0, true]);
      expect(stderr).toMatch(/warning: config_invalid: .*not JSON/);
      expect((await newest(project)).step.status).toBe('error');
    }
  });

  test('a time of 0 is no limit, and one of more than a timer takes is one all the same', async () => {
    for (const time of ['0', '0.0', '3000000']) {
      const project = makeProject();
      const { code, stdout } = await preview(project, [
        'run',
        '--no-capture',
        '--timeout',
        time,
        '--',
        'sh',
        '-c',
        'sleep 0.3; echo done',
      ]);
      expect([time, code, stdout]).toEqual([time, 0, 'done\n']);
    }
  });

  test('--env, --cwd, --note and --json', async () => {
    const project = makeProject();
    mkdirSync(join(project, 'sub'));
    const got = await preview(project, [
      'run',
      '--json',
      '--cwd',
      'sub',
      '--env',
      'A=b=c',
      '--env',
      'E=',
      '--note',
      'why',
      '--',
      'sh',
      '-c',
      'pwd; echo "$A$E" >&2',
    ]);
    expect(documentOf(got)).toMatchObject({ exit_code: 0, signal: null, timed_out: false, status: 'ok' });
    expect(got.stderr.split('\n').sort()).toEqual(['', join(project, 'sub'), 'b=c'].sort());
    const { run: recorded, step } = await newest(project);
    expect(recorded).toMatchObject({ cwd: 'sub', env: { A: 'b=c', E: '' } });
    expect(step.note).toBe('why');
  });
});

test('what was printed is shown where the step is looked at: the start and the end', async () => {
  const project = makeProject();
  await preview(project, ['run', '--', 'seq', '1', '1000']);
  const { stdout } = await previews(project, ['inspect', 'step-0001']);
  const lines = stdout.split('\n').flatMap((line) => /^ {2}│ (.*)$/.exec(line)?.[1] ?? []);
  expect(lines.length).toBe(21);
  expect([lines[0], lines[9], lines[10], lines[20]]).toEqual(['1', '10', '…', '1000']);
  await preview(project, ['run', '--', 'echo', 'short']);
  expect((await previews(project, ['inspect', 'step-0002'])).stdout).toContain('\n  │ short\n');
});

test('G11 G12 what is recorded neither acts on a terminal nor holds the environment, and is private', async () => {
  const project = makeProject();
  const { stdout } = await shell(
    `umask 000; export SECRET_THING=hunter2-in-the-environment
     preview run -- printf '\\033]52;c;aGk=\\007\\033]8;;http://x\\033\\\\link\\033[2J\\342\\200\\256\\n' > /dev/null
     previews inspect step-0001; previews inspect; preview live status; previews inspect step-0001 --json
     grep -rl hunter2 .preview; find .preview -perm /077 ! -type l`,
    { cwd: project },
  );
  expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]/);
  expect(stdout).not.toMatch(/hunter2|^\.preview/m);
  rmSync(join(project, '.preview'), { recursive: true });
});

test('G12 secrets in the command, its environment and its output are masked everywhere, in place, and counted', async () => {
  const project = makeProject();
  const key = `ghp_${'a1B2'.repeat(9)}`;
  const argv = ['sh', '-c', 'printf "key %s\\n" "$0"; printf "%s" "$0" >&2', key];
  const options = ['--env', 'SERVICE_TOKEN=correct-horse', '--'];
  const { stdout, stderr } = await preview(project, ['run', ...options, ...argv]);
  expect([stdout, stderr]).toEqual([`key ${key}\n`, key]);
  const { run: recorded, manifest, step, bundle } = await newest(project);
  expect(recorded.argv.slice(0, 3)).toEqual(argv.slice(0, 3));
  expect([recorded.argv[3], recorded.env.SERVICE_TOKEN, step.command]).toEqual([
    '***',
    '***',
    expect.stringMatching(/\*\*\*$/),
  ]);
  expect(readFileSync(join(bundle, 'artifacts/stdout.log'), 'utf8')).toBe(`key ${'*'.repeat(40)}\n`);
  const logs = manifest.artifacts.filter(({ role }: any) => role === 'log');
  expect(logs.map(({ label, secrets_masked }: any) => [label, secrets_masked])).toEqual([
    ['stdout, 45 B (secrets masked)', 1],
    ['stderr, 40 B (secrets masked)', 1],
  ]);
  expect(manifest.warnings).toContainEqual(expect.stringMatching(/^secrets_masked: \d+ secrets were masked/));
  const found = await shell(`grep -rlE 'ghp_|correct-horse' .preview`, { cwd: project });
  expect(found.stdout).toBe('');
  await preview(project, ['run', '--no-redact', ...options, ...argv]);
  expect((await newest(project)).run.argv).toEqual(argv);
});
