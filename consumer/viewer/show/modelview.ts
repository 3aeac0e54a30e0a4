// Draws a model in a canvas that can be turned. It draws when something changed, and never else.
import {
  Box3,
  type BufferGeometry,
  DirectionalLight,
  EdgesGeometry,
  Group,
  HemisphereLight,
  LineBasicMaterial,
  LineSegments,
  type Material,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  Spherical,
  Texture,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Pose } from '../parts.js';
import { type Model, refuseTooMany } from './modelfile.js';

/** Edges of larger models take long to find, and would cover everything. */
const EDGED_TRIANGLES = 300_000;
/** Faces that meet at less than this, in degrees, make no edge. */
const EDGE_DEGREES = 28;

export interface ModelView {
  canvas: HTMLCanvasElement;
  triangles: number;
  /** In the file's own axes. */
  size: Vector3;
  hasEdges: boolean;
  edges(on: boolean): void;
  /** Seen from this direction, whole; y is up. */
  from(x: number, y: number, z: number): void;
  turn(right: number, up: number): void;
  zoom(factor: number): void;
  /** Resolves when it has the size of its place, and is seen whole in it. */
  sized: Promise<void>;
  pose(): Pose;
  /** `onMove` is not told. */
  set(pose: Pose): void;
  onMove(act: (pose: Pose) => void): void;
  retheme(theme: 'dark' | 'light'): void;
  close(): void;
}

/** Throws in words where this browser cannot, or the model is too much. */
export function modelView(model: Model, theme: 'dark' | 'light'): ModelView {
  const triangles = trianglesOf(model.object);
  refuseTooMany(triangles);
  const box = new Box3().setFromObject(model.object, triangles < 2e6);
  const size = box.getSize(new Vector3());
  if (!(size.length() > 0 && Number.isFinite(size.length())))
    throw new Error('The model has nothing to be seen.');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('webgl2', { antialias: true, alpha: true, premultipliedAlpha: true });
  if (!context) throw new Error('This browser does not draw in three dimensions (it has no WebGL 2 here).');

  const renderer = new WebGLRenderer({ canvas, context, antialias: true, alpha: true });
  renderer.setPixelRatio(Math.min(2, devicePixelRatio));
  const scene = new Scene();
  const camera = new PerspectiveCamera(35, 1, 0.01, 100);
  // Everything is drawn at one size, so that neither the camera nor the light depends on the file's units.
  const scale = 2 / size.length();
  const turned = new Group();
  if (model.isZUp) turned.rotation.x = -Math.PI / 2;
  const holder = new Group();
  model.object.position.sub(box.getCenter(new Vector3()));
  holder.add(model.object);
  holder.scale.setScalar(scale);
  turned.add(holder);
  // Both go with the camera, so that faces of different directions differ from wherever they are seen.
  const key = new DirectionalLight(0xffffff, 2.1);
  key.position.set(-0.5, 1, 0.7);
  const fill = new DirectionalLight(0xffffff, 0.7);
  fill.position.set(1, 0.1, 0.6);
  camera.add(key, key.target, fill, fill.target);
  scene.add(turned, camera, new HemisphereLight(0xffffff, 0x8890a0, 1.1));
  dullMetal(model.object);

  const lines = new LineBasicMaterial({ transparent: true });
  const edges: LineSegments[] = triangles <= EDGED_TRIANGLES ? edgesOf(model.object, lines) : [];

  const controls = new OrbitControls(camera, canvas);
  controls.enableDamping = false;
  controls.minDistance = 0.05;
  controls.maxDistance = 60;
  controls.zoomToCursor = true;
  let frame = 0;
  const draw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const distance = camera.position.distanceTo(controls.target);
      camera.near = Math.max(0.001, distance / 200);
      camera.far = distance + 60;
      camera.updateProjectionMatrix();
      renderer.render(scene, camera);
    });
  };
  let told: (pose: Pose) => void = () => {};
  let isSet = false;
  const moved = () => {
    draw();
    if (!isSet) told(pose());
  };
  controls.addEventListener('change', moved);
  let isSized = false;
  let whenSized = () => {};
  const sized = new Promise<void>((done) => {
    whenSized = done;
  });
  const resized = new ResizeObserver(() => {
    const { clientWidth, clientHeight } = canvas.parentElement ?? canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    camera.aspect = clientWidth / clientHeight;
    renderer.setSize(clientWidth, clientHeight);
    // Whole in the window that it got.
    if (!isSized) from(1, 0.75, 1.4);
    if (!isSized) whenSized();
    isSized = true;
    draw();
  });

  function from(x: number, y: number, z: number): void {
    controls.target.set(0, 0, 0);
    // The model fits into a sphere of radius 1; narrow windows see less to the sides.
    const distance = 1.06 / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
    camera.position.set(x, y, z).setLength(distance);
    controls.update();
    draw();
  }

  function turn(right: number, up: number): void {
    const around = new Spherical().setFromVector3(camera.position.clone().sub(controls.target));
    around.theta += right;
    around.phi = Math.min(Math.PI - 0.01, Math.max(0.01, around.phi - up));
    camera.position.setFromSpherical(around).add(controls.target);
    controls.update();
    draw();
  }

  /** The middle of the model in its own units, y up. */
  const middle = box.getCenter(new Vector3()).applyEuler(turned.rotation);
  const own = (point: Vector3) => point.clone().divideScalar(scale).add(middle).toArray();
  function pose(): Pose {
    return { position: own(camera.position), target: own(controls.target) };
  }

  function set({ position, target }: Pose): void {
    isSet = true;
    camera.position
      .set(...position)
      .sub(middle)
      .multiplyScalar(scale);
    controls.target
      .set(...target)
      .sub(middle)
      .multiplyScalar(scale);
    controls.update();
    isSet = false;
    draw();
  }

  function retheme(to: 'dark' | 'light'): void {
    lines.color.set(to === 'dark' ? 0x0a0d14 : 0x1d2430);
    lines.opacity = to === 'dark' ? 0.75 : 0.6;
    draw();
  }

  // The canvas has no place yet: its parent is looked at when there is one.
  queueMicrotask(() => canvas.parentElement && resized.observe(canvas.parentElement));
  retheme(theme);
  from(1, 0.75, 1.4);

  return {
    canvas,
    triangles,
    size,
    hasEdges: edges.length > 0,
    edges(on) {
      for (const edge of edges) edge.visible = on;
      draw();
    },
    from,
    turn,
    zoom(factor) {
      camera.position.sub(controls.target).multiplyScalar(factor).clampLength(0.05, 60).add(controls.target);
      controls.update();
      draw();
    },
    sized,
    pose,
    set,
    onMove(act) {
      told = act;
    },
    retheme,
    close() {
      cancelAnimationFrame(frame);
      resized.disconnect();
      controls.dispose();
      disposeAll(scene);
      renderer.dispose();
      // Browsers give few contexts, and take their time to see that one is not used any more.
      renderer.forceContextLoss();
      canvas.remove();
    },
  };
}

const materialsOf = ({ material }: Mesh): Material[] => (Array.isArray(material) ? material : [material]);

function trianglesOf(object: Object3D): number {
  let sum = 0;
  object.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    const geometry = part.geometry as BufferGeometry;
    const corners = geometry.index?.count ?? geometry.getAttribute('position')?.count ?? 0;
    sum += Math.floor(corners / 3) * ((part as { count?: number }).count ?? 1);
  });
  return sum;
}

/** Metal mirrors its surroundings, and there are none here: it would be black. */
function dullMetal(object: Object3D): void {
  object.traverse((part) => {
    if (!(part instanceof Mesh)) return;
    for (const material of materialsOf(part))
      if (material instanceof MeshStandardMaterial) material.metalness = Math.min(0.2, material.metalness);
  });
}

function edgesOf(object: Object3D, material: LineBasicMaterial): LineSegments[] {
  const meshes: Mesh[] = [];
  object.traverse((part) => {
    // Those that bones bend would not fit their edges.
    if (part instanceof Mesh && !('isSkinnedMesh' in part) && !('isInstancedMesh' in part)) meshes.push(part);
  });
  return meshes.map((mesh) => {
    for (const face of materialsOf(mesh)) {
      face.polygonOffset = true;
      face.polygonOffsetFactor = 1;
      face.polygonOffsetUnits = 1;
    }
    const edge = new LineSegments(new EdgesGeometry(mesh.geometry as BufferGeometry, EDGE_DEGREES), material);
    mesh.add(edge);
    return edge;
  });
}

function disposeAll(scene: Object3D): void {
  scene.traverse((part) => {
    if (!(part instanceof Mesh) && !(part instanceof LineSegments)) return;
    (part.geometry as BufferGeometry).dispose();
    for (const material of materialsOf(part as Mesh)) {
      for (const value of Object.values(material)) {
        if (!(value instanceof Texture)) continue;
        (value.source?.data as ImageBitmap | undefined)?.close?.();
        value.dispose();
      }
      material.dispose();
    }
  });
}
