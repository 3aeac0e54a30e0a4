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
      const { scene } = await new GLTFLoader().parseAsync(bareGlb(bytes, dirname(path)), '');
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

interface BufferEntry {
  uri?: string;
  byteLength: number;
}

/**
 * A glTF file as one GLB (header, JSON chunk, binary chunk) of shape alone. All buffers come into the binary chunk: what
 * still had to be fetched, three would ask a browser for, and wait for ever.
 */
function bareGlb(bytes: Buffer, folder: string): ArrayBuffer {
  const isBinary = bytes.toString('latin1', 0, 4) === 'glTF';
  const length = isBinary ? bytes.readUInt32LE(12) : bytes.length;
  const json = bare(JSON.parse(bytes.toString('utf8', isBinary ? 20 : 0, isBinary ? 20 + length : length)));
  // The chunk's own header is 8 bytes.
  const chunk = isBinary ? bytes.subarray(20 + length + 8) : null;
  const offsets: number[] = [];
  const pieces: Buffer[] = [];
  let total = 0;
  for (const buffer of (json['buffers'] as BufferEntry[] | undefined) ?? []) {
    const content = (buffer.uri ? fetched(buffer.uri, folder) : chunk) ?? Buffer.alloc(0);
    if (content.length < buffer.byteLength) throw new Error('a buffer of it is too short');
    const padded = Buffer.alloc(Math.ceil(buffer.byteLength / 4) * 4);
    content.copy(padded, 0, 0, buffer.byteLength);
    offsets.push(total);
    pieces.push(padded);
    total += padded.length;
  }
  for (const view of (json['bufferViews'] as { buffer: number; byteOffset?: number }[] | undefined) ?? []) {
    view.byteOffset = (view.byteOffset ?? 0) + (offsets[view.buffer] ?? 0);
    view.buffer = 0;
  }
  json['buffers'] = [{ byteLength: total }];
  const text = Buffer.from(JSON.stringify(json));
  return glbOf(Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, ' ')]), Buffer.concat(pieces));
}

function glbOf(json: Buffer, binary: Buffer): ArrayBuffer {
  const words = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
  const [glTF, JSON_CHUNK, BIN_CHUNK] = [0x46546c67, 0x4e4f534a, 0x004e4942];
  const chunks = [words(json.length, JSON_CHUNK), json, words(binary.length, BIN_CHUNK), binary];
  return bufferOf(Buffer.concat([words(glTF, 2, 28 + json.length + binary.length), ...chunks]));
}

/** What a buffer's address stands for: data in itself, or a file beside the mesh, none from outside its folder (I9). */
function fetched(uri: string, folder: string): Buffer {
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(uri) ?? [];
  if (data !== undefined) return Buffer.from(data, 'base64');
  const file = join(folder, decodeURIComponent(uri));
  if (relative(folder, file).split(sep)[0] === '..' || uri.includes(':'))
    throw new Error(`its buffer ${uri} lies outside its folder`);
  return readFileSync(file);
}
