// The parts of the viewer in Chromium, under the viewer's policy: real files, hostile ones, and nothing left behind.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { REPOSITORY } from '../helpers/cli.js';
import * as files from '../helpers/partfiles.js';
import { type PartPage, partPage, type Shown } from '../helpers/partpage.js';

const ESC = '\u001b';
const SCREENS = join(REPOSITORY, 'test/e2e/screens');
let part: PartPage;

beforeAll(async () => {
  mkdirSync(SCREENS, { recursive: true });
  part = await partPage();
});
afterEach(async () => {
  await part.hide();
  expect(await part.page.locator('#stage').innerHTML()).toBe('');
  expect(part.faults).toEqual([]);
  expect(part.asked).toEqual([]);
});
afterAll(async () => {
  await part.close();
  expect(part.faults).toEqual([]);
});

/** Both themes into the folder of screens; whoever changes a part looks at them. */
async function screens(name: string): Promise<void> {
  for (const theme of ['dark', 'light'] as const) {
    await part.page.evaluate((to) => (globalThis as any).retheme(to), theme);
    await part.page.evaluate(
      () =>
        new Promise((done) =>
          (globalThis as any).requestAnimationFrame(() => (globalThis as any).requestAnimationFrame(done)),
        ),
    );
    await part.page.screenshot({ path: join(SCREENS, `part-${name}-${theme}.png`) });
    expect(await serious()).toEqual([]);
  }
}

/** What axe finds that is serious. The page's policy keeps a script from being put into it, so it goes in by the debugger. */
async function serious(): Promise<string[]> {
  await part.page.evaluate(axe.source);
  return part.page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run({
      include: ['#stage'],
      // Colours of their own are the recorded program's.
      exclude: ['.term [style]', '.lines [style]'],
    });
    return violations
      .filter(({ impact }: any) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }: any) =>
          `${id}: ${nodes
            .slice(0, 2)
            .map((node: any) => node.html)
            .join(' ')}`,
      );
  });
}

const stage = () => part.page.locator('#stage');
const button = (name: string | RegExp) => part.page.getByRole('button', { name });
/** Waits until a locator has a text. */
const says = (locator: Locator, text: string | RegExp) =>
  expect.poll(async () => (await locator.allTextContents()).join('\n'), { timeout: 15_000 }).toMatch(text);

describe('model', () => {
  const media: Record<string, string> = {
    stl: 'model/stl',
    glb: 'model/gltf-binary',
    gltf: 'model/gltf+json',
    obj: 'model/obj',
  };
  const show = (form: string, bytes: Shown['bytes'], claimed?: number) =>
    part.show('model', { bytes, media_type: media[form]!, claimed });

  /** The picture that is drawn, as a number; a canvas is empty right after its frame, so it is taken as a screenshot. */
  const picture = async () => (await stage().locator('canvas').screenshot()).toString('base64');

  test('STL of OpenSCAD, in text and binary: the size, the triangles, edges that can be hidden', async () => {
    const { text, binary } = await files.stl();
    for (const bytes of [text, binary]) {
      expect(await show('stl', bytes)).toEqual([]);
      await says(stage().locator('.part-said'), /^40 × 30 × 10 units, 1\d\d triangles$/);
    }
    await screens('model');
    const edged = await picture();
    await button('Edges').click();
    await expect.poll(picture).not.toBe(edged);
  });

  test('GLB with a picture in it, glTF with everything in data addresses, OBJ', async () => {
    expect(await show('glb', files.glb())).toEqual([]);
    await says(stage().locator('.part-said'), '1 × 1 × 0 m, 2 triangles');
    await screens('model-glb');
    const { document, bin } = files.gltf((made) => {
      made.images = [{ uri: `data:image/png;base64,${files.square.toString('base64')}` }];
    });
    document.buffers[0].uri = `data:application/octet-stream;base64,${bin.toString('base64')}`;
    expect(await show('gltf', JSON.stringify(document))).toEqual([]);
    await says(stage().locator('.part-said'), '2 triangles');
    const obj =
      'mtllib http://example.com/x.mtl\no a\nv 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 2 3\nf 1 2 4\n';
    expect(await show('obj', obj)).toEqual([]);
    await says(stage().locator('.part-said'), '2 × 3 × 4 units, 2 triangles');
  });

  test('turns by drag and by arrow keys, zooms by wheel and by keys, and draws only then', async () => {
    const { binary } = await files.stl();
    // Drawing without a graphics card takes its time.
    await part.page.setViewportSize({ width: 480, height: 320 });
    await part.page.evaluate(() => {
      const page = globalThis as any;
      page.frames = 0;
      const own = page.requestAnimationFrame.bind(page);
      page.requestAnimationFrame = (act: any) => {
        page.frames++;
        return own(act);
      };
    });
    await show('stl', binary);
    const canvas = stage().locator('canvas');
    let before = await picture();
    const changes = async (act: () => Promise<void>) => {
      await act();
      await expect.poll(picture).not.toBe(before);
      before = await picture();
    };
    await changes(async () => {
      await part.page.mouse.move(220, 130);
      await part.page.mouse.down();
      await part.page.mouse.move(300, 160, { steps: 4 });
      await part.page.mouse.up();
    });
    await changes(() => part.page.mouse.wheel(0, -400));
    await canvas.focus();
    for (const key of ['ArrowLeft', 'ArrowUp', '+', '-', '0'])
      await changes(() => part.page.keyboard.press(key));
    for (const name of ['Front', 'Top', 'Right', 'Fit']) await changes(() => button(name).click());
    const frames = () => part.page.evaluate(() => (globalThis as any).frames as number);
    const settled = await frames();
    // Two frames of the browser's own, without one of ours.
    await part.page.screenshot();
    await part.page.screenshot();
    expect(await frames()).toBe(settled);
    await part.page.setViewportSize({ width: 1100, height: 700 });
  });

  test.each<[string, string, Shown['bytes'] | (() => Shown['bytes']), RegExp]>([
    ['cut off', 'glb', () => files.glb().subarray(0, 400), /cut off/],
    ['a header alone', 'glb', Buffer.from('glTF'), /cut off/],
    ['no JSON', 'gltf', '{"asset":', /cannot be drawn: /],
    [
      'a buffer elsewhere',
      'glb',
      () => files.glb((made) => (made.buffers = [{ byteLength: 4, uri: 'http://127.0.0.1:9/x.bin' }])),
      /outside itself \(http:\/\/127/,
    ],
    [
      'a picture elsewhere',
      'glb',
      () => files.glb((made) => (made.images = [{ uri: '../../secret.png' }])),
      /outside itself \(\.\.\/\.\.\/secret/,
    ],
    [
      'nodes in a circle',
      'glb',
      () => files.glb((made) => (made.nodes = [{ children: [1] }, { children: [0] }])),
      /no tree/,
    ],
    [
      'two billion points',
      'glb',
      () => files.glb((made) => (made.accessors[0] = { componentType: 5126, count: 2e9, type: 'VEC3' })),
      /2000000000 elements/,
    ],
    [
      'compressed',
      'glb',
      () => files.glb((made) => (made.extensionsRequired = ['KHR_draco_mesh_compression'])),
      /draco/,
    ],
    [
      'an accessor past the end',
      'glb',
      () => files.glb((made) => (made.accessors[0].count = 4000)),
      /cannot be drawn/,
    ],
    ['no STL', 'stl', 'solid nothing\nendsolid nothing\n', /is damaged|no triangles/],
    [
      'an STL that promises more than it has',
      'stl',
      () => {
        const bytes = Buffer.alloc(200);
        bytes.writeUInt32LE(4e9, 80);
        return bytes;
      },
      /is damaged|no triangles/,
    ],
    ['an empty OBJ', 'obj', '# nothing\n', /nothing to be seen/],
  ])('says in words what it does not draw: %s', async (_name, form, bytes, words) => {
    const problems = await show(form, typeof bytes === 'function' ? bytes() : bytes);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(words);
  });

  test('says that a file is too large before it is asked for', async () => {
    expect(await show('stl', 'x', 200e6 + 1)).toEqual(['It has 200 MB; up to 200 MB are shown.']);
  });

  test('says so where there is no WebGL', async () => {
    const without = await partPage(['--disable-gpu', '--disable-3d-apis']);
    try {
      const { binary } = await files.stl();
      const problems = await without.show('model', { bytes: binary, media_type: 'model/stl' });
      expect(problems).toEqual([expect.stringMatching(/no WebGL/)]);
    } finally {
      await without.close();
    }
    expect(without.faults).toEqual([]);
  });
});

describe('cast', () => {
  const show = (bytes: Shown['bytes'], claimed?: number) =>
    part.show('cast', { bytes, media_type: 'application/x-asciicast', claimed });
  const term = () => stage().locator('.term');
  const made = (events: [number, string, string][], header: object = {}) =>
    `${[{ version: 2, width: 40, height: 6, ...header }, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`;

  test('what `preview run` kept, as the command left it; played, paused and scrubbed', async () => {
    const kept = await files.cast(
      `printf '\\033[1;31mred\\033[0m 部品 \\033[48;5;24m256\\033[0m\\n'; sleep 1; printf '\\033[38;2;1;2;3mtrue\\033[0m\\n'; sleep 3; echo last`,
    );
    expect(await show(kept)).toEqual([]);
    await says(term(), /red 部品 256\s*true\s*last/);
    await says(stage(), '0:03 / 0:03');
    await says(stage(), '1 second of silence skipped');
    expect(await term().locator('.bold.fore-9').textContent()).toBe('red');
    expect(
      await term()
        .getByText('true')
        .evaluate((found: any) => found.style.color),
    ).toBe('rgb(1, 2, 3)');
    await screens('cast');

    const slider = part.page.getByRole('slider', { name: 'Moment' });
    await slider.fill('0.5');
    await expect.poll(() => term().textContent()).not.toMatch(/true|last/);
    await part.page.getByRole('combobox', { name: 'Speed' }).selectOption('8');
    await button('Play').click();
    await says(term(), 'last');
    await expect.poll(() => button('Play').count()).toBe(1);
    await button('Play').click();
    await button('Pause').click();
    const at = await slider.inputValue();
    await part.page.screenshot();
    expect(await slider.inputValue()).toBe(at);
  });

  test('by keys: from the start, event by event, to the end', async () => {
    await show(
      made([
        [0, 'o', 'one'],
        [1, 'o', '\r\ntwo'],
        [2, 'o', '\r\nthree'],
      ]),
    );
    await stage().getByRole('region', { name: 'Terminal' }).focus();
    const press = async (key: string, screen: RegExp) => {
      await part.page.keyboard.press(key);
      await expect.poll(() => term().textContent(), { message: key }).toMatch(screen);
    };
    await press('Home', /^one$/);
    await press('.', /^onetwo$/);
    await press(',', /^one$/);
    await press('End', /three/);
    await press('ArrowLeft', /^one$/);
    await press('ArrowRight', /three/);
  });

  test('the screen is resized, what left it is above it, and wide letters keep their columns', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `line ${n}\r\n`).join('');
    await show(
      made([
        [0, 'o', many],
        [0.5, 'r', '60x10'],
        [1, 'o', '漢字│\r\nab  │'],
      ]),
    );
    await says(term(), 'line 0');
    const edges = await term()
      .getByText('│')
      .evaluateAll((all: any[]) => all.map((one) => one.getBoundingClientRect().left));
    expect(edges).toHaveLength(2);
    expect(Math.abs(edges[0] - edges[1])).toBeLessThan(0.5);
  });

  test('nothing that a terminal does beyond its screen: no clipboard, link, title, bell or answer', async () => {
    await part.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await part.page.evaluate(() => (globalThis as any).navigator.clipboard.writeText('mine'));
    const evil = [
      `${ESC}]52;c;${Buffer.from('stolen').toString('base64')}\u0007`,
      `${ESC}]0;other title\u0007${ESC}]8;;javascript:alert(1)\u0007link${ESC}]8;;\u0007`,
      `${ESC}[5i${ESC}[21t${ESC}[c${ESC}[6n${ESC}[8;9999;9999t\u0007`,
      `${ESC}[2000000000S${ESC}[2000000000b${ESC}P1$r0m${ESC}\\`,
      '<script>globalThis.ran = true</script>',
    ];
    expect(await show(made(evil.map((text, n) => [n / 10, 'o', text])))).toEqual([]);
    await says(term(), /link.*<script>/s);
    expect(await stage().locator('a, script').count()).toBe(0);
    expect(await part.page.title()).toBe('part');
    expect(
      await part.page.evaluate(
        () => [(globalThis as any).ran, (globalThis as any).navigator.clipboard.readText()][0],
      ),
    ).toBeUndefined();
    expect(await part.page.evaluate(() => (globalThis as any).navigator.clipboard.readText())).toBe('mine');
  });

  test('a recording that was cut off, with clocks that make no sense and sizes of no terminal', async () => {
    const text = made(
      [
        [0, 'o', 'first'],
        [-5, 'o', ' back'],
        [1e300, 'o', ' later'],
        [0, 'r', '99999x99999'],
        [0, 'm', 'a mark'],
      ],
      { width: 1e9, height: -3 },
    );
    expect(await show(`${text}[3.5, "o", "cut of`)).toEqual([]);
    await says(term(), 'first back later');
    await says(stage(), '1 line could not be read');
    await says(stage(), 'at 0:02: a mark');
    await says(stage(), '0:02 / 0:02');
    expect(await term().locator('.term-row').count()).toBe(200);
  });

  test('more than is played is said', async () => {
    const line = JSON.stringify([0.1, 'o', `${'x'.repeat(70)}\r\n`.repeat(1000)]);
    const text = `${made([])}${`${line}\n`.repeat(300)}`;
    expect(text.length).toBeGreaterThan(20e6);
    expect(await show(text)).toEqual([]);
    await says(stage(), /the last [\d.]+ MB are left out/);
  });

  test.each([
    ['', /no asciicast/],
    ['{"version":3}\n', /no asciicast/],
    ['null\n', /no asciicast/],
    ['\u0000\u0001', /no asciicast/],
  ])('what is no cast is said: %j', async (text, words) => {
    expect(await show(text)).toEqual([expect.stringMatching(words)]);
  });
});

describe('text', () => {
  const show = (bytes: Shown['bytes']) => part.show('text', { bytes, media_type: 'text/plain' });
  const rows = () => stage().locator('.row');

  test('lines have numbers, colours are drawn, and what cannot be seen is', async () => {
    const log = [
      `${ESC}[32mok${ESC}[0m ${ESC}[1;38;5;208mbright`,
      `still bright${ESC}[0m ${ESC}[41;37m white on red ${ESC}[0m`,
      `${ESC}]0;title\u0007 ${ESC}[2J bell\u0007 nul\u0000`,
      `if (access !== "user\u202e \u2066// admin\u2069 \u2066") {`,
      '10%\r20%\r100%',
      '<script>globalThis.ran = true</script> & <b>not bold</b>',
      '',
      'tab\tend',
    ].join('\n');
    expect(await show(log)).toEqual([]);
    await says(stage().locator('.part-said'), /^10 lines, \d+ B$/);
    expect(await stage().locator('.fore-2').textContent()).toBe('ok');
    expect(
      await stage()
        .getByText('still bright')
        .evaluate((found: any) => [found.className, found.style.color]),
    ).toEqual(['bold', 'rgb(255, 135, 0)']);
    expect(await rows().nth(2).textContent()).toBe('\\x1b]0;title\\x07 \\x1b[2J bell\\x07 nul\\x00');
    expect(await rows().nth(3).textContent()).toContain('"user\\u202e \\u2066// admin');
    expect(await rows().nth(7).textContent()).toBe(
      '<script>globalThis.ran = true</script> & <b>not bold</b>',
    );
    expect(await rows().nth(9).getAttribute('data-n')).toBe('10');
    expect(await part.page.evaluate(() => (globalThis as any).ran)).toBeUndefined();
    await screens('text');
  });

  test('100,000 lines: few rows at a time, 2 MB at first, more when asked, all of it found by the browser', async () => {
    const log = Array.from({ length: 100_000 }, (_, n) => `${ESC}[2m${n}${ESC}[0m ${'word '.repeat(8)}`).join(
      '\n',
    );
    await show(log);
    await says(stage().locator('.part-said'), /^first [\d,]+ lines, 2\.1 MB of/);
    expect(await rows().count()).toBeLessThan(2000);
    while (await button(/^Show .* more of/).isVisible()) await button(/^Show .* more of/).click();
    await says(stage().locator('.part-said'), /^100,000 lines/);
    await stage().getByRole('region', { name: 'Text' }).focus();
    await part.page.keyboard.press('End');
    await expect.poll(() => rows().last().getAttribute('data-n')).toBe('100000');
    expect(await rows().last().textContent()).toMatch(/^99999 word/);
    expect(await rows().count()).toBeLessThan(2000);
    expect(await part.page.evaluate(() => (globalThis as any).find('54321 word'))).toBe(true);
  });

  test('one endless line, wrapped and not; UTF-16; bytes that are no text', async () => {
    await show('x'.repeat(1_000_000));
    await says(stage().locator('.part-said'), /^1 line, 1 MB$/);
    const wide = () =>
      stage()
        .locator('.part-scroll')
        .evaluate((found: any) => found.scrollWidth > found.clientWidth);
    expect(await wide()).toBe(false);
    await button('Wrap').click();
    expect(await wide()).toBe(true);
    await show(Buffer.from('\ufeffgrün', 'utf16le'));
    await says(rows(), /^grün$/);
    await show(Buffer.from([0x61, 0xff, 0xfe, 0x00, 0x62]));
    await says(rows(), /^a\ufffd\ufffd\\x00b$/);
    await show('');
    await says(stage().locator('.part-said'), /^0 lines, 0 B$/);
  });
});

describe('patch', () => {
  const show = (bytes: Shown['bytes']) => part.show('patch', { bytes, media_type: 'text/x-diff' });
  const file = (name: string) =>
    stage()
      .locator('details')
      .filter({ has: part.page.locator('summary', { hasText: name }) });

  test('git: changed, new, deleted, renamed, binary, other modes, no newline at the end', async () => {
    expect(await show(await files.patch())).toEqual([]);
    await says(stage().locator('.part-said'), /^8 files$/);
    await says(file('changed.ts').locator('summary'), /changed\.ts\+2−2/);
    await says(file('gone.txt').locator('summary'), /deleted\+0−1/);
    await says(file('new name.txt').locator('summary'), /^old name\.txt → new name\.txtrenamed$/);
    await says(file('new name.txt'), 'Its content is the same');
    await says(file('picture.png'), /binary.*A binary file/s);
    await says(file('run.sh').locator('summary'), 'mode 100644 → 100755');
    await says(file('end.txt'), 'No newline at end of file');
    await says(file('<script>'), 'new');
    await says(file('bidi.txt'), '\\u202e');
    expect(await file('changed.ts').locator('.removed mark, .added mark').allTextContents()).toEqual([
      '10',
      '1',
    ]);
    expect(
      await file('changed.ts')
        .locator('tr.removed')
        .first()
        .locator('td')
        .evaluateAll((all: any[]) => all.map((one) => one.dataset.n ?? one.dataset.sign)),
    ).toEqual(['4', '', '−']);
    await screens('patch');
    await button('Side by side').click();
    await screens('patch-beside');
    const beside = file('changed.ts').locator('tr', { hasText: '103' }).locator('td');
    expect(await beside.allTextContents()).toEqual(['', 'const value3 = 3;', '', 'const value3 = 103;']);
    await part.page.setViewportSize({ width: 500, height: 700 });
    await expect.poll(() => file('changed.ts').locator('tr.removed').count()).toBe(2);
    expect(await button('Side by side').isVisible()).toBe(false);
    await part.page.setViewportSize({ width: 1100, height: 700 });
  });

  test('n and p go from file to file; a file opens and closes by keyboard', async () => {
    await show(await files.patch());
    const focused = () =>
      part.page.evaluate(() => (globalThis as any).document.activeElement.textContent as string);
    await stage().getByRole('region', { name: 'Changed files' }).focus();
    for (const [key, name] of [
      ['n', '<script>'],
      ['n', 'bidi.txt'],
      ['n', 'changed.ts'],
      ['p', 'bidi.txt'],
    ] as const) {
      await part.page.keyboard.press(key);
      expect(await focused(), key).toContain(name);
    }
    await part.page.keyboard.press('Enter');
    await expect.poll(() => file('bidi.txt').locator('table').count()).toBe(0);
    await part.page.keyboard.press('Enter');
    await expect.poll(() => file('bidi.txt').locator('table').count()).toBe(1);
  });

  test('a huge one: large files closed or in pieces, what is not read is said', async () => {
    const long = (name: string, n: number) =>
      `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -0,0 +1,${n} @@\n${'+some line of text\n'.repeat(n)}`;
    await show(`${long('a', 5000)}${long('b', 5000)}${long('c', 10)}`);
    await says(stage().locator('.part-said'), /^3 files$/);
    expect(
      await stage()
        .locator('details')
        .evaluateAll((all: any[]) => all.map((one) => one.open)),
    ).toEqual([true, false, false]);
    await button(/^Show 2,000 more lines of/).click();
    await button(/^Show 1,001 more lines of/).click();
    expect(await stage().locator('tr').count()).toBe(5001);
    await show(Array.from({ length: 120 }, (_, n) => long(`f${n}`, 5000)).join(''));
    await says(stage(), /What follows the first 10 MB of 1[\d.]+ MB is left out/);
  });

  test.each([
    ['', 'Nothing changed.'],
    ['hello\n', 'it has no files'],
    ['--- a\n+++ b\n@@ -1,2 +1,2 @@\nnot a line\n', 'it is no patch that can be read'],
    [`--- a\n+++ b\n@@ -1,99999999999 +1,1 @@\n-x\n`, 'it is no patch that can be read'],
  ])('what is no patch is shown as text, and why: %j', async (text, words) => {
    expect(await show(text)).toEqual([]);
    await says(stage().locator('.part-note'), words);
  });
});

describe('json', () => {
  const show = (bytes: Shown['bytes']) => part.show('json', { bytes, media_type: 'application/json' });
  const item = (name: RegExp) =>
    part.page
      .getByRole('treeitem')
      .filter({ has: part.page.locator(':scope > .json-row', { hasText: name }) })
      .last();
  const path = () => part.page.getByRole('status', { name: 'Path' }).textContent();

  const DOCUMENT = `{"name": "bracket", "parts": [{"id": 1, "ok": true, "none": null}, {"id": 123456789012345678901234567890}],
    "tiny": 1e-400, "twice": 1, "twice": 2, "__proto__": {"evil": 1}, "odd \\"key\\"": {"a\\nb": "<script>globalThis.ran = true</script>\\u202e"},
    "long": "${'word '.repeat(200)}", "big": [${Array.from({ length: 12_345 }, (_, n) => `{"i":${n}}`).join()}], "none": []}`;

  test('a tree with the values as they are written', async () => {
    expect(await show(DOCUMENT)).toEqual([]);
    await says(stage().locator('.json-row'), 'name: "bracket"');
    const all = await stage().locator('.json-row').allTextContents();
    expect(all).toContain('tiny: 1e-400');
    expect(all).toContain('__proto__: { 1 key }');
    expect(all.filter((row) => row.startsWith('twice'))).toEqual(['twice: 1', 'twice: 2']);
    expect(all).toContain('big: [ 12,345 items ]');
    expect(all).toContain('none: []');
    await says(stage().locator('.json-number'), '123456789012345678901234567890');
    await says(stage(), 'a\\nb: "<script>globalThis.ran = true</script>\\u202e"');
    await button('… 700 more characters').click();
    await says(item(/^long/), /word "$/);
    expect(await part.page.evaluate(() => (globalThis as any).ran)).toBeUndefined();
    await screens('json');
  });

  test('found, opened on the way, and copied', async () => {
    await show(DOCUMENT);
    await part.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () =>
      part.page.evaluate(() => (globalThis as any).navigator.clipboard.readText() as string);
    const find = part.page.getByRole('searchbox');
    await find.fill('12344');
    await find.press('Enter');
    await says(stage().locator('.part-said'), /^1 of 1$/);
    expect(await path()).toBe('$.big[12344].i');
    expect(await stage().locator('.json-row').count()).toBeLessThan(400);
    await button('Copy path').click();
    await expect.poll(copied).toBe('$.big[12344].i');
    await find.fill('SCRIPT');
    await find.press('Enter');
    expect(await path()).toBe('$["odd \\"key\\""]["a\\nb"]');
    await button('Copy value').click();
    await expect.poll(copied).toBe('<script>globalThis.ran = true</script>\u202e');
    await find.fill('id');
    for (const at of [1, 2, 1]) {
      await find.press('Enter');
      await says(stage().locator('.part-said'), new RegExp(`^${at} of 2$`));
    }
    await find.press('Shift+Enter');
    await says(stage().locator('.part-said'), /^2 of 2$/);
    await find.fill('nowhere');
    await find.press('Enter');
    await says(stage().locator('.part-said'), /^not found$/);
  });

  test('by keyboard, as trees are', async () => {
    await show('{"a": [1, {"b": 2}], "c": 3}');
    await part.page.getByRole('treeitem').first().focus();
    for (const [key, to] of [
      ['ArrowDown', '$.a'],
      ['ArrowLeft', '$.a'],
      ['ArrowRight', '$.a'],
      ['ArrowRight', '$.a[0]'],
      ['ArrowDown', '$.a[1]'],
      ['ArrowUp', '$.a[0]'],
      ['End', '$.c'],
      ['Home', '$'],
    ] as const) {
      await part.page.keyboard.press(key);
      expect(await path(), key).toBe(to);
    }
  });

  test('nested without end, and great numbers of values, are opened only as far as one looks', async () => {
    const deep = 100_000;
    expect(await show(`${'['.repeat(deep)}"bottom"${']'.repeat(deep)}`)).toEqual([]);
    await part.page.getByRole('searchbox').fill('bottom');
    await part.page.getByRole('searchbox').press('Enter');
    await says(stage().locator('.part-said'), 'nested too deeply to be shown');
    await show(`[${'0,'.repeat(1_000_000)}0]`);
    await says(stage().locator('.json-row'), '[ 1,000,001 items ]');
    expect(await stage().locator('.json-row').count()).toBeLessThan(150);
  });

  test.each([
    ['{"a": 1,}', 'no valid JSON'],
    ['', 'no valid JSON'],
    [`"${'x'.repeat(5_000_001)}"`, 'larger than 5 MB'],
  ])('what is none, and too much, is text', async (text, words) => {
    expect(await show(text)).toEqual([]);
    await says(stage().locator('.part-note'), words);
  });
});

test('nothing is left of 50 parts that were shown', async () => {
  const { binary } = await files.stl();
  const all: [string, Shown][] = [
    ['model', { bytes: binary, media_type: 'model/stl' }],
    ['cast', { bytes: '{"version":2}\n[0,"o","a"]\n[9,"o","b"]\n', media_type: 'application/x-asciicast' }],
    ['text', { bytes: 'line\n'.repeat(2000), media_type: 'text/plain' }],
    ['patch', { bytes: await files.patch(), media_type: 'text/x-diff' }],
    ['json', { bytes: '{"a":[1,2,{"b":null}]}', media_type: 'application/json' }],
  ];
  const debug = await part.page.context().newCDPSession(part.page);
  await debug.send('Performance.enable');
  const round = async (times: number) => {
    for (let n = 0; n < times; n++)
      for (const [name, file] of all) {
        expect(await part.show(name, file)).toEqual([]);
        // One that plays, and one that is told to go before it has anything.
        if (name === 'cast') await button('Play').click();
        await part.hide();
      }
    for (let n = 0; n < 3; n++) await debug.send('HeapProfiler.collectGarbage');
    const { metrics } = await debug.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)!.value;
    return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize') };
  };
  const first = await round(3);
  const last = await round(10);
  expect(last.nodes).toBeLessThanOrEqual(first.nodes + 50);
  expect(last.listeners).toBeLessThanOrEqual(first.listeners + 10);
  expect(last.heap).toBeLessThan(first.heap * 1.3);
});

test('a part that is taken away before its file is there draws nothing and says nothing', async () => {
  for (const name of ['model', 'cast', 'text', 'patch', 'json']) {
    const problems = await part.page.evaluate(async (which) => {
      const page = globalThis as any;
      page.problems = [];
      await page.show(which, { path: 'shown', bytes: 1, media_type: 'model/obj' }, 'dark');
      page.hide();
      await page.fetch('/data/shown');
      await new Promise((done) => page.requestAnimationFrame(done));
      return page.problems;
    }, name);
    expect(problems).toEqual([]);
    expect(await stage().innerHTML()).toBe('');
  }
});
