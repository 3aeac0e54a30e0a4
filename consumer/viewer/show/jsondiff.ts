// What differs between two JSON documents, value by value. Pure. Values are compared as they are written, but for white
// space, the order of keys and the form of numbers and strings.
import { diffArrays } from 'diff';
import { children, type Kind, keyText, kindOf, plain, type Value, whole } from './jsontext.js';

/** A difference, or a container that holds some. */
export interface Difference {
  /** Of an object, or the place in an array: after, or before where it is gone. */
  key: string | number | null;
  kind: 'added' | 'removed' | 'changed' | 'within';
  /** As written; null where there is none. */
  before: string | null;
  after: string | null;
  within: Difference[];
}

export interface JsonDiff {
  root: Difference | null;
  count: { added: number; removed: number; changed: number };
  /** True where there are more than were looked for. */
  more: boolean;
}

/** Longer arrays are compared place by place: to find what was moved in them would take too long. */
const ALIGNED = 2000;
const EDITS = 400;
/** Deeper values are compared as they are written. */
const DEPTH = 200;

/** Both texts must be valid JSON. At most `most` differences are told. */
export function jsonDiff(old: string, now: string, most: number): JsonDiff {
  const count = { added: 0, removed: 0, changed: 0 };
  let left = most;
  let more = false;
  const tell = (
    kind: 'added' | 'removed' | 'changed',
    key: Difference['key'],
    a: Value | null,
    b: Value | null,
  ) => {
    if (left === 0) {
      more = true;
      return [];
    }
    left--;
    count[kind]++;
    const before = a && old.slice(a.start, a.end);
    const after = b && now.slice(b.start, b.end);
    return [{ key, kind, before, after, within: [] } satisfies Difference];
  };
  const compare = (key: Difference['key'], a: Value, b: Value, depth: number): Difference[] => {
    if (old.slice(a.start, a.end) === now.slice(b.start, b.end)) return [];
    const [one, other] = [kindOf(old, a), kindOf(now, b)];
    if (one !== other || depth > DEPTH) return tell('changed', key, a, b);
    if (one !== 'object' && one !== 'array')
      return isSame(one, plain(old, a), plain(now, b)) ? [] : tell('changed', key, a, b);
    const within = (one === 'object' ? inObject : inArray)(a, b, depth + 1);
    return within.length === 0 ? [] : [{ key, kind: 'within', before: null, after: null, within }];
  };
  const inObject = (a: Value, b: Value, depth: number): Difference[] => {
    // Of a doubled key the last one counts, as for every reader.
    const byKey = (text: string, of: Value) =>
      new Map(children(text, of).map((value) => [keyText(value.key!), value]));
    const [olds, nows] = [byKey(old, a), byKey(now, b)];
    const gone = [...olds].filter(([key]) => !nows.has(key));
    return [
      ...[...nows].flatMap(([key, value]) => {
        const before = olds.get(key);
        return before ? compare(key, before, value, depth) : tell('added', key, null, value);
      }),
      ...gone.flatMap(([key, value]) => tell('removed', key, value, null)),
    ];
  };
  const inArray = (a: Value, b: Value, depth: number): Difference[] => {
    const [olds, nows] = [children(old, a), children(now, b)];
    return paired(
      olds.map((value) => written(old, value)),
      nows.map((value) => written(now, value)),
    ).flatMap(([from, to]) =>
      from === null
        ? tell('added', to!, null, nows[to!]!)
        : to === null
          ? tell('removed', from, olds[from]!, null)
          : compare(to, olds[from]!, nows[to]!, depth),
    );
  };
  const [root] = compare(null, whole(old), whole(now), 0);
  return { root: root ?? null, count, more };
}

function isSame(kind: Kind, one: string, other: string): boolean {
  if (one === other) return true;
  if (kind !== 'number') return false;
  // 1, 1.0 and 1e0 are one number; of numbers with more digits than a computer keeps the digits count.
  const short = (number: string) => number.replace(/e.*/i, '').replace(/\D/g, '').length <= 15;
  return short(one) && short(other) && Number(one) === Number(other);
}

/** A value as one line, to find it again in an array. */
function written(text: string, { start, end }: Value): string {
  return JSON.stringify(JSON.parse(text.slice(start, end)));
}

type Pair = [from: number | null, to: number | null];

/** Which elements of two arrays stand for one another: equal ones, and between these in their order. */
function paired(olds: readonly string[], nows: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  let [from, to] = [0, 0];
  const upTo = (fromEnd: number, toEnd: number) => {
    while (from < fromEnd && to < toEnd) pairs.push([from++, to++]);
    while (to < toEnd) pairs.push([null, to++]);
    while (from < fromEnd) pairs.push([from++, null]);
  };
  const found =
    olds.length <= ALIGNED && nows.length <= ALIGNED
      ? diffArrays([...olds], [...nows], { maxEditLength: EDITS })
      : undefined;
  let [oldAt, nowAt] = [0, 0];
  for (const { added, removed, count = 0 } of found ?? []) {
    if (removed) oldAt += count;
    else if (added) nowAt += count;
    else {
      upTo(oldAt, nowAt);
      oldAt += count;
      nowAt += count;
      upTo(oldAt, nowAt);
    }
  }
  upTo(olds.length, nows.length);
  return pairs;
}
