// The recipe `freecad` on a document of FreeCAD's own tests, and on a STEP and an IGES file of OpenCASCADE.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';
import { captureWith, hide, look, withPrograms } from './program.js';

const BOX = '/usr/share/freecad/Mod/Path/PathTests/boxtest.fcstd';
const SCREW = '/usr/share/opencascade/data/step/screw.step';
const HAMMER = '/usr/share/opencascade/data/iges/hammer.iges';
const projectOf = (...paths: string[]) => {
  const folder = join(temporary(), 'project');
  write(folder, Object.fromEntries(paths.map((path) => [basename(path), readFileSync(path)])));
  return folder;
};

withPrograms('freecad', { freecad: 'freecadcmd', xvfb: 'Xvfb', 'freecad-common': BOX }, () => {
  test('a document from four sides, drawn and measured by FreeCAD', async () => {
    const { result, manifest, facts, of, file } = await captureWith(projectOf(BOX), 'freecad');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['generator'].backend).toMatch(/^FreeCAD \d/);
    expect(facts).toEqual({
      objects: 29,
      solids: 1,
      faces: 6,
      bounding_box: '10 × 10 × 10 mm',
      volume_mm3: 1000,
    });
    expect([...of('hero'), ...of('gallery')].map(({ label }) => label)).toEqual([
      'Isometric',
      'Front',
      'Right',
      'Top',
    ]);
    for (const artifact of [...of('hero'), ...of('gallery')]) {
      const { width, height, reach, inked } = look(file(artifact));
      expect([width, height]).toEqual([960, 720]);
      expect(Math.max(reach.x, reach.y)).toBeGreaterThan(0.85);
      expect(inked).toBeGreaterThan(0.005);
    }
  });

  test('a document written by a script says nothing of what is visible: shown is what nothing else is made of', async () => {
    const folder = join(temporary(), 'project');
    write(folder, {
      'make.py': [
        'import os, FreeCAD as App',
        'doc = App.newDocument()',
        'group = doc.addObject("App::Part", "Group")',
        'group.Placement.Base = App.Vector(100, 0, 0)',
        'for name, x in (("One", 0), ("Two", 30)):',
        '    box = doc.addObject("Part::Box", name)',
        '    box.Placement.Base = App.Vector(x, 0, 0)',
        '    group.addObject(box) if name == "One" else None',
        'cut = doc.addObject("Part::Cut", "Cut")',
        'cut.Base, cut.Tool = doc.addObject("Part::Box", "Whole"), doc.addObject("Part::Box", "Hole")',
        'cut.Tool.Length = 5',
        'doc.recompute()',
        'doc.saveAs(os.path.abspath("parts.FCStd"))',
      ].join('\n'),
    });
    expect((await run(['freecadcmd', 'make.py'], { cwd: folder, env: { HOME: folder } })).code).toBe(0);
    const { result, facts, of, file } = await captureWith(folder, 'freecad');
    expect(result['warnings'].join()).toMatch(/visibility_chosen: /);
    // From x = 5, where half a box is cut away, to 110: the one in the group stands at 100.
    expect(facts).toMatchObject({ solids: 3, volume_mm3: 2500, bounding_box: '105 × 10 × 10 mm' });
    expect(look(file(of('hero')[0]!)).reach.x).toBeGreaterThan(0.85);
  });

  test('a file that is no document is an error with FreeCAD’s words', async () => {
    const folder = join(temporary(), 'project');
    write(folder, { 'box.FCStd': 'no document\n' });
    const { result, of, file } = await captureWith(folder, 'freecad', { code: 4 });
    expect(result).toMatchObject({ status: 'error', render: null });
    expect(readFileSync(file(of('log')[0]!), 'utf8')).toMatch(/box\.FCStd/);
  });
});

withPrograms('exchange formats', { freecad: 'freecadcmd', xvfb: 'Xvfb', 'occt-misc': SCREW }, () => {
  test('STEP, with its volume', async () => {
    const { facts, of, file } = await captureWith(projectOf(SCREW), 'freecad');
    expect(facts).toMatchObject({ solids: 1, faces: 10 });
    const [x, y, z] = facts['bounding_box'].split(/[^\d.]+/).map(Number);
    expect(z).toBeGreaterThan(2 * x);
    expect(facts['volume_mm3']).toBeGreaterThan(0);
    expect(facts['volume_mm3']).toBeLessThan(x * y * z);
    expect(look(file(of('hero')[0]!)).reach.y).toBeGreaterThan(0.85);
  });

  test('IGES, surfaces without a volume', async () => {
    const { facts } = await captureWith(projectOf(HAMMER), 'freecad');
    expect(facts).toMatchObject({ solids: 0, faces: 45 });
    expect(facts['volume_mm3']).toBeUndefined();
  });
});

test('without FreeCAD the step is an error that names the package', async () => {
  const folder = join(temporary(), 'project');
  write(folder, { 'part.step': 'ISO-10303-21;\n' });
  const PATH = await hide(join(temporary(), 'bin'), ['freecadcmd']);
  const { result, manifest } = await captureWith(folder, 'freecad', { code: 4, env: { PATH } });
  expect(manifest['status']).toBe('error');
  expect(result['warnings'][0]).toBe(
    'renderer_missing: freecadcmd is not there; Debian has it in the package freecad',
  );
});
