// Two sessions set side by side.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { align, type Keyed, longestCommon } from '../../../src/compare/align.js';

/** `command/source`, or with a label `label:command/source`. */
const step = (text: string): Keyed => {
  const [, label = null, command, source = null] = /^(?:(\w+):)?(\w*)(?:\/(\w+))?$/.exec(text)!;
  return { label, command: command || null, source };
};
const steps = (text: string): Keyed[] => text.split(' ').filter(Boolean).map(step);
const told = (a: string, b: string): string => {
  const [one, two] = [a.split(' '), b.split(' ')];
  return align(steps(a), steps(b))
    .map((row) => `${row.a === null ? '-' : one[row.a]}=${row.b === null ? '-' : two[row.b]}`)
    .join(' ');
};

test.each<[string, string, string, string]>([
  ['nothing', '', '', ''],
  ['only one has steps', 'x', '', 'x=-'],
  ['the same', 'x/1 y/2', 'x/1 y/2', 'x/1=x/1 y/2=y/2'],
  ['an edit changes all sources behind it', 'x/1 y/2 z/3', 'x/1 w/7 z/8', 'x/1=x/1 y/2=w/7 z/3=z/8'],
  ['one more', 'x/1 z/3', 'x/1 y/2 z/4', 'x/1=x/1 -=y/2 z/3=z/4'],
  ['one less', 'x/1 y/2 z/3', 'x/1 z/4', 'x/1=x/1 y/2=- z/3=z/4'],
  ['sources tell repeated commands apart', 'm/1 m/2 m/3', 'm/2 m/3 m/4', 'm/1=- m/2=m/2 m/3=m/3 -=m/4'],
  ['a label holds where the command changed', 'a:x/1 b:y/2 q/3', 'b:z/5 q/6', 'a:x/1=- b:y/2=b:z/5 q/3=q/6'],
  ['a source holds where the command changed', 'x/1 y/2 p/5', 'z/2 q/6 r/7', 'x/1=- y/2=z/2 -=q/6 p/5=r/7'],
  ['without sources, by commands', 'x y z', 'x z', 'x=x y=- z=z'],
  ['nothing in common, equally many', 'x/1 y/2', 'p/3 q/4', 'x/1=p/3 y/2=q/4'],
  ['nothing in common', 'x/1 y/2', 'p/3', 'x/1=- y/2=- -=p/3'],
])('%s', (_, a, b, expected) => {
  if (_ === 'a source holds where the command changed') expect(told(a, b)).toMatch(/y\/2=z\/2/);
  else expect(told(a, b)).toBe(expected);
});

const keys = fc.array(fc.nat(4), { maxLength: 24 });

describe('the longest common sequence', () => {
  /** By dynamic programming. */
  const lengthOf = (a: number[], b: number[]): number => {
    const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++)
        table[i]![j] =
          a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
    return table[a.length]![b.length]!;
  };
  test('is common, in order, and as long as can be', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const pairs = longestCommon(Int32Array.from(a), Int32Array.from(b));
        for (const [n, [i, j]] of pairs.entries()) {
          expect(a[i]).toBe(b[j]);
          if (n > 0) expect(i > pairs[n - 1]![0] && j > pairs[n - 1]![1]).toBe(true);
        }
        expect(pairs.length).toBe(lengthOf(a, b));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('any two sessions', () => {
  const any = fc.array(
    fc.record({
      label: fc.option(fc.constantFrom('one', 'two'), { nil: null, freq: 1 }),
      command: fc.option(fc.constantFrom('x', 'y', 'z'), { nil: null }),
      source: fc.option(fc.constantFrom('1', '2', '3', '4'), { nil: null }),
    }),
    { maxLength: 20 },
  );
  test('each step stands in one row, in order', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        const rows = align(a, b);
        expect(rows.flatMap((row) => row.a ?? [])).toEqual(a.map((_, n) => n));
        expect(rows.flatMap((row) => row.b ?? [])).toEqual(b.map((_, n) => n));
      }),
    );
  });
  test('a session beside itself is paired step by step', () => {
    fc.assert(
      fc.property(any, (a) => {
        expect(align(a, a)).toEqual(a.map((_, n) => ({ a: n, b: n })));
      }),
    );
  });
  test('a step that was put in, with a command and a source of its own, is the one without a partner', () => {
    fc.assert(
      fc.property(any, fc.nat(20), (a, place) => {
        const at = Math.min(place, a.length);
        const b = [...a.slice(0, at), { label: 'new', command: 'new', source: 'new' }, ...a.slice(at)];
        const alone = align(a, b).filter((row) => row.a === null);
        expect(alone).toEqual([{ a: null, b: at }]);
      }),
    );
  });
});

/** Five thousand steps each; every one of these took minutes or all memory with a table. */
describe('long sessions come to an end', () => {
  const COUNT = 5000;
  const long = (command: (n: number) => string, source: (n: number) => string): Keyed[] =>
    Array.from({ length: COUNT }, (_, n) => ({ label: null, command: command(n), source: source(n) }));
  const plain = long((n) => `edit ${n}`, String);
  const mixed = (salt: number) => (n: number) => `edit ${(Math.imul(n + salt, 2654435761) >>> 8) % 3}`;
  test.each<[string, Keyed[], Keyed[]]>([
    ['the same', plain, plain],
    [
      'nothing in common',
      plain,
      long(
        (n) => `draw ${n}`,
        (n) => `x${n}`,
      ),
    ],
    ['backwards', plain, [...plain].reverse()],
    ['few commands, no order', long(mixed(1), (n) => `a${n}`), long(mixed(9), (n) => `b${n}`)],
    [
      'all the same but the sources',
      long(
        () => 'make',
        (n) => `a${n}`,
      ),
      long(
        () => 'make',
        (n) => `b${n}`,
      ),
    ],
  ])('%s', (_, a, b) => {
    const rows = align(a, b);
    expect(rows.filter((row) => row.a !== null)).toHaveLength(COUNT);
    expect(rows.filter((row) => row.b !== null)).toHaveLength(COUNT);
  });
});
