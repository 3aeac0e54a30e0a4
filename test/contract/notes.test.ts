// `previews note` and `previews notes`: what is kept beside the root, by whom, and what an agent gets of it.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { listSources } from '../../src/files.js';
import { stopSession } from '../../src/index.js';
import { NOTE_LIMITS } from '../../src/notes.js';
import {
  done,
  errorOf,
  expectShape,
  type Outcome,
  previews,
  previewsArgv,
  run,
  shell,
} from '../helpers/cli.js';
import { mountNamespace, mountSkip } from '../helpers/namespace.js';
import { recordSession, snapshot, temporary, write } from '../helpers/project.js';

interface Site {
  /** The project's folder. */
  cwd: string;
  root: string;
  dir: string;
  home: string;
}

async function site(steps = 3): Promise<Site> {
  const { root, dir } = await recordSession(steps, {
    each: (n) => [
      n === 3 ? { artifacts: [{ content: 'no picture\n', role: 'render-output', name: 'a.txt' }] } : {},
      {},
    ],
  });
  return { cwd: dirname(root), root, dir, home: temporary() };
}

const noted = (at: Site, ...args: string[]): Promise<Outcome> =>
  previews(at.cwd, ['note', ...args], { HOME: at.home });
const note = async (at: Site, ...args: string[]) => (await done(noted(at, ...args, '--json')))['note'];
const notes = (at: Site, ...args: string[]) =>
  done(previews(at.cwd, ['notes', ...args, '--json'], { HOME: at.home }));
const ids = async (at: Site, ...args: string[]): Promise<string[]> =>
  (await notes(at, ...args))['notes'].map(({ id }: { id: string }) => id);
const folder = (at: Site) => `${at.root}-notes`;
const refusal = async (outcome: Promise<Outcome>, code = 2) => {
  const got = await outcome;
  expect(got.code, got.stdout + got.stderr).toBe(code);
  return errorOf(got);
};

describe('a note', () => {
  let at: Site;
  beforeAll(async () => {
    at = await site();
  });

  test('I6 lies beside the root with all that was looked at, and nothing in the root changes', async () => {
    const before = snapshot(at.root);
    const said = await done(
      noted(
        at,
        'step-0002',
        'The wheel\nis too small',
        '--box',
        '1,2,3,4',
        '--reject',
        '--author',
        'Ada',
        '--json',
      ),
    );
    expectShape(said, { note: 'object', path: 'string', warnings: 'strings' });
    const step = JSON.parse(readFileSync(join(at.dir, 'session.json'), 'utf8'));
    const manifest = JSON.parse(readFileSync(join(at.dir, 'trajectory.json'), 'utf8'))[1].manifest_sha256;
    expect(said['note']).toEqual({
      id: 'note-0001',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      author: 'Ada',
      session: 'session_001',
      session_id: step.session_id,
      step_id: 'step-0002',
      step_index: 2,
      bundle_id: 'bundle_002',
      manifest_sha256: manifest,
      artifact: 'render.png',
      box: { x: 1, y: 2, width: 3, height: 4 },
      text: 'The wheel\nis too small',
      verdict: 'reject',
      replies_to: null,
      deleted: false,
    });
    expect(said['path']).toBe(join(folder(at), 'note-0001.json'));
    expect(JSON.parse(readFileSync(said['path'], 'utf8'))).toEqual(said['note']);
    expect(readFileSync(join(folder(at), '.gitignore'), 'utf8')).toBe('*\n');
    expect(statSync(folder(at)).mode & 0o777).toBe(0o700);
    expect(statSync(said['path']).mode & 0o777).toBe(0o600);
    expect(snapshot(at.root)).toEqual(before);
  });

  test('is read from standard input, answered, and taken back', async () => {
    const here = await site();
    const piped = await shell(`printf 'line one\\nline two\\n' | previews note step-0001 - --json`, {
      cwd: here.cwd,
    });
    expect(JSON.parse(piped.stdout).note.text).toBe('line one\nline two');
    const answer = await note(here, '--reply', 'note-0001', 'why?');
    expect(answer).toMatchObject({
      id: 'note-0002',
      replies_to: 'note-0001',
      step_id: 'step-0001',
      text: 'why?',
    });
    expect(await note(here, 'step-0002', 'fixed here', '--reply', 'note-0001', '--accept')).toMatchObject({
      step_id: 'step-0002',
      replies_to: 'note-0001',
      verdict: 'accept',
    });
    expect(await note(here, 'step-0002', '--reply', 'note-0001', '--reject')).toMatchObject({
      step_id: 'step-0002',
      text: '',
    });
    expect(await ids(here)).toEqual(['note-0004', 'note-0003', 'note-0002', 'note-0001']);
    expect(await note(here, '--delete', 'note-0002')).toMatchObject({
      deleted: true,
      replies_to: 'note-0002',
    });
    expect(await ids(here)).toEqual(['note-0004', 'note-0003', 'note-0001']);
    expect((await notes(here, '--since', 'note-0004'))['deleted']).toEqual(['note-0002']);
    expect((await refusal(noted(here, '--delete', 'note-0002', '--json'), 3)).code).toBe('not_found');
    // Nothing was rewritten: the folder only grew.
    expect(readdirSync(folder(here)).sort()).toEqual([
      '.gitignore',
      ...[1, 2, 3, 4, 5].map((n) => `note-000${n}.json`),
    ]);
  });

  test('what says nothing, names nothing or lies outside is refused, and nothing is written', async () => {
    const here = await site();
    const said = async (code: number, ...args: string[]) =>
      (await refusal(noted(here, ...args, '--json'), code)).message;
    expect(await said(2, 'step-0001')).toMatch(/says nothing/);
    expect(await said(2, 'step-0001', ' \n')).toMatch(/says nothing/);
    expect(await said(2)).toMatch(/no step is named/);
    expect(await said(2, 'session_001', 'x')).toMatch(/names no step/);
    expect(await said(3, 'step-0009', 'x')).toMatch(/has no step-0009; it has 3 steps/);
    expect(await said(2, 'step-0001', '--accept', '--reject')).toMatch(/not both/);
    expect(await said(2, 'step-0001', '--box', '0,0,9,1')).toMatch(/beyond the picture/);
    expect(await said(2, 'step-0001', '--box', '1,2,0,4')).toMatch(/expected X,Y,WIDTH,HEIGHT/);
    expect(await said(2, 'step-0003', '--box', '0,0,1,1')).toMatch(/no picture to draw a box on/);
    expect(await said(3, 'step-0001', 'x', '--artifact', '../../../etc/passwd')).toMatch(/has no file/);
    expect(await said(3, '--reply', 'note-0001', 'x')).toMatch(/no note "note-0001"/);
    expect(existsSync(folder(here))).toBe(false);
  });

  test('I10 holds 4 KB; more is refused, not cut', async () => {
    const here = await site();
    expect((await note(here, 'step-0001', 'é'.repeat(NOTE_LIMITS.text / 2))).text).toHaveLength(
      NOTE_LIMITS.text / 2,
    );
    const { message } = await refusal(
      noted(here, 'step-0001', `${'é'.repeat(NOTE_LIMITS.text / 2)}x`, '--json'),
    );
    expect(message).toMatch(/4097 bytes/);
    expect((await note(here, 'step-0001', 'x', '--author', 'ä'.repeat(200))).author).toMatch(/^ä{48,}…$/);
  });

  test('its secrets are masked', async () => {
    const said = await done(noted(at, 'step-0001', 'try --password hunter2hunter2', '--json'));
    expect(said['note'].text).toBe('try --password ***');
    expect(said['warnings']).toEqual([expect.stringMatching(/^secrets_masked: 1 /)]);
    expect(readFileSync(said['path'], 'utf8')).not.toMatch(/hunter2/);
  });

  test('what it says does not act on the terminal', async () => {
    const here = await site();
    await note(here, 'step-0001', 'red \x1b[31m\u202e\nand more', '--author', 'e\x07vil');
    const { stdout } = await previews(here.cwd, ['notes'], { HOME: here.home });
    expect(stdout).toMatch(/e\\x07vil/);
    expect(stdout).toMatch(/ {2}red \\x1b\[31m\\u202e\n {2}and more\n/);
    expect(stdout).not.toMatch(/[\x07\x1b\u202e]/);
  });

  test("goes beside the root of CLI-Anything's recordings too", async () => {
    const here = await site();
    const root = join(temporary(), 'theirs');
    const { session_dir } = await done(
      previews(here.cwd, ['export', '--format', 'cli-anything', '-o', root, '--json']),
    );
    const before = snapshot(root);
    const said = await done(
      previews('/', ['note', join(session_dir, 'step-0002'), 'good', '--box', '0,0,2,2', '--json'], {
        HOME: here.home,
      }),
    );
    expect(said['path']).toBe(`${root}-notes/note-0001.json`);
    expect(snapshot(root)).toEqual(before);
    for (const ref of [session_dir, root]) {
      const listed = await done(previews('/', ['notes', ref, '--json'], { HOME: here.home }));
      expect(listed['notes']).toEqual([expect.objectContaining({ text: 'good', step_id: 'step-0002' })]);
    }
    const answer = await done(
      previews('/', ['note', '--root', root, '--reply', 'note-0001', 'yes', '--json'], { HOME: here.home }),
    );
    expect(answer['note']).toMatchObject({ step_id: 'step-0002', replies_to: 'note-0001' });
  });
});

describe('several at once', () => {
  test('24 writers of two sessions lose nothing, and each number is given once', async () => {
    const first = await recordSession(1);
    await stopSession(first.dir);
    await recordSession(1, { root: first.root });
    const at: Site = { cwd: dirname(first.root), root: first.root, dir: first.dir, home: temporary() };
    const writers = Array.from({ length: 24 }, (_, n) =>
      note(at, `session_00${1 + (n % 2)}/step-0001`, `say ${n}`),
    );
    const said = await Promise.all(writers);
    expect(new Set(said.map(({ id }) => id)).size).toBe(24);
    const listed = await notes(at, '--limit', '100');
    expect(listed['notes'].map(({ text }: { text: string }) => text).sort()).toEqual(
      said.map(({ text }) => text).sort(),
    );
    expect(listed['problems']).toEqual([]);
    expect(await ids(at, 'session_002', '--limit', '100')).toHaveLength(12);
    expect(readdirSync(folder(at)).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });
});

describe('where they lie', () => {
  test('they move with the project', async () => {
    const at = await site();
    await note(at, 'step-0001', 'here', '--box', '0,0,1,1');
    const moved = join(temporary(), 'moved');
    renameSync(at.cwd, moved);
    const listed = await done(previews(moved, ['notes', '--json']));
    expect(listed['notes'][0]).toMatchObject({
      text: 'here',
      picture: join(moved, '.preview/session_001/bundle_001/render.png'),
    });
  });

  test('they are no sources, whatever the root is called: a note changes no fingerprint', async () => {
    const project = temporary();
    write(project, {
      'a.scad': 'cube();',
      '.preview-notes/note-0001.json': '{}',
      'shots-notes/note-0001.json': '{}',
      'other-notes/readme.md': 'x',
    });
    const { files } = await listSources(project, { previewRoot: join(project, 'shots') });
    expect(files).toEqual(['a.scad', 'other-notes/readme.md']);
  });

  test.skipIf(mountSkip() !== null)(
    'where nothing can be written beside the root they go to the user, and that is said',
    async () => {
      const at = await site();
      await note(at, 'step-0001', 'before');
      const space = await mountNamespace(
        `mount --bind ${at.cwd} ${at.cwd}; mount -o remount,ro,bind ${at.cwd}`,
      );
      try {
        const inside = (...args: string[]) =>
          done(
            run([...space.inside(at.cwd), ...previewsArgv(...args, '--json')], {
              cwd: '/',
              env: { HOME: at.home },
            }),
          );
        const said = await inside('note', 'step-0001', 'after');
        expect(said['warnings']).toEqual([expect.stringMatching(/^notes_elsewhere: .* cannot be written/)]);
        expect(said['note'].id).toBe('own-0001');
        expect(said['path'].startsWith(join(at.home, '.local/share/preview-recorder/notes'))).toBe(true);
        expect(readdirSync(folder(at)).sort()).toEqual(['.gitignore', 'note-0001.json']);
        const texts = (listed: Record<string, any>) =>
          listed['notes'].map(({ text }: { text: string }) => text);
        expect(texts(await inside('notes'))).toEqual(['after', 'before']);
        // Behind a note of the other folder comes what was said later; and once it can be written, all are seen together.
        expect(texts(await inside('notes', '--since', 'note-0001'))).toEqual(['after']);
        await note(at, 'step-0001', 'at last');
        expect(texts(await notes(at))).toEqual(['at last', 'after', 'before']);
      } finally {
        await space.close();
      }
    },
  );

  test('I6 a place in a recording, or a link, is refused', async () => {
    const at = await site();
    // A recording in a recording: its notes would lie in the outer session.
    const inner = await recordSession(1, { root: join(at.dir, 'inner') });
    const before = snapshot(at.dir);
    const { message } = await refusal(
      previews('/', ['note', join(inner.dir, 'step-0001'), 'x', '--json'], { HOME: at.home }),
    );
    expect(message).toMatch(/part of a recording/);
    expect(snapshot(at.dir)).toEqual(before);
    const elsewhere = temporary();
    symlinkSync(elsewhere, folder(at));
    expect((await refusal(noted(at, 'step-0001', 'x', '--json'))).message).toMatch(/no folder of its own/);
    expect(readdirSync(elsewhere)).toEqual([]);
    write(elsewhere, { 'note-0001.json': '{}' });
    expect((await notes(at))['problems']).toEqual([]);
    expect(await ids(at)).toEqual([]);
  });
});

describe('what an agent gets', () => {
  let at: Site;
  beforeAll(async () => {
    at = await site();
    for (const args of [
      ['step-0001', 'first', '--reject'],
      ['step-0002', 'second', '--box', '0,0,2,2'],
      ['step-0003', 'third', '--artifact', 'artifacts/a.txt'],
      ['--reply', 'note-0001', 'fine now', '--accept'],
    ])
      await note(at, ...args);
  });

  test('the newest first, with the file to look at', async () => {
    const listed = await notes(at);
    expectShape(listed, {
      notes: 'objects',
      left: 'number',
      deleted: 'strings',
      latest: 'string',
      problems: 'objects',
    });
    expect(listed).toMatchObject({ left: 0, latest: 'note-0004', deleted: [], problems: [] });
    expect(listed['notes'].map(({ id }: { id: string }) => id)).toEqual([
      'note-0004',
      'note-0003',
      'note-0002',
      'note-0001',
    ]);
    expect(listed['notes'][2]).toEqual({
      id: 'note-0002',
      at: expect.any(String),
      author: expect.any(String),
      session: 'session_001',
      step_id: 'step-0002',
      text: 'second',
      verdict: null,
      artifact: 'render.png',
      box: { x: 0, y: 0, width: 2, height: 2 },
      picture: join(at.dir, 'bundle_002/render.png'),
      replies_to: null,
      open: true,
    });
  });

  test('--since an id or a time, --open, a step, --limit', async () => {
    expect(await ids(at, '--since', 'note-0002')).toEqual(['note-0004', 'note-0003']);
    expect(await ids(at, '--since', 'note-0004')).toEqual([]);
    const time = (await notes(at))['notes'][1].at;
    expect(await ids(at, '--since', time)).toEqual(['note-0004']);
    expect(await ids(at, '--since', '2100-01-01')).toEqual([]);
    expect((await refusal(previews(at.cwd, ['notes', '--since', 'soon', '--json']))).message).toMatch(
      /neither/,
    );
    expect(await ids(at, '--open')).toEqual(['note-0003', 'note-0002']);
    expect(await ids(at, 'step-0002')).toEqual(['note-0002']);
    expect(await notes(at, '--limit', '1')).toMatchObject({ notes: [{ id: 'note-0004' }], left: 3 });
    expect(await ids({ ...at, cwd: temporary() })).toEqual([]);
  });

  test('I10 at most 32 KB, and how many are left', async () => {
    const here = await site();
    for (let n = 0; n < 10; n++) await note(here, 'step-0001', 'x'.repeat(4000));
    const outcome = await previews(here.cwd, ['notes', '--json'], { HOME: here.home });
    expect(outcome.bytes.length).toBeLessThan(34 * 1024);
    const { notes: listed, left } = JSON.parse(outcome.stdout);
    expect(listed.length).toBeGreaterThan(5);
    expect(listed.length + left).toBe(10);
  });

  test('I9 damaged and hostile notes are told and left out, and lead nowhere', async () => {
    const here = await site();
    const good = await note(here, 'step-0001', 'good', '--box', '0,0,1,1');
    const made = (n: number, content: unknown) =>
      writeFileSync(
        join(folder(here), `note-${String(n).padStart(4, '0')}.json`),
        typeof content === 'string' ? content : JSON.stringify(content),
      );
    made(2, '');
    made(3, { ...good, text: 'x'.repeat(5000) });
    made(4, 'x'.repeat(NOTE_LIMITS.file + 1));
    made(5, { ...good, session: '../..', bundle_id: '..', artifact: 'etc/passwd', text: 'out' });
    made(6, { ...good, id: 'note-9999', text: 'renamed' });
    mkdirSync(join(folder(here), 'note-0007.json'));
    symlinkSync('/etc/passwd', join(folder(here), 'note-0008.json'));
    write(folder(here), { 'note-1.json': '{}', 'readme.txt': 'x' });
    const listed = await notes(here);
    expect(listed['notes'].map(({ id, text }: any) => [id, text])).toEqual([
      ['note-0006', 'renamed'],
      ['note-0005', 'out'],
      ['note-0001', 'good'],
    ]);
    expect(listed['notes'][1].picture).toBeNull();
    expect(listed['problems'].map(({ kind, where }: any) => [kind, where])).toEqual([
      ['invalid', '.preview-notes/note-0002.json'],
      ['invalid', '.preview-notes/note-0003.json'],
      ['too_large', '.preview-notes/note-0004.json'],
      ['invalid', '.preview-notes/note-0007.json'],
      ['invalid', '.preview-notes/note-0008.json'],
    ]);
    // The next number follows all of them.
    expect((await note(here, 'step-0001', 'next')).id).toBe('note-0009');
  });

  test('I10 a folder holds 10,000 notes; of more the newest are read, and none is added', async () => {
    const here = await site();
    const good = await note(here, 'step-0001', 'x');
    for (let n = 2; n <= NOTE_LIMITS.notes; n++)
      writeFileSync(join(folder(here), `note-${String(n).padStart(4, '0')}.json`), JSON.stringify(good));
    const { message } = await refusal(noted(here, 'step-0001', 'one too many', '--json'));
    expect(message).toMatch(/holds 10000 notes/);
    writeFileSync(join(folder(here), 'note-10001.json'), JSON.stringify(good));
    const listed = await notes(here, '--limit', '2');
    expect(listed).toMatchObject({
      notes: [{ id: 'note-10001' }, { id: 'note-10000' }],
      left: NOTE_LIMITS.notes - 2,
      problems: [{ kind: 'left_out', detail: 'the 1 oldest of 10001 notes' }],
    });
  });
});
