// `previews export --format timelapse`, with the real ffmpeg: what the film is, and that the right picture is seen at the
// right time.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PNG } from 'pngjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { done, errorOf, previews, previewsArgv, until } from '../helpers/cli.js';
import { png, recordSession, snapshot, temporary } from '../helpers/project.js';
import { seedSteps } from '../helpers/publish.js';

type Colour = [number, number, number];
const RED: Colour = [220, 40, 40];
const GREEN: Colour = [40, 160, 60];
const BLUE: Colour = [40, 60, 200];

/** A picture of one colour. */
function plain(width: number, height: number, colour: Colour): Buffer {
  const made = new PNG({ width, height });
  for (let at = 0; at < made.data.length; at += 4) made.data.set([...colour, 255], at);
  return PNG.sync.write(made);
}

const hasFfmpeg = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'ffmpeg')));

const film = (ref: string, out: string, ...more: string[]) =>
  previews('/', ['export', ref, '--format', 'timelapse', '-o', out, '--json', ...more], {
    TMPDIR: temporary(),
  });

function probe(file: string): Record<string, any> {
  const said = execFileSync('ffprobe', ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', file]);
  const { streams, format } = JSON.parse(said.toString());
  expect(streams).toHaveLength(1);
  return { ...streams[0], format };
}

/** Frames looked at in a second: a frame of the film is seen in all of them until the next. */
const RATE = 10;

type Watched = (seconds: number, place: [number, number]) => Colour;

/** Plays a film; gives the colour of a place, as shares of its width and height, at a time. */
function watch(file: string): Watched {
  const { width, height } = probe(file);
  const pixels = execFileSync(
    'ffmpeg',
    [
      ...['-v', 'error', '-i', file, '-vf', `fps=${RATE},scale=in_color_matrix=bt709,format=rgb24`],
      ...['-f', 'rawvideo', '-'],
    ],
    { maxBuffer: 256 * 1024 * 1024 },
  );
  return (seconds, [x, y]) => {
    const frame = Math.round(seconds * RATE) * width * height;
    const at = (frame + Math.floor(height * y) * width + Math.floor(width * x)) * 3;
    expect(at + 3).toBeLessThanOrEqual(pixels.length);
    return [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!];
  };
}

/** H.264 with half the colours loses a little. */
const isNear = (found: Colour, wanted: Colour) =>
  found.every((part, at) => Math.abs(part - wanted[at]!) <= 12);
const expectColour = (found: Colour, wanted: Colour, what: string) =>
  expect(isNear(found, wanted), `${what}: ${found} is not near ${wanted}`).toBe(true);

/** The middle of the stage of a film that is wider than high, and its left upper corner. */
const MIDDLE: [number, number] = [0.345, 0.3];
const EDGE: [number, number] = [0.001, 0.001];

const heroes: (Buffer | null)[] = [
  plain(160, 90, RED),
  plain(40, 120, GREEN),
  // Failed: no picture.
  null,
  plain(8, 8, BLUE),
];

async function recorded(): Promise<string> {
  const { dir } = await recordSession(4, {
    each: (n) => {
      const hero = heroes[n - 1]!;
      return hero
        ? [
            {
              artifacts: [{ content: hero, role: 'hero', name: 'a.png' }],
              headline: 'مرحبا 🎉 \x1b[31m \u202e',
            },
            {},
          ]
        : [
            { artifacts: [{ content: 'boom\n', role: 'log', name: 'a.log' }], status: 'error' },
            { command: `fail ${'very long '.repeat(400)}`, exit_code: 3 },
          ];
    },
  });
  return dir;
}

describe.skipIf(!hasFfmpeg)('a film', () => {
  let dir: string;
  let out: string;
  let said: Record<string, any>;
  beforeAll(async () => {
    dir = await recorded();
    out = join(temporary(), 'film.mp4');
    said = await done(film(dir, out, '--size', '640x360'));
  });

  test('is H.264 that every player takes, of the size and length asked for, with a picture a step', () => {
    const { codec_name, pix_fmt, width, height, duration, nb_frames } = probe(out);
    expect({ codec_name, pix_fmt, width, height }).toEqual({
      codec_name: 'h264',
      pix_fmt: 'yuv420p',
      width: 640,
      height: 360,
    });
    expect(Number(duration)).toBeCloseTo(4, 2);
    // The last is named twice, so that it lasts.
    expect(Number(nb_frames)).toBe(5);
    expect(said).toEqual({
      format: 'timelapse',
      output: out,
      steps: 4,
      pictures: 3,
      duration_s: 4,
      width: 640,
      height: 360,
      bytes: statSync(out).size,
      problems: [],
    });
    // What a player needs to begin comes first.
    const bytes = readFileSync(out);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
    expect(bytes.indexOf('moov')).toBeGreaterThan(0);
  });

  test('shows the right picture at the right time, letterboxed, and a failed step as one', () => {
    const colour = watch(out);
    for (const [seconds, wanted, what] of [
      [0.1, RED, 'step 1'],
      [0.9, RED, 'step 1 at its end'],
      [1.1, GREEN, 'step 2'],
      [3.1, BLUE, 'step 4'],
      [3.9, BLUE, 'step 4 at its end'],
    ] as const)
      expectColour(colour(seconds, MIDDLE), wanted, what);
    // Beside the upright picture nothing is stretched.
    expectColour(colour(1.5, [0.1, 0.5]), [14, 16, 19], 'beside step 2');
    // Step 3 keeps the picture before it, dimmed, within a red frame.
    const dimmed = GREEN.map((part, at) => [14, 16, 19][at]! + (part - [14, 16, 19][at]!) * 0.28) as Colour;
    expectColour(colour(2.5, MIDDLE), dimmed, 'step 3');
    expectColour(colour(2.5, EDGE), [255, 123, 134], 'the frame of step 3');
    expectColour(colour(1.5, EDGE), [14, 16, 19], 'no frame of step 2');
  });

  test('by time, by some steps, upright', async () => {
    const timed = join(temporary(), 'timed.mp4');
    await done(film(dir, timed, '--by', 'time', '--idle-limit', '2', '--speed', '8', '--size', '640x360'));
    // They were recorded at once, so each is seen for the least time and the last for a second.
    expect(Number(probe(timed).duration)).toBeLessThan(2.5);
    const part = join(temporary(), 'part.mp4');
    const told = await done(
      film(dir, part, '--steps', '2..3', '--seconds-per-step', '0.5', '--size', '360x640'),
    );
    expect(told).toMatchObject({ steps: 2, pictures: 1, duration_s: 1, width: 360, height: 640 });
    expect(Number(probe(part).duration)).toBeCloseTo(1, 2);
    expectColour(watch(part)(0.2, [0.5, 0.3]), GREEN, 'step 2');
  });

  test('replaces an earlier film, and nothing else', async () => {
    const here = temporary();
    const again = join(here, 'film.mp4');
    const args = ['--steps', '1', '--size', '320x240'];
    await done(film(dir, again, ...args));
    await done(film(dir, again, ...args));
    writeFileSync(join(here, 'holiday.mp4'), readFileSync(again).subarray(0, -40));
    const before = snapshot(here);
    const refused = await film(dir, join(here, 'holiday.mp4'), ...args);
    expect(refused.code).toBe(2);
    expect(errorOf(refused).message).toMatch(/holds something else/);
    expect(snapshot(here)).toEqual(before);
  });

  test('I6 never into a session or a root, and the session stays as it is', async () => {
    const before = snapshot(dir);
    for (const place of [join(dir, 'film.mp4'), join(dir, '../film.mp4')]) {
      const refused = await film(dir, place);
      expect(refused.code).toBe(2);
      expect(errorOf(refused).code).toBe('usage');
    }
    expect(snapshot(dir)).toEqual(before);
  });

  test('a picture that cannot be read, or brings the renderer down, costs its frame the picture alone', async () => {
    const [good, last] = [plain(64, 64, RED), plain(64, 64, BLUE)];
    // 49 megapixels take more memory than is left to the renderer, which ends itself.
    const all = [good, good.subarray(0, 60), png(7000, 7000), last];
    const hostile = await recordSession(4, {
      each: (n) => [{ artifacts: [{ content: all[n - 1]!, role: 'hero', name: 'a.png' }] }, {}],
    });
    const file = join(temporary(), 'film.mp4');
    const told = await done(
      previews(
        '/',
        ['export', hostile.dir, '--format', 'timelapse', '-o', file, '--size', '320x240', '--json'],
        {
          PREVIEW_RENDER_MEMORY_MB: '180',
        },
      ),
    );
    expect(told['steps']).toBe(4);
    expect(Number(probe(file).duration)).toBeCloseTo(4, 2);
    expect(told['problems'].map(({ kind, where }: any) => [kind, where])).toEqual([
      ['picture_unread', 'Step 2'],
      ['picture_unread', 'Step 3'],
    ]);
    expect(told['problems'][1].detail).toMatch(/ended the renderer: .*more than 180 MB of memory/);
    const colour = watch(file);
    expectColour(colour(0.5, MIDDLE), RED, 'step 1');
    expectColour(colour(3.5, MIDDLE), BLUE, 'step 4');
  });

  test('an interrupt leaves nothing', async () => {
    const here = temporary();
    const scratch = temporary();
    const long = await recordSession(1);
    seedSteps(long.dir, 300);
    const argv = previewsArgv('export', long.dir, '--format', 'timelapse', '-o', join(here, 'film.mp4'));
    const child = spawn(argv[0]!, argv.slice(1), {
      env: { ...process.env, TMPDIR: scratch },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await until(
      () =>
        readdirSync(scratch, { recursive: true, encoding: 'utf8' }).some((name) =>
          name.endsWith('000003.png'),
        ),
      'the first frames',
    );
    expect(readdirSync(here)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended, stderr).toBe(130);
    expect(readdirSync(here)).toEqual([]);
    expect(readdirSync(scratch)).toEqual([]);
  });
});

describe('what is refused', () => {
  test('without ffmpeg: exit 4, the package named, nothing written', async () => {
    const { dir } = await recordSession(1);
    const here = temporary();
    const outcome = await previews(
      '/',
      ['export', dir, '--format', 'timelapse', '-o', join(here, 'a.mp4'), '--json'],
      {
        PATH: '/nonexistent',
      },
    );
    expect(outcome.code, outcome.stderr).toBe(4);
    expect(errorOf(outcome)).toMatchObject({
      code: 'renderer_missing',
      hint: expect.stringMatching(/apt-get install ffmpeg/),
    });
    expect(readdirSync(here)).toEqual([]);
  });

  test('sizes, paces and steps that make no film (I10)', async () => {
    const { dir } = await recordSession(1);
    const here = temporary();
    const refusal = async (code: number, ...args: string[]) => {
      const outcome = await film(dir, join(here, 'a.mp4'), ...args);
      expect(outcome.code, args.join(' ')).toBe(code);
      return errorOf(outcome).message;
    };
    for (const size of ['1921x1080', '1920x1200', '641x360', '100x100', '640', '1080x1922'])
      expect(await refusal(2, '--size', size)).toMatch(/even numbers/);
    expect(await refusal(2, '--seconds-per-step', '0')).toMatch(/from 0.12 to 60/);
    expect(await refusal(2, '--speed', '8')).toMatch(/for --by time/);
    expect(await refusal(2, '--by', 'time', '--seconds-per-step', '1')).toMatch(/for --by step/);
    expect(await refusal(3, '--steps', '2..9')).toMatch(/has no such steps/);
    const folder = await previews('/', [
      'export',
      dir,
      '--format',
      'cli-anything',
      '-o',
      join(here, 'x'),
      '--speed',
      '2',
      '--json',
    ]);
    expect(errorOf(folder).message).toMatch(/for --format timelapse/);
    seedSteps(dir, 5001);
    expect(await refusal(2)).toMatch(/5001 steps are more than the 5000 of one film/);
    expect(readdirSync(here)).toEqual([]);
  });
});
