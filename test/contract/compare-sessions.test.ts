// `previews compare` of the built program: two sessions side by side, and where a scripted edit made them part.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BundleInput, openSession, type PublishOptions, publish } from '../../src/index.js';
import { done, errorOf, expectShape, preview, previews } from '../helpers/cli.js';
import { type Colour, canvas, copyOf, fill, showing } from '../helpers/pictures.js';
import { config, makeProject, snapshot, temporary, thaw } from '../helpers/project.js';
import { copySample, samplesOf } from '../helpers/samples.js';

/** One command of a script: what it is, what it adds to the sources, and how it went. */
interface Line {
  command: string;
  label?: string;
  exit_code?: number;
  usage?: Record<string, unknown>;
  duration_ms?: number;
}
const script = (count: number): Line[] =>
  Array.from({ length: count }, (_, n) => ({
    command: `place part ${n % 7} at ${n}`,
    usage: { tokens: { input: 100 } },
    duration_ms: 50,
  }));

/** Plays a script: each line changes the sources, and draws a square at a place that the sources tell. */
async function played(lines: Line[]): Promise<string> {
  const session = await openSession({ root: join(temporary(), '.preview'), env: {} });
  let [sources, picture] = [0, canvas(320, 200)];
  for (const [n, { command, label, exit_code = 0, usage, duration_ms }] of lines.entries()) {
    for (const letter of command) sources = (Math.imul(sources, 31) + letter.charCodeAt(0)) >>> 0;
    picture = copyOf(picture);
    const colour: Colour = [sources % 256, (sources >> 8) % 256, (sources >> 16) % 256, 255];
    fill(picture, (n * 37) % 300, (n * 23) % 180, 16, 16, colour);
    const bundle: BundleInput = {
      headline: 'placed',
      facts: { parts: n + 1, weight: sources % 100 },
      status: exit_code === 0 ? 'ok' : 'error',
      ...showing(picture),
    };
    const how: PublishOptions = {
      command,
      exit_code,
      source_fingerprint: `sha256:${sources.toString(16).padStart(64, '0')}`,
      ...(label === undefined ? {} : { stage_label: label }),
      ...(usage === undefined ? {} : { usage }),
      ...(duration_ms === undefined ? {} : { duration_ms }),
    };
    await publish(session, bundle, how);
  }
  return session.dir;
}

const compare = (a: string, b: string, args: string[] = [], code = 0) =>
  done(previews(join(a, '..'), ['compare', a, b, '--json', ...args]), code);
const TOTALS = {
  session_dir: 'string',
  steps: 'number',
  unread: 'number',
  not_ok: 'number',
  duration_ms: 'number',
  usage: 'object',
};
const SHAPE = {
  a: 'object',
  b: 'object',
  pairs: 'number',
  only_a: 'number',
  only_b: 'number',
  differing: 'number',
  first_divergence: 'object|null',
  rows: 'objects',
};

test('a session beside its repetition does not part, whatever time and tokens it took', async () => {
  const lines = script(12);
  const [a, b] = [
    await played(lines),
    await played(lines.map((line) => ({ ...line, duration_ms: 90, usage: { tokens: { input: 7 } } }))),
  ];
  const before = [snapshot(a), snapshot(b)];
  const result = await compare(a, b, ['--fail-on-divergence']);
  expectShape(result, SHAPE);
  expectShape(result['a'], TOTALS);
  expect(result).toMatchObject({
    pairs: 12,
    only_a: 0,
    only_b: 0,
    differing: 0,
    first_divergence: null,
    rows: [],
  });
  expect([result['a'], result['b']]).toMatchObject([
    { steps: 12, unread: 0, not_ok: 0, duration_ms: 600, usage: { 'tokens.input': 1200 } },
    { steps: 12, unread: 0, not_ok: 0, duration_ms: 1080, usage: { 'tokens.input': 84 } },
  ]);
  const all = await compare(a, b, ['--all']);
  expect(all['rows']).toHaveLength(12);
  expect(all['rows'][3]).toMatchObject({
    a: 'step-0004',
    b: 'step-0004',
    differs: [],
    duration_ms: [50, 90],
  });
  const text = await previews(a, ['compare', a, b]);
  expect(text.stdout).toContain('they do not part: no step differs');
  expect(text.stdout).toMatch(/tokens\.input +1,200 ↔ 84/);
  expect([snapshot(a), snapshot(b)]).toEqual(before);
});

describe('the first divergence that a scripted edit makes is named', () => {
  const at = 7;
  const base = script(14);
  const edited = (edit: (lines: Line[]) => void): Line[] => {
    const lines = base.map((line) => ({ ...line }));
    edit(lines);
    return lines;
  };
  const id = (n: number) => `step-${String(n).padStart(4, '0')}`;
  test.each<[string, Line[], Record<string, unknown>, Record<string, unknown>]>([
    [
      'a command in another’s stead',
      edited((lines) => {
        lines[at]!.command = 'place a wheel';
      }),
      {
        a: id(at + 1),
        b: id(at + 1),
        command_b: 'place a wheel',
        differs: ['command', 'source', 'picture', 'facts'],
      },
      { pairs: 14, only_a: 0, only_b: 0, differing: 7 },
    ],
    [
      'a command more',
      edited((lines) => {
        lines.splice(at, 0, { command: 'place a wheel' });
      }),
      { a: null, b: id(at + 1), command: 'place a wheel', differs: ['only_b'] },
      { pairs: 14, only_a: 0, only_b: 1, differing: 8 },
    ],
    [
      'a command less',
      edited((lines) => {
        lines.splice(at, 1);
      }),
      { a: id(at + 1), b: null, differs: ['only_a'] },
      { pairs: 13, only_a: 1, only_b: 0, differing: 7 },
    ],
    [
      'a command that failed',
      edited((lines) => {
        lines[at]!.exit_code = 3;
      }),
      { a: id(at + 1), b: id(at + 1), differs: ['outcome'], outcome: ['ok', 'error, exit 3'] },
      { pairs: 14, only_a: 0, only_b: 0, differing: 1 },
    ],
    [
      'the last command',
      edited((lines) => {
        lines.at(-1)!.command = 'place a wheel';
      }),
      { a: id(14), b: id(14), command_b: 'place a wheel' },
      { pairs: 14, differing: 1 },
    ],
  ])('%s', async (_, lines, first, counts) => {
    const [a, b] = [await played(base), await played(lines)];
    const result = await compare(a, b, ['--fail-on-divergence'], 7);
    expect(result['first_divergence']).toMatchObject(first);
    expect(result['rows'][0]).toEqual(result['first_divergence']);
    expect(result).toMatchObject(counts);
    const text = await previews(a, ['compare', a, b]);
    expect(text.code).toBe(0);
    expect(text.stdout).toContain(`first divergence  ${first['a'] ?? '–'} ↔ ${first['b'] ?? '–'}`);
  });

  test('pixels and facts say how much', async () => {
    const lines = edited((all) => {
      all[at]!.command = 'place a wheel';
    });
    const { first_divergence } = await compare(await played(base), await played(lines));
    expect(first_divergence.changed).toBeGreaterThan(0);
    expect(first_divergence.changed).toBeLessThan(0.5);
    expect(first_divergence.facts.map(({ name }: { name: string }) => name)).toEqual(['weight']);
  });
});

test('labels hold steps together whose commands differ', async () => {
  const a = await played([{ command: 'one' }, { command: 'draft 1', label: 'body' }, { command: 'end' }]);
  const b = await played([
    { command: 'one' },
    { command: 'try' },
    { command: 'draft 2', label: 'body' },
    { command: 'end' },
  ]);
  const { rows } = await compare(a, b, ['--all']);
  expect(rows.map((row: Record<string, unknown>) => [row['a'], row['b']])).toEqual([
    ['step-0001', 'step-0001'],
    [null, 'step-0002'],
    ['step-0002', 'step-0003'],
    ['step-0003', 'step-0004'],
  ]);
});

test('real captures of two projects, and a comparison between, which is no step of the script', async () => {
  const sessions: string[] = [];
  for (const command of ['paint it', 'varnish it']) {
    const project = makeProject(temporary(), config()['recipes'] as Record<string, unknown>);
    await done(preview(project, ['capture', '--json', '--command', 'begin']));
    await done(preview(project, ['diff', '1', '1', '--json']));
    await done(preview(project, ['capture', '--force', '--json', '--command', command]));
    sessions.push(join(project, '.preview/session_001'));
  }
  const result = await compare(sessions[0]!, sessions[1]!);
  expect(result).toMatchObject({ pairs: 2, differing: 1 });
  expect(result['first_divergence']).toMatchObject({
    a: 'step-0003',
    b: 'step-0003',
    differs: ['command'],
    command_b: 'varnish it',
  });
});

test('a bundle that is gone is a difference, not an end', async () => {
  const lines = script(4);
  const [a, b] = [await played(lines), await played(lines)];
  thaw(join(b, 'bundle_002'));
  rmSync(join(b, 'bundle_002'), { recursive: true });
  const { first_divergence, differing } = await compare(a, b);
  expect(differing).toBe(1);
  expect(first_divergence).toMatchObject({
    a: 'step-0002',
    b: 'step-0002',
    differs: ['picture', 'facts'],
    changed: null,
  });
});

test.skipIf(samplesOf('cli-anything') === null)('recordings of CLI-Anything', async () => {
  const folderOf = (name: string) => {
    const copy = copySample(join(samplesOf('cli-anything')!, name));
    const head = readdirSync(copy, { recursive: true, encoding: 'utf8' }).find((path) =>
      path.endsWith('/session.json'),
    )!;
    return join(copy, head, '..');
  };
  const [manual, poll] = [folderOf('shotcut/manual'), folderOf('shotcut/poll')];
  const same = await compare(manual, manual, ['--fail-on-divergence']);
  expect(same).toMatchObject({ pairs: 8, differing: 0 });
  const result = await compare(manual, poll, ['--fail-on-divergence'], 7);
  expectShape(result, SHAPE);
  expect(result['pairs'] + result['only_a']).toBe(8);
  expect(result['pairs'] + result['only_b']).toBe(6);
});

test.each<[string[], number]>([
  [['compare', '.'], 2],
  [['compare', '.', 'nowhere'], 3],
])('%j ends with exit %i', async (args, code) => {
  const dir = await played(script(1));
  const outcome = await previews(dir, [...args, '--json']);
  expect([outcome.code, outcome.stdout]).toEqual([code, '']);
  errorOf(outcome);
});
