// G12: no secret of a command or of captured text is written anywhere below the preview root, unless that was asked for.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentOf, done, preview, previews } from '../helpers/cli.js';
import { makeProject, temporary } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const SECRET = ['gh', 'p_', 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b'].join('');
const PASSWORD = 'correct-horse-battery';

/** Files below a folder that hold the text. */
const holding = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));

const loud = {
  sources: ['a.png'],
  run: [['sh', '-c', `echo "using ${SECRET}" >&2; exit 3`]],
  artifacts: [{ path: 'render.png', role: 'hero' }],
};

test('G12 commands, labels, notes and the output of a renderer', async () => {
  const project = makeProject(temporary());
  const root = join(project, '.preview');
  const command = `deploy --password ${PASSWORD} --with ${SECRET} ${'x'.repeat(5000)}`;
  const args = ['capture', '--json', '--command', command, '--note', `TOKEN=${PASSWORD}`, '--label', SECRET];
  const first = await done(preview(project, args));
  expect(first['warnings']).toEqual([
    'secrets_masked: 2 secrets were masked in the command and what was captured; --no-redact keeps them',
  ]);
  const reused = await done(preview(project, args));
  expect(reused).toMatchObject({
    cached: true,
    warnings: ['secrets_masked: 4 secrets were masked in the command; --no-redact keeps them'],
  });
  expect([...holding(root, SECRET), ...holding(root, PASSWORD)]).toEqual([]);
  const status = await done(previews(project, ['status', '--json']));
  expect(status['trajectory_summary'].latest.command).toMatch(/^deploy --password \*\*\* --with \*\*\* x+…$/);
  expect((await done(previews(project, ['verify', '--json'])))['ok']).toBe(true);
});

test('G12 the log of a failing renderer is masked and says so; one without secrets is as it was', async () => {
  const project = makeProject(temporary(), { quick: loud });
  const result = documentOf(await preview(project, ['capture', '--json']));
  const manifest = readJson(result['manifest_path']);
  const log = manifest['artifacts'].find(({ role }: any) => role === 'log');
  expect(log).toMatchObject({ label: 'What the renderer said (secrets masked)', secrets_masked: 2 });
  // The recipe itself stands in the project's config, in plain sight, but not in the recording.
  expect(holding(join(project, '.preview'), SECRET)).toEqual([]);
  expect(readFileSync(join(result['bundle_dir'], log.path), 'latin1')).toContain(
    `using ${'*'.repeat(SECRET.length)}\n`,
  );
});

test('--no-redact keeps them', async () => {
  const project = makeProject(temporary());
  const result = await done(
    preview(project, ['capture', '--json', '--no-redact', '--command', `x ${SECRET}`]),
  );
  expect(result['warnings']).toEqual([]);
  expect(holding(join(project, '.preview'), SECRET).length).toBeGreaterThan(1);
});
