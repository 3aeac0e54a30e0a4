// `previews blame` and `previews bisect` of the built program, on pictures whose history is known.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSession, publish } from '../../src/index.js';
import { done, errorOf, preview, previews } from '../helpers/cli.js';
import { type Canvas, canvas, copyOf, fill, pngOf, showing } from '../helpers/pictures.js';
import { config, RECIPES, recordSession, snapshot, temporary, thaw, write } from '../helpers/project.js';
import { copySample, samplesOf } from '../helpers/samples.js';

/** Numbers that look random and are the same in every run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const at = (x: number, y: number, width = 1, height = 1) => [x, y, width, height].join(',');
const stepId = (n: number) => `step-${String(n).padStart(4, '0')}`;
const cropOf = ({ width, data }: Canvas, x: number, y: number, w: number, h: number) =>
  Buffer.concat(
    Array.from({ length: h }, (_, row) =>
      data.subarray(((y + row) * width + x) * 4, ((y + row) * width + x + w) * 4),
    ),
  ).toString('hex');

/** Records pictures, null for a step that failed; returns the session's folder. */
async function recorded(
  pictures: (Canvas | null)[],
  facts: (n: number) => Record<string, unknown> = () => ({}),
) {
  const session = await openSession({ root: join(temporary(), '.preview'), env: {} });
  for (const [n, picture] of pictures.entries())
    await publish(
      session,
      picture
        ? { headline: 'drawn', facts: facts(n + 1), ...showing(picture) }
        : {
            headline: 'failed',
            recipe: 'draw',
            status: 'error',
            artifacts: [{ content: 'no\n', role: 'log', name: 'a.log' }],
          },
      { command: `edit ${n + 1}` },
    );
  return session.dir;
}

let cache: string;
beforeAll(() => {
  cache = temporary();
});
const run = (dir: string, args: string[]) => previews(dir, args, { XDG_CACHE_HOME: cache });
const blame = (dir: string, step: number, place: string, ...more: string[]) =>
  done(run(dir, ['blame', `${dir}/${stepId(step)}`, place, '--json', ...more]));
const bisect = (dir: string, good: number, bad: number, ...more: string[]) =>
  done(
    run(dir, [
      'bisect',
      '--good',
      `${dir}/${stepId(good)}`,
      '--bad',
      `${dir}/${stepId(bad)}`,
      '--json',
      ...more,
    ]),
  );

/** The steps (from 1) at which what `look` sees of a picture changed, failed ones passed over; the first one too. */
function truth(pictures: (Canvas | null)[], look: (picture: Canvas) => string): number[] {
  const changed: number[] = [];
  let before: string | null = null;
  for (const [n, picture] of pictures.entries()) {
    if (picture === null) continue;
    const seen = look(picture);
    if (seen !== before) changed.push(n + 1);
    before = seen;
  }
  return changed;
}

/** A session of random edits: rectangles, now and then a step that fails or changes nothing, transparency in some. */
function randomEdits(seed: number): (Canvas | null)[] {
  const random = numbers(seed);
  const see = seed % 3 === 0;
  let picture = canvas(200 + random(60), 150 + random(40), see ? [0, 0, 0, 0] : [250, 250, 250, 255]);
  const pictures: (Canvas | null)[] = [picture];
  for (let n = 0; n < 8; n++) {
    picture = copyOf(picture);
    const size = () => 1 + random(70);
    if (random(5) > 0)
      fill(picture, random(picture.width), random(picture.height), size(), size(), [
        random(256),
        random(256),
        random(256),
        see && random(2) ? 128 : 255,
      ]);
    pictures.push(random(6) === 0 ? null : picture);
  }
  if (pictures.at(-1) === null) pictures.push(picture);
  return pictures;
}

describe('random edits', () => {
  test.each(Array.from({ length: 30 }, (_, n) => n + 1))(
    'sequence %i: tiles and pixels tell the truth',
    async (seed) => {
      const pictures = randomEdits(seed);
      const dir = await recorded(pictures);
      const { width, height } = pictures[0]!;
      const random = numbers(seed + 1000);
      const [x, y] = [random(width), random(height)];
      const [w, h] = seed % 2 ? [1, 1] : [1 + random(width - x), 1 + random(height - y)];
      const [left, top] = [Math.floor(x / 64) * 64, Math.floor(y / 64) * 64];
      const [right, bottom] = [
        Math.min(width, Math.ceil((x + w) / 64) * 64),
        Math.min(height, Math.ceil((y + h) / 64) * 64),
      ];
      const byTile = truth(pictures, (each) => cropOf(each, left, top, right - left, bottom - top)).reverse();
      const byPixel = truth(pictures, (each) => cropOf(each, x, y, w, h)).reverse();
      const last = pictures.length;
      const ids = ({ changed_by, earlier }: Record<string, any>) =>
        [changed_by, ...earlier].map(({ step_id }) => step_id);

      const tiles = await blame(dir, last, at(x, y, w, h), '--all');
      expect(ids(tiles)).toEqual(byTile.map(stepId));
      expect(tiles).toMatchObject({
        exact: 'tile',
        looked_at: { x: left, y: top, width: right - left, height: bottom - top },
      });
      const pixels = await blame(dir, last, at(x, y, w, h), '--all', '--pixels');
      expect(ids(pixels)).toEqual(byPixel.map(stepId));
      expect(pixels).toMatchObject({ exact: 'pixel', looked_at: { x, y, width: w, height: h } });

      const firstTile = await bisect(dir, 1, last, '--region', at(x, y, w, h));
      expect(firstTile['first']?.step_id ?? null).toBe(byTile.length > 1 ? stepId(byTile.at(-2)!) : null);
      expect(firstTile['changes']).toBe(byTile.length - 1);
      const firstPixel = await bisect(dir, 1, last, '--region', at(x, y, w, h), '--pixels');
      expect(firstPixel['first']?.step_id ?? null).toBe(byPixel.length > 1 ? stepId(byPixel.at(-2)!) : null);
      expect(firstPixel['differs']).toBe(
        cropOf(pictures[0]!, x, y, w, h) !== cropOf(pictures.at(-1)!, x, y, w, h),
      );
    },
    60_000,
  );
});

describe('real captures', () => {
  test('what a recipe drew is blamed as what was published', async () => {
    const project = join(temporary(), 'project');
    const picture = canvas(300, 200, [240, 240, 240, 255]);
    fill(picture, 0, 0, 90, 90, [0, 90, 90, 255]);
    const recipes = {
      copy: { ...RECIPES.copy, run: [RECIPES.copy.run[0]], artifacts: [RECIPES.copy.artifacts[0]] },
      fail: RECIPES.fail,
    };
    write(project, { 'preview.config.json': JSON.stringify(config(recipes)) });
    const capture = (command: string, code = 0, ...more: string[]) => {
      write(project, { 'a.png': pngOf(picture) });
      return done(preview(project, ['capture', '--json', '--command', command, ...more]), code);
    };
    await capture('begin');
    fill(picture, 250, 150, 4, 4, [255, 0, 0, 255]);
    await capture('dot');
    await capture('break it', 4, '--recipe', 'fail');
    fill(picture, 230, 150, 4, 4, [0, 0, 255, 255]);
    await capture('another dot beside it');
    await done(preview(project, ['diff', 'step-0001', 'step-0002', '--json']));
    const before = snapshot(join(project, '.preview'));
    const where = ['blame', '5', '251,151', '--json'];
    // Step 5 is a comparison, which shows no picture of its own.
    const tiles = await done(run(project, where));
    expect(tiles).toMatchObject({ step: 'step-0005', picture_of: 'step-0004', recipe: 'copy' });
    expect(tiles['changed_by']).toMatchObject({
      step_id: 'step-0004',
      command: 'another dot beside it',
      before: 'step-0002',
      between: 1,
      picture: join(project, '.preview/session_001/bundle_004/render.png'),
    });
    const pixels = await done(run(project, [...where, '--pixels']));
    expect(pixels['changed_by']).toMatchObject({ step_id: 'step-0002', command: 'dot', before: 'step-0001' });
    expect(snapshot(join(project, '.preview'))).toEqual(before);
    const text = await run(project, ['blame', '4', '251,151']);
    expect(text.code).toBe(0);
    expect(text.stdout).toContain('another dot beside it');
    expect(text.stdout).toContain('exact to tiles of 64 px: 64 × 64 px at 192, 128');
    expect(text.stdout).toContain('1 step between the two has nothing to compare');
  });
});

describe('what cannot be compared', () => {
  test('another size counts as a change everywhere, and is said', async () => {
    const [small, large] = [canvas(100, 80), canvas(120, 80)];
    const dir = await recorded([small, large, large]);
    for (const more of [[], ['--pixels']]) {
      const { changed_by } = await blame(dir, 3, at(5, 5), ...more);
      expect(changed_by).toMatchObject({ step_id: 'step-0002', kind: 'resized', before: 'step-0001' });
    }
    const { stdout } = await run(dir, ['blame', `${dir}/step-0003`, '5,5']);
    expect(stdout).toContain('changed  its size');
  });

  test('other recipes, failed steps and missing bundles are passed over and counted', async () => {
    const first = canvas(100, 80);
    const second = copyOf(first);
    fill(second, 0, 0, 10, 10, [0, 0, 0, 255]);
    const session = await openSession({ root: join(temporary(), '.preview'), env: {} });
    const draw = (picture: Canvas, recipe: string) =>
      publish(session, { headline: 'x', ...showing(picture, recipe) });
    await draw(first, 'one');
    await draw(second, 'two');
    await draw(second, 'one');
    await draw(first, 'one');
    thaw(join(session.dir, 'bundle_003'));
    rmSync(join(session.dir, 'bundle_003'), { recursive: true });
    const result = await blame(session.dir, 4, at(0, 0), '--all');
    expect(result['passed_over']).toEqual({ failed: 0, nothing: 0, lost: 1, diff: 0, other_recipe: 1 });
    expect(result['changed_by']).toMatchObject({ step_id: 'step-0001', kind: 'first' });
    expect(await blame(session.dir, 2, at(0, 0))).toMatchObject({
      recipe: 'two',
      changed_by: { step_id: 'step-0002' },
    });
  });

  test('a picture that is gone leaves what its tiles told, and that is said', async () => {
    const first = canvas(100, 80);
    const second = copyOf(first);
    fill(second, 0, 0, 10, 10, [0, 0, 0, 255]);
    const dir = await recorded([first, second]);
    thaw(join(dir, 'bundle_002'));
    rmSync(join(dir, 'bundle_002/render.png'));
    const { changed_by } = await blame(dir, 2, at(30, 30), '--pixels');
    expect(changed_by).toMatchObject({ step_id: 'step-0002', unread: 'the picture is gone', picture: null });
  });
});

describe('facts', () => {
  test('the first step at which one changed; steps without it are passed over', async () => {
    const picture = canvas(64, 64);
    const dir = await recorded([picture, picture, null, picture, picture], (n) => ({
      wheels: n < 4 ? 4 : 6,
      box: { width: n === 5 ? 2 : 1 },
      steady: [1, 2],
    }));
    const wheels = await bisect(dir, 1, 5, '--fact', 'wheels');
    expect(wheels).toMatchObject({ changes: 1, differs: true, passed_over: { failed: 1 } });
    expect(wheels['first']).toMatchObject({
      step_id: 'step-0004',
      before: 'step-0002',
      between: 1,
      from: 4,
      to: 6,
    });
    expect(await bisect(dir, 1, 5, '--fact', 'box.width')).toMatchObject({
      first: { step_id: 'step-0005', from: 1, to: 2 },
    });
    expect(await bisect(dir, 1, 5, '--fact', 'steady')).toMatchObject({
      first: null,
      changes: 0,
      differs: false,
    });
    const text = await run(dir, [
      'bisect',
      '--good',
      '1',
      '--bad',
      '5',
      '--fact',
      'steady',
      '--root',
      join(dir, '..'),
    ]);
    expect(text.stdout).toContain('steady did not change from step-0001 to step-0005');
    const none = await run(dir, [
      'bisect',
      '--good',
      `${dir}/step-0001`,
      '--bad',
      `${dir}/step-0005`,
      '--fact',
      'doors',
      '--json',
    ]);
    expect([none.code, errorOf(none).hint]).toEqual([3, 'it has wheels, box.width, steady']);
  });
});

describe('the index', () => {
  const files = (folder: string) => readdirSync(join(folder, 'preview-recorder'));
  const ask = async (dir: string, folder: string) => {
    const { changed_by } = await done(
      previews(dir, ['blame', `${dir}/step-0003`, '0,0', '--json'], { XDG_CACHE_HOME: folder }),
    );
    return changed_by.step_id;
  };
  const three = async () => {
    const pictures = [canvas(64, 64), canvas(64, 64, [1, 2, 3, 255]), canvas(64, 64, [1, 2, 3, 255])];
    return recorded(pictures);
  };

  test('is kept in the cache, not in the session, and is extended by new steps', async () => {
    const recording = await recordSession(0);
    const folder = temporary();
    const draw = (colour: number) =>
      publish(recording.session, { headline: 'x', ...showing(canvas(64, 64, [colour, 0, 0, 255])) });
    for (const colour of [1, 2, 2]) await draw(colour);
    const before = snapshot(recording.dir);
    expect(await ask(recording.dir, folder)).toBe('step-0002');
    expect(snapshot(recording.dir)).toEqual(before);
    expect(files(folder)).toHaveLength(1);
    // What was indexed is not read again: its manifests may go, the answer stays.
    for (const n of ['001', '002']) {
      thaw(join(recording.dir, `bundle_${n}`));
      rmSync(join(recording.dir, `bundle_${n}/manifest.json`));
    }
    await draw(2);
    const { changed_by } = await done(
      previews(recording.dir, ['blame', `${recording.dir}/step-0004`, '0,0', '--json'], {
        XDG_CACHE_HOME: folder,
      }),
    );
    expect(changed_by.step_id).toBe('step-0002');
    expect(files(folder)).toHaveLength(1);
  });

  test.each<[string, (bytes: Buffer) => Buffer | string]>([
    ['cut', (bytes) => bytes.subarray(0, bytes.length - 5)],
    ['empty', () => ''],
    ['of another form', () => '{"preview_recorder":1}\n{}'],
    [
      'with a byte changed',
      (bytes) => Buffer.concat([bytes.subarray(0, -3), Buffer.from('0'), bytes.subarray(-2)]),
    ],
    ['of another session', (bytes) => bytes.toString('latin1').replace('session_001', 'session_002')],
  ])('a file that is %s is made anew', async (_, damage) => {
    const dir = await three();
    const folder = temporary();
    expect(await ask(dir, folder)).toBe('step-0002');
    const file = join(folder, 'preview-recorder', files(folder)[0]!);
    const good = readFileSync(file);
    const bad = damage(good);
    writeFileSync(file, bad);
    expect(readFileSync(file).equals(good)).toBe(false);
    expect(await ask(dir, folder)).toBe('step-0002');
    expect(readFileSync(file).equals(good)).toBe(true);
  });

  test('without a cache that can be written the answer is the same', async () => {
    const dir = await three();
    const file = join(temporary(), 'file');
    writeFileSync(file, '');
    expect(await ask(dir, file)).toBe('step-0002');
    expect(await ask(dir, dir)).toBe('step-0002');
    expect(readdirSync(dir)).not.toContain('preview-recorder');
  });

  test('many at once leave one whole file', async () => {
    const dir = await three();
    const folder = temporary();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(dir, folder)));
    expect(answers).toEqual(new Array(8).fill('step-0002'));
    expect(files(folder)).toHaveLength(1);
  });

  test('it is bounded: the ones written longest ago go', async () => {
    const dir = await three();
    const folder = temporary();
    mkdirSync(join(folder, 'preview-recorder'));
    for (let n = 0; n < 120; n++) writeFileSync(join(folder, 'preview-recorder', `tiles-${n}.json`), 'x');
    expect(await ask(dir, folder)).toBe('step-0002');
    expect(files(folder)).toHaveLength(100);
    expect(files(folder).filter((name) => /^tiles-[0-9a-f]{32}\.json$/.test(name))).toHaveLength(1);
    chmodSync(join(folder, 'preview-recorder'), 0o700);
  });
});

test.each<[string[], number, RegExp]>([
  [['blame', '1', 'here'], 2, /X,Y or X,Y,WIDTH,HEIGHT/],
  [['blame', '1', '1,1,0,5'], 2, /X,Y or X,Y,WIDTH,HEIGHT/],
  [['blame', '1', '64,0'], 2, /64,0 lies outside of the picture of step-0001/],
  [['blame', '7', '0,0'], 3, /there is no step-0007/],
  [['blame', '1'], 2, /missing required argument/],
  [['bisect', '--good', '2', '--bad', '1', '--region', '0,0'], 2, /step-0002 does not come before step-0001/],
  [['bisect', '--good', '1', '--bad', '2'], 2, /either --region or --fact/],
  [['bisect', '--good', '1', '--bad', '2', '--region', '0,0', '--fact', 'x'], 2, /either --region or --fact/],
])('%j ends with exit %i', async (args, code, message) => {
  const dir = await recorded([canvas(64, 64), canvas(64, 64)]);
  const outcome = await run(dir, [...args, '--root', join(dir, '..'), '--json']);
  expect([outcome.code, outcome.stdout]).toEqual([code, '']);
  expect(errorOf(outcome).message).toMatch(message);
});

test.skipIf(samplesOf('cli-anything') === null)(
  'a recording of CLI-Anything keeps no tiles, which is said',
  async () => {
    const copy = copySample(join(samplesOf('cli-anything')!, 'shotcut/manual'));
    const root = readdirSync(copy, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('session.json'),
    )!;
    const outcome = await run(copy, ['blame', join(copy, root, '..'), '0,0', '--json']);
    expect([outcome.code, outcome.stdout]).toEqual([3, '']);
    expect(errorOf(outcome).message).toMatch(/no picture whose tiles are known/);
  },
);
