// `previews diff` of the built program: two steps compared, and nothing recorded.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BundleInput, openSession, publish } from '../../src/index.js';
import { done, errorOf, expectShape, previews } from '../helpers/cli.js';
import { type Canvas, type Colour, canvas, copyOf, fill, showing } from '../helpers/pictures.js';
import { snapshot, temporary, thaw } from '../helpers/project.js';
import { copySample, samplesOf } from '../helpers/samples.js';
import { changeByte } from '../helpers/tamper.js';

const SHAPE = {
  before: 'object',
  after: 'object',
  exact: 'string|null',
  changed_pixels: 'number|null',
  changed_ratio: 'number|null',
  boxes: 'objects',
  facts: 'objects',
  files: 'object',
  warnings: 'strings',
  over: 'boolean|null',
  link: 'string|null',
};
const RED: Colour = [220, 0, 0, 255];
const FAILED: BundleInput = {
  headline: 'it failed',
  recipe: 'draw',
  status: 'error',
  artifacts: [{ content: 'no\n', role: 'log', name: 'a.log' }],
};
const drawn = (picture: Canvas, facts: Record<string, unknown> = {}, recipe = 'draw'): BundleInput => ({
  headline: 'drawn',
  facts,
  ...showing(picture, recipe),
});

async function recorded(bundles: BundleInput[], root = join(temporary(), '.preview')) {
  const session = await openSession({ root, env: {} });
  for (const bundle of bundles) await publish(session, bundle, { command: 'draw' });
  return session.dir;
}
const dotted = (size = 10) => {
  const picture = canvas(200, 100);
  fill(picture, 70, 70, size, size, RED);
  return picture;
};
const two = () =>
  recorded([drawn(canvas(200, 100), { dots: 0, ink: 'red' }), drawn(dotted(), { dots: 1, ink: 'red' })]);
const diff = (dir: string, args: string[], code = 0) =>
  done(previews(dir, ['diff', '--json', '--root', join(dir, '..'), ...args]), code);

test('facts, files and pixels; nothing is written', async () => {
  const dir = await two();
  const before = snapshot(dir);
  const result = await diff(dir, ['1', '2']);
  expectShape(result, SHAPE);
  expect(result).toEqual({
    before: {
      name: 'step-0001',
      session_dir: dir,
      bundle_dir: join(dir, 'bundle_001'),
      status: 'ok',
      picture: join(dir, 'bundle_001/render.png'),
    },
    after: {
      name: 'step-0002',
      session_dir: dir,
      bundle_dir: join(dir, 'bundle_002'),
      status: 'ok',
      picture: join(dir, 'bundle_002/render.png'),
    },
    exact: 'pixel',
    changed_pixels: 100,
    changed_ratio: 0.005,
    boxes: [{ x: 70, y: 70, width: 10, height: 10, pixels: 100 }],
    facts: [
      { name: 'dots', before: 0, after: 1 },
      { name: 'ink', before: 'red', after: 'red' },
    ],
    files: { added: [], removed: [], changed: ['render.png'] },
    warnings: [],
    over: null,
    link: '#/session_001/step-0002?vs=step-0001&mode=swipe',
  });
  const { code, stdout } = await previews(dir, ['diff', `${dir}/step-0001`, `${dir}/step-0002`]);
  expect(code).toBe(0);
  expect(stdout).toContain('100 pixels changed, 0.5%, in 1 region');
  expect(stdout).toContain('dots  0 → 1');
  expect(stdout).toContain('#/session_001/step-0002?vs=step-0001&mode=swipe');
  expect(snapshot(dir)).toEqual(before);
});

test('by tiles alone: the most that can have changed, without a picture', async () => {
  const dir = await two();
  for (const bundle of ['bundle_001', 'bundle_002'])
    expect(readdirSync(join(dir, bundle))).toContain('render.png');
  const result = await diff(dir, ['1', '2', '--no-pixels']);
  expect(result).toMatchObject({
    exact: 'tile',
    changed_pixels: 64 * 36,
    boxes: [{ x: 64, y: 64, width: 64, height: 36, pixels: 64 * 36 }],
  });
});

test.each<[string[], number, boolean]>([
  [['--fail-over', '0.5%'], 0, false],
  [['--fail-over', '0.49%'], 7, true],
  [['--fail-over', '100px'], 0, false],
  [['--fail-over', '99px'], 7, true],
  [['--fail-over', '0%'], 7, true],
  [['--fail-over', '0px', '--threshold', '1'], 0, false],
  [['--fail-over', '100px', '--no-pixels'], 7, true],
])('%j ends with exit %i', async (args, code, over) => {
  const dir = await two();
  expect(await diff(dir, ['1', '2', ...args], code)).toMatchObject({ over });
  const text = await previews(dir, ['diff', `${dir}/step-0001`, `${dir}/step-0002`, ...args]);
  expect(text.code).toBe(code);
  expect(text.stdout).toMatch(over ? /over {5}more than/ : /within/);
});

describe('what is not alike', () => {
  test('sizes that differ are said, and what only one has counts', async () => {
    const dir = await recorded([drawn(canvas(100, 80)), drawn(canvas(120, 80))]);
    for (const more of [[], ['--no-pixels']]) {
      const result = await diff(dir, ['1', '2', ...more]);
      expect(result['warnings']).toEqual([
        'sizes_differ: the pictures are 100 × 80 and 120 × 80 px; what only one of them has counts as changed',
      ]);
      expect(result['changed_pixels']).toBe(more.length ? 56 * 80 : 20 * 80);
    }
  });

  test('transparent pictures', async () => {
    const before = canvas(100, 80, [0, 0, 0, 0]);
    const after = copyOf(before);
    fill(after, 10, 10, 20, 20, RED);
    const dir = await recorded([drawn(before), drawn(after)]);
    const { changed_pixels, boxes } = await diff(dir, ['1', '2']);
    expect(boxes).toMatchObject([{ x: 10, y: 10, width: 20, height: 20 }]);
    // A step of the pattern that a transparent ground is laid on may look like an edge.
    expect(changed_pixels).toBeLessThanOrEqual(400);
    expect(changed_pixels).toBeGreaterThanOrEqual(320);
  });

  test('a step that failed: facts are compared, and no limit is kept by it', async () => {
    const dir = await recorded([drawn(canvas(100, 80)), FAILED]);
    const result = await diff(dir, ['1', '2', '--fail-over', '50%'], 7);
    expect(result).toMatchObject({ exact: null, changed_pixels: null, over: true });
    expect(result['warnings'][0]).toMatch(/^no_picture: step-0002 has none, for its render failed/);
    expect(await diff(dir, ['2', '2', '--fail-over', '50%'], 7)).toMatchObject({ over: true });
  });

  test('bundles that never had a picture differ by none', async () => {
    const text: BundleInput = {
      headline: 'a text',
      artifacts: [{ content: 'x\n', role: 'render-output', name: 'x.txt' }],
    };
    const dir = await recorded([text, text]);
    expect(await diff(dir, ['1', '2', '--fail-over', '0px'])).toMatchObject({
      changed_pixels: null,
      over: false,
    });
  });

  test('a picture that is none', async () => {
    const broken = {
      headline: 'x',
      artifacts: [{ content: 'no picture', role: 'hero', name: 'a.png', media_type: 'image/png' }],
    };
    const dir = await recorded([drawn(canvas(100, 80)), broken as BundleInput]);
    const result = await diff(dir, ['1', '2', '--fail-over', '1%'], 7);
    expect(result['warnings'].join(' ')).toMatch(
      /picture_unread: the picture of step-0002|no_picture: step-0002/,
    );
  });

  test('recipes, and the one that is asked for', async () => {
    const dir = await recorded([
      drawn(canvas(100, 80)),
      drawn(dotted(), {}, 'other'),
      drawn(canvas(100, 80)),
    ]);
    expect((await diff(dir, ['1', '2']))['warnings'][0]).toMatch(
      /^recipes_differ: step-0001 was made with draw, step-0002 with other/,
    );
    expect(await diff(dir, ['1', '2', '--recipe', 'draw'])).toMatchObject({
      changed_pixels: 0,
      after: { name: 'step-0001' },
    });
  });
});

describe('which two', () => {
  test('bundles, and steps of two sessions', async () => {
    const dir = await two();
    expect(await diff(dir, [join(dir, 'bundle_001'), join(dir, 'bundle_002')])).toMatchObject({
      changed_pixels: 100,
      link: null,
    });
    const other = await two();
    const across = await diff(dir, ['1', `${other}/step-0002`]);
    expect(across).toMatchObject({
      changed_pixels: 100,
      link: null,
      before: { name: 'session_001/step-0001' },
    });
    // A session stands for its current step.
    expect(await diff(dir, [dir, other])).toMatchObject({ changed_pixels: 0 });
  });

  test('a bundle that is gone or altered is refused', async () => {
    const dir = await two();
    changeByte(join(dir, 'bundle_001/render.png'), 60, (byte) => byte ^ 1);
    const altered = await previews(dir, ['diff', `${dir}/step-0001`, `${dir}/step-0002`, '--json']);
    expect([altered.code, altered.stdout, errorOf(altered).code]).toEqual([6, '', 'bundle_damaged']);
    thaw(join(dir, 'bundle_002'));
    rmSync(join(dir, 'bundle_002'), { recursive: true });
    const gone = await previews(dir, ['diff', `${dir}/step-0002`, `${dir}/step-0002`, '--json']);
    expect([gone.code, gone.stdout, errorOf(gone).code]).toEqual([6, '', 'bundle_damaged']);
  });

  test.each<[string[], number]>([
    [['1'], 2],
    [['1', '9'], 3],
    [['1', '2', '--fail-over', '5'], 2],
    [['1', '2', '--fail-over', '-5%'], 2],
    [['1', '2', '--threshold', '2'], 2],
  ])('%j ends with exit %i', async (args, code) => {
    const dir = await two();
    const outcome = await previews(dir, ['diff', '--json', '--root', join(dir, '..'), ...args]);
    expect([outcome.code, outcome.stdout]).toEqual([code, '']);
    errorOf(outcome);
  });

  test.skipIf(samplesOf('cli-anything') === null)('bundles of CLI-Anything', async () => {
    const copy = copySample(join(samplesOf('cli-anything')!, 'shotcut/manual'));
    const head = readdirSync(copy, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('/session.json'),
    )!;
    const dir = join(copy, head, '..');
    const result = await done(previews(copy, ['diff', `${dir}/step-0001`, `${dir}/step-0004`, '--json']));
    expectShape(result, SHAPE);
    expect(result['changed_pixels']).toBeGreaterThan(0);
    expect(result['exact']).toBe('pixel');
  });
});
