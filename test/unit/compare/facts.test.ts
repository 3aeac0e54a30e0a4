// Facts and files of two bundles, side by side.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareFacts, compareFiles, isChanged } from '../../../src/compare/facts.js';

describe('facts', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, unknown[][]]>([
    ['none', {}, {}, []],
    ['one that changed', { facets: 12 }, { facets: 20 }, [['facets', 12, 20]]],
    ['one that did not', { facets: 12 }, { facets: 12 }, [['facets', 12, 12]]],
    ['a new one', {}, { volume: 3.5 }, [['volume', null, 3.5]]],
    ['one that is gone', { volume: 3.5 }, {}, [['volume', 3.5, null]]],
    [
      'changes come first',
      { a: 1, b: 2 },
      { a: 1, b: 3, c: 4 },
      [
        ['b', 2, 3],
        ['c', null, 4],
        ['a', 1, 1],
      ],
    ],
    [
      'nested',
      { box: { size: { x: 1, y: 2 } } },
      { box: { size: { x: 1, y: 5 } } },
      [
        ['box.size.y', 2, 5],
        ['box.size.x', 1, 1],
      ],
    ],
    ['a list is one value', { at: [1, 2] }, { at: [1, 3] }, [['at', [1, 2], [1, 3]]]],
    [
      'another kind',
      { size: 3 },
      { size: { x: 3 } },
      [
        ['size.x', null, 3],
        ['size', 3, null],
      ],
    ],
    ['a text that looks like a number', { n: '3' }, { n: 3 }, [['n', '3', 3]]],
    ['an object without keys', { o: {} }, { o: {} }, [['o', {}, {}]]],
    [
      'names of every object',
      { constructor: 1, __proto__x: 2 },
      { constructor: 2, __proto__x: 2 },
      [
        ['constructor', 1, 2],
        ['__proto__x', 2, 2],
      ],
    ],
  ])('%s', (_, before, after, rows) => {
    expect(compareFacts(before, after).map(({ name, before, after }) => [name, before, after])).toEqual(rows);
  });

  test('the order of keys within a list is no change', () => {
    const row = { name: 'x', before: [{ a: 1, b: 2 }], after: [{ b: 2, a: 1 }] };
    expect(isChanged(row)).toBe(false);
  });

  test('any facts are all unchanged against themselves, and never make it fail', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (facts) => {
        const parsed = JSON.parse(JSON.stringify(facts)) as Record<string, unknown>;
        expect(compareFacts(facts as Record<string, unknown>, parsed).filter(isChanged)).toEqual([]);
      }),
    );
  });

  test('an object a thousand deep is no trouble', () => {
    let deep: Record<string, unknown> = { end: 1 };
    for (let level = 0; level < 1000; level++) deep = { in: deep };
    expect(compareFacts(deep, {})).toHaveLength(1);
  });
});

test('files by name and hash; thumbnails follow the picture', () => {
  const file = (path: string, sha256?: string, role = 'render-output') => ({ path, role, sha256 });
  expect(
    compareFiles(
      [
        file('render.png', 'a', 'hero'),
        file('thumb.png', 'a', 'thumb'),
        file('old.stl', 'b'),
        file('same.stl', 'c'),
        file('unknown'),
      ],
      [
        file('render.png', 'b', 'hero'),
        file('thumb.png', 'b', 'thumb'),
        file('new.mp4', 'd'),
        file('same.stl', 'c'),
        file('unknown'),
      ],
    ),
  ).toEqual({ added: ['new.mp4'], removed: ['old.stl'], changed: ['render.png', 'unknown'] });
});
