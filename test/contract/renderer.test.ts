// Renderers that are missing, fail, hang, write nothing or too much: recorded all the same, exit 4, nothing left running.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentOf, done, preview, previews, until } from '../helpers/cli.js';
import { makeProject, png, temporary, write } from '../helpers/project.js';
import { linesOf, readJson } from '../helpers/tamper.js';

const hero = [{ path: 'render.png', role: 'hero' }];
const withRun = (script: string, more: object = {}) =>
  makeProject(temporary(), {
    quick: { sources: ['a.png'], run: [['sh', '-c', script]], artifacts: hero, timeout_s: 20, ...more },
  });

/** A capture that ends with 4, its result on stdout nevertheless, and its step and bundle of status error. */
async function failing(project: string, ...args: string[]) {
  const outcome = await preview(project, ['capture', '--json', '--command', 'draw', ...args]);
  expect([outcome.code, outcome.stderr]).toEqual([4, '']);
  const result = documentOf(outcome);
  expect(result).toMatchObject({ status: 'error', render: null, cached: false });
  const step = JSON.parse(linesOf(result['session_dir']).at(-1)!);
  expect(step).toMatchObject({
    step_id: result['step_id'],
    status: 'error',
    command: 'draw',
    exit_code: null,
  });
  const manifest = readJson(result['manifest_path']);
  expect(manifest).toMatchObject({ status: 'error', warnings: result['warnings'] });
  const log = manifest['artifacts'].find((artifact: any) => artifact.role === 'log');
  expect((await done(previews(project, ['verify', '--json'])))['ok']).toBe(true);
  return {
    result,
    manifest,
    log: log ? readFileSync(join(result['bundle_dir'], log.path), 'utf8') : null,
    logArtifact: log,
  };
}

describe('recorded all the same', () => {
  test('a missing program', async () => {
    const { result } = await failing(makeProject(), '--recipe', 'missing');
    expect(result['warnings'][0]).toMatch(/^renderer_missing: no-such-renderer-anywhere/);
  });

  test('a missing program of a later command', async () => {
    const project = makeProject(temporary(), {
      quick: { sources: ['a.png'], run: [['true'], ['no-such-renderer-anywhere']], artifacts: hero },
    });
    expect((await failing(project)).result['warnings'][0]).toMatch(/^renderer_missing: /);
  });

  test('a failing one, its own output as the log', async () => {
    const { result, log, logArtifact } = await failing(makeProject(), '--recipe', 'fail');
    expect(result['warnings'][0]).toMatch(/^renderer_failed: sh ended with exit code 3: the wheel came off/);
    expect(log).toContain('half\n');
    expect(log).toContain('the wheel came off\n');
    expect(logArtifact).toMatchObject({ kind: 'text', media_type: 'text/plain' });
  });

  test('one that is killed', async () => {
    expect((await failing(withRun('kill -SEGV $$'))).result['warnings'][0]).toMatch(
      /^renderer_failed: .*SIGSEGV/,
    );
  });

  test('one that ends well but leaves nothing', async () => {
    expect((await failing(withRun('true'))).result['warnings'][0]).toMatch(/^output_missing: .*render\.png/);
  });

  test.each([
    ['a link', 'ln -s /etc/passwd "$PREVIEW_OUT/render.png"'],
    ['a folder', 'mkdir "$PREVIEW_OUT/render.png"'],
    ['a pipe', 'mkfifo "$PREVIEW_OUT/render.png"'],
  ])('I9 %s in place of the picture is not published', async (_name, script) => {
    const { result } = await failing(withRun(script));
    for (const name of readdirSync(result['bundle_dir'], { recursive: true, encoding: 'utf8' }))
      expect(name).not.toMatch(/render\.png|passwd/);
  });

  test('an error is never used again, even when nothing changed', async () => {
    const project = makeProject();
    await failing(project, '--recipe', 'fail');
    expect((await failing(project, '--recipe', 'fail')).result).toMatchObject({
      bundle_id: 'bundle_002',
      cached: false,
    });
  });

  test('one that writes without end is kept short, and what is no text is text in the log', async () => {
    const { log, logArtifact } = await failing(
      withRun('head -c 5000000 /dev/zero | tr "\\0" x; printf "\\377\\000\\033[2J" >&2; exit 1'),
    );
    expect(logArtifact.bytes).toBeLessThan(1_200_000);
    expect(log).toMatch(/bytes left out/);
    expect(log).toContain('\ufffd');
  });

  test('a renderer that ends well but whose picture is none is no proud picture', async () => {
    const project = withRun('echo "an error page" > "$PREVIEW_OUT/render.png"');
    const result = documentOf(await preview(project, ['capture', '--json']));
    const manifest = readJson(result['manifest_path']);
    expect(manifest['artifacts'][0].media_type).not.toMatch(/^image/);
    expect(result['render']).not.toMatch(/\.png$/);
  });
});

describe('time', () => {
  test('one that ignores SIGTERM and left a grandchild in a session of its own: ended, with all it started', async () => {
    const project = withRun(
      'trap "" TERM; echo $$ > pids; setsid sh -c \'trap "" TERM HUP; echo $$ >> pids; while :; do sleep 1; done\' & (sleep 61 & echo $! >> pids; wait) & sleep 62',
      { timeout_s: 1 },
    );
    const began = performance.now();
    const { result } = await failing(project);
    expect(result['warnings'][0]).toMatch(/^renderer_timeout: .*1 s/);
    expect(performance.now() - began).toBeLessThan(20_000);
    const pids = readFileSync(join(project, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    await until(() => pids.every((pid) => isGone(pid)), 'the end of all it started', 5000);
  });

  test('a background child of one that ended well is ended too, and does not hold the capture up', async () => {
    const project = withRun('setsid sleep 63 & echo $! > pids; cp a.png "$PREVIEW_OUT/render.png"');
    const began = performance.now();
    expect(await done(preview(project, ['capture', '--json']))).toMatchObject({ status: 'ok' });
    expect(performance.now() - began).toBeLessThan(20_000);
    const pid = Number(readFileSync(join(project, 'pids'), 'utf8'));
    await until(() => isGone(pid), 'its end', 5000);
  });

  test('SIGTERM to the capture ends the renderer; nothing is recorded, exit 130', async () => {
    const project = withRun('echo $$ > pid; kill -TERM $PPID; sleep 64');
    const outcome = await preview(project, ['capture', '--json']);
    expect([outcome.code, outcome.stdout]).toEqual([130, '']);
    expect(outcome.stderr).toMatch(/"code":"interrupted"/);
    const pid = Number(readFileSync(join(project, 'pid'), 'utf8'));
    await until(() => isGone(pid), 'the end of the renderer', 5000);
    const status = await done(preview(project, ['live', 'status', '--json']));
    expect(status['trajectory_summary']?.total_commands ?? 0).toBe(0);
    const root = join(project, '.preview');
    const work = existsSync(join(root, 'session_001/.work'))
      ? readdirSync(join(root, 'session_001/.work'))
      : [];
    expect(work).toEqual([]);
  });
});

/** A zombie waiting for its parent is gone too: it does nothing any more. */
function isGone(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2)[0] === 'Z';
  } catch {
    // ENOENT or ESRCH: no such process.
    return true;
  }
}

describe('what a renderer may say of itself', () => {
  test('its report is believed as far as its types go, and its facts cannot burst the summary', async () => {
    const report = {
      headline: 'h'.repeat(9000),
      facts: { [`name${'x'.repeat(9000)}`]: 1, fine: 2 },
      warnings: ['w', 7],
      next_actions: 'none',
      labels: { 'render.png': 'Its label', other: 5 },
    };
    const project = withRun(
      'cp a.png "$PREVIEW_OUT/render.png"; cp a.png "$PREVIEW_OUT/thumb.png"; cp report.json "$PREVIEW_OUT/preview.json"',
      { artifacts: [...hero, { path: 'thumb.png', role: 'thumb' }] },
    );
    write(project, { 'report.json': JSON.stringify(report) });
    const result = await done(preview(project, ['capture', '--json']));
    expect(readFileSync(result['summary_path']).length).toBeLessThanOrEqual(4096);
    expect(readJson(result['summary_path'])).toMatchObject({
      facts: { fine: 2 },
      warnings: ['w'],
      next_actions: [],
    });
    expect(readJson(result['manifest_path'])['artifacts'][0].label).toBe('Its label');
    expect(readdirSync(result['bundle_dir'])).not.toContain('preview.json');
  });

  test('I9 a report that is a link is not read', async () => {
    const project = withRun(
      'cp a.png "$PREVIEW_OUT/render.png"; echo "{\\"headline\\":\\"stolen\\"}" > /dev/null; ln -s "$PWD/secret.json" "$PREVIEW_OUT/preview.json"',
    );
    write(project, { 'secret.json': '{"headline":"stolen"}', 'a.png': png() });
    const result = await done(preview(project, ['capture', '--json']));
    expect(JSON.stringify(readJson(result['summary_path']))).not.toContain('stolen');
  });

  test('sources that change while they are rendered: rendered once more, then partial', async () => {
    const once = withRun(
      'test -e done || { touch done; echo x >> a.png; }; cp a.png "$PREVIEW_OUT/render.png"; echo run >> runs',
    );
    expect(await done(preview(once, ['capture', '--json']))).toMatchObject({ status: 'ok' });
    expect(readFileSync(join(once, 'runs'), 'utf8')).toBe('run\nrun\n');
    const always = withRun('echo x >> a.png; cp a.png "$PREVIEW_OUT/render.png"');
    const result = await done(preview(always, ['capture', '--json']));
    expect(result).toMatchObject({
      status: 'partial',
      warnings: expect.arrayContaining([expect.stringMatching(/^sources_changed: /)]),
    });
    expect(await done(preview(always, ['capture', '--json']))).toMatchObject({ cached: false });
  });
});

test('the environment of the capture is not dumped into what is recorded', async () => {
  const project = withRun('cp a.png "$PREVIEW_OUT/render.png"');
  await done(preview(project, ['capture', '--json'], { SECRET_TOKEN: 'hunter2-hunter2' }));
  const root = join(project, '.preview');
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const path = join(root, name);
    if (existsSync(path) && !readdirSafe(path)) expect(readFileSync(path, 'latin1')).not.toContain('hunter2');
  }
});

const readdirSafe = (path: string): boolean => {
  try {
    return readdirSync(path) !== undefined;
  } catch {
    // ENOTDIR: a file.
    return false;
  }
};

test('I9 an output folder that became a link: nothing is taken from where it leads', async () => {
  const elsewhere = join(temporary(), 'elsewhere');
  write(elsewhere, { 'render.png': png(), 'letter.txt': 'private' });
  for (const path of ['render.png', '*']) {
    const { result } = await failing(
      withRun(`rm -rf "$PREVIEW_OUT"; ln -s "${elsewhere}" "$PREVIEW_OUT"`, {
        artifacts: [{ path, role: 'hero' }],
      }),
    );
    expect(result['warnings'][0]).toMatch(/^output_replaced: /);
  }
  expect(readdirSync(elsewhere).sort()).toEqual(['letter.txt', 'render.png']);
});

test('a glob for the hero that matches nothing that can be shown is an error', async () => {
  const { result } = await failing(
    withRun('mkfifo "$PREVIEW_OUT/render.png"', { artifacts: [{ path: '*', role: 'hero' }] }),
  );
  expect(result['warnings'][0]).toMatch(/^output_missing: .* left no \*$/);
});

test('a pattern that would take for ever is given up, and the step is recorded', async () => {
  const project = withRun(
    `printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'; cp a.png "$PREVIEW_OUT/render.png"`,
    { facts: [{ name: 'x', from: 'stdout', match: '^(a+)+$' }] },
  );
  const result = await done(preview(project, ['capture', '--json']));
  expect([result['status'], result['warnings'][0]]).toEqual(['ok', expect.stringMatching(/^pattern_slow: /)]);
});
