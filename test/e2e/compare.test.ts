// Two steps compared in a real browser, by mouse and keyboard: pictures in every mode, clips, models, texts, JSON, and
// what cannot be compared; live and exported.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundleInput, openSession, publish } from '../../src/index.js';
import { type Child, previewsArgv, start, until } from '../helpers/children.js';
import { done, previews, REPOSITORY, run } from '../helpers/cli.js';
import { stl } from '../helpers/partfiles.js';
import { canvas, copyOf, fill, showing } from '../helpers/pictures.js';
import { temporary } from '../helpers/project.js';

// What runs in the page; these tests are compiled without a browser's types.
declare const document: any, location: any;

const SCREENS = join(REPOSITORY, 'test/e2e/screens');
const shot = (page: Page, name: string) => page.screenshot({ path: join(SCREENS, `compare-${name}.png`) });

/** By name, where a step of that kind is. */
const STEPS = {
  first: 1,
  changed: 2,
  failed: 3,
  later: 4,
  wider: 5,
  clear: 6,
  film: 7,
  longer: 8,
  block: 9,
  taller: 10,
  text: 11,
  edited: 12,
  data: 13,
  edits: 14,
  gone: 15,
  vast: 16,
  vaster: 17,
} as const;
const at = (index: number) => `step-${String(index).padStart(4, '0')}`;

const [RED, BLUE] = [[220, 40, 40, 255] as const, [40, 80, 220, 255] as const];

/** A clip in which each frame differs. */
async function clip(seconds: number): Promise<Buffer> {
  const folder = temporary();
  const { code, stderr } = await run(
    [
      'ffmpeg',
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      `testsrc=d=${seconds}:r=25:s=320x200`,
      '-c:v',
      'libvpx',
      '-b:v',
      '300k',
      'a.webm',
    ],
    { cwd: folder },
  );
  if (code !== 0) throw new Error(stderr);

  return readFileSync(join(folder, 'a.webm'));
}

/** Records all kinds of steps (`STEPS`) and returns the session's folder. */
async function record(): Promise<string> {
  const session = await openSession({ root: join(temporary(), '.preview'), env: {} });
  const add = (command: string, bundle: Omit<BundleInput, 'headline'>) =>
    publish(session, { headline: command, software: 'draw', ...bundle }, { command });
  const hero = (
    content: Buffer | string,
    name: string,
    media_type: string,
  ): Omit<BundleInput, 'headline'> => ({
    recipe: name,
    artifacts: [{ content, role: 'hero', name, media_type }],
  });
  const one = canvas(400, 300);
  fill(one, 40, 40, 60, 60, RED);
  await add('draw a square', showing(one));
  const two = copyOf(one);
  fill(two, 300, 200, 40, 30, BLUE);
  await add('draw a second one', showing(two));
  await add('draw nothing', {
    recipe: 'draw',
    status: 'error',
    artifacts: [{ content: 'no such colour\n', role: 'log', name: 'a.log' }],
  });
  const four = copyOf(two);
  fill(four, 45, 45, 20, 20, BLUE);
  await add('draw inside', showing(four));
  const five = canvas(480, 320);
  for (let y = 0; y < 300; y++) five.data.set(four.data.subarray(y * 1600, (y + 1) * 1600), y * 1920);
  await add('make it wider', showing(five));
  const six = canvas(480, 320, [0, 0, 0, 0]);
  fill(six, 100, 100, 80, 80, [220, 40, 40, 128]);
  await add('make it transparent', showing(six));
  await add('film', hero(await clip(1), 'film.webm', 'video/webm'));
  await add('film more', hero(await clip(2), 'film.webm', 'video/webm'));
  const { text: block } = await stl();
  await add('carve', hero(block, 'a.stl', 'model/stl'));
  const tall = block
    .toString()
    .replace(/vertex (\S+) (\S+) (\S+)/g, (_, x, y, z) => `vertex ${x} ${y} ${Number(z) * 3}`);
  await add('carve higher', hero(tall, 'a.stl', 'model/stl'));
  const lines = Array.from({ length: 400 }, (_, n) => `line ${n}`);
  await add('write', hero(`${lines.join('\n')}\n`, 'a.txt', 'text/plain'));
  lines[200] = 'line two hundred, <img src=x onerror=alert(1)>';
  lines.splice(300, 2);
  await add('write again', hero(`${lines.join('\n')}\n`, 'a.txt', 'text/plain'));
  const data = {
    name: 'rover',
    wheels: [{ r: 1 }, { r: 2 }, { r: 3 }],
    deep: { er: { here: 1.0 } },
    gone: true,
  };
  await add('data', hero(JSON.stringify(data, null, 2), 'a.json', 'application/json'));
  const edits = {
    wheels: [{ r: 0 }, { r: 1 }, { r: 2 }, { r: 4 }],
    name: 'rover',
    deep: { er: { here: 2 } },
    '<b>': null,
  };
  await add('data again', hero(JSON.stringify(edits), 'a.json', 'application/json'));
  await add('lost later', showing(one, 'lost'));
  const vast = canvas(3840, 2160);
  fill(vast, 100, 100, 900, 700, RED);
  await add('draw vast', showing(vast, 'vast'));
  const vaster = copyOf(vast);
  fill(vaster, 3000, 1900, 120, 80, BLUE);
  await add('draw vaster', showing(vaster, 'vast'));
  rmSync(join(session.dir, 'bundle_015'), { recursive: true, force: true });
  return session.dir;
}

let dir: string;
let browser: Browser;
let server: Child;
const urls: Record<'live' | 'exported', string> = { live: '', exported: '' };
const faults: string[] = [];

beforeAll(async () => {
  mkdirSync(SCREENS, { recursive: true });
  dir = await record();
  server = start(previewsArgv('watch', dir, '--json'), { cwd: dir, limit_ms: 300_000 });
  await until(() => server.out().includes('\n') || server.ended(), { deadline_ms: 60_000, what: 'a server' });
  urls.live = JSON.parse(server.out()).url;
  const page = join(temporary(), 'page.html');
  await done(previews(dir, ['html', dir, '--output', page, '--json']));
  urls.exported = pathToFileURL(page).href;
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--autoplay-policy=no-user-gesture-required'],
  });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  server?.kill('SIGTERM');
  await server?.done;
});

describe.each(['live', 'exported'] as const)('comparing in the page, %s', (way) => {
  let page: Page;
  beforeAll(async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => faults.push(`${way}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${way}: ${message.text()}`);
    });
    await page.goto(urls[way]);
    await page.getByRole('tab', { name: 'Compare' }).waitFor();
  });
  afterAll(async () => {
    await page?.context().close();
    expect(faults.splice(0)).toEqual([]);
  });
  /** Shows two steps beside each other. */
  const compare = async (step: number, versus: number, more = '') => {
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/session_001/${at(step)}?tab=compare&vs=${at(versus)}${more}`,
    );
    await page.waitForFunction(
      ([now, then]) =>
        document.querySelector('.film [role=slider]')?.getAttribute('aria-valuenow') === String(now) &&
        document.querySelector('.compare-bar input')?.value === String(then),
      [step, versus],
    );
  };
  const stage = () => page.getByRole('main');
  const says = (words: string | RegExp) => stage().getByText(words).first().waitFor();

  test('pictures: every mode by click and by key, and their changed pixels', async () => {
    await compare(STEPS.changed, STEPS.first, '&mode=swipe');
    await says('1,200 pixels changed, 1.0%');
    const modes = page.getByRole('radiogroup', { name: 'How to compare' });
    for (const [n, name] of ['Side by side', 'Swipe', 'Onion skin', 'Difference', 'Blink'].entries()) {
      await page.keyboard.press(String(n + 1));
      await modes.getByRole('radio', { name, checked: true }).waitFor();
      if (way === 'live') await shot(page, `mode-${n + 1}`);
    }
    await modes.getByRole('radio', { name: 'Swipe' }).click();
    const line = page.getByRole('slider', { name: 'Where the older picture ends' });
    const before = Number(await line.getAttribute('aria-valuenow'));
    await line.press('ArrowLeft');
    expect(Number(await line.getAttribute('aria-valuenow'))).toBe(before - 2);
    const box = (await line.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 200, box.y + 200, { steps: 4 });
    await page.mouse.up();
    expect(Number(await line.getAttribute('aria-valuenow'))).toBeGreaterThan(before + 10);
    expect(await page.evaluate(() => location.hash)).toContain('mode=swipe');
    expect(await page.evaluate(() => location.hash)).toContain('vs=step-0001');
  });

  test('n and p go from region to region', async () => {
    await compare(STEPS.later, STEPS.first, '&mode=difference');
    await says('2 regions');
    await page.keyboard.press('n');
    await says('region 1 of 2');
    await page.keyboard.press('n');
    await says('region 2 of 2');
    await page.keyboard.press('p');
    await says('region 1 of 2');
  });

  test('sizes that differ are said; a transparent picture is compared', async () => {
    await compare(STEPS.wider, STEPS.later, '&mode=side');
    await says(/the sizes differ: 400 × 300 and 480 × 320/);
    await compare(STEPS.clear, STEPS.wider, '&mode=onion');
    await says(/pixels changed/);
    if (way === 'live') await shot(page, 'transparent');
  });

  test('a 4K pair is compared', async () => {
    await compare(STEPS.vaster, STEPS.vast, '&mode=difference');
    await says('9,600 pixels changed, 0.1%');
  });

  test('a step that failed, and one whose bundle is gone, are said', async () => {
    await compare(STEPS.failed, STEPS.changed);
    await says('The render of step 3 failed, so it has no picture.');
    await compare(STEPS.changed, STEPS.gone);
    await says('Nothing of what was recorded of step 15 is left.');
  });

  test('two clips have one time code', async () => {
    await compare(STEPS.longer, STEPS.film);
    await says('1.00 and 2.00 s long');
    const times = () =>
      page.evaluate(() => [...document.querySelectorAll('video')].map((v: any) => v.currentTime));
    const time = page.getByRole('slider', { name: 'Time code' });
    await page.keyboard.press('.');
    await page.keyboard.press('.');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((v: any) => Math.abs(v.currentTime - 0.08) < 0.01),
    );
    await page.keyboard.press(',');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((v: any) => Math.abs(v.currentTime - 0.04) < 0.01),
    );
    await time.fill('1.5');
    await page.waitForFunction(
      () => Math.abs(document.querySelectorAll('video')[1].currentTime - 1.5) < 0.01,
    );
    expect((await times())[0]).toBeCloseTo(1, 1);
    await page.getByRole('combobox', { name: 'Rate' }).selectOption('0.25');
    expect(
      await page.evaluate(() => [...document.querySelectorAll('video')].map((v: any) => v.playbackRate)),
    ).toEqual([0.25, 0.25]);
    await time.fill('0.2');
    await page.keyboard.press('Space');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((v: any) => v.currentTime > 0.25 && !v.paused),
    );
    await page.keyboard.press('Space');
    await page.waitForFunction(() => [...document.querySelectorAll('video')].every((v: any) => v.paused));
    const [a, b] = await times();
    expect(Math.abs(a! - b!)).toBeLessThan(0.15);
    if (way === 'live') await shot(page, 'clips');
  });

  test('two models have one camera', async () => {
    await compare(STEPS.taller, STEPS.block);
    const models = stage().locator('canvas[role=img]');
    await models.nth(1).waitFor();
    await page.waitForFunction(() => document.querySelectorAll('.part-model:not([aria-busy])').length === 2);
    const pictures = async () => {
      await page.evaluate(
        () =>
          new Promise((drawn) =>
            (globalThis as any).requestAnimationFrame(() => (globalThis as any).requestAnimationFrame(drawn)),
          ),
      );
      return Promise.all([0, 1].map(async (n) => (await models.nth(n).screenshot()).toString('base64')));
    };
    const before = await pictures();
    await models.nth(0).press('ArrowRight');
    await models.nth(0).press('ArrowRight');
    const after = await pictures();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    const box = (await models.nth(1).boundingBox())!;
    await page.mouse.move(box.x + 100, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 200, box.y + 130, { steps: 5 });
    await page.mouse.up();
    const last = await pictures();
    expect(last[0]).not.toBe(after[0]);
    expect(last[1]).not.toBe(after[1]);
    if (way === 'live') await shot(page, 'models');
  });

  test('two texts: their lines, unified and beside each other', async () => {
    await compare(STEPS.edited, STEPS.text);
    await says(/^1 line added, 3 removed/);
    const table = stage().getByRole('table').first();
    expect(await table.innerText()).toContain('<img src=x onerror=alert(1)>');
    expect(await table.locator('tr').count()).toBeLessThan(30);
    if (way === 'live') await shot(page, 'texts');
    await page.setViewportSize({ width: 1500, height: 800 });
    await stage().getByRole('button', { name: 'Side by side' }).click();
    await stage().locator('table.beside').waitFor();
    await stage().getByRole('button', { name: 'All lines' }).click();
    await page.waitForFunction(() => document.querySelectorAll('table.beside tr').length > 390);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('two JSON documents: what differs, as a tree', async () => {
    await compare(STEPS.edits, STEPS.data);
    await says('2 values changed, 2 added, 1 removed');
    const tree = stage().locator('.json-diff');
    const words = (await tree.innerText()).replace(/\s+/g, ' ');
    expect(words).toContain('deep.er.here 1 → 2');
    expect(words).toContain('[0] {"r":0}');
    expect(words).toContain('[3].r 3 → 4');
    expect(words).toContain('["<b>"] null');
    expect(words).toContain('gone true');
    expect(words).not.toContain('rover');
    if (way === 'live') await shot(page, 'json');
  });

  test('different kinds are said, and both offered', async () => {
    await compare(STEPS.edited, STEPS.block);
    await says('They are of different kinds: a model in step-0009, a text in step-0012.');
    expect(await stage().getByRole('link', { name: 'Download' }).count()).toBe(2);
    if (way === 'live') await shot(page, 'kinds');
  });

  /** Where a pixel of the later picture is on the screen. */
  const placeOf = async (x: number, y: number) => {
    const box = (await stage().locator('.zoom-frame img').last().boundingBox())!;
    const width = await page.evaluate(
      () => [...document.querySelectorAll('main .zoom-frame img')].at(-1).naturalWidth,
    );
    const scale = box.width / width;
    return [box.x + (x + 0.5) * scale, box.y + (y + 0.5) * scale] as const;
  };
  const answer = () => stage().locator('.blame-answer');

  test('who changed this: a click, a box and a key ask, and answer as `previews blame` does', async () => {
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/session_001/${at(STEPS.later)}`,
    );
    await page
      .getByRole('complementary')
      .getByRole('heading', { name: at(STEPS.later) })
      .waitFor();
    await page.waitForFunction(() => document.querySelector('main .zoom-frame img')?.complete);
    await stage().getByRole('button', { name: 'Who changed this?' }).click();
    const ask = async (x: number, y: number) => {
      await page.mouse.click(...(await placeOf(x, y)));
      return done(previews(dir, ['blame', `${dir}/${at(STEPS.later)}`, `${x},${y}`, '--json']));
    };
    for (const [x, y, by] of [
      [310, 210, STEPS.changed],
      [50, 50, STEPS.later],
      [200, 20, STEPS.first],
    ] as const) {
      const told = await ask(x, y);
      expect(told.changed_by.step_id).toBe(at(by));
      await answer()
        .getByRole('button', { name: at(by) })
        .waitFor();
      const words = await answer().innerText();
      expect(words).toContain(told.changed_by.command);
      if (told.changed_by.before !== null)
        expect(words).toContain(`Changed from step ${Number(told.changed_by.before.slice(5))}`);
      else expect(words).toContain('first picture');
      expect(words).toContain(
        `${told.region.width} × ${told.region.height} px at ${told.region.x}, ${told.region.y}`,
      );
      expect(words).toContain(`the ${told.looked_at.width} × ${told.looked_at.height} px of its tiles`);
      if (told.changed_by.between > 0)
        expect(words).toContain(`${told.changed_by.between} step between the two`);
    }
    expect(await answer().innerText()).toContain('Passed over: 1 failed.');
    await page.mouse.move(...(await placeOf(290, 190)));
    await page.mouse.down();
    await page.mouse.move(...(await placeOf(330, 225)), { steps: 3 });
    await page.mouse.up();
    await answer()
      .getByRole('button', { name: at(STEPS.changed) })
      .waitFor();
    if (way === 'live') await shot(page, 'blame');
    await page.keyboard.press('Escape');
    await answer().waitFor({ state: 'detached' });
    await page.keyboard.press('b');
    await page.getByRole('button', { name: /^Place of the picture/ }).press('Enter');
    await answer()
      .getByRole('button', { name: at(STEPS.first) })
      .click();
    await page
      .getByRole('complementary')
      .getByRole('heading', { name: at(STEPS.first) })
      .waitFor();
    await answer().waitFor({ state: 'detached' });
  });

  test('who changed this, while comparing: the answer is compared with the step before it', async () => {
    await compare(STEPS.later, STEPS.first, '&mode=onion');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('main img')].every((img: any) => img.complete),
    );
    await page.keyboard.press('b');
    await page.mouse.click(...(await placeOf(310, 210)));
    if (way === 'live') await shot(page, 'blame-compared');
    await answer()
      .getByRole('button', { name: at(STEPS.changed) })
      .click();
    await page.waitForFunction(
      () => location.hash.includes('step-0002') && location.hash.includes('vs=step-0001'),
    );
  });
});
