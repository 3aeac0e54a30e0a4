// A text told as a change of another comes back whole.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeOf, withChange } from '../../consumer/comparing/textchange.js';

test.each([
  ['', ''],
  ['abc', 'abc'],
  ['abc', 'xyz'],
  ['abc', 'ab'],
  ['= "~"', '~ "="'],
])('%j from %j', (text, before) => {
  expect(withChange(changeOf(text, before), before)).toBe(text);
});

test('any text, most of it as it was', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'é', '"', '~', '='), { minLength: 60, maxLength: 60 });
  fc.assert(
    fc.property(
      letters,
      fc.array(fc.tuple(fc.nat(59), fc.constantFrom('x', 'b')), { maxLength: 6 }),
      (before, edits) => {
        const text: string[] = [...before];
        for (const [at, letter] of edits) text[at] = letter;
        const told = changeOf(text.join(''), before.join(''));
        expect(withChange(told, before.join(''))).toBe(text.join(''));
      },
    ),
  );
});

test('a few tiles of many are told in a few letters', () => {
  const before = '0123abcd'.repeat(300);
  const after = `${before.slice(0, 800)}ffffffff${before.slice(808)}`;
  expect(changeOf(after, before).length).toBeLessThan(40);
});

test.each(['~', '~{', '~{"a":1}', ''])('what is damaged (%j) is no text', (written) => {
  expect(withChange(written, 'before')).toBe('');
});
