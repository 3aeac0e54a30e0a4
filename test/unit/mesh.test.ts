// Meshes read from files, what is measured on them, and frames set around what is drawn.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { frame } from '../../producer/render/crop.js';
import { measure, sizeText } from '../../producer/render/measure.js';
import { readMesh } from '../../producer/render/meshfile.js';
import { withoutAmbient } from '../../producer/render/objcopy.js';
import { temporary, write } from '../helpers/project.js';

/** A box of 2 × 3 × 4 with a corner at `from`, its triangles facing outwards. */
function box(from = [0, 0, 0]): number[] {
  const corner = (n: number) =>
    [n & 1 ? 2 : 0, n & 2 ? 3 : 0, n & 4 ? 4 : 0].map((side, axis) => side + from[axis]!);
  const quads = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ];
  return quads.flatMap(([a, b, c, d]) => [a, b, c, a, c, d].flatMap((n) => corner(n!)));
}
const of = (corners: number[]) => measure(Float32Array.from(corners));

describe('measured', () => {
  test.each([
    ['at the origin', [0, 0, 0]],
    ['far away', [1000, -2000, 500]],
  ])('a box %s', (_name, from) => {
    expect(of(box(from))).toEqual({
      triangles: 12,
      vertices: 8,
      size: [2, 3, 4],
      watertight: true,
      volume: 24,
    });
  });

  test('two boxes that touch each other nowhere', () => {
    const found = of([...box(), ...box([10, 0, 0])]);
    expect(found).toMatchObject({ triangles: 24, size: [12, 3, 4], watertight: true });
    expect(found.volume).toBeCloseTo(48, 3);
  });

  test.each([
    ['a triangle missing', box().slice(9)],
    [
      'a triangle that faces inwards',
      [...box().slice(9), ...[0, 1, 2].flatMap((n) => box().slice((2 - n) * 3, (3 - n) * 3))],
    ],
    ['one triangle', [0, 0, 0, 1, 0, 0, 0, 1, 0]],
    ['triangles without area', [0, 0, 0, 1, 1, 1, 1, 1, 1]],
    ['nothing', []],
  ])('not watertight, and without a volume: %s', (_name, corners) => {
    expect(of(corners)).toMatchObject({ watertight: false, volume: null });
  });

  test('a size as people read it', () => {
    expect(sizeText([40, 20.123456789, 0.1 + 0.2])).toBe('40 × 20.1235 × 0.3');
  });
});

describe('read', () => {
  const CORNERS = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  const facet = `facet normal 0 0 1\nouter loop\n${[0, 3, 6].map((at) => `vertex ${CORNERS.slice(at, at + 3).join(' ')}`).join('\n')}\nendloop\nendfacet`;
  const buffer = Buffer.from(Float32Array.from(CORNERS).buffer);
  const gltf = (uri: string) =>
    JSON.stringify({
      asset: { version: '2.0' },
      scenes: [{ nodes: [0] }],
      nodes: [{ mesh: 0 }],
      meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
      // A picture cannot be decoded here, and need not be.
      materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
      textures: [{ source: 0 }],
      images: [{ uri: 'gone.png' }],
      accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3' }],
      bufferViews: [{ buffer: 1, byteLength: 36 }],
      // Two buffers, so that the second one's place has to be found.
      buffers: [
        { byteLength: 2, uri: 'data:;base64,AAAA' },
        { byteLength: 36, uri },
      ],
    });

  test.each<[string, string]>([
    ['a.stl', `solid a\n${facet}\nendsolid a\n`],
    ['a.obj', 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n'],
    [
      'a.ply',
      'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n',
    ],
    ['a.gltf', gltf('a.bin')],
    ['b.gltf', gltf(`data:application/octet-stream;base64,${buffer.toString('base64')}`)],
  ])('%s', async (name, content) => {
    const folder = temporary();
    write(folder, { [name]: content, 'a.bin': buffer });
    expect([...(await readMesh(join(folder, name))).corners]).toEqual(CORNERS);
  });

  test.each([['../secret.bin'], ['file:///etc/passwd'], ['%2e%2e/secret.bin']])(
    'I9 a buffer outside the folder is not read: %s',
    async (uri) => {
      const folder = temporary();
      write(folder, { 'secret.bin': buffer, 'in/a.gltf': gltf(uri) });
      await expect(readMesh(join(folder, 'in/a.gltf'))).rejects.toThrow(/outside its folder/);
    },
  );

  test('I9 an OBJ is copied with its materials and textures, but for what lies outside its folder', () => {
    const folder = temporary();
    write(folder, {
      'in/a.obj': 'mtllib a.mtl\nv 0 0 0\n',
      'in/a.mtl': 'newmtl x\nKa 1 1 1\nKd 0.5 0 0\nmap_Kd tex/x.png\nmap_Bump ../secret.png\n',
      'in/tex/x.png': 'x',
      'secret.png': 's',
      'in/b.obj': 'mtllib ../secret.png\n',
    });
    expect(withoutAmbient(join(folder, 'in/a.obj'), join(folder, 'copy'))).toBe(join(folder, 'copy/a.obj'));
    expect(readFileSync(join(folder, 'copy/a.mtl'), 'utf8')).toContain('newmtl x\nKa 0 0 0\nKd 0.5 0 0\n');
    expect(readFileSync(join(folder, 'copy/tex/x.png'), 'utf8')).toBe('x');
    expect(withoutAmbient(join(folder, 'in/b.obj'), join(folder, 'other'))).toBeNull();
  });
});

describe('framed', () => {
  /** A white picture with a black square of 40 × 40. */
  function squareAt(left: number, top: number, transparent = false): string {
    const picture = new PNG({ width: 200, height: 100 });
    for (let n = 0; n < 200 * 100; n++) {
      const [x, y] = [n % 200, Math.floor(n / 200)];
      const inside = x >= left && x < left + 40 && y >= top && y < top + 40;
      picture.data.set([...(inside ? [0, 0, 0] : [255, 255, 255]), inside || !transparent ? 255 : 0], n * 4);
    }
    const file = join(temporary(), 'raw.png');
    writeFileSync(file, PNG.sync.write(picture));
    return file;
  }
  const at = (picture: PNG, x: number, y: number) => [
    ...picture.data.subarray((y * picture.width + x) * 4).subarray(0, 4),
  ];
  const framed = (file: string, options: Parameters<typeof frame>[3]) => {
    const to = `${file}.out.png`;
    frame(file, to, { width: 80, height: 60 }, options);
    return PNG.sync.read(readFileSync(to));
  };

  test.each([
    ['in the middle', 80, 30],
    ['in a corner, where the frame reaches beyond the picture', 160, 60],
  ])('what is drawn %s fills the frame but for its margin', (_name, left, top) => {
    const picture = framed(squareAt(left, top), {});
    expect([picture.width, picture.height]).toEqual([80, 60]);
    expect(at(picture, 40, 30)).toEqual([0, 0, 0, 255]);
    expect(at(picture, 40, 6)).toEqual([0, 0, 0, 255]);
    expect(at(picture, 40, 1)).toEqual([255, 255, 255, 255]);
    expect(at(picture, 2, 30)).toEqual([255, 255, 255, 255]);
  });

  test('on the ground that is given, and with more light', () => {
    const ground = [10, 20, 30] as const;
    const picture = framed(squareAt(80, 30, true), { ground });
    expect(at(picture, 1, 1)).toEqual([10, 20, 30, 255]);
    expect(at(picture, 40, 30)).toEqual([0, 0, 0, 255]);
  });

  test('a picture that shows nothing stays whole; without fit all of it is scaled', () => {
    expect(at(framed(squareAt(300, 300), {}), 40, 30)).toEqual([255, 255, 255, 255]);
    const whole = framed(squareAt(0, 0), { fit: false });
    expect(at(whole, 1, 1)).toEqual([0, 0, 0, 255]);
    expect(at(whole, 20, 30)).toEqual([255, 255, 255, 255]);
  });
});
