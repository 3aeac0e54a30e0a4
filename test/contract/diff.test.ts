// `preview diff` of the built program: two steps, any two, and what is recorded of them.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleInput } from '../../src/index.js';
import { documentOf, done, errorOf, expectShape, preview, previews } from '../helpers/cli.js';
import { config, png, recordSession, temporary, write } from '../helpers/project.js';
import { changeByte, editText, overwrite, readJson } from '../helpers/tamper.js';

const SHAPE = {
  session_dir: 'string',
  bundle_dir: 'string',
  bundle_id: 'string',
  manifest_path: 'string',
  summary_path: 'string',
  render: 'string|null',
  step_id: 'string',
  status: 'string',
  cached: 'boolean',
  artifact_count: 'number',
  warnings: 'strings',
  changed_pixels: 'number|null',
  changed_ratio: 'number|null',
  boxes: 'objects',
  facts: 'objects',
  files: 'object',
};
const svg = (body: string, root = 'width="640" height="480"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${root}><rect width="100%" height="100%" fill="#eef"/>${body}</svg>\n`;
const square = (x: number, y: number, side = 20) =>
  `<rect x="${x}" y="${y}" width="${side}" height="${side}"/>`;

let project: string;
beforeEach(() => {
  project = join(temporary(), 'project');
});
const root = () => join(project, '.preview');
const diff = (...args: string[]) => done(preview(project, ['diff', '--json', ...args]));
const refused = async (code: number, ...args: string[]) => {
  const outcome = await preview(project, ['diff', '--json', ...args]);
  expect([outcome.code, outcome.stdout]).toEqual([code, '']);
  return errorOf(outcome);
};
const manifestOf = (result: Record<string, any>) => readJson(result['manifest_path']);
const codes = ({ warnings }: Record<string, any>) =>
  warnings.map((text: string) => text.slice(0, text.indexOf(':')));
async function drawn(body: string, ...args: string[]) {
  write(project, { 'plan.svg': body });
  return done(preview(project, ['capture', '--json', ...args]));
}
/** A session that the library made: one step for each bundle. */
const recorded = (bundles: Partial<BundleInput>[]) =>
  recordSession(bundles.length, { root: root(), each: (n) => [bundles[n - 1]!, {}] });
const picture = (content: Buffer, name = 'picture.png') => ({ content, role: 'hero', name });

describe('two drawings', () => {
  beforeEach(async () => {
    await drawn(svg(square(100, 50)));
    await drawn(
      svg(square(100, 50) + square(300, 200, 10) + square(500, 400, 30)),
      '--command',
      'add two squares',
    );
  });

  test('what differs is printed, and recorded as an immutable bundle', async () => {
    const result = await diff('step-0001', 'step-0002', '--label', 'squares');
    expectShape(result, SHAPE);
    expect(result).toMatchObject({
      step_id: 'step-0003',
      bundle_id: 'bundle_003',
      status: 'ok',
      cached: false,
      artifact_count: 6,
      warnings: [],
      changed_pixels: 1000,
      changed_ratio: 0.003255,
      boxes: [
        { x: 500, y: 400, width: 30, height: 30, pixels: 900 },
        { x: 300, y: 200, width: 10, height: 10, pixels: 100 },
      ],
      files: { added: [], removed: [], changed: ['render.png'] },
    });
    expect(result['facts'][0]).toEqual({ name: 'elements', before: 3, after: 5 });
    expect(result['facts']).toContainEqual({ name: 'width', before: 640, after: 640 });
    const manifest = manifestOf(result);
    expect(manifest).toMatchObject({
      bundle_kind: 'diff',
      command: 'preview diff --json step-0001 step-0002 --label squares',
      software: 'resvg',
      recipe: null,
      source_bundles: ['bundle_001', 'bundle_002'],
      metrics: { changed_pixels: 1000, regions: 2 },
    });
    const { artifacts } = manifest;
    expect(artifacts.map(({ role }: { role: string }) => role).sort()).toEqual(
      ['after', 'before', 'diff', 'diff-json', 'hero', 'thumb'].sort(),
    );
    const of = (role: string) => artifacts.find((artifact: { role: string }) => artifact.role === role);
    // Byte for byte what was compared.
    const shown = (n: number) =>
      readJson(join(root(), `session_001/bundle_00${n}/manifest.json`))['artifacts'][0];
    expect([of('before').sha256, of('after').sha256]).toEqual([shown(1).sha256, shown(2).sha256]);
    expect(of('hero')).toMatchObject({ path: 'render.png', media_type: 'image/png' });
    expect(Math.max(of('hero').width, of('hero').height)).toBeLessThanOrEqual(1280);
    expect(of('diff')).toMatchObject({ width: 640, height: 480 });
    const kept = readJson(join(result['bundle_dir'], of('diff-json').path));
    expect(kept).toMatchObject({
      changed_pixels: 1000,
      boxes: result['boxes'],
      facts: result['facts'],
      files: result['files'],
      width: 640,
      height: 480,
      padded: false,
      threshold: 0.1,
      before: { name: 'step-0001', bundle: 'bundle_001', recipe: 'svg', status: 'ok' },
      after: { name: 'step-0002', bundle: 'bundle_002' },
    });
    expect(readJson(result['summary_path'])['headline']).toBe(
      'step-0001 → step-0002: 1,000 pixels changed (0.33%) in 2 regions, 1 fact changed',
    );
    const { steps } = await done(previews(project, ['inspect', '--json']));
    expect(steps.at(-1)).toMatchObject({ publish_reason: 'diff', stage_label: 'squares' });
    expect(await done(previews(project, ['verify', '--json']))).toMatchObject({ ok: true, steps: 3 });
  });

  test('for people: a few lines', async () => {
    const { code, stdout, stderr } = await preview(project, ['diff', '1', '2']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('1,000 pixels changed, 0.33%, in 2 regions');
    expect(stdout).toContain('30 × 30 at 500, 400');
    expect(stdout).toMatch(/^ {2}facts {4}elements {2}3 → 5$/m);
  });

  test('every way to name them', async () => {
    const dir = join(root(), 'session_001');
    for (const [before, after] of [
      ['1', '2'],
      ['bundle_001', 'bundle_002'],
      ['session_001/step-0001', 'session_001/2'],
      [join(dir, 'bundle_001'), join(dir, 'bundle_002/manifest.json')],
      // Of a session, and of a root, the current step.
      ['step-0001', 'session_001'],
      ['step-0001', '.'],
    ] as const)
      expect((await diff(before, after))['changed_pixels'], `${before} ${after}`).toBe(1000);
  });

  test('backwards, and against itself', async () => {
    expect(await diff('2', '1')).toMatchObject({
      changed_pixels: 1000,
      facts: [{ before: 5, after: 3 }, {}, {}, {}, {}, {}],
    });
    const same = await diff('2', '2');
    expect(same).toMatchObject({
      changed_pixels: 0,
      changed_ratio: 0,
      boxes: [],
      status: 'ok',
      warnings: [],
    });
    expect(existsSync(same['render'])).toBe(true);
  });

  test('the threshold decides what counts', async () => {
    await drawn(svg('').replace('#eef', '#eeeefa'));
    await drawn(svg(''));
    expect((await diff('3', '4'))['changed_pixels']).toBe(0);
    expect((await diff('3', '4', '--threshold', '0'))['changed_pixels']).toBe(640 * 480);
  });
});

describe('what is current', () => {
  test('stays what the work looks like, and a capture is reused across a diff', async () => {
    await drawn(svg(square(9, 9)));
    const second = await drawn(svg(square(99, 99)));
    await diff('1', '2');
    const head = readJson(join(root(), 'session_001/session.json'));
    expect(head).toMatchObject({
      current_step_id: 'step-0002',
      current_bundle_id: 'bundle_002',
      trajectory_step_count: 3,
    });
    expect(await done(preview(project, ['latest', '--json']))).toMatchObject({
      step_id: 'step-0002',
      stale: false,
    });
    expect(await done(preview(project, ['capture', '--json']))).toMatchObject({
      cached: true,
      bundle_id: second['bundle_id'],
      step_id: 'step-0004',
    });
    expect(await done(previews(project, ['verify', '--json']))).toMatchObject({ ok: true });
  });

  test('a picture is compared with the one before the diff', async () => {
    await drawn(svg(square(9, 9)));
    await diff('1', '1');
    const result = await drawn(`${svg(square(9, 9))}<!-- the same to see -->\n`);
    expect(result['warnings']).toEqual([expect.stringMatching(/^picture_unchanged: .* since bundle_001,/)]);
  });

  test('changes since the step before are counted past a diff', async () => {
    write(project, { 'a.txt': '1', 'b.txt': '1' });
    await done(preview(project, ['capture', '--json']));
    await diff('1', '1');
    write(project, { 'b.txt': '2' });
    const result = await done(preview(project, ['capture', '--json']));
    expect(manifestOf(result)['artifacts'].map(({ label }: { label: string }) => label)).toEqual(['b.txt']);
  });

  test('a repair keeps it so', async () => {
    await drawn(svg(square(9, 9)));
    await diff('1', '1');
    const head = join(root(), 'session_001/session.json');
    overwrite(head, '{');
    await done(preview(project, ['repair', '--json', 'session_001']));
    expect(readJson(head)).toMatchObject({ current_step_id: 'step-0001', current_bundle_id: 'bundle_001' });
  });
});

describe('any two', () => {
  test('of different sizes: padded, and said', async () => {
    await recorded([{ artifacts: [picture(png(60, 40))] }, { artifacts: [picture(png(60, 50))] }]);
    const result = await diff('1', '2');
    expect(result['warnings']).toEqual([
      'sizes_differ: the pictures are 60 × 40 and 60 × 50 px; what only one of them has counts as changed',
    ]);
    expect(result['boxes'][0]).toMatchObject({ x: 0, width: 60 });
    expect(result['changed_pixels']).toBeGreaterThanOrEqual(600);
  });

  test('of other sessions, stopped ones too', async () => {
    await drawn(svg(square(9, 9)));
    await done(preview(project, ['live', 'stop', '--json']));
    await drawn(svg(square(99, 99)));
    const result = await diff('session_001/step-0001', 'step-0001');
    expect(result).toMatchObject({
      session_dir: join(root(), 'session_002'),
      changed_pixels: 800,
      warnings: [],
    });
    expect(manifestOf(result)['source_bundles']).toEqual(['session_001/bundle_001', 'bundle_001']);
  });

  test('of a stopped session: recorded in the one that follows, and said', async () => {
    await drawn(svg(square(9, 9)));
    await drawn(svg(square(99, 99)));
    await done(preview(project, ['live', 'stop', '--json']));
    const result = await diff('1', '2');
    expect(result).toMatchObject({
      session_dir: join(root(), 'session_002'),
      step_id: 'step-0001',
      changed_pixels: 800,
    });
    expect(codes(result)).toEqual(['session_begun']);
    expect(manifestOf(result)['source_bundles']).toEqual([
      'session_001/bundle_001',
      'session_001/bundle_002',
    ]);
    expect(await done(previews(project, ['verify', '--json']))).toMatchObject({ ok: true });
  });

  test('of another project: called as it was asked for', async () => {
    await drawn(svg(square(9, 9)));
    const there = await recordSession(1);
    const result = await diff(join(there.dir, 'bundle_001'), '1');
    expect(result['session_dir']).toBe(join(root(), 'session_001'));
    expect(manifestOf(result)['source_bundles']).toEqual([join(there.dir, 'bundle_001'), 'bundle_001']);
  });

  test('of different recipes: said; --recipe takes the newest of one', async () => {
    await drawn(svg(square(9, 9)));
    write(project, { 'shot.png': png(640, 480) });
    await done(preview(project, ['capture', '--json', '--recipe', 'files']));
    await drawn(svg(square(99, 99)));
    await done(preview(project, ['capture', '--json', '--recipe', 'files', '--force']));
    expect(codes(await diff('1', '2'))).toEqual(['recipes_differ']);
    const result = await diff('2', '4', '--recipe', 'svg');
    expect(result).toMatchObject({ changed_pixels: 800, warnings: [] });
    expect(manifestOf(result)['source_bundles']).toEqual(['bundle_001', 'bundle_003']);
    expect((await refused(3, '1', '2', '--recipe', 'files')).message).toContain('no step up to step-0001');
    expect((await refused(3, 'bundle_001', 'bundle_002', '--recipe', 'files')).message).toContain(
      'was made with svg',
    );
  });

  test('a step that failed has no picture: facts and files all the same', async () => {
    write(project, { 'preview.config.json': JSON.stringify(config()), 'a.png': png() });
    await done(preview(project, ['capture', '--json']));
    documentOf(await preview(project, ['capture', '--json', '--recipe', 'fail']));
    const result = await diff('1', '2');
    expectShape(result, SHAPE);
    expect(result).toMatchObject({
      status: 'ok',
      render: null,
      changed_pixels: null,
      changed_ratio: null,
      boxes: [],
      files: { added: ['artifacts/renderer.log'], removed: ['render.png'] },
    });
    expect(codes(result)).toEqual(['no_picture', 'recipes_differ']);
    expect(result['warnings'][0]).toContain('step-0002 has none, for its render failed: sh failed');
    expect((await preview(project, ['diff', '1', '2'])).code).toBe(0);
  });

  test('clips and models: by name and hash', async () => {
    const stl = (content: string) => ({ content, role: 'render-output', name: 'part.stl' });
    await recorded([
      {
        facts: { facets: 12, box: { x: 1 } },
        artifacts: [stl('solid a'), { content: 'x', role: 'log', name: 'old.txt' }],
      },
      {
        facts: { facets: 20, box: { x: 1 } },
        artifacts: [stl('solid b'), { content: 'y', role: 'render-output', name: 'new.txt' }],
      },
    ]);
    const result = await diff('1', '2');
    expect(result['files']).toEqual({
      added: ['artifacts/new.txt'],
      removed: ['artifacts/old.txt'],
      changed: ['artifacts/part.stl'],
    });
    expect(result['facts']).toEqual([
      { name: 'facets', before: 12, after: 20 },
      { name: 'box.x', before: 1, after: 1 },
    ]);
    expect(readJson(result['summary_path'])['headline']).toBe(
      'step-0001 → step-0002: no two pictures to compare, 1 fact changed, 1 file added, 1 file removed, 1 file changed',
    );
  });

  test('a picture that cannot be decoded: partial, and said', async () => {
    const claimed = png(64, 64);
    claimed.writeUInt32BE(20_000, 16);
    claimed.writeUInt32BE(20_000, 20);
    await recorded([
      { artifacts: [picture(png(64, 64))] },
      { artifacts: [picture(claimed)] },
      { artifacts: [picture(png(64, 64).subarray(0, 60))] },
    ]);
    const huge = await diff('1', '2');
    expect(huge).toMatchObject({ status: 'partial', changed_pixels: null });
    expect(huge['warnings']).toEqual([
      'picture_unread: the picture of step-0002 could not be compared: 20000 × 20000 is more than the 24 megapixels that are decoded',
    ]);
    expect((await diff('3', '1'))['warnings'][0]).toBe(
      'picture_unread: the picture of step-0003 could not be compared: it is damaged',
    );
  });

  test('two that together span more than may be compared', async () => {
    await recorded([{ artifacts: [picture(png(20_000, 2))] }, { artifacts: [picture(png(2, 20_000))] }]);
    const result = await diff('1', '2');
    expect(result).toMatchObject({ status: 'partial', changed_pixels: null });
    expect(result['warnings'][0]).toContain('it spans 20000 × 20000');
  });

  test('a command full of control characters is no danger to the picture', async () => {
    await drawn(svg(square(9, 9)), '--command', 'echo \u001b[2J</text><script>');
    await drawn(svg(square(99, 99)), '--command', 'a'.repeat(3000));
    expect(await diff('1', '2')).toMatchObject({ status: 'ok', changed_pixels: 800 });
  });
});

describe('refused', () => {
  test('what is not there: exit 3, and no session begins', async () => {
    write(project, { 'plan.svg': svg('') });
    expect((await refused(3, 'step-0001', 'step-0002')).code).toBe('not_found');
    expect(existsSync(root())).toBe(false);
    await drawn(svg(''));
    for (const ref of [
      'step-0009',
      '9',
      '0',
      'bundle_099',
      'session_009/step-0001',
      'no such thing',
      'plan.svg',
    ])
      expect((await refused(3, 'step-0001', ref)).code, ref).toBe('not_found');
    expect(await done(previews(project, ['verify', '--json']))).toMatchObject({ ok: true, steps: 1 });
  });

  test('wrong usage: exit 2', async () => {
    write(project, { 'plan.svg': svg('') });
    for (const args of [
      [],
      ['1'],
      ['1', '2', '3'],
      ['1', '2', '--threshold', '2'],
      ['1', '2', '--threshold', 'x'],
    ])
      expect((await refused(2, ...args)).code, args.join(' ')).toBe('usage');
  });

  test('what was altered, is gone or cannot be read: exit 6, and nothing is recorded', async () => {
    await recorded([{}, {}, {}, {}]);
    const dir = join(root(), 'session_001');
    changeByte(join(dir, 'bundle_002/render.png'), 60, (byte) => byte ^ 1);
    expect(await refused(6, '1', '2')).toMatchObject({
      code: 'bundle_damaged',
      message: expect.stringContaining('bundle_002/render.png: its content is not what was recorded'),
    });
    editText(join(dir, 'bundle_003/manifest.json'), (text) => `${text} `);
    expect((await refused(6, '3', '1')).message).toContain('it is not the one that step-0003 recorded');
    rmSync(join(dir, 'bundle_004'), { recursive: true, force: true });
    expect((await refused(6, '1', '4')).message).toContain('bundle_004/manifest.json: the file is not there');
    expect(readJson(join(dir, 'session.json'))['trajectory_step_count']).toBe(4);
    overwrite(join(dir, 'session.json'), '{');
    expect((await refused(6, '1', '1')).code).toBe('session_damaged');
    expect(readFileSync(join(dir, 'session.json'), 'utf8')).toBe('{');
  });
});
