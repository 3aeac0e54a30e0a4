// `capture --from DIR`: what another program rendered becomes a step, and the folder stays as it was.
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { done, errorOf, preview, previews, REPOSITORY } from '../helpers/cli.js';
import { makeProject, png, snapshot, temporary, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const roles = (manifest: Record<string, any>) =>
  manifest['artifacts'].map(({ role, path }: any) => `${role} ${path}`);

async function recorded(project: string, from: string, ...args: string[]) {
  const result = await done(preview(project, ['capture', '--json', '--from', from, ...args]));
  expect((await done(previews(project, ['verify', '--json'])))['ok']).toBe(true);
  return { result, manifest: readJson(result['manifest_path']), summary: readJson(result['summary_path']) };
}

test('a plain folder: hero, views and the rest, and the report beside them', async () => {
  const project = makeProject();
  write(project, {
    'made/render.png': png(64, 48),
    'made/views/top.png': png(20, 20),
    'made/model.stl': 'solid x\nendsolid x\n',
    'made/preview.json': JSON.stringify({
      headline: 'A wheel',
      facts: { spokes: 5 },
      warnings: ['added_light: a lamp'],
    }),
  });
  const before = snapshot(join(project, 'made'));
  const { result, manifest, summary } = await recorded(project, 'made', '--command', 'spin the wheel');
  expect(result).toMatchObject({ status: 'partial', cached: false });
  expect(roles(manifest)).toEqual([
    'hero render.png',
    'gallery artifacts/top.png',
    'render-output artifacts/model.stl',
    'thumb thumb.png',
  ]);
  expect(summary).toMatchObject({ headline: 'A wheel', facts: { spokes: 5 }, command: 'spin the wheel' });
  expect(manifest['metrics'].tiles).toBeTruthy();
  expect(snapshot(join(project, 'made'))).toEqual(before);
});

test('the newest picture is the hero where none is called render', async () => {
  const project = makeProject();
  write(project, { 'made/a.png': png(8, 8), 'made/b.png': png(9, 9), 'made/notes.txt': 'hello' });
  utimesSync(join(project, 'made/a.png'), 1, 1);
  const { manifest } = await recorded(project, 'made');
  expect(manifest['artifacts'][0]).toMatchObject({ role: 'gallery', label: 'a.png' });
  expect(manifest['artifacts'].find(({ role }: any) => role === 'hero')).toMatchObject({
    label: 'b.png',
    width: 9,
  });
});

test('a link in the folder is not followed, and its target not published', async () => {
  const project = makeProject();
  write(project, { 'made/render.png': png(8, 8), 'secret.txt': 'private' });
  symlinkSync(join(project, 'secret.txt'), join(project, 'made/notes.txt'));
  const { manifest } = await recorded(project, 'made');
  expect(roles(manifest)).toEqual(['hero render.png', 'thumb thumb.png']);
});

test.each([
  ['a folder that is not there', 'gone', 'usage'],
  ['an empty folder', 'empty', 'usage'],
  ['a file', 'a.png', 'usage'],
])('%s is told, and nothing is recorded', async (_name, from, code) => {
  const project = makeProject();
  mkdirSync(join(project, 'empty'));
  const outcome = await preview(project, ['capture', '--json', '--from', from]);
  expect([outcome.code, errorOf(outcome).code]).toEqual([2, code]);
  expect(existsSync(join(project, '.preview'))).toBe(false);
});

test('a recording, and a manifest that is none, are not taken for work', async () => {
  const project = makeProject();
  await done(preview(project, ['capture', '--json']));
  write(project, {
    'made/manifest.json': '{"protocol_version":"preview-bundle/v1"}',
    'made/render.png': png(),
  });
  for (const [from, words] of [
    ['.preview', 'holds a recording'],
    ['.', 'holds a recording'],
    ['made', 'is no manifest of a bundle'],
  ] as const) {
    const outcome = await preview(project, ['capture', '--json', '--from', from]);
    expect([outcome.code, errorOf(outcome).code]).toEqual([2, 'usage']);
    expect(errorOf(outcome).message).toContain(words);
  }
  expect((await done(previews(project, ['verify', '--json'])))['steps']).toBe(1);
});

test('--from and --recipe exclude each other', async () => {
  const outcome = await preview(makeProject(), ['capture', '--json', '--from', '.', '--recipe', 'copy']);
  expect([outcome.code, errorOf(outcome).code]).toEqual([2, 'usage']);
});

/** The recordings of neighbours, beside the repository or one of its parents; null where they are not. */
function samples(): string | null {
  for (let dir = REPOSITORY; dir !== dirname(dir); dir = dirname(dir))
    if (existsSync(join(dir, 'shared/samples/cli-anything'))) return join(dir, 'shared/samples/cli-anything');
  console.warn('skipped: ../shared/samples/cli-anything is not there');
  return null;
}
const there = samples();

test.skipIf(there === null)(
  'bundles that a CLI-Anything harness made keep their roles, facts and honesty',
  async () => {
    const bundles = readdirSync(there!, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('_quick/manifest.json'))
      .map((path) => join(there!, dirname(path)));
    expect(bundles.length).toBeGreaterThan(5);
    const project = makeProject(temporary());
    for (const bundle of bundles.slice(0, 6)) {
      const theirs = readJson(join(bundle, 'manifest.json'));
      const { manifest, summary, result } = await recorded(project, bundle);
      expect(manifest).toMatchObject({
        software: theirs['software'],
        recipe: theirs['recipe'],
        status: theirs['status'],
      });
      expect(summary['facts']).toEqual(readJson(join(bundle, 'summary.json'))['facts']);
      expect(result['warnings']).toEqual(expect.arrayContaining(theirs['warnings'] ?? []));
      const ours = manifest['artifacts']
        .filter(({ role }: any) => role !== 'thumb')
        .map(({ role }: any) => role);
      expect(ours).toEqual(theirs['artifacts'].map(({ role }: any) => role));
    }
  },
);
