// Reads models into what three draws. What a file refers to outside itself is refused, and so is what is too much.
import {
  type BufferGeometry,
  Group,
  LoadingManager,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  TextureLoader,
} from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { OBJLoader } from 'three/addons/loaders/OBJLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';
import { gltfOf, tamed } from './gltf.js';
import { decoded } from './part.js';
import { count } from './words.js';

export const MODEL_BYTES = 200e6;
export const MODEL_TRIANGLES = 20e6;

export interface Model {
  object: Object3D;
  /** What a unit is: `m` where the format says so. */
  unit: string;
  /** True where z is up in the file, as in CAD programs. */
  isZUp: boolean;
  animations: number;
}

/** Throws in words. */
export async function readModel(mediaType: string, bytes: ArrayBuffer): Promise<Model> {
  try {
    if (mediaType === 'model/stl') return readStl(bytes);
    if (mediaType === 'model/obj') return readObj(bytes);
    return await readGltf(bytes);
  } catch (error) {
    // Loaders read past the end without looking.
    const words =
      error instanceof RangeError || error instanceof TypeError
        ? `it is damaged (${error.message}).`
        : error instanceof Error
          ? error.message
          : String(error);
    throw new Error(`The model cannot be drawn: ${words.slice(0, 300)}`);
  }
}

export function refuseTooMany(triangles: number): void {
  if (triangles > MODEL_TRIANGLES)
    throw new Error(
      `it has ${count(triangles, 'triangle')}; up to ${count(MODEL_TRIANGLES, 'triangle')} are drawn.`,
    );
}

function readStl(bytes: ArrayBuffer): Model {
  if (bytes.byteLength < 15) throw new Error('it is empty.');
  const geometry = new STLLoader().parse(bytes);
  if (!geometry.getAttribute('position')?.count) throw new Error('it has no triangles.');
  return { object: new Mesh(geometry, neutral()), unit: '', isZUp: true, animations: 0 };
}

function readObj(bytes: ArrayBuffer): Model {
  const object = new OBJLoader(outsideRefused()).parse(decoded(bytes));
  object.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    const geometry = part.geometry as BufferGeometry;
    if (!geometry.getAttribute('normal')) geometry.computeVertexNormals();
    part.material = neutral(geometry.hasAttribute('color'));
  });
  return { object, unit: '', isZUp: false, animations: 0 };
}

async function readGltf(bytes: ArrayBuffer): Promise<Model> {
  const buffers = tamed(gltfOf(bytes));
  const manager = outsideRefused();
  const loader = new GLTFLoader(manager);
  loader.register((parser) => {
    // By elements and from memory, not by requests: the page's policy allows none but to its own server.
    parser.textureLoader = new TextureLoader(manager);
    const own = parser.loadBuffer.bind(parser);
    parser.loadBuffer = (index: number) => (buffers[index] ? Promise.resolve(buffers[index]) : own(index));
    return { name: 'PREVIEW_from_memory' };
  });
  const { scene, animations } = await loader.parseAsync(bytes, '');
  const object = new Group();
  object.add(scene);
  return { object, unit: 'm', isZUp: false, animations: animations.length };
}

const neutral = (vertexColors = false) =>
  new MeshStandardMaterial({
    color: vertexColors ? 0xffffff : 0xc3cad7,
    roughness: 0.75,
    side: 2,
    vertexColors,
  });

function outsideRefused(): LoadingManager {
  const manager = new LoadingManager();
  manager.setURLModifier((url) => {
    if (/^(blob|data):/.test(url)) return url;
    throw new Error(`it refers to a file outside itself (${url.slice(0, 80)}), which is not fetched.`);
  });
  return manager;
}
