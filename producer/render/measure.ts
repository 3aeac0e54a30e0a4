// What can be measured on triangles: how large, how many, closed or not, and the volume where it is.

/** Corners of triangles, nine numbers each. */
export type Triangles = Float32Array | Float64Array;

export interface Measured {
  triangles: number;
  vertices: number | null;
  /** Width, depth and height along x, y and z. */
  size: [number, number, number];
  /** Every edge belongs to two triangles that run along it in opposite directions. Null: too many to look at. */
  watertight: boolean | null;
  /** Null where it is not watertight: what is open has no inside. */
  volume: number | null;
}

/** Corners in the same one of so many steps along the longest side are one. Three such numbers fit into a double. */
const STEPS = 2 ** 17;
/** Of more triangles only number and size are told. */
const MOST = 3_000_000;

export function measure(corners: Triangles): Measured {
  const [low, high] = extent(corners);
  const size = [0, 1, 2].map((axis) => Math.max(0, high[axis]! - low[axis]!)) as Measured['size'];
  const triangles = corners.length / 9;
  if (triangles > MOST) return { triangles, vertices: null, size, watertight: null, volume: null };
  const { ids, vertices } = weld(corners, low, Math.max(...size) / (STEPS - 1) || 1);
  const watertight = isClosed(ids);
  return { triangles, vertices, size, watertight, volume: watertight ? volumeOf(corners, low) : null };
}

function extent(corners: Triangles): [number[], number[]] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let at = 0; at < corners.length; at++) {
    const axis = at % 3;
    if (corners[at]! < low[axis]!) low[axis] = corners[at]!;
    if (corners[at]! > high[axis]!) high[axis] = corners[at]!;
  }
  return [low, high];
}

/** Numbers the corners, the same place the same number: files such as STL repeat a corner for each triangle. */
function weld(corners: Triangles, low: number[], step: number): { ids: Uint32Array; vertices: number } {
  const known = new Map<number, number>();
  const ids = new Uint32Array(corners.length / 3);
  for (let n = 0; n < ids.length; n++) {
    let place = 0;
    for (let axis = 0; axis < 3; axis++)
      place = place * STEPS + Math.round((corners[n * 3 + axis]! - low[axis]!) / step);
    const id = known.get(place) ?? known.size;
    if (id === known.size) known.set(place, id);
    ids[n] = id;
  }
  return { ids, vertices: known.size };
}

/** Each directed edge is met by as many of the opposite direction. A triangle without area has no edges that count. */
function isClosed(ids: Uint32Array): boolean {
  const open = new Map<number, number>();
  const count = (from: number, to: number) => {
    const [a, b, sign] = from < to ? [from, to, 1] : [to, from, -1];
    // Two numbers below 2^26 in one that a double holds exactly.
    const edge = a * 2 ** 26 + b;
    const sum = (open.get(edge) ?? 0) + sign;
    if (sum === 0) open.delete(edge);
    else open.set(edge, sum);
  };
  let counted = 0;
  for (let at = 0; at < ids.length; at += 3) {
    const [a, b, c] = [ids[at]!, ids[at + 1]!, ids[at + 2]!];
    if (a === b || b === c || a === c) continue;
    counted++;
    count(a, b);
    count(b, c);
    count(c, a);
  }
  return counted > 0 && open.size === 0;
}

/** The sum of the signed tetrahedra from one point to every triangle (divergence theorem). */
function volumeOf(corners: Triangles, from: number[]): number {
  let six = 0;
  for (let at = 0; at < corners.length; at += 9) {
    const part = (corner: number, axis: number) => corners[at + corner * 3 + axis]! - from[axis]!;
    for (let axis = 0; axis < 3; axis++) {
      const [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
      six += part(0, axis) * (part(1, next) * part(2, last) - part(1, last) * part(2, next));
    }
  }
  return Math.abs(six) / 6;
}

/** A number as people read it: at most six significant digits. */
export const rounded = (value: number): number => Number(value.toPrecision(6));

/** `40 × 20 × 10.5` */
export const sizeText = (size: readonly number[]): string => size.map(rounded).join(' × ');
