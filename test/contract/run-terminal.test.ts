// `preview run` on a terminal: the command has one of its own, with size, keys, colours and ctrl-C; ours is put right
// again; and the recipe `terminal` draws what stood on it. The terminal here is node-pty's.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { documentOf, done, preview, previewArgv, previews, run, until } from '../helpers/cli.js';
import { makeProject, write } from '../helpers/project.js';
import { onTerminal } from '../helpers/terminal.js';

const under = (...argv: string[]) => previewArgv('run', '--', ...argv);
/** A line for `sh -c`, with `run` for ours before a command. */
const line = (script: string) => [
  'sh',
  '-c',
  `run() { "$@"; }; preview() { ${previewArgv()
    .map((arg) => `'${arg}'`)
    .join(' ')} "$@"; }; ${script}`,
];

async function newest(project: string) {
  const { steps } = await done(previews(project, ['inspect', '--json']));
  const step = steps.at(-1);
  const { manifest } = await done(previews(project, ['inspect', step.step_id, '--json']));
  return {
    step,
    manifest,
    run: manifest.context.run,
    bundle: join(project, '.preview/session_001', step.bundle_dir),
  };
}

const castOf = (bundle: string) =>
  readFileSync(join(bundle, 'artifacts/terminal.cast'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));

describe('a terminal for the command', () => {
  test('E12 size, a controlling terminal, and the bytes that come bare', async () => {
    const project = makeProject();
    const script =
      'test -t 0 && test -t 1 && test -t 2 && echo all three; stty size; echo to tty > /dev/tty; printf "a\\nb\\r\\n\\033[31mred\\033[0m\\n"; ls --color=auto -d /; echo $TERM; exit 5';
    const bare = onTerminal(['sh', '-c', script], project);
    expect((await bare.ended).exitCode).toBe(5);
    const recorded = onTerminal(under('sh', '-c', script), project);
    expect((await recorded.ended).exitCode).toBe(5);
    expect(recorded.text()).toBe(bare.text());
    expect(recorded.text()).toMatch(/^all three\r\n33 91\r\nto tty\r\n/);
    const { run, bundle } = await newest(project);
    expect(run).toMatchObject({
      pty: true,
      exit_code: 5,
      stdout_bytes: Buffer.byteLength(bare.text()),
      stderr_bytes: 0,
    });
    const [header, ...events] = castOf(bundle);
    expect(header).toMatchObject({ version: 2, width: 91, height: 33, env: { TERM: 'xterm-256color' } });
    expect(events.map(([, , text]: [number, string, string]) => text).join('')).toBe(bare.text());
  });

  test('ctrl-C arrives once, and what is typed arrives', async () => {
    const project = makeProject();
    const script =
      'trap "echo got-int" INT; echo ready; while ! read word; do :; done; echo "read $word"; exit 9';
    const { pty, text, ended } = onTerminal(under('bash', '-c', script), project);
    await until(() => text().includes('ready'), 'it is ready');
    pty.write('\x03');
    await until(() => text().includes('got-int'), 'it got the signal');
    pty.write('word\r');
    expect((await ended).exitCode).toBe(9);
    expect(text().match(/got-int/g)).toHaveLength(1);
    expect(text()).toContain('read word');
  });

  test('ctrl-C ends a command that does not catch it, with all in its group', async () => {
    const project = makeProject();
    const { pty, text, ended } = onTerminal(
      under('sh', '-c', 'echo ready; sleep 100; echo not here'),
      project,
    );
    await until(() => text().includes('ready'), 'it is ready');
    pty.write('\x03');
    expect((await ended).exitCode).toBe(130);
    expect(text()).not.toContain('not here');
    expect((await newest(project)).step.signal).toBe('SIGINT');
  });

  test('ctrl-C where only stdin is a terminal: once', async () => {
    const project = makeProject();
    const script =
      'trap "echo got-int >> seen" INT; echo ready > ready; n=0; while [ $n -lt 12 ]; do sleep 0.25; n=$((n+1)); done; exit 4';
    const { pty, ended } = onTerminal(
      line(`trap : INT; preview run -- bash -c '${script}' > out; exit $?`),
      project,
    );
    await until(() => existsSync(join(project, 'ready')), 'it is ready');
    pty.write('\x03');
    expect((await ended).exitCode).toBe(4);
    expect(readFileSync(join(project, 'seen'), 'utf8')).toBe('got-int\n');
  });

  test('a new size reaches the command and the record', async () => {
    const project = makeProject();
    const script = 'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.1; done';
    const { pty, text, ended } = onTerminal(under('bash', '-c', script), project);
    await until(() => text().includes('ready'), 'it is ready');
    pty.resize(120, 40);
    expect((await ended).exitCode).toBe(0);
    expect(text()).toContain('40 120');
    const events = castOf((await newest(project)).bundle).slice(1);
    expect(events.filter(([, code]: string[]) => code === 'r').map(([, , size]: string[]) => size)).toEqual([
      '120x40',
    ]);
  });

  test('E06 our terminal is put right, also after a kill -9 of a command in raw mode, and after SIGTERM to us', async () => {
    const project = makeProject();
    const kill = `preview run -- sh -c 'stty raw -echo; kill -9 $$'; echo "code $?"`;
    const term = `preview run -- sh -c 'kill -TERM $PPID; sleep 97'; echo "code $?"`;
    const { text, ended } = onTerminal(
      line(`stty -a > before; ${kill}; stty -a > after; ${term}; stty -a > last`),
      project,
    );
    await ended;
    expect(text()).toMatch(/code 137\r\n[\s\S]*code 143\r\n/);
    const read = (name: string) => readFileSync(join(project, name), 'utf8');
    expect(read('after')).toBe(read('before'));
    expect(read('last')).toBe(read('before'));
  });

  test('what is redirected stays so', async () => {
    const project = makeProject();
    write(project, { input: 'from a file\n' });
    const script = `
      preview run -- sh -c 'test -t 1 && echo out is one; test -t 2 || echo err is none; echo to err >&2; stty size' 2> err
      preview run -- sh -c 'test -t 0 || echo in is none; test -t 1 && cat' < input
      echo piped | preview run -- sh -c 'cat; test -t 1 && echo out is one'`;
    const { text, ended } = onTerminal(line(script), project);
    expect((await ended).exitCode).toBe(0);
    expect(text()).toBe(
      ['out is one', 'err is none', '33 91', 'in is none', 'from a file', 'piped', 'out is one', ''].join(
        '\r\n',
      ),
    );
    expect(readFileSync(join(project, 'err'), 'utf8')).toBe('to err\n');
  });

  test('127 and 126 are those of a shell', async () => {
    const project = makeProject();
    const missing = onTerminal(under('no-such-command-anywhere'), project);
    expect((await missing.ended).exitCode).toBe(127);
    expect(missing.text()).toBe('preview: no-such-command-anywhere: not found\r\n');
    const folder = onTerminal(under('/'), project);
    expect((await folder.ended).exitCode).toBe(126);
  });

  test('E07 much output on a terminal comes to its end, again and again', async () => {
    const project = makeProject();
    const wanted = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\r\n`).join('');
    for (let n = 0; n < 3; n++) {
      // What node-pty reads here may lack the end of it; what is recorded may not.
      await onTerminal(previewArgv('run', '--no-capture', '--', 'seq', '100000'), project).ended;
      const { bundle } = await newest(project);
      expect(readFileSync(join(bundle, 'artifacts/stdout.log'), 'utf8') === wanted).toBe(true);
    }
  });

  test('input that has ended before is at its end for the command; modes are those of our terminal', async () => {
    const project = makeProject();
    const line = (command: string) =>
      `${previewArgv('run', '--')
        .map((arg) => `'${arg}'`)
        .join(' ')} ${command}`;
    // `script` types ctrl-D at once, before anything has become raw.
    const typed = (command: string) =>
      run(['script', '-qec', command, '/dev/null'], {
        cwd: project,
        env: { SHELL: '/bin/sh', TERM: 'xterm' },
      });
    expect((await typed(line('cat'))).stdout).toBe((await typed('cat')).stdout);
    expect((await typed(line("sh -c 'echo x; exit 3'"))).stdout).toBe('x\r\n');
    const modes = "sh -c 'stty -a | tail -n +2'";
    expect((await typed(line(modes))).stdout).toBe((await typed(modes)).stdout);
    expect((await typed(`stty -echo -ixon erase x; ${line(modes)}`)).stdout).toMatch(
      /erase = x;[\s\S]* -ixon [\s\S]* -echo /,
    );
  });

  test('a full-screen program: less, with its keys', async ({ skip }) => {
    const project = makeProject();
    if (!existsSync('/usr/bin/less')) return skip('less is missing');
    write(project, { text: Array.from({ length: 200 }, (_, n) => `line ${n}\n`).join('') });
    const { pty, text, ended } = onTerminal(under('less', 'text'), project);
    await until(() => text().includes('line 20'), 'it shows the text');
    pty.write('G');
    await until(() => text().includes('line 199'), 'it shows the end');
    pty.write('q');
    expect((await ended).exitCode).toBe(0);
    expect((await newest(project)).run.head).not.toContain('line 20');
  });

  test('a job in the background is not stopped', async () => {
    const project = makeProject();
    const { text, ended } = onTerminal(
      ['bash', '-ic', `${line('').at(-1)} preview run -- echo behind & wait; echo "code $?"`],
      project,
    );
    await until(() => text().includes('code '), 'it has ended');
    expect(text()).toMatch(/behind\r\n[\s\S]*code 0/);
    await ended;
  });
});

/** The colour that most pixels of a picture's rows have beside its ground, and how large it is. */
function pictureOf(file: string) {
  const png = PNG.sync.read(readFileSync(file));
  const colours = new Map<string, number>();
  for (let at = 0; at < png.data.length; at += 4) {
    const colour = png.data.subarray(at, at + 3).toString('hex');
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  return { width: png.width, height: png.height, count: (colour: string) => colours.get(colour) ?? 0 };
}

describe('the recipe terminal', () => {
  test('draws the screen as it stood: colours, grounds, wide characters, height by content', async () => {
    const project = makeProject();
    const text =
      '10%%\\r100%%\\n\\033[?1049hgone\\033[?1049l\\033[48;2;255;0;0m    \\033[0m\\033[48;5;46m  \\033[0m 日本\\n\\033[1;4mbold\\033[0m\\n';
    const result = documentOf(
      await preview(project, ['run', '--json', '--recipe', 'terminal', '--', 'printf', text]),
    );
    expect([result.status, result.cached]).toEqual(['ok', false]);
    const { manifest, summary } = await done(previews(project, ['inspect', result.step_id, '--json']));
    expect(summary.facts).toMatchObject({ exit_code: 0, columns: 80, rows: 24, lines: 3 });
    expect(manifest.generator.backend).toMatch(/xterm-headless 6.*resvg/);
    const picture = pictureOf(result.render);
    // 80 cells of 12 px and 3 lines of 23 px within margins of 14 px.
    expect([picture.width, picture.height]).toEqual([80 * 12 + 28, 3 * 23 + 28]);
    expect(picture.count('ff0000')).toBe(4 * 12 * 23);
    expect(picture.count('00ff00')).toBe(2 * 12 * 23);
    expect(manifest.artifacts.map(({ role }: any) => role)).toEqual(['hero', 'thumb', 'terminal', 'log']);
  });

  test('shows the last lines of long output, a terminal as wide as it was, and never another command’s', async () => {
    const project = makeProject();
    const { ended } = onTerminal(previewArgv('run', '--recipe', 'terminal', '--', 'seq', '100'), project, {
      cols: 40,
      rows: 10,
    });
    expect((await ended).exitCode).toBe(0);
    const first = await newest(project);
    const picture = pictureOf(join(first.bundle, 'render.png'));
    expect([picture.width, picture.height]).toEqual([40 * 12 + 28, 9 * 23 + 28]);
    const again = documentOf(
      await preview(project, ['run', '--json', '--recipe', 'terminal', '--', 'echo', 'other']),
    );
    expect(again.cached).toBe(false);
    expect(pictureOf(again.render).height).toBe(23 + 28);
    // Nothing printed: an empty screen, as it was.
    const empty = documentOf(await preview(project, ['run', '--json', '--recipe', 'terminal', '--', 'true']));
    expect([empty.status, pictureOf(empty.render).height]).toEqual(['ok', 23 + 28]);
  });

  test('a hostile recording draws something, and quickly', async () => {
    const project = makeProject();
    const script = `process.stdout.write('\\x1b[999999999C\\x1b[2147483647S\\x1b]' + 'x'.repeat(1e5) + '\\x1bP' + '<&>"\\x00\\x1b[38;2;999;0;0m&lt;\\u202e' + '\\ud800' + '\\x1b[999999;999999H\\u0300\\u0301'.repeat(1000))`;
    const result = documentOf(
      await preview(project, ['run', '--json', '--recipe', 'terminal', '--', process.execPath, '-e', script]),
    );
    expect(result.status).toBe('ok');
  });

  test('beside another recipe its picture is one of the gallery', async () => {
    const project = makeProject();
    const result = documentOf(
      await preview(project, ['run', '--json', '--recipe', 'copy,terminal', '--', 'echo', 'hi']),
    );
    const { manifest } = await done(previews(project, ['inspect', result.step_id, '--json']));
    expect(manifest.artifacts.map(({ role }: any) => role)).toEqual([
      'hero',
      'thumb',
      'gallery',
      'terminal',
      'log',
    ]);
  });

  test('a capture without a run says what it needs', async () => {
    const project = makeProject();
    const { code, stderr } = await preview(project, ['capture', '--recipe', 'terminal']);
    expect(existsSync(join(project, '.preview'))).toBe(false);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/draws what a command printed[\s\S]*preview run --recipe terminal -- COMMAND/),
    ]);
  });
});
