// The recipes `openscad` and `openscad-full` on the examples that OpenSCAD ships.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { preview } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';
import { captureWith, hide, look, withPrograms } from './program.js';

const EXAMPLES = '/usr/share/openscad/examples';
const example = (name: string) => readFileSync(join(EXAMPLES, name));
const projectOf = (files: Record<string, string | Uint8Array>) => {
  const folder = join(temporary(), 'project');
  write(folder, files);
  return folder;
};

withPrograms('openscad', { openscad: 'openscad', xvfb: 'Xvfb' }, () => {
  test('one isometric picture that fills its frame, with what OpenSCAD computes', async () => {
    const project = projectOf({ 'CSG.scad': example('Basics/CSG.scad') });
    const { result, manifest, facts, artifacts, of, file } = await captureWith(project, 'openscad');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['software']).toBe('openscad');
    expect(manifest['generator'].backend).toMatch(/OpenSCAD/);
    expect(artifacts.map(({ role, kind, label }) => [role, kind, label])).toEqual([
      ['hero', 'image', 'Isometric'],
      ['render-output', 'model', 'Full geometry'],
      ['thumb', 'image', 'Thumbnail'],
    ]);
    const picture = look(file(of('hero')[0]!));
    expect([picture.width, picture.height]).toEqual([960, 720]);
    expect(Math.max(picture.reach.x, picture.reach.y)).toBeGreaterThan(0.85);
    expect(picture.colours).toBeGreaterThan(20);
    // Three bodies side by side: a cube of 15 with a sphere of radius 10 is 20 wide along each axis.
    expect(facts).toMatchObject({ facets: 1528, vertices: 1498, watertight: true });
    const [x, y, z] = facts['bounding_box'].split(' × ').map(Number);
    for (const side of [y, z]) expect(side).toBeCloseTo(20, 0);
    expect(x).toBeGreaterThan(60);
    expect(facts['volume']).toBeGreaterThan(0);
    expect(facts['volume']).toBeLessThan(x * y * z);
  });

  test('four sides, and again the same bundle where nothing changed', async () => {
    const project = projectOf({
      'main.scad': 'use <parts/wheel.scad>\ncube([40, 20, 10]);\ntranslate([0, 0, 30]) wheel(8);\n',
      'parts/wheel.scad': 'module wheel(r) { cylinder(r = r, h = 4, $fn = 32); }\n',
    });
    const { facts, of, file } = await captureWith(project, 'openscad-full');
    expect(of('gallery').map(({ label }) => label)).toEqual(['Front', 'Right', 'Top']);
    for (const artifact of [...of('hero'), ...of('gallery')]) {
      const { reach, width, height } = look(file(artifact));
      expect([width, height]).toEqual([960, 720]);
      expect(Math.max(reach.x, reach.y)).toBeGreaterThan(0.85);
    }
    expect(facts).toMatchObject({ bounding_box: '48 × 28 × 34', watertight: true });
    // The prism of 32 sides that stands for the wheel: n/2 · r² · sin(2π/n) · h.
    const wheel = 16 * 64 * Math.sin(Math.PI / 16) * 4;
    expect(facts['volume']).toBeCloseTo(8000 + wheel, 0);
    expect((await captureWith(project, 'openscad-full')).result['cached']).toBe(true);
    // A part that is no main file is a source all the same.
    write(project, {
      'parts/wheel.scad': 'module wheel(r) { cylinder(r = r, h = 6, $fn = 32); }\n',
    });
    const after = await captureWith(project, 'openscad-full');
    expect(after.result['cached']).toBe(false);
    expect(after.facts['bounding_box']).toBe('48 × 28 × 36');
  });

  test('a flat design is seen from above, its outline kept', async () => {
    const project = projectOf({
      'plate.scad': 'difference() { square([30, 20]); translate([5, 5]) circle(3); }\n',
    });
    const { facts, of, file } = await captureWith(project, 'openscad');
    expect(of('hero')[0]!['label']).toBe('Top; the design is flat');
    expect(of('render-output')[0]).toMatchObject({ label: 'Outline', media_type: 'image/svg+xml' });
    expect(facts).toMatchObject({ contours: 2, bounding_box: '30 × 20' });
    const { reach } = look(file(of('hero')[0]!));
    expect((reach.x * 960) / (reach.y * 720)).toBeCloseTo(1.5, 1);
  });

  test('what OpenSCAD complains about is a warning; a design that it refuses is an error with its words', async () => {
    const project = projectOf({ 'a.scad': 'cube(wheel_width);\necho(size = 10);\nsphere(4);\n' });
    const warned = await captureWith(project, 'openscad');
    expect(warned.result['warnings'].join()).toMatch(/openscad: Ignoring unknown variable .?wheel_width/);
    expect(warned.facts['echo']).toBe('size = 10');
    write(project, { 'a.scad': 'cube([1, 2\n' });
    const broken = await captureWith(project, 'openscad', { code: 4 });
    expect(broken.result).toMatchObject({ status: 'error', render: null });
    expect(readFileSync(broken.file(broken.of('log')[0]!), 'utf8')).toMatch(/Parser error/);
  });

  test('an empty design is drawn empty, and said to be', async () => {
    const project = projectOf({ 'a.scad': '// nothing yet\n' });
    const { result, facts } = await captureWith(project, 'openscad');
    expect(result['warnings'].join()).toContain('not_measured: the design is empty');
    expect(facts['volume']).toBeUndefined();
  });

  test('a camera of the config stays where it is', async () => {
    const project = projectOf({
      'a.scad': 'cube(10);\n',
      'preview.config.json': JSON.stringify({
        recipes: { fixed: { uses: 'openscad', with: { camera: '5,5,5,60,0,30,140' } } },
      }),
    });
    const near = await captureWith(project, 'fixed');
    const one = look(near.file(near.of('hero')[0]!));
    write(project, { 'a.scad': 'cube(5);\n' });
    const far = await captureWith(project, 'fixed');
    const two = look(far.file(far.of('hero')[0]!));
    expect(two.inked).toBeLessThan(one.inked / 2);
    expect(far.of('hero')[0]!['label']).toBe('The recipe’s camera');
  });
});

test('init takes a folder of .scad files for OpenSCAD, with SVG beside them too', async () => {
  const project = projectOf({
    'a.scad': 'cube(10);\n',
    'plan.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  });
  expect((await preview(project, ['init'])).code).toBe(0);
  const config = JSON.parse(readFileSync(join(project, 'preview.config.json'), 'utf8'));
  expect(config).toMatchObject({
    software: 'openscad',
    default_recipe: 'quick',
    recipes: { quick: { uses: 'openscad' }, full: { uses: 'openscad-full' } },
  });
});

test('without OpenSCAD the step is an error that names the package', async () => {
  const project = projectOf({ 'a.scad': 'cube(10);\n' });
  const PATH = await hide(join(temporary(), 'bin'), ['openscad']);
  const { result, manifest } = await captureWith(project, 'openscad', { code: 4, env: { PATH } });
  expect(manifest['status']).toBe('error');
  expect(result['warnings'][0]).toBe(
    'renderer_missing: openscad is not there; Debian has it in the package openscad',
  );
});
