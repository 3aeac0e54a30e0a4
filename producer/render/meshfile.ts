// Triangles of a mesh file, read by three's loaders. Pictures and materials in it are left alone: only its shape is
// measured here, and what it looks like is drawn by another program.
import { readFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { type BufferGeometry, type Mesh, type Object3D, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { OBJLoader } from 'three/addons/loaders/OBJLoader.js';
import { PLYLoader } from 'three/addons/loaders/PLYLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';

export interface MeshFile {
  corners: Float32Array;
  /** Separate meshes in the file. */
  meshes: number;
}

const bufferOf = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;

/** Reads .stl, .obj, .ply, .glb or .gltf. Throws what the loader throws where it is none. */
export async function readMesh(path: string): Promise<MeshFile> {
  const bytes = readFileSync(path);
  switch (extname(path).toLowerCase()) {
    case '.stl':
      return { corners: cornersOf(new STLLoader().parse(bufferOf(bytes))), meshes: 1 };
    case '.ply':
      return { corners: cornersOf(new PLYLoader().parse(bufferOf(bytes))), meshes: 1 };
    case '.obj':
      return ofScene(new OBJLoader().parse(bytes.toString('utf8')));
    case '.glb':
    case '.gltf': {
      const whole =
        extname(path).toLowerCase() === '.gltf' ? inlined(bytes, dirname(path)) : withoutPictures(bytes);
      const { scene } = await new GLTFLoader().parseAsync(whole, '');
      return ofScene(scene);
    }
    default:
      throw new Error(`${extname(path) || 'a file without a suffix'} is no mesh that is measured here`);
  }
}

function ofScene(scene: Object3D): MeshFile {
  scene.updateMatrixWorld(true);
  const parts: Float32Array[] = [];
  scene.traverse((object) => {
    const mesh = object as Mesh;
    if (!mesh.isMesh) return;
    parts.push(cornersOf(mesh.geometry.applyMatrix4(mesh.matrixWorld)));
  });
  const corners = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    corners.set(part, at);
    at += part.length;
  }
  return { corners, meshes: parts.length };
}

function cornersOf(geometry: BufferGeometry): Float32Array {
  const place = geometry.getAttribute('position');
  const count = geometry.index ? geometry.index.count : place.count;
  const corners = new Float32Array(Math.floor(count / 3) * 9);
  const point = new Vector3();
  for (let n = 0; n < corners.length / 3; n++)
    point.fromBufferAttribute(place, geometry.index ? geometry.index.getX(n) : n).toArray(corners, n * 3);
  return corners;
}

/** The JSON of a glTF without what only its looks need: decoding pictures wants a browser. */
function bare(json: Record<string, unknown>): Record<string, unknown> {
  const { images: _images, textures: _textures, samplers: _samplers, materials: _materials, ...rest } = json;
  const meshes = (rest['meshes'] as { primitives: Record<string, unknown>[] }[] | undefined) ?? [];
  for (const mesh of meshes) for (const primitive of mesh.primitives) delete primitive['material'];
  const unneeded = (name: unknown) => /material|texture|lights|variants/i.test(String(name));
  for (const key of ['extensionsRequired', 'extensionsUsed'])
    if (Array.isArray(rest[key])) rest[key] = (rest[key] as unknown[]).filter((name) => !unneeded(name));
  return rest;
}

/** A GLB (header, JSON chunk, binary chunk) with its JSON made bare. */
function withoutPictures(bytes: Buffer): ArrayBuffer {
  if (bytes.toString('latin1', 0, 4) !== 'glTF') throw new Error('not a GLB file');
  const length = bytes.readUInt32LE(12);
  const text = JSON.stringify(bare(JSON.parse(bytes.toString('utf8', 20, 20 + length))));
  const json = Buffer.from(
    text.padEnd(Math.ceil(Buffer.byteLength(text) / 4) * 4 - Buffer.byteLength(text) + text.length),
  );
  const head = Buffer.alloc(20);
  const rest = bytes.subarray(20 + length);
  head.write('glTF', 0, 'latin1');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(head.length + json.length + rest.length, 8);
  head.writeUInt32LE(json.length, 12);
  head.write('JSON', 16, 'latin1');
  return bufferOf(Buffer.concat([head, json, rest]));
}

/** A .gltf with the buffers that lie beside it put into it; none from outside its folder (I9). */
function inlined(bytes: Buffer, folder: string): string {
  const json = bare(JSON.parse(bytes.toString('utf8')));
  for (const buffer of (json['buffers'] as { uri?: string }[] | undefined) ?? []) {
    if (!buffer.uri || buffer.uri.startsWith('data:')) continue;
    const file = join(folder, decodeURIComponent(buffer.uri));
    if (relative(folder, file).split(sep)[0] === '..' || buffer.uri.includes(':'))
      throw new Error(`its buffer ${buffer.uri} lies outside its folder`);
    buffer.uri = `data:application/octet-stream;base64,${readFileSync(file).toString('base64')}`;
  }
  return JSON.stringify(json);
}
