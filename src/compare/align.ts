// Two sequences of steps set side by side, by label, command and source. Pure, and runs in a browser too.

/** What steps are matched by; null where nothing is known. */
export interface Keyed {
  label: string | null;
  command: string | null;
  /** The fingerprint of the sources. */
  source: string | null;
}

/** Places in the two sequences; null where one has nothing that belongs to the other. */
export type AlignedRow = { a: number; b: number } | { a: number; b: null } | { a: null; b: number };

type Pair = { a: number; b: number };

/** By what steps belong together, the surest first. A step without such a key is matched by the next. */
const KEYS: ((step: Keyed) => string | null)[] = [
  ({ label, command, source }) =>
    source === null || (label === null && command === null) ? null : JSON.stringify([label, command, source]),
  ({ label, command }) => (label === null && command === null ? null : JSON.stringify([label, command])),
  ({ label }) => label,
  ({ source }) => source,
  // Steps of which nothing is known are alike.
  ({ label, command, source }) => (label === null && command === null && source === null ? '' : null),
];

/**
 * Every step of both, in order. First the longest common sequence of equal label, command and source; between two such
 * pairs that of equal label and command, then of labels, then of sources. What is left between two pairs belongs together
 * by its place where both have equally many: one command in another's stead.
 */
export function align(a: readonly Keyed[], b: readonly Keyed[]): AlignedRow[] {
  let pairs: Pair[] = [];
  for (const keyOf of KEYS) {
    const [keysA, keysB] = numbered(a.map(keyOf), b.map(keyOf));
    const found: Pair[] = [];
    for (const { fromA, toA, fromB, toB, end } of gaps(pairs, a.length, b.length)) {
      found.push(...commonIn(keysA, fromA, toA, keysB, fromB, toB));
      if (end) found.push(end);
    }
    pairs = found;
  }
  const rows: AlignedRow[] = [];
  for (const { fromA, toA, fromB, toB, end } of gaps(pairs, a.length, b.length)) {
    const replaced = toA - fromA === toB - fromB;
    for (let at = fromA; at < toA; at++)
      rows.push({ a: at, b: replaced ? fromB + at - fromA : null } as AlignedRow);
    if (!replaced) for (let at = fromB; at < toB; at++) rows.push({ a: null, b: at });
    if (end) rows.push(end);
  }
  return rows;
}

/** What lies before each pair, and behind the last. */
function* gaps(pairs: readonly Pair[], countA: number, countB: number) {
  let [fromA, fromB] = [0, 0];
  for (const end of pairs) {
    yield { fromA, toA: end.a, fromB, toB: end.b, end };
    [fromA, fromB] = [end.a + 1, end.b + 1];
  }
  yield { fromA, toA: countA, fromB, toB: countB, end: null };
}

/** Keys as numbers, equal ones equal; -1 for none. */
function numbered(...lists: (string | null)[][]): [Int32Array, Int32Array] {
  const known = new Map<string, number>();
  return lists.map((keys) =>
    Int32Array.from(keys, (key) => {
      if (key === null) return -1;
      if (!known.has(key)) known.set(key, known.size);
      return known.get(key)!;
    }),
  ) as [Int32Array, Int32Array];
}

/** The longest common sequence of two pieces. What only one of them has is left out first: it costs the most and gives nothing. */
function commonIn(
  a: Int32Array,
  fromA: number,
  toA: number,
  b: Int32Array,
  fromB: number,
  toB: number,
): Pair[] {
  if (fromA === toA || fromB === toB) return [];
  const shared = (keys: Int32Array, from: number, to: number, others: ReadonlySet<number>): number[] => {
    const places: number[] = [];
    for (let at = from; at < to; at++) if (keys[at]! >= 0 && others.has(keys[at]!)) places.push(at);
    return places;
  };
  const placesA = shared(a, fromA, toA, new Set(b.subarray(fromB, toB)));
  const placesB = shared(b, fromB, toB, new Set(a.subarray(fromA, toA)));
  const one = Int32Array.from(placesA, (place) => a[place]!);
  const two = Int32Array.from(placesB, (place) => b[place]!);
  return longestCommon(one, two).map(([i, j]) => ({ a: placesA[i]!, b: placesB[j]! }));
}

/**
 * A longest common subsequence as pairs of places, by Myers' O(ND) algorithm in linear space (E. Myers, An O(ND)
 * Difference Algorithm and Its Variations, 1986, section 4b).
 */
export function longestCommon(a: Int32Array, b: Int32Array): [number, number][] {
  const pairs: [number, number][] = [];
  const size = a.length + b.length + 3;
  const [forward, backward] = [new Int32Array(2 * size), new Int32Array(2 * size)];
  const solve = (lowA: number, highA: number, lowB: number, highB: number): void => {
    let [fromA, toA, fromB, toB] = [lowA, highA, lowB, highB];
    while (fromA < toA && fromB < toB && a[fromA] === b[fromB]) pairs.push([fromA++, fromB++]);
    let tail = 0;
    while (fromA < toA && fromB < toB && a[toA - 1] === b[toB - 1]) {
      toA--;
      toB--;
      tail++;
    }
    if (fromA < toA && fromB < toB) {
      const [x, y, length] = middle(a.subarray(fromA, toA), b.subarray(fromB, toB), forward, backward, size);
      solve(fromA, fromA + x, fromB, fromB + y);
      for (let n = 0; n < length; n++) pairs.push([fromA + x + n, fromB + y + n]);
      solve(fromA + x + length, toA, fromB + y + length, toB);
    }
    for (let n = 0; n < tail; n++) pairs.push([toA + n, toB + n]);
  };
  solve(0, a.length, 0, b.length);
  return pairs;
}

/** Where the middle snake of a shortest edit script begins, and how long it is. Neither sequence is empty. */
function middle(
  a: Int32Array,
  b: Int32Array,
  forward: Int32Array,
  backward: Int32Array,
  zero: number,
): [x: number, y: number, length: number] {
  const [n, m] = [a.length, b.length];
  const delta = n - m;
  const odd = delta % 2 !== 0;
  forward[zero + 1] = 0;
  backward[zero + 1] = 0;
  for (let d = 0; ; d++) {
    const [low, high] = [2 * Math.max(0, d - m) - d, d - 2 * Math.max(0, d - n)];
    for (let k = low; k <= high; k += 2) {
      const down = k === -d || (k !== d && forward[zero + k - 1]! < forward[zero + k + 1]!);
      const start = down ? forward[zero + k + 1]! : forward[zero + k - 1]! + 1;
      let x = start;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      forward[zero + k] = x;
      if (odd && Math.abs(delta - k) < d && x + backward[zero + delta - k]! >= n)
        return [start, start - k, x - start];
    }
    for (let k = low; k <= high; k += 2) {
      const down = k === -d || (k !== d && backward[zero + k - 1]! < backward[zero + k + 1]!);
      const start = down ? backward[zero + k + 1]! : backward[zero + k - 1]! + 1;
      let x = start;
      while (x < n && x - k < m && a[n - 1 - x] === b[m - 1 - (x - k)]) x++;
      backward[zero + k] = x;
      if (!odd && Math.abs(delta - k) <= d && x + forward[zero + delta - k]! >= n)
        return [n - x, m - (x - k), x - start];
    }
  }
}
