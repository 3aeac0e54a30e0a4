// The recipe `mesh` on meshes that Debian ships, and on a glTF file made here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, hide, look, withPrograms } from './program.js';

const CUBE = '/usr/share/inkscape/extensions/Poly3DObjects/cube.obj';
const projectOf = (files: Record<string, string | Uint8Array>) => {
  const folder = join(temporary(), 'project');
  write(folder, files);
  return folder;
};

/** A tetrahedron with corners at the origin and at 1 along each axis, red, moved by its node and made twice as large. */
function glb(): Buffer {
  const corners = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]).buffer);
  const faces = Buffer.from(new Uint16Array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]).buffer);
  const json = {
    asset: { version: '2.0' },
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, translation: [5, 0, 0], scale: [2, 2, 2] }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [1, 0.1, 0.1, 1], metallicFactor: 0 } }],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 4, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 1] },
      { bufferView: 1, componentType: 5123, count: 12, type: 'SCALAR' },
    ],
    bufferViews: [
      { buffer: 0, byteLength: corners.length },
      { buffer: 0, byteOffset: corners.length, byteLength: faces.length },
    ],
    buffers: [{ byteLength: corners.length + faces.length }],
  };
  const text = JSON.stringify(json);
  const chunk = (type: number, content: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(content.length, 0);
    head.writeUInt32LE(type, 4);
    return Buffer.concat([head, content]);
  };
  const chunks = [
    chunk(0x4e4f534a, Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4))),
    chunk(0x004e4942, Buffer.concat([corners, faces])),
  ];
  const head = Buffer.alloc(12);
  head.write('glTF', 'latin1');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks[0]!.length + chunks[1]!.length, 8);
  return Buffer.concat([head, ...chunks]);
}

withPrograms('meshes', { f3d: 'f3d', xvfb: 'Xvfb' }, () => {
  test('one file: four sides that fill their frame, measured, and kept', async () => {
    const project = projectOf({ 'part.glb': glb() });
    const { result, manifest, facts, artifacts, of, file } = await captureWith(project, 'mesh');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['generator'].backend).toMatch(/F3D/i);
    expect(artifacts.map(({ role, kind, label }) => [role, kind, label])).toEqual([
      ['hero', 'image', 'part.glb: Isometric, +Y is up, lit brighter'],
      ['gallery', 'image', 'Front'],
      ['gallery', 'image', 'Right'],
      ['gallery', 'image', 'Top'],
      ['render-output', 'model', 'part.glb'],
      ['thumb', 'image', 'Thumbnail'],
    ]);
    for (const artifact of [...of('hero'), ...of('gallery')]) {
      const { width, height, reach } = look(file(artifact));
      expect([width, height]).toEqual([960, 720]);
      expect(Math.max(reach.x, reach.y)).toBeGreaterThan(0.85);
      expect(Math.max(reach.x, reach.y)).toBeLessThan(0.95);
    }
    // Its own material: red.
    const { pixels } = look(file(of('hero')[0]!));
    const middle = (360 * 960 + 480) * 4;
    expect(pixels[middle]!).toBeGreaterThan(2 * pixels[middle + 1]!);
    // Twice as large along each axis: 8 times 1/6.
    expect(facts).toEqual({ triangles: 4, bounding_box: '2 × 2 × 2', watertight: true, volume: 1.33333 });
    expect(of('render-output')[0]).toMatchObject({ media_type: 'model/gltf-binary' });
    expect(readFileSync(file(of('render-output')[0]!))).toEqual(glb());
  });

  test('a file that is no mesh is an error with f3d’s words', async () => {
    const project = projectOf({ 'part.glb': Buffer.from('glTF, but not really') });
    const { of, file, result } = await captureWith(project, 'mesh', { code: 4 });
    expect(result['warnings'][0]).toMatch(/^renderer_failed: /);
    expect(readFileSync(file(of('log')[0]!), 'utf8')).toMatch(/f3d could not draw part\.glb/);
  });
});

withPrograms('meshes of Inkscape', { f3d: 'f3d', xvfb: 'Xvfb', inkscape: CUBE }, () => {
  test('several files: one side of each, the one that changed first, facts by their names', async () => {
    const cube = readFileSync(CUBE, 'utf8');
    const open = cube.trimEnd().split('\n').slice(0, -1).join('\n');
    const project = projectOf({ 'cube.obj': cube, 'open.obj': `${open}\n` });
    const { facts, of } = await captureWith(project, 'mesh');
    expect([...of('hero'), ...of('gallery')].map(({ label }) => label)).toEqual([
      'cube.obj: Isometric, +Y is up',
      'open.obj: Isometric, +Y is up',
    ]);
    expect(facts).toEqual({
      'cube.triangles': 12,
      'cube.bounding_box': '1 × 1 × 1',
      'cube.watertight': true,
      'cube.volume': 1,
      'open.triangles': 10,
      'open.bounding_box': '1 × 1 × 1',
      'open.watertight': false,
    });
    write(project, { 'open.obj': cube.replaceAll('0.5', '0.75') });
    const after = await captureWith(project, 'mesh');
    expect(after.of('hero')[0]!['label']).toMatch(/^open\.obj/);
    expect(after.facts['open.volume']).toBe(3.375);
  });
});

test('without f3d the step is an error that names the package', async () => {
  const PATH = await hide(join(temporary(), 'bin'), ['f3d']);
  const { result, manifest } = await captureWith(projectOf({ 'part.glb': glb() }), 'mesh', {
    code: 4,
    env: { PATH },
  });
  expect(manifest['status']).toBe('error');
  expect(result['warnings'][0]).toBe('renderer_missing: f3d is not there; Debian has it in the package f3d');
});
