// Section B of the known failures, as far as a capture meets it: text and bytes that are not what a reader expects,
// in the command it is told of, in its own command line, and in what its renderer prints.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dist,
  type Ended,
  preview,
  previewArgv,
  previews,
  resultOf,
  run,
  scratch,
  script,
  verifyClean,
} from '../helpers/children.js';
import { headOf, type Json, makeProject, type Site, sha256 } from '../helpers/publish.js';

const place = scratch();
afterAll(place.remove);
let site: Site;
let folders = 0;
function makeCase(): Site {
  const folder = join(place.path, `case-${folders++}`);
  mkdirSync(folder);
  return makeProject(folder);
}
beforeAll(() => {
  site = makeCase();
});

/** The file is strict UTF-8 JSON without a byte order mark; returns its value. */
function strictJson(path: string): Json {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  // A lone surrogate may hide in an escape.
  expect(text).not.toMatch(/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])/i);
  expect(JSON.parse(text)).toEqual(JSON.parse(text.toWellFormed()));
  return JSON.parse(text) as Json;
}

/** Everything that was recorded of the newest step is strict; returns the step. */
function newest(session: string): Json {
  const head = strictJson(join(session, 'session.json'));
  const trajectory = strictJson(join(session, 'trajectory.json')) as Json[];
  const step = trajectory.at(-1)!;
  expect(step).toEqual(head.latest_step);
  expect(readFileSync(join(session, 'trajectory.json'), 'utf8').split('\n')).toHaveLength(
    trajectory.length + 3,
  );
  for (const name of ['manifest.json', 'summary.json']) strictJson(join(session, step.bundle_dir, name));
  return step;
}

const texts: [string, string][] = [
  ['line and paragraph separators', 'echo a\u2028b\u2029c'],
  ['a byte order mark', '\ufeffecho'],
  ['emoji and combining marks', 'echo 👩‍🚀 e\u0301 \u{1f1e9}\u{1f1ea}'],
  ['quotes, line ends, tabs, backslashes', 'printf "%s|" \'a b\' "" "x\ny" -z \\ \t\r\n'],
  ['control characters', 'echo \u0001\u001b[31m\u007f\u0085'],
  ['right-to-left marks', 'echo \u202edrow\u202c'],
  ['nothing but blanks', '   '],
];

describe('B03 text of a command', () => {
  for (const [what, text] of texts) {
    it(`B03 B05 ${what} is recorded as it was given`, async () => {
      resultOf(await preview(site.project, 'capture', '--json', '--command', text));
      expect(newest(site.session).command).toBe(text);
    });
  }

  it('B03 bytes that are no UTF-8 in an argument become U+FFFD, and what was good stays', async () => {
    // Node cannot pass such bytes on, a shell can.
    const ended = await run(
      [
        'sh',
        '-c',
        'exec "$@" --command "$(printf \'echo \\377\\355\\240\\200 end\')"',
        'sh',
        ...previewArgv('capture', '--json'),
      ],
      { cwd: site.project },
    );
    resultOf(ended);
    expect(newest(site.session).command).toMatch(/^echo \ufffd+ end$/);
  });

  it('B03 lone surrogates and NUL, which only a library user can pass, are recorded safely', async () => {
    const { root, session } = makeCase();
    const source = `
      const { openSession, publish } = require(process.argv[2]);
      (async () => {
        const session = await openSession({ root: process.argv[3], cwd: '/', env: {} });
        const bundle = { headline: 'cut \\ud83d', facts: { 'fact \\udc00': 'x\\ud800' }, warnings: ['w\\udfff'], artifacts: [{ content: 'x', role: 'log', name: 'n\\ud800.txt', label: 'l\\udc00\\u0000' }] };
        await publish(session, bundle, { command: 'echo \\ud83d \\u0000 \\udc00', note: 'n\\ud83d', stage_label: 's\\ud83d', actor: { name: 'a\\ud83d' } });
        console.log('published');
      })();`;
    await script(place.path, 'surrogates', source, [join(dist, 'index.cjs'), root]).said('published');
    const step = newest(session);
    expect(step.command).toBe('echo \ufffd \u0000 \ufffd');
    expect([step.note, step.stage_label, step.actor.name]).toEqual(['n\ufffd', 's\ufffd', 'a\ufffd']);
    await verifyClean(session);
  });

  it('B02 a label that is cut is cut between characters', async () => {
    const { root, session } = makeCase();
    const source = `
      const { openSession, publish } = require(process.argv[2]);
      (async () => {
        const session = await openSession({ root: process.argv[3], cwd: '/', env: {} });
        for (const lead of ['', 'a']) {
          const label = lead + '\u{1f600}'.repeat(300);
          await publish(session, { headline: label, artifacts: [{ content: 'x', role: 'log', name: label + '.txt', label }] }, { command: label, stage_label: label, note: label });
        }
        console.log('published');
      })();`;
    await script(place.path, 'labels', source, [join(dist, 'index.cjs'), root]).said('published');
    newest(session);
    strictJson(join(session, 'bundle_001/manifest.json'));
    await verifyClean(session);
  });

  it('B03 what a reader prints of it cannot act on a terminal', async () => {
    resultOf(
      await preview(
        site.project,
        'capture',
        '--json',
        '--command',
        'echo \u001b]0;title\u0007 \u202e \u2028 \u009b2J',
      ),
    );
    for (const args of [['inspect'], ['inspect', 'step-0001'], ['list'], ['status']]) {
      const { code, stdout } = await previews(site.project, ...args);
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
    }
  });

  it('verifies clean after all of it', async () => {
    await verifyClean(site.session);
  });
});

describe('B02 a command over 4 KB', () => {
  const long: [string, string][] = [
    ['of ASCII', 'x'.repeat(5000)],
    ['with four bytes a character, cut inside one', `aa${'😀'.repeat(3000)}`],
    ['with two bytes a character, cut inside one', `é${'é'.repeat(2100)}`],
    ['that JSON makes longer', '"\n\u0001'.repeat(1500)],
    ['of 100 KB', `echo ${'語'.repeat(33_000)}`],
  ];
  for (const [what, text] of long) {
    it(`B02 ${what} is cut at a character boundary, and kept whole in a file that verify covers`, async () => {
      const { project, session } = makeCase();
      resultOf(await preview(project, 'capture', '--json', '--command', text));
      const step = newest(session);
      expect(Buffer.byteLength(step.command)).toBeLessThanOrEqual(4096);
      expect(step.command.endsWith('…')).toBe(true);
      expect(text.startsWith(step.command.slice(0, -1))).toBe(true);
      expect(step.command.isWellFormed()).toBe(true);
      // As much as fits: not a whole character more would.
      const next = [...text.slice(step.command.length - 1)][0]!;
      const more = `${step.command.slice(0, -1)}${next}…`;
      expect(Buffer.byteLength(more) > 4096 || Buffer.byteLength(JSON.stringify(more)) > 8192).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(step))).toBeLessThanOrEqual(16 * 1024);
      expect(readFileSync(join(session, step.command_path), 'utf8')).toBe(text);
      expect(Buffer.byteLength(JSON.stringify(headOf(session).history[0]))).toBeLessThanOrEqual(1024);
      const status = await preview(project, 'live', 'status', '--json');
      expect(status.bytes.length - session.length).toBeLessThanOrEqual(1024);
      await verifyClean(session);
      writeFileSync(join(session, step.command_path), text.replace(/.$/su, '!'));
      const altered = await previews(project, 'verify', '--json');
      expect(altered.code).toBe(6);
      expect(JSON.parse(altered.stdout).problems).toMatchObject([{ kind: 'text_altered', where: 'step 1' }]);
    });
  }

  it('B02 one of just 4,096 bytes is not cut', async () => {
    const text = 'y'.repeat(4096);
    resultOf(await preview(site.project, 'capture', '--json', '--command', text));
    const step = newest(site.session);
    expect([step.command, step.command_path]).toEqual([text, undefined]);
  });
});

describe('B05 the command line of the capture itself', () => {
  it('B05 is recorded so that a shell reads the same arguments from it', async () => {
    const args = [
      'capture',
      '--json',
      '--label',
      'a b',
      '--note',
      'it\'s "x"\ny $HOME `id` \\ *',
      '--stage=',
      '--force',
    ];
    resultOf(await preview(site.project, ...args));
    const { command } = newest(site.session);
    const read = execFileSync(
      'sh',
      ['-c', `preview() { for arg; do printf '%s\\0' "$arg"; done; }; ${command}`],
      { encoding: 'utf8' },
    );
    expect(read.split('\0').slice(0, -1)).toEqual(args);
  });
});

describe('B03 what a renderer prints', () => {
  const failing = async (
    bytes: Buffer,
  ): Promise<{ log: Buffer; step: Json; session: string; ended: Ended }> => {
    const { project, session } = makeCase();
    writeFileSync(join(project, 'output.bin'), bytes);
    const ended = await preview(project, 'capture', '--json', '--recipe', 'failing');
    expect(resultOf(ended, 4).status).toBe('error');
    const step = newest(session);
    const manifest = JSON.parse(readFileSync(join(session, step.manifest_path), 'utf8')) as Json;
    const log = manifest.artifacts.find((artifact: Json) => artifact.role === 'log');
    const content = readFileSync(join(session, step.bundle_dir, log.path));
    expect(log.sha256).toBe(sha256(content));
    await verifyClean(session);
    return { log: content, step, session, ended };
  };

  it('B03 binary output and bytes that are no UTF-8 are kept in the log as they came', async () => {
    const bytes = Buffer.concat([
      Buffer.from('begin \0 '),
      Buffer.from([0xff, 0xfe, 0x80, 0xed, 0xa0, 0x80]),
      Buffer.from(' \u2028 end\n'),
    ]);
    const { log } = await failing(bytes);
    expect(log.includes(bytes)).toBe(true);
  });

  it('B02 characters that pipes cut in two come out whole', async () => {
    const { project, session } = makeCase();
    const config = JSON.parse(readFileSync(join(project, 'preview.config.json'), 'utf8')) as Json;
    // Half a character, then the rest once the first half was surely read: the pipe is empty again.
    const halves = `const { execFileSync } = require('node:child_process'); const { writeSync } = require('node:fs'); writeSync(1, Buffer.from('a\\xf0\\x9f', 'latin1')); execFileSync('sleep', ['0.3']); writeSync(1, Buffer.from('\\x98\\x80z\\n', 'latin1')); process.exitCode = 1;`;
    config.recipes.halves = { sources: ['scene.txt'], run: [['{node}', '-e', halves]], artifacts: [] };
    config.recipes.cjk = {
      sources: ['scene.txt'],
      run: [['{node}', '-e', "process.stdout.write('a' + '語'.repeat(150000)); process.exitCode = 1"]],
      artifacts: [],
    };
    writeFileSync(join(project, 'preview.config.json'), JSON.stringify(config));
    for (const recipe of ['halves', 'cjk']) {
      resultOf(await preview(project, 'capture', '--json', '--recipe', recipe), 4);
      const step = newest(session);
      const folder = join(session, step.bundle_dir, 'artifacts');
      const log = readFileSync(join(folder, readdirSync(folder)[0]!));
      const text = new TextDecoder('utf-8', { fatal: true }).decode(log);
      expect(text).not.toContain('\ufffd');
      expect(text).toContain(recipe === 'halves' ? 'a😀z' : 'a語語');
    }
  });
});

describe('B06 a terminal that knows no UTF-8', () => {
  it('B06 LC_ALL=C: nothing crashes, people get ASCII marks, and --json is UTF-8 with nothing but JSON', async () => {
    const { project } = makeCase();
    const env = { LC_ALL: 'C', LANG: 'C' };
    const captured = await run(previewArgv('capture', '--json', '--command', 'echo é 😀'), {
      cwd: project,
      env,
    });
    expect(resultOf(captured).status).toBe('ok');
    expect(captured.stderr).toBe('');
    for (const argv of [
      previewArgv('capture'),
      previewArgv('live', 'status'),
      [process.execPath, join(dist, 'previews.cjs'), 'inspect'],
    ]) {
      const ended = await run(argv, { cwd: project, env });
      expect([ended.code, ended.stderr]).toEqual([0, '']);
    }
    const inspected = await run([process.execPath, join(dist, 'previews.cjs'), 'inspect'], {
      cwd: project,
      env,
    });
    expect(inspected.stdout).not.toMatch(/[●◐✗]/);
    const status = await run(previewArgv('live', 'status', '--json'), { cwd: project, env });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(status.bytes);
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(text).trajectory_summary.total_commands).toBe(2);
    const shown = await run(
      [process.execPath, join(dist, 'previews.cjs'), 'inspect', 'step-0001', '--json'],
      { cwd: project, env },
    );
    expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(shown.bytes)).step.command).toBe(
      'echo é 😀',
    );
  });
});
