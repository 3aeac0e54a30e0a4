// Real files for the parts of the viewer: made by the programs that make such files, or by the letter of their format.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { preview, run } from './cli.js';
import { png, temporary, write } from './project.js';

/** A block with a hole as OpenSCAD writes it, in text and in binary. */
export async function stl(): Promise<{ text: Buffer; binary: Buffer }> {
  const folder = temporary();
  write(folder, {
    'a.scad': 'difference() { cube([40, 30, 10]); translate([20, 15, -1]) cylinder(h=20, r=5, $fn=24); }',
  });
  for (const [form, name] of [
    ['asciistl', 'a.stl'],
    ['binstl', 'b.stl'],
  ] as const) {
    const { code, stderr } = await run(['openscad', '-q', '--export-format', form, '-o', name, 'a.scad'], {
      cwd: folder,
    });
    if (code !== 0) throw new Error(stderr);
  }
  return { text: readFileSync(join(folder, 'a.stl')), binary: readFileSync(join(folder, 'b.stl')) };
}

/** A picture to put on something. */
export const square = png(16, 16);

/** A square with a picture on it. `change` makes it another document before it is packed. */
export function gltf(change: (document: any) => void = () => {}): { document: any; bin: Buffer } {
  const floats = (values: number[]) => Buffer.from(new Float32Array(values).buffer);
  const pieces = [
    floats([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]),
    floats([0, 1, 1, 1, 1, 0, 0, 0]),
    Buffer.from(new Uint16Array([0, 1, 2, 0, 2, 3]).buffer),
    square,
  ];
  let at = 0;
  const views = pieces.map((piece) => {
    const view = { buffer: 0, byteOffset: at, byteLength: piece.length };
    at += Math.ceil(piece.length / 4) * 4;
    return view;
  });
  const bin = Buffer.alloc(at);
  for (const [n, piece] of pieces.entries()) piece.copy(bin, views[n]!.byteOffset);
  const document = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0, name: '<img src=x onerror=alert(1)>' }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1 }, indices: 2, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 }, metallicFactor: 1 } }],
    textures: [{ source: 0 }],
    images: [{ bufferView: 3, mimeType: 'image/png' }] as any[],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 4, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] },
      { bufferView: 1, componentType: 5126, count: 4, type: 'VEC2' },
      { bufferView: 2, componentType: 5123, count: 6, type: 'SCALAR' },
    ],
    bufferViews: views,
    buffers: [{ byteLength: bin.length }] as any[],
  };
  change(document);
  return { document, bin };
}

/** A glTF document in one file, binary (Khronos, glTF 2.0, section 4). */
export function glb(change?: (document: any) => void): Buffer {
  const { document, bin } = gltf(change);
  const json = Buffer.from(JSON.stringify(document));
  const padded = Buffer.concat([json, Buffer.alloc((4 - (json.length % 4)) % 4, ' ')]);
  const chunk = (type: number, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(body.length, 0);
    head.writeUInt32LE(type, 4);
    return Buffer.concat([head, body]);
  };
  const chunks = Buffer.concat([chunk(0x4e4f534a, padded), chunk(0x004e4942, bin)]);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0x46546c67, 0);
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks.length, 8);
  return Buffer.concat([head, chunks]);
}

/** What `preview run` keeps of a shell script: its cast. */
export async function cast(script: string): Promise<string> {
  const folder = temporary();
  write(folder, { 'scene.txt': 'x', 'do.sh': script });
  const { stderr } = await preview(folder, ['run', '--', 'bash', 'do.sh']);
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /bundle_\d+\/artifacts\/terminal\.cast$/.test(name),
  );
  if (!found[0]) throw new Error(`no cast: ${stderr}`);
  return readFileSync(join(folder, found[0]), 'utf8');
}

/** A patch of git with everything in it: changed, new, deleted, renamed, binary, without a last newline. */
export async function patch(): Promise<string> {
  const folder = temporary();
  const lines = (n: number, change: (at: number) => string) =>
    Array.from({ length: n }, (_, at) => `${change(at)}\n`).join('');
  write(folder, {
    'changed.ts': lines(40, (at) => `const value${at} = ${at};`),
    'gone.txt': 'it was here\n',
    'old name.txt': lines(20, (at) => `line ${at}`),
    'picture.png': png(8, 8),
    'end.txt': 'one\ntwo\n',
    'run.sh': 'echo\n',
  });
  const git = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(
      ['git', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args],
      { cwd: folder },
    );
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  await git('init', '-q');
  await git('add', '.');
  await git('commit', '-q', '-m', 'one');
  await git('mv', 'old name.txt', 'new name.txt');
  await git('rm', '-q', 'gone.txt');
  write(folder, {
    'changed.ts': lines(40, (at) =>
      at === 3 || at === 30 ? `const value${at} = ${at + 100};` : `const value${at} = ${at};`,
    ),
    '<script>alert(1)<.script>': 'new\n',
    'picture.png': png(9, 9),
    'end.txt': 'one\ntwo',
    'run.sh': 'echo\n',
    'bidi.txt': 'if (admin\u202e \u2066// )\n',
  });
  await run(['chmod', '755', 'run.sh'], { cwd: folder });
  await git('add', '.');
  return git('diff', '--cached', '-M', 'HEAD');
}
