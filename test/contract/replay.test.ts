// `previews replay`: all at once where nobody waits, at its pace and by keys on a terminal (node-pty's), with pictures in
// the forms of kitty and iTerm2; and the terminal as it was, however it ends.
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { keyReader } from '../../consumer/replaying/keys.js';
import {
  done,
  errorOf,
  type Outcome,
  preview,
  previews,
  previewsArgv,
  shell,
  until,
} from '../helpers/cli.js';
import { makeProject, png, type Recording, recordSession, temporary } from '../helpers/project.js';
import { copySample, samplesOf } from '../helpers/samples.js';
import { copySession, editLines, editStep, overwrite } from '../helpers/tamper.js';
import { onTerminal, type Size } from '../helpers/terminal.js';

const ESC = '\u001b';
const APC = `${ESC}_G`;
const ST = `${ESC}\\`;
const HIDE = `${ESC}[?25l`;
const SHOW = `${ESC}[?25h`;
const DA1 = `${ESC}[c`;

/** Three steps a second apart in their records, with facts, a failed command, a picture that is too large, and a text. */
let recorded: Recording;
const hero = (content: Buffer) => ({ content, role: 'hero', name: 'picture.png' });
const LARGE = Buffer.concat([png(64, 48), Buffer.alloc(600_000)]);
beforeAll(async () => {
  recorded = await recordSession(4, {
    each: (n) =>
      [
        [{}, { exit_code: 0 }],
        [{ facts: { number: 2, wide: true }, warnings: ['loose: a wheel'] }, { exit_code: 3 }],
        [
          { artifacts: [hero(LARGE), { content: png(16, 12), role: 'thumb', name: 'thumb.png' }] },
          { note: 'a note' },
        ],
        [{ artifacts: [{ content: 'a\n', role: 'hero', name: 'hero.txt' }] }, { signal: 'SIGTERM' }],
      ][n - 1] as any,
  });
  // An hour and more lies between the steps, so that none comes by itself while a test types.
  for (let n = 1; n <= 4; n++)
    editStep(
      recorded.dir,
      n,
      (step) => {
        step['published_at'] = `2026-05-31T1${n}:00:0${n}.000Z`;
      },
      { follow: true },
    );
});

const replay = (dir: string, args: string[] = [], env?: Record<string, string>): Promise<Outcome> =>
  previews(temporary(), ['replay', dir, ...args], env);

/** A replay on a terminal that says it shows no pictures, unless `env` says otherwise. */
const playing = (args: string[], env: Record<string, string> = {}, size?: Size) =>
  onTerminal(previewsArgv('replay', recorded.dir, ...args), temporary(), size, {
    TERM_PROGRAM: 'Apple_Terminal',
    ...env,
  });
const waits = ['--idle-limit', '9999'];
const shows = (text: () => string, index: number) =>
  until(() => text().includes(`playing ${index}/4`), `step ${index}`);

describe('where nobody waits', () => {
  test('all steps at once, with what changed in each', async () => {
    const { stdout, stderr, code } = await replay(recorded.dir);
    expect([code, stderr]).toEqual([0, '']);
    const [first, second, third, fourth, end] = stdout.split('\n\n');
    expect(first).toMatch(/^── 1\/4 {2}step-0001 {2}2026-05-31 11:00:01 ─+\n\$ draw 1\n● ok {2}/);
    expect(first).toContain('\n  Picture 1\n  number: 1\n');
    expect(first).toContain(`\n  picture ${join(recorded.dir, 'bundle_001/render.png')}  8 × 8`);
    expect(second).toMatch(/^── 2\/4 {2}step-0002 {2}2026-05-31 12:00:02 {2}\+1 h 0 m ─/);
    expect(second).toContain('\n✗ exit 3');
    expect(second).toContain('\n  number: 1 → 2\n  wide: true\n  warning: loose: a wheel\n');
    expect(third).toContain('\n  note: a note\n');
    expect(third).toContain('\n  wide: true → gone\n');
    expect(fourth).toContain('\n✗ SIGTERM');
    expect(end).toBe('the end of session_001, 4 steps\n');
    expect(stdout).not.toContain(ESC);
  });

  test('as a JSON document a line', async () => {
    const { stdout, code } = await replay(recorded.dir, ['--json', '--from', '2', '--to', 'step-0003']);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ step_id }) => step_id)).toEqual(['step-0002', 'step-0003']);
    expect(lines[0]).toEqual({
      step_id: 'step-0002',
      step_index: 2,
      command: 'draw 2',
      published_at: '2026-05-31T12:00:02.000Z',
      gap_ms: 3_601_000,
      duration_ms: null,
      exit_code: 3,
      signal: null,
      publish_reason: expect.any(String),
      recipe: expect.any(String),
      status: 'ok',
      cached: false,
      lost: false,
      stage_label: null,
      note: null,
      headline: 'Picture 2',
      facts: [
        { name: 'number', before: 1, after: 2 },
        { name: 'wide', before: null, after: true },
      ],
      warnings: ['loose: a wheel'],
      output: [],
      picture: join(recorded.dir, 'bundle_002/render.png'),
      problems: [],
    });
  });

  test('a step is where it begins; a range ends it', async () => {
    const from = await previews(recorded.root, ['replay', 'session_001/step-0003', '--root', recorded.root]);
    expect(from.stdout.match(/^── \d/gm)).toEqual(['── 3', '── 4']);
    const to = await replay(recorded.dir, ['--to', '1']);
    expect(to.stdout).toMatch(/step 1 of 4 of session_001\n$/);
    expect((await replay(recorded.dir, ['--to', '99'])).stdout).toContain('the end of');
  });

  test.each([
    [['--from', '5'], 3, 'not_found', /no step 5; it has 4 steps/],
    [['--from', '3', '--to', '2'], 2, 'usage', /first step, 3, comes after the last, 2/],
    [['--from', 'x'], 2, 'usage', /such as 12 or step-0012/],
    [['--from', '0'], 2, 'usage', /such as 12/],
    [['--speed', '0'], 2, 'usage', /from 0\.01 to 1000/],
    [['--speed', 'NaN'], 2, 'usage', /from 0\.01/],
    [['--idle-limit', '-1'], 2, 'usage', /seconds/],
    [['--images', 'sixel'], 2, 'usage', /kitty, iterm, none/],
  ] as const)('%j is refused', async (args, code, word, message) => {
    const outcome = await replay(recorded.dir, [...args, '--json']);
    expect([outcome.code, outcome.stdout]).toEqual([code, '']);
    expect(errorOf(outcome)).toMatchObject({ code: word, message: expect.stringMatching(message) });
  });

  test('where nothing is recorded', async () => {
    expect(errorOf(await replay(temporary(), ['--json']))).toMatchObject({ code: 'not_found' });
    const { dir } = await recordSession(0);
    expect(errorOf(await replay(dir, ['--json']))).toMatchObject({
      code: 'not_found',
      message: /no steps yet/,
    });
  });

  test('what its command printed', async () => {
    const project = temporary();
    await preview(project, [
      'run',
      '--no-capture',
      '--',
      'sh',
      '-c',
      'echo wheels; printf "\\033[2J axle\\n"; exit 4',
    ]);
    const { stdout } = await previews(project, ['replay']);
    expect(stdout).toContain('✗ exit 4');
    expect(stdout).toContain('\n  │ wheels\n  │  axle\n  shows ');
  });

  test('a session that is being recorded says what follows it', async () => {
    const project = makeProject();
    await done(preview(project, ['live', 'start', '--json']));
    const { stdout } = await previews(project, ['replay']);
    expect(stdout).toMatch(/it is still being recorded: `previews watch session_001` follows it\n$/);
  });

  test('a reader that leaves ends it quietly', async () => {
    const { stdout, stderr } = await shell(
      `previews replay '${recorded.dir}' | head -n 1; echo "\${PIPESTATUS[0]}"`,
      {
        cwd: temporary(),
      },
    );
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^── 1\/4 .*\n0\n$/), '']);
  });
});

describe('on a terminal', () => {
  test('plays to its end, and leaves the terminal as it was', async () => {
    const { text, ended } = playing(['--idle-limit', '0']);
    expect((await ended).exitCode).toBe(0);
    expect(text().match(/── \d\/4/g)).toEqual(['── 1/4', '── 2/4', '── 3/4', '── 4/4']);
    expect(text()).toContain('+1 h 0 m, here 0 s');
    expect(text()).toContain('the end of session_001');
    expect(text().startsWith(HIDE)).toBe(true);
    expect(text().endsWith(`\r${ESC}[K${SHOW}`)).toBe(true);
  });

  test('the time between steps is divided by the speed and held to the idle limit', async () => {
    // An hour at a thousandth of it is 3.6 s, of which the limit leaves 0.05 s.
    const limited = playing(['--speed', '1000', '--idle-limit', '0.05', '--to', '2']);
    expect((await limited.ended).exitCode).toBe(0);
    expect(limited.text()).toContain('+1 h 0 m, here 50 ms');
    const fast = playing(['--speed', '1000', '--idle-limit', '9999', '--to', '2']);
    expect((await fast.ended).exitCode).toBe(0);
    expect(fast.text()).toContain('+1 h 0 m, here 3.6 s');
  });

  test('keys: pause, next, previous, speed, help, quit', async () => {
    const { pty, text, ended } = playing(waits);
    await shows(text, 1);
    pty.write(`${ESC}[C`);
    await shows(text, 2);
    pty.write('\r');
    await shows(text, 3);
    pty.write(`${ESC}OD`);
    await until(() => text().includes('paused 2/4'), 'one back, and paused');
    pty.write('++-');
    await until(() => text().includes('paused 2/4  2x') && text().includes('4x'), 'faster and slower');
    pty.write('?');
    await until(() => text().includes('the one before, and pauses'), 'help');
    pty.write('\r\r');
    await until(() => text().includes('end 4/4'), 'the end, paused');
    pty.write('\r');
    pty.write(' ');
    expect((await ended).exitCode).toBe(0);
    expect(text().match(/── \d\/4/g)).toEqual([1, 2, 3, 2, 3, 4].map((n) => `── ${n}/4`));
    expect(text()).toContain('the end of session_001');
  });

  test('q ends it at once', async () => {
    const { pty, text, ended } = playing(waits);
    await shows(text, 1);
    pty.write('q');
    expect((await ended).exitCode).toBe(0);
    expect(text().endsWith(SHOW)).toBe(true);
  });

  /** A shell that notes the terminal's modes before and after. */
  const noted = (line: string) => {
    const quoted = previewsArgv('replay', recorded.dir, ...waits)
      .map((arg) => `'${arg}'`)
      .join(' ');
    return onTerminal(
      ['bash', '-c', `trap : INT; stty -a | md5sum; ${quoted}; ${line}`],
      temporary(),
      undefined,
      {
        TERM_PROGRAM: 'Apple_Terminal',
      },
    );
  };

  test('ctrl-C ends with 130, and the terminal is put right', async () => {
    const { pty, text, ended } = noted('echo "code $?"; stty -a | md5sum');
    await shows(text, 1);
    pty.write('\x03');
    await ended;
    expect(text()).toContain(`${SHOW}code 130`);
    const [before, after] = text().match(/[0-9a-f]{32}/g)!;
    expect(after).toBe(before);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends with %i, and the cursor is back', async (signal, code) => {
    const { pty, text, ended } = playing(waits);
    await shows(text, 1);
    process.kill(pty.pid, signal);
    expect((await ended).exitCode).toBe(code);
    expect(text().endsWith(SHOW)).toBe(true);
  });

  test('ctrl-Z stops it with the terminal put right, and fg goes on', async () => {
    const cwd = temporary();
    const { pty, text } = onTerminal(['bash', '--norc', '-i'], cwd, undefined, {
      PS1: 'prompt> ',
      TERM_PROGRAM: 'Apple_Terminal',
    });
    await until(() => text().includes('prompt> '), 'a prompt');
    pty.write(
      `${previewsArgv('replay', recorded.dir, ...waits)
        .map((arg) => `'${arg}'`)
        .join(' ')}\r`,
    );
    await shows(text, 1);
    pty.write('\x1a');
    await until(() => /Stopped[\s\S]*prompt> /.test(text()), 'the shell has it stopped');
    expect(text()).toMatch(/\x1b\[\?25h[\s\S]*Stopped/);
    pty.write('stty -a | grep -o " icanon\\| -icanon\\| echo "; echo is-$((40+2))\r');
    await until(() => text().includes('is-42'), 'the shell answers');
    expect(text()).toMatch(/ icanon\r\n echo \r\n[\s\S]*is-42/);
    const before = text().length;
    pty.write('fg\r');
    await until(() => text().slice(before).includes(`${HIDE}playing 1/4`), 'it is there again');
    pty.write(`${ESC}[C`);
    await shows(text, 2);
    pty.write('q');
    await until(() => /prompt> $/.test(text()), 'the shell again');
  });

  test('a terminal that goes away ends it', async () => {
    const { pty, text, ended } = playing(waits);
    await shows(text, 1);
    const { pid } = pty;
    pty.kill('SIGHUP');
    expect((await ended).exitCode).toBe(129);
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('narrow, and without colours', async () => {
    const { text, ended } = playing(['--idle-limit', '0'], { NO_COLOR: '1' }, { cols: 20, rows: 10 });
    expect((await ended).exitCode).toBe(0);
    expect(text()).not.toMatch(/\x1b\[\d+m/);
    // What is renewed in place must fit one line, or it could not be.
    const renewed = text()
      .split('\r\x1b[K')
      .filter((piece) => /^(playing|end|paused)/.test(piece));
    expect(renewed.length).toBeGreaterThan(3);
    for (const piece of renewed) expect(piece.length).toBeLessThan(20);
    const coloured = playing(['--idle-limit', '0', '--to', '1']);
    await coloured.ended;
    expect(coloured.text()).toMatch(/\x1b\[32m● ok\x1b\[39m/);
  });

  test('a dumb terminal gets all at once', async () => {
    const { text, ended } = playing(waits, { TERM: 'dumb' });
    expect((await ended).exitCode).toBe(0);
    expect(text()).not.toContain(ESC);
    expect(text()).toContain('── 4/4');
  });

  test('keys that are not at a terminal: it plays all the same', async () => {
    const argv = previewsArgv('replay', recorded.dir, '--idle-limit', '0').map((arg) => `'${arg}'`);
    const { text, ended } = onTerminal(['sh', '-c', `${argv.join(' ')} </dev/null`], temporary());
    expect((await ended).exitCode).toBe(0);
    expect(text()).toContain('── 4/4');
  });
});

/** Kitty's protocol: each code's keys, and its base64. */
function kittyCodes(text: string) {
  return [...text.matchAll(/\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\/g)].map(([, control, payload]) => ({
    control: Object.fromEntries(control!.split(',').map((pair) => pair.split('='))) as Record<string, string>,
    payload: payload!,
  }));
}

describe('pictures', () => {
  const all = ['--idle-limit', '0'];

  test("kitty's protocol: chunks, keys, and the file itself", async () => {
    const large = png(900, 700);
    const noisy = Buffer.concat([
      large,
      Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n * 7919) % 256)),
    ]);
    const { dir } = await recordSession(1, { each: () => [{ artifacts: [hero(noisy)] }, {}] });
    const { text, ended } = onTerminal(
      previewsArgv('replay', dir),
      temporary(),
      { cols: 60, rows: 30 },
      {
        TERM: 'xterm-kitty',
      },
    );
    expect((await ended).exitCode).toBe(0);
    const codes = kittyCodes(text());
    expect(codes.length).toBeGreaterThan(5);
    // 18 of 30 rows, each twice as high as a column is wide, at 900 × 700: 46 columns.
    expect(codes[0]!.control).toEqual({ a: 'T', f: '100', t: 'd', q: '2', c: '46', m: '1' });
    for (const [n, { control, payload }] of codes.entries()) {
      expect(payload).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(payload.length).toBeLessThanOrEqual(4096);
      const isLast = n === codes.length - 1;
      if (!isLast) expect(payload.length % 4).toBe(0);
      if (n > 0) expect(control).toEqual({ m: isLast ? '0' : '1' });
    }
    const bytes = Buffer.from(codes.map(({ payload }) => payload).join(''), 'base64');
    expect(bytes.equals(noisy)).toBe(true);
  });

  test("iTerm2's: one code, its size stated, the file itself", async () => {
    const environments: Record<string, string>[] = [
      { TERM_PROGRAM: 'iTerm.app' },
      { TERM_PROGRAM: 'WezTerm' },
      { TERM_PROGRAM: '', LC_TERMINAL: 'iTerm2' },
    ];
    for (const env of environments) {
      const { text, ended } = playing([...all, '--to', '1'], env);
      expect((await ended).exitCode).toBe(0);
      const [, args, base64, ...more] = /\x1b\]1337;File=([^:\x07]*):([^\x07]*)\x07/.exec(text())!;
      expect(more).toEqual([]);
      const picture = png(8, 8, 1);
      expect(args!.split(';')).toEqual([
        'inline=1',
        `size=${picture.length}`,
        'width=1',
        'height=auto',
        'preserveAspectRatio=1',
      ]);
      expect(base64).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(Buffer.from(base64!, 'base64').equals(picture)).toBe(true);
      expect(text()).not.toContain(join(recorded.dir, 'bundle_001'));
    }
  });

  test('a large one is shown by its thumbnail; no PNG by its path', async () => {
    const { text, ended } = playing([...all, '--from', '3', '--images', 'kitty']);
    expect((await ended).exitCode).toBe(0);
    const codes = kittyCodes(text());
    expect(codes).toHaveLength(1);
    expect(codes[0]!.control['m']).toBe('0');
    expect(Buffer.from(codes[0]!.payload, 'base64').equals(png(16, 12))).toBe(true);
    expect(text()).toContain(join(recorded.dir, 'bundle_004/'));
  });

  test('the terminal is asked where its environment does not tell', async () => {
    const asked = async (answer: string) => {
      const { pty, text, ended } = playing([...all, '--to', '1'], { TERM_PROGRAM: '' });
      await until(() => text().includes(DA1), 'it asks');
      pty.write(answer);
      expect((await ended).exitCode).toBe(0);
      const [question, ...drawn] = kittyCodes(text());
      expect(question).toEqual({
        control: { i: '31', s: '1', v: '1', a: 'q', t: 'd', f: '24' },
        payload: 'AAAA',
      });
      return drawn.length;
    };
    const attributes = `${ESC}[?62;22c`;
    expect(await asked(`${APC}i=31;OK${ST}${attributes}`)).toBe(1);
    expect(await asked(attributes)).toBe(0);
    expect(await asked(`${APC}i=31;ENOTSUPPORTED:no${ST}${attributes}`)).toBe(0);
    // One that never answers is no reason to wait for long, and what comes late is no key.
    expect(await asked('')).toBe(0);
  });

  test.each([
    ['tmux', { TMUX: '/tmp/tmux-0/default,1,0', TERM: 'tmux-256color', TERM_PROGRAM: 'tmux' }],
    ['screen', { TERM: 'screen.xterm-256color', TERM_PROGRAM: '' }],
    ['kitty within tmux', { TMUX: 'x', KITTY_WINDOW_ID: '1' }],
    ['the console', { TERM: 'linux', TERM_PROGRAM: '' }],
    ['--images none', { TERM: 'xterm-kitty' }],
  ])('%s: neither asked nor drawn', async (name, env) => {
    const { text, ended } = playing([...all, ...(name.startsWith('--') ? name.split(' ') : [])], env);
    expect((await ended).exitCode).toBe(0);
    expect(text()).not.toMatch(/\x1b_|\x1b\]|\x1b\[c/);
    expect(text()).toContain(`picture ${join(recorded.dir, 'bundle_001/render.png')}`);
  });

  test('a picture is not drawn again while it stays', async () => {
    const { dir } = await recordSession(1);
    const copy = copySession(dir);
    editLines(
      copy,
      (lines) => [
        lines[0]!,
        lines[0]!.replaceAll('step-0001', 'step-0002').replace('"step_index":1', '"step_index":2'),
      ],
      {
        follow: true,
      },
    );
    const { stdout } = await replay(copy, ['--images', 'kitty']);
    expect(stdout.match(/── \d\/2/g)).toHaveLength(2);
    expect(kittyCodes(stdout)).toHaveLength(1);
    expect(stdout).toContain('picture ');
  });
});

describe('G11 what was recorded cannot act on the terminal', () => {
  const HOSTILE = `a${ESC}]52;c;cm0=\u0007 ${ESC}[2J\u009b2J\u202egnp.exe\u2066\rrm\n● ok\u200b`;
  /** What may come: line ends, and our own codes. */
  const OURS = /\x1b\[(\d+m|K|\?25[lh])|\x1b_G[^\x1b]*\x1b\\|\r|\n/g;

  test('in text, on a terminal, and beside pictures', async () => {
    const { dir } = await recordSession(1, {
      each: () => [
        {
          headline: HOSTILE,
          facts: { [HOSTILE]: HOSTILE, deep: { [HOSTILE]: [HOSTILE] } },
          warnings: [HOSTILE],
          recipe: HOSTILE,
          artifacts: [{ ...hero(png()), label: HOSTILE }],
        },
        { command: HOSTILE, note: HOSTILE, stage_label: HOSTILE } as any,
      ],
    });
    const copy = copySession(dir);
    editStep(copy, 1, (step) => Object.assign(step, { signal: HOSTILE, published_at: HOSTILE }), {
      follow: true,
    });
    for (const session of [dir, copy]) {
      for (const how of [[], ['--images', 'kitty'], ['--images', 'iterm']]) {
        const { stdout } = await replay(session, how);
        expect(stdout.replace(/\x1b\]1337;File=[\w=;]*:[\w+/=]*\x07/g, '').replace(OURS, '')).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/,
        );
        expect(stdout).not.toMatch(/^● ok\\u200b/m);
      }
      const { text, ended } = onTerminal(previewsArgv('replay', session), temporary(), undefined, {
        TERM: 'xterm-kitty',
      });
      expect((await ended).exitCode).toBe(0);
      expect(text().replace(OURS, '')).not.toMatch(
        /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/,
      );
    }
  });

  test('a hero that is no PNG, a bomb, or a link that leads out is not sent', async () => {
    const bomb = png();
    bomb.writeUInt32BE(1_000_000, 16);
    bomb.writeUInt32BE(1_000_000, 20);
    for (const content of [
      Buffer.from(`GIF89a${ESC}]0;x\u0007`),
      bomb,
      png().subarray(0, 20),
      Buffer.alloc(0),
    ]) {
      const { dir } = await recordSession(1, { each: () => [{ artifacts: [hero(png())] }, {}] });
      const copy = copySession(dir);
      overwrite(join(copy, 'bundle_001/render.png'), content);
      const { stdout, code } = await replay(copy, ['--images', 'kitty']);
      expect([code, kittyCodes(stdout)]).toEqual([0, []]);
    }
    const { dir } = await recordSession(1);
    const outside = join(temporary(), 'secret.png');
    overwrite(outside, png());
    const copy = copySession(dir);
    rmSync(join(copy, 'bundle_001/render.png'));
    symlinkSync(outside, join(copy, 'bundle_001/render.png'));
    const { stdout } = await replay(copy, ['--images', 'kitty']);
    expect(stdout).not.toMatch(/\x1b|secret/);
  });
});

describe('what is damaged', () => {
  test('a step that is lost is said, and the others are shown', async () => {
    const copy = copySession(recorded.dir);
    editLines(copy, (lines) => lines.map((line, n) => (n === 1 ? '"broken"' : line)));
    const { stdout, code } = await replay(copy);
    expect(code).toBe(0);
    expect(stdout.match(/── \d\/4/g)).toHaveLength(4);
    expect(stdout).toContain('✗ lost');
    const lines = (await replay(copy, ['--json'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ lost }) => lost)).toContain(true);
  });

  test('a bundle that is gone is a problem of its step', async () => {
    const copy = copySession(recorded.dir);
    rmSync(join(copy, 'bundle_002'), { recursive: true });
    const { stdout, code } = await replay(copy, ['--from', '2', '--to', '2']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/problem: missing/)]);
  });

  test('a head that cannot be read is said with exit 6', async () => {
    const copy = copySession(recorded.dir);
    overwrite(join(copy, 'session.json'), '{');
    const outcome = await replay(copy, ['--json']);
    expect(outcome.code).toBe(6);
    expect(errorOf(outcome)).toMatchObject({ code: 'session_damaged', hint: /preview repair/ });
  });
});

describe("a neighbour's recordings", () => {
  const samples = samplesOf('cli-anything');
  test.skipIf(samples === null)('of CLI-Anything are replayed as they are', async () => {
    for (const [name, steps] of [
      ['shotcut/manual', 8],
      ['shotcut/poll', 6],
      ['blender/ok', 5],
      ['blender/failed-pushes', 2],
      ['freecad/manual', 6],
    ] as const) {
      const copy = copySample(join(samples!, name));
      const { stdout, code } = await replay(copy);
      expect([name, code, stdout.match(new RegExp(`^── \\d/${steps} `, 'gm'))?.length]).toEqual([
        name,
        0,
        steps,
      ]);
      expect(stdout).toMatch(/picture \//);
      expect(
        kittyCodes((await replay(copy, ['--images', 'kitty', '--to', '1'])).stdout).length,
      ).toBeGreaterThan(0);
    }
  });
});

describe('marks', () => {
  test('are words where the locale has no shapes, and inspect has the same', async () => {
    const C = { LC_ALL: 'C', LANG: 'C' };
    const { stdout } = await replay(recorded.dir, [], C);
    expect(stdout).toContain('\nok  ');
    expect(stdout).toContain('\nfailed exit 3');
    expect(stdout).not.toMatch(/[●◐✗]/);
    const shown = await previews(temporary(), ['inspect', recorded.dir]);
    expect(shown.stdout).toMatch(/^● step-0001 .* draw 1$/m);
    expect(shown.stdout).toMatch(/^✗ step-0002 .* draw 2 {2}exit 3$/m);
    expect(shown.stdout).toMatch(/^✗ step-0004 .* draw 4 {2}SIGTERM$/m);
    for (const command of ['inspect', 'replay'])
      expect((await previews(temporary(), [command, '--help'])).stdout).toMatch(
        /● all well; ◐ .*; ✗ the command failed/,
      );
  });
});

describe('keys', () => {
  const check = (...pieces: string[]) => {
    const read = keyReader();
    return pieces.flatMap(read).map((each) => ('key' in each ? each.key : JSON.stringify(each.reply)));
  };

  test('are known however their bytes arrive', () => {
    expect(check(`${ESC}[C${ESC}OC\r\n`)).toEqual(['next', 'next', 'next', 'next']);
    expect(check(ESC, '[', 'D')).toEqual(['previous']);
    expect(check(' q+=-?')).toEqual(['pause', 'quit', 'faster', 'faster', 'slower', 'help']);
    expect(check('\x03\x1a\x04')).toEqual(['interrupt', 'suspend', 'quit']);
    expect(check(ESC, 'q')).toEqual(['quit']);
    expect(check(`${ESC}${ESC}[C`)).toEqual(['next']);
    expect(check('xyz\u00e4')).toEqual([]);
  });

  test('and answers of the terminal are none', () => {
    expect(check(`${APC}i=31;OK`, `${ESC}`, '\\', `${ESC}[?62;4c`)).toEqual([
      JSON.stringify(`${APC}i=31;OK${ST}`),
      JSON.stringify(`${ESC}[?62;4c`),
    ]);
    expect(check(`${ESC}]11;rgb:q/q/q\u0007q`)).toEqual([
      JSON.stringify(`${ESC}]11;rgb:q/q/q\u0007`),
      'quit',
    ]);
    // What never ends does not swallow all that follows.
    expect(check(`${APC}${'x'.repeat(5000)}`, 'q').at(-1)).toBe('quit');
  });
});
