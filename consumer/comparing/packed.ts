// Steps as far as they are compared, small enough to keep for a hundred thousand of them: equal values are held once,
// as text, and are parsed when they are asked for. Pure.
import { isObject } from '../../src/object.js';
import { type Aspect, type Look, STATES } from './looking.js';
import { changeOf, withChange } from './textchange.js';

/** Consecutive steps. */
export interface Packed<T> {
  readonly first: number;
  /** One less than `first` where there is none. */
  readonly last: number;
  at(index: number): Look<T>;
  /** The step behind the last. */
  add(look: Look<T>): void;
  /** As bytes, some `most` of them at most: the newest steps that fit. */
  write(most: number): Buffer;
}

/** Numbers a step takes in `steps`: state, recipe, value. */
const FIELDS = 3;
const NONE = -1;

/**
 * What a written one begins with, as a line of JSON; the values follow, one behind the other: the first of each block as
 * its text, the others as what changed in the text before, mostly a few tiles.
 */
interface Contents {
  first: number;
  recipes: string[];
  /** Of the values, in bytes. */
  lengths: number[];
  steps: number[];
}

/** Values of a block. */
const BLOCK = 64;

/** Bytes or so that a step takes besides its value. */
const STEP_BYTES = 16;

export const emptyPacked = <T>(aspect: Aspect<T>): Packed<T> =>
  packed(aspect, { first: 1, recipes: [], lengths: [], steps: [] }, Buffer.alloc(0));

function packed<T>(aspect: Aspect<T>, contents: Contents, bytes: Buffer): Packed<T> {
  const { first, recipes, steps, lengths } = contents;
  const read = lengths.length;
  const starts: number[] = [];
  for (let number = 0, at = 0; number < read; at += lengths[number++]!) starts.push(at);
  /** Those that were added since. */
  const added: string[] = [];
  /** The block that was asked for last, all its texts. */
  let block: { from: number; texts: string[] } = { from: NONE, texts: [] };
  const textOf = (number: number): string => {
    if (number >= read) return added[number - read]!;
    const from = number - (number % BLOCK);
    if (block.from !== from) block = { from, texts: blockAt(from) };
    return block.texts[number - from]!;
  };
  const blockAt = (from: number): string[] => {
    const texts: string[] = [];
    for (let number = from; number < Math.min(read, from + BLOCK); number++) {
      const written = bytes.toString('utf8', starts[number], starts[number]! + lengths[number]!);
      texts.push(withChange(written, texts.at(-1) ?? ''));
    }
    return texts;
  };
  let numbers: Map<string, number> | null = null;
  const numberOfText = (text: string): number => {
    // Only once something is added.
    numbers ??= new Map(starts.map((_, number) => [textOf(number), number]));
    const known = numbers.get(text);
    if (known !== undefined) return known;
    const fresh = read + added.push(text) - 1;
    numbers.set(text, fresh);
    return fresh;
  };
  let newest: { number: number; value: T | null } = { number: NONE, value: null };
  const count = () => steps.length / FIELDS;
  return {
    first,
    get last() {
      return first + count() - 1;
    },
    at(index) {
      const at = (index - first) * FIELDS;
      const [state, recipe, number] = [STATES[steps[at]!]!, steps[at + 1]!, steps[at + 2]!];
      const named = { recipe: recipe === NONE ? null : recipes[recipe]! };
      if (number === NONE) return { ...named, state, value: null };
      if (newest.number !== number) newest = { number, value: aspect.parse(textOf(number)) };
      return newest.value === null
        ? { ...named, state: 'lost', value: null }
        : { ...named, state, value: newest.value };
    },
    add({ state, recipe, value }) {
      if (recipe !== null && !recipes.includes(recipe)) recipes.push(recipe);
      steps.push(
        STATES.indexOf(state),
        recipe === null ? NONE : recipes.indexOf(recipe),
        value === null ? NONE : numberOfText(aspect.write(value)),
      );
    },
    write(most) {
      const used = new Map<number, number>();
      const texts: string[] = [];
      const rows: number[][] = [];
      let length = 0;
      let before = '';
      for (let at = steps.length - FIELDS; at >= 0; at -= FIELDS) {
        const [state, recipe, number] = [steps[at]!, steps[at + 1]!, steps[at + 2]!];
        if (number !== NONE && !used.has(number)) {
          const text = textOf(number);
          const change = changeOf(text, used.size % BLOCK === 0 ? '' : before);
          length += Buffer.byteLength(change);
          if (length > most) break;
          used.set(number, texts.push(change) - 1);
          before = text;
        }
        length += STEP_BYTES;
        if (length > most) break;
        rows.push([state, recipe, number === NONE ? NONE : used.get(number)!]);
      }
      const values = texts.map((text) => Buffer.from(text));
      const written: Contents = {
        first: first + count() - rows.length,
        recipes,
        lengths: values.map((value) => value.length),
        steps: rows.reverse().flat(),
      };
      return Buffer.concat([Buffer.from(`${JSON.stringify(written)}\n`), ...values]);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // SyntaxError: damaged.
    return null;
  }
}

/** What `write` wrote, or null where it is anything else. */
export function readPacked<T>(bytes: Buffer, aspect: Aspect<T>): Packed<T> | null {
  const end = bytes.indexOf(10);
  const contents = parsed(bytes.toString('utf8', 0, Math.max(0, end)));
  if (!isObject(contents)) return null;
  const { first, recipes, lengths, steps } = contents;
  if (!Number.isSafeInteger(first) || Number(first) < 1) return null;
  if (!Array.isArray(recipes) || !recipes.every((recipe) => typeof recipe === 'string')) return null;
  if (!Array.isArray(lengths) || !lengths.every((length) => Number.isSafeInteger(length) && length >= 0))
    return null;
  if (!Array.isArray(steps) || steps.length % FIELDS !== 0) return null;
  const values = bytes.subarray(end + 1);
  if (lengths.reduce((sum: number, length: number) => sum + length, 0) !== values.length) return null;
  const most = [STATES.length, recipes.length, lengths.length];
  const least = [0, NONE, NONE];
  const fits = steps.every(
    (number, at) => Number.isInteger(number) && number >= least[at % FIELDS]! && number < most[at % FIELDS]!,
  );
  return fits ? packed(aspect, { first: Number(first), recipes, lengths, steps }, values) : null;
}
