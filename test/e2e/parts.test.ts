// The parts of the viewer in Chromium, under the viewer's policy: real files, hostile ones, and nothing left behind.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { REPOSITORY } from '../helpers/cli.js';
import * as files from '../helpers/partfiles.js';
import { type PartPage, partPage, type Shown } from '../helpers/partpage.js';

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
    const { violations } = await (globalThis as any).axe.run('#stage');
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
      await part.page.mouse.move(500, 300);
      await part.page.mouse.down();
      await part.page.mouse.move(620, 340, { steps: 4 });
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
