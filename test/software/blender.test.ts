// The recipes `blender` and `blender-full` on scenes that Blender itself writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../helpers/cli.js';
import { temporary, write } from '../helpers/project.js';
import { captureWith, hide, look, withPrograms } from './program.js';

/** Blender's start-up scene (a cube, a camera, a lamp) drawn by Cycles, changed by a line of Python, and saved. */
async function scene(change = ''): Promise<string> {
  const folder = join(temporary(), 'project');
  write(folder, {
    'make.py': `import bpy, os\nscene = bpy.context.scene\nscene.render.engine = 'CYCLES'\n${change}\nbpy.ops.wm.save_as_mainfile(filepath=os.path.abspath('scene.blend'))\n`,
  });
  const argv = [
    'blender',
    '--background',
    '--factory-startup',
    '--python-exit-code',
    '1',
    '--python',
    'make.py',
  ];
  const { code, stderr } = await run(argv, { cwd: folder });
  expect(code, stderr).toBe(0);
  return folder;
}

withPrograms('blender', { blender: 'blender', xvfb: 'Xvfb' }, () => {
  test('the scene as its camera sees it, and what is in it', async () => {
    const { result, manifest, facts, artifacts, of, file } = await captureWith(await scene(), 'blender');
    expect(result['status']).toBe('ok');
    expect(result['warnings'].join()).not.toContain('added_');
    expect(manifest['generator'].backend).toMatch(/^Blender \d/);
    expect(artifacts.map(({ role, kind, label }) => [role, kind, label])).toEqual([
      ['hero', 'image', 'Frame 1 by Cycles, at most 32 samples, not denoised'],
      ['thumb', 'image', 'Thumbnail'],
    ]);
    expect(facts).toEqual({
      objects: 3,
      vertices: 8,
      faces: 6,
      frames: '1–250',
      engine: 'Cycles',
      camera: 'Camera',
    });
    const picture = look(file(of('hero')[0]!));
    // 1920 × 1080 in the scene.
    expect([picture.width, picture.height]).toEqual([960, 540]);
    expect(picture.inked).toBeGreaterThan(0.03);
    expect(picture.colours).toBeGreaterThan(10);
  });

  test('a camera and a light that the scene lacks are added, said, and make the bundle partial', async () => {
    const project = await scene(
      'for name in ("Camera", "Light"): bpy.data.objects.remove(bpy.data.objects[name])',
    );
    const { result, facts, of, file } = await captureWith(project, 'blender', { args: ['--stage', 'bare'] });
    expect(result['status']).toBe('partial');
    expect(result['warnings'].filter((text: string) => text.startsWith('added_'))).toEqual([
      'added_camera: the scene has no camera; seen by one that takes in all of it',
      'added_light: nothing in the scene gives light; lit by a sun',
    ]);
    expect(facts['objects']).toBe(1);
    const { reach } = look(file(of('hero')[0]!));
    expect(Math.max(reach.x, reach.y)).toBeGreaterThan(0.75);
    expect(Math.max(reach.x, reach.y)).toBeLessThan(1);
  });

  test('full: another frame, solid, wireframe, and a clip that turns', async () => {
    const project = await scene(
      [
        'cube = bpy.data.objects["Cube"]',
        'cube.keyframe_insert("location", frame=1)',
        'cube.location.x = -3',
        'cube.keyframe_insert("location", frame=40)',
        'scene.frame_end = 40',
        // Drawn by Workbench, the scene itself is quick.
        'scene.render.engine = "BLENDER_WORKBENCH"',
      ].join('\n'),
    );
    const { result, of, file } = await captureWith(project, 'blender-full');
    expect(result['status']).toBe('ok');
    expect(of('gallery').map(({ label }) => label)).toEqual([
      'Frame 20 by Workbench',
      'Solid, by Workbench',
      'Wireframe: every edge as a rod, by Workbench',
    ]);
    const [frame, solid, wires] = of('gallery').map((artifact) => look(file(artifact)));
    const hero = look(file(of('hero')[0]!));
    expect(frame!.pixels.equals(hero.pixels)).toBe(false);
    expect(wires!.inked).toBeGreaterThan(0);
    expect(wires!.inked).toBeLessThan(solid!.inked / 2);
    const clip = of('preview-clip')[0]!;
    expect(clip).toMatchObject({ kind: 'clip', media_type: 'video/mp4' });
    expect(clip['label']).toMatch(/camera of the preview/);
    expect(clip['bytes']).toBeGreaterThan(5000);
    expect(clip['bytes']).toBeLessThan(5_000_000);
  });

  test('a file that is no scene is an error, never a picture of Blender’s own cube', async () => {
    const folder = join(temporary(), 'project');
    write(folder, { 'scene.blend': 'no scene at all\n' });
    const { result, of, file } = await captureWith(folder, 'blender', { code: 4 });
    expect(result).toMatchObject({ status: 'error', render: null });
    expect(readFileSync(file(of('log')[0]!), 'utf8')).toMatch(/could not open|not supported|Cannot read/i);
  });
});

withPrograms('turntable', { blender: 'blender', xvfb: 'Xvfb', ffmpeg: 'ffmpeg' }, () => {
  test('each second of the clip shows another side', async () => {
    const project = await scene(
      'scene.render.engine = "BLENDER_WORKBENCH"\nbpy.data.objects["Cube"].scale.x = 2',
    );
    write(project, {
      'preview.config.json': JSON.stringify({
        recipes: { turn: { uses: 'blender', with: { show: 'turntable' } } },
      }),
    });
    const { of, file } = await captureWith(project, 'turn');
    const clip = file(of('preview-clip')[0]!);
    const seen: Buffer[] = [];
    for (const second of [0, 1, 2, 3]) {
      const to = join(project, `${second}.png`);
      const argv = ['ffmpeg', '-v', 'error', '-ss', String(second), '-i', clip, '-frames:v', '1', to];
      expect((await run(argv, { cwd: project })).code).toBe(0);
      const picture = look(to);
      expect([picture.width, picture.height]).toEqual([640, 360]);
      expect(picture.inked).toBeGreaterThan(0.05);
      expect(Math.max(picture.reach.x, picture.reach.y)).toBeLessThan(1);
      seen.push(picture.pixels);
    }
    for (const [n, pixels] of seen.entries())
      for (const other of seen.slice(n + 1)) expect(pixels.equals(other)).toBe(false);
  });
});

test('without Blender the step is an error that names the package', async () => {
  const folder = join(temporary(), 'project');
  write(folder, { 'scene.blend': 'BLENDER\n' });
  const PATH = await hide(join(temporary(), 'bin'), ['blender']);
  const { result, manifest } = await captureWith(folder, 'blender', { code: 4, env: { PATH } });
  expect(manifest['status']).toBe('error');
  expect(result['warnings'][0]).toBe(
    'renderer_missing: blender is not there; Debian has it in the package blender',
  );
});
