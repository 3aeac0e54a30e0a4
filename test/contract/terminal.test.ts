// stdout and terminals: one JSON document, closed pipes, colours, the C locale, and recorded text that cannot act.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { DIST, documentOf, done, preview, previews, run, shell } from '../helpers/cli.js';
import { makeProject, temporary } from '../helpers/project.js';
import { editJson, linesOf, overwrite, readJson } from '../helpers/tamper.js';

const ESC = '\u001b';
let project = '';
let session = '';
beforeAll(async () => {
  project = makeProject();
  for (let n = 0; n < 3; n++)
    session = (
      await done(preview(project, ['capture', '--json', '--force', '--command', `draw ${n} 汉字 😀`]))
    )['session_dir'];
});

describe('stdout', () => {
  test('holds exactly one JSON document; everything else is on stderr', async () => {
    for (const [program, args] of [
      [preview, ['capture']],
      [preview, ['latest']],
      [preview, ['recipes']],
      [preview, ['live', 'status']],
      [preview, ['live', 'status', '--full']],
      [preview, ['capture', '--recipe', 'fail']],
      [previews, ['list']],
      [previews, ['status']],
      [previews, ['inspect']],
      [previews, ['inspect', 'step-0001']],
      [previews, ['verify']],
    ] as const)
      documentOf(await program(project, [...args, '--json']));
  });

  test('--json may stand anywhere, and does not count behind --', async () => {
    documentOf(await preview(project, ['capture', '--json', '--force']));
    documentOf(await previews(project, ['inspect', '--json', 'session_001']));
    documentOf(await previews(project, ['inspect', 'session_001', '--json']));
    expect((await preview(project, ['capture', '--', '--json'])).stderr).not.toMatch(/^\{/m);
  });

  test.each([
    'previews inspect --all --json',
    'previews list --json',
    'previews inspect',
    'preview live status',
    'preview recipes',
    'previews verify',
    'preview --help',
    'preview capture --help',
    'preview capture --force --json',
  ])('%s | head -c 1: no crash', async (command) => {
    const { stdout, stderr } = await shell(`${command} | head -c 1; echo " \${PIPESTATUS[0]}"`, {
      cwd: project,
    });
    expect(stdout).toMatch(/^. 0\n$/);
    expect(stderr).toBe('');
  });

  test('closed from the start: no crash, and what was to be recorded is', async () => {
    const before = linesOf(session).length;
    const { stderr } = await shell('preview capture --force --json >&-', { cwd: project });
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(linesOf(session).length).toBe(before + 1);
  });

  test('a full disk behind stdout is told, not thrown', async () => {
    const { stderr } = await shell('preview live status --json > /dev/full; echo $? >&2', { cwd: project });
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr).toMatch(/disk is full|ENOSPC/);
    expect(stderr).toMatch(/\n1\n$/);
  });
});

describe('colours', () => {
  /** Runs a command on a terminal of its own, with `script` of util-linux. */
  const onTerminal = async (command: string, env: Record<string, string> = {}) =>
    (
      await run(['script', '-qec', command, '/dev/null'], {
        cwd: project,
        env: {
          TERM: 'xterm-256color',
          P: join(DIST, 'preview.cjs'),
          C: join(DIST, 'previews.cjs'),
          NODE: process.execPath,
          SHELL: '/bin/sh',
          ...env,
        },
      })
    ).stdout;
  const list = '"$NODE" "$C" list';

  test('none where stdout is no terminal', async () => {
    for (const args of [['list'], ['inspect'], ['status'], ['verify'], ['inspect', 'step-0001']])
      expect((await previews(project, args)).stdout).not.toContain(ESC);
    expect((await preview(project, ['live', 'status'])).stdout).not.toContain(ESC);
  });

  test('on a terminal, but not with NO_COLOR, TERM=dumb, FORCE_COLOR=0 or --json', async ({ skip }) => {
    if ((await shell('command -v script', { cwd: project })).code !== 0)
      return skip('util-linux script is missing');
    expect(await onTerminal(list)).toContain(`${ESC}[1m`);
    expect(await onTerminal(list, { NO_COLOR: '1' })).not.toContain(ESC);
    expect(await onTerminal(list, { TERM: 'dumb' })).not.toContain(ESC);
    expect(await onTerminal(list, { FORCE_COLOR: '0' })).not.toContain(ESC);
    expect(await onTerminal(`${list} --json`)).not.toContain(ESC);
    expect(await onTerminal('"$NODE" "$P" live status --json')).not.toContain(ESC);
    expect(await onTerminal(list, { NO_COLOR: '' })).toContain(`${ESC}[1m`);
  });

  test('FORCE_COLOR colours a pipe, and never JSON', async () => {
    expect((await previews(project, ['list'], { FORCE_COLOR: '1' })).stdout).toContain(`${ESC}[1m`);
    expect((await previews(project, ['list'], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain(
      ESC,
    );
    documentOf(await previews(project, ['list', '--json'], { FORCE_COLOR: '1' }));
  });
});

describe('B06 the C locale', () => {
  const C = { LC_ALL: 'C', LANG: undefined };
  test('no crash, and --json is valid UTF-8', async () => {
    for (const [program, args] of [
      [preview, ['capture', '--force', '--command', '汉字 😀 ünï']],
      [preview, ['live', 'status']],
      [previews, ['status']],
      [previews, ['inspect']],
      [previews, ['list']],
      [previews, ['verify']],
    ] as const) {
      documentOf(await program(project, [...args, '--json'], C));
      const text = await program(project, [...args], C);
      expect([args, text.code, text.stderr]).toEqual([args, 0, '']);
    }
    const { trajectory_summary } = await done(preview(project, ['live', 'status', '--json'], C));
    expect(trajectory_summary.latest.command).toBe('汉字 😀 ünï');
  });
  test('status marks are words there', async () => {
    expect((await previews(project, ['inspect'], C)).stdout).not.toMatch(/[●◐✗]/);
  });
});

describe('G11 recorded text cannot act on the terminal of whoever looks', () => {
  const HOSTILE: Record<string, string> = {
    'OSC 52 (clipboard)': `${ESC}]52;c;cm0gLXJm\u0007`,
    'OSC 8 (link)': `${ESC}]8;;https://evil.example\u0007click${ESC}]8;;\u0007`,
    'OSC 0 (title)': `${ESC}]0;owned\u0007`,
    'clear screen': `${ESC}[2J${ESC}[H`,
    'eight-bit CSI': '\u009b2J',
    'bidi override': 'abc\u202egnp.exe\u202c',
    'bidi isolate': '\u2066x\u2069',
    'carriage return': 'harmless\rrm -rf /',
    backspace: 'x\b\b\b',
    'new line': 'a\n● step-0099  forged',
    'zero width': 'a\u200bb',
    'line separator': 'a\u2028b',
  };
  // What may reach a terminal: no control but a line's end, and nothing that reorders or hides.
  const ACTS =
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
  let own = '';
  let at = '';
  const text = Object.values(HOSTILE).join(' ');

  beforeAll(async () => {
    own = makeProject();
    await done(preview(own, ['live', 'start', '--json', `--title=${text}`]));
    const result = await done(
      preview(own, [
        'live',
        'push',
        '--json',
        `--command=${text}`,
        `--note=${text}`,
        `--label=${text}`,
        '--force',
      ]),
    );
    at = result['session_dir'];
  });

  test.each([
    [preview, ['live', 'status']],
    [previews, ['status']],
    [previews, ['list']],
    [previews, ['inspect']],
    [previews, ['inspect', 'step-0002']],
    [previews, ['inspect', 'bundle_002']],
    [previews, ['verify']],
    [preview, ['latest']],
    [preview, ['live', 'start']],
  ] as const)('%# in text', async (program, args) => {
    for (const env of [{}, { FORCE_COLOR: '1' }]) {
      const { stdout, stderr, code } = await program(own, [...args], env);
      expect(code).toBe(0);
      expect((stdout + stderr).replace(/\u001b\[\d+m/g, '')).not.toMatch(ACTS);
      expect(stdout).not.toMatch(/^● step-0099/m);
    }
  });

  test('every one of them, alone, as a command', async () => {
    for (const [name, hostile] of Object.entries(HOSTILE)) {
      await done(preview(own, ['live', 'push', '--json', `--command=${hostile}`]));
      const { stdout } = await preview(own, ['live', 'status']);
      expect(stdout, name).not.toMatch(ACTS);
    }
  });

  test('raw only in the stored file, where JSON escapes it', async () => {
    expect(JSON.parse(linesOf(at)[1]!)).toMatchObject({ command: text, note: text });
    const { stdout } = await previews(own, ['inspect', 'step-0002', '--json']);
    expect(JSON.parse(stdout).step.command).toBe(text);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test('in what a damaged session says', async () => {
    const copy = makeProject();
    const { session_dir } = await done(preview(copy, ['capture', '--json']));
    editJson(join(session_dir, 'session.json'), (head) =>
      Object.assign(head, {
        status: text,
        software: text,
        recipe: text,
        current_render_path: text,
        updated_at: text,
      }),
    );
    editJson(join(session_dir, 'session.json'), (head) =>
      Object.assign(head['latest_step'], {
        step_id: text,
        bundle_id: text,
        published_at: text,
        publish_reason: text,
        status: 'ok',
      }),
    );
    for (const args of [['list'], ['inspect'], ['verify'], ['status'], ['inspect', 'step-0001']])
      expect((await previews(copy, args)).stdout, args.join(' ')).not.toMatch(ACTS);
    expect((await preview(copy, ['live', 'status'])).stdout).not.toMatch(ACTS);
  });

  test('in a bundle of a hostile writer', async () => {
    const copy = makeProject();
    const { manifest_path, summary_path } = await done(preview(copy, ['capture', '--json']));
    overwrite(
      manifest_path,
      JSON.stringify({
        ...readJson(manifest_path),
        bundle_id: text,
        software: text,
        recipe: text,
        status: text,
        created_at: text,
        artifacts: [
          {
            artifact_id: text,
            role: text,
            kind: text,
            label: text,
            media_type: text,
            path: text,
            bytes: 1,
            sha256: text,
          },
        ],
      }),
    );
    overwrite(
      summary_path,
      JSON.stringify({
        ...readJson(summary_path),
        headline: text,
        facts: { [text]: text, deep: { [text]: [text] } },
        warnings: [text],
        next_actions: [text],
      }),
    );
    for (const args of [['inspect', 'step-0001'], ['inspect', 'bundle_001'], ['verify']])
      expect((await previews(copy, args)).stdout, args.join(' ')).not.toMatch(ACTS);
  });

  test('in an error message', async () => {
    for (const args of [
      ['capture', `--session=${text}`],
      ['capture', `--recipe=${text}`],
      [`--${text}`],
      ['capture', `--${text}`],
      [text],
    ]) {
      const { code, stderr } = await preview(own, args);
      expect([code, stderr.replaceAll('\n', '')]).toEqual([2, expect.not.stringMatching(ACTS)]);
    }
    const { stderr } = await previews(temporary(), ['inspect', text]);
    expect(stderr).not.toMatch(ACTS);
  });
});
