// Looks through a glTF 2.0 document before it is loaded (Khronos, glTF 2.0 specification): what it refers to, how much
// it asks for, and whether it holds together. Pure.

type Json = Record<string, unknown>;

/** No model that can be drawn has more of anything. */
const MOST = { elements: 60e6, nodes: 200_000, meshes: 200_000 };
const COMPRESSED = ['KHR_draco_mesh_compression', 'EXT_meshopt_compression', 'KHR_texture_basisu'];

const list = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** The JSON of a `.glb` or `.gltf`. Throws in words. */
export function gltfOf(bytes: ArrayBuffer): Json {
  const view = new DataView(bytes);
  let json: ArrayBuffer = bytes;
  if (bytes.byteLength >= 4 && view.getUint32(0, true) === 0x46546c67) {
    if (bytes.byteLength < 20) throw new Error('it is cut off.');
    if (view.getUint32(4, true) !== 2) throw new Error('it is no glTF of version 2.');
    const length = view.getUint32(12, true);
    if (view.getUint32(8, true) > bytes.byteLength || 20 + length > bytes.byteLength)
      throw new Error('it is cut off.');
    if (view.getUint32(16, true) !== 0x4e4f534a) throw new Error('it does not begin with JSON.');
    json = bytes.slice(20, 20 + length);
  }
  const document: unknown = JSON.parse(new TextDecoder().decode(json));
  if (typeof document !== 'object' || document === null) throw new Error('it holds no glTF.');
  return document as Json;
}

/** Throws in words where it is not to be loaded; else the bytes of the buffers that are written into it. */
export function tamed(gltf: Json): (ArrayBuffer | undefined)[] {
  const packed = COMPRESSED.filter((name) =>
    (gltf['extensionsRequired'] as string[] | undefined)?.includes?.(name),
  );
  if (packed.length > 0)
    throw new Error(`it is compressed by ${packed.join(', ')}, which this page cannot unpack.`);
  for (const { uri } of [...list(gltf['buffers']), ...list(gltf['images'])])
    if (uri !== undefined && !/^data:/i.test(String(uri)))
      throw new Error(
        `it refers to a file outside itself (${String(uri).slice(0, 80)}), which is not fetched.`,
      );
  const nodes = list(gltf['nodes']);
  if (nodes.length > MOST.nodes || list(gltf['meshes']).length > MOST.meshes)
    throw new Error(`it has more than ${MOST.nodes} nodes or meshes.`);
  for (const { count } of list(gltf['accessors']))
    if (!Number.isSafeInteger(count) || (count as number) < 0 || (count as number) > MOST.elements)
      throw new Error(`it asks for ${String(count)} elements at once.`);
  refuseCycles(gltf, nodes);
  return list(gltf['buffers']).map(({ uri }) => (uri === undefined ? undefined : fromDataUri(String(uri))));
}

/** A node has one parent at most, and a root has none: else loading it would never end. */
function refuseCycles(gltf: Json, nodes: Json[]): void {
  const parents = new Set<unknown>();
  for (const { children } of nodes) {
    for (const child of Array.isArray(children) ? children : []) {
      if (parents.has(child)) throw new Error('its nodes are no tree.');
      parents.add(child);
    }
  }
  for (const scene of list(gltf['scenes']))
    for (const root of Array.isArray(scene['nodes']) ? scene['nodes'] : [])
      if (parents.has(root)) throw new Error('its nodes are no tree.');
}

function fromDataUri(uri: string): ArrayBuffer {
  const comma = uri.indexOf(',');
  const body = uri.slice(comma + 1);
  const text = /;base64$/i.test(uri.slice(0, comma)) ? atob(body) : decodeURIComponent(body);
  return Uint8Array.from(text, (char) => char.charCodeAt(0)).buffer;
}
