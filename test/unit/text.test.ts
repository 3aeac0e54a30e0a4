// Bounded and neutralised text.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, jsonBytes, neutralise, shellQuote, utf8Bytes, wellFormed } from '../../src/text.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((units) => String.fromCharCode(...units)),
);
const strict = (text: string) => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text)) === text;

describe('cutText', () => {
  test.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['eleven bytes', 11, 'eleven b…'],
    ['', 0, ''],
    ['abc', 2, ''],
    ['abcd', 3, '…'],
    ['汉字汉字', 9, '汉字…'],
    ['汉字汉字', 8, '汉…'],
    ['😀😀', 7, '😀…'],
    ['😀😀', 6, '…'],
    ['a\ud800b', 20, 'a\ufffdb'],
  ])('%j to %i bytes', (text, limit, expected) => {
    expect(cutText(text, limit)).toBe(expected);
  });

  test.each([
    ['bytes', utf8Bytes],
    ['JSON bytes', jsonBytes],
  ] as const)(
    'keeps to its %s, never ends in half a character, and cuts no more than it must',
    (_name, measure) => {
      fc.assert(
        fc.property(anyText, fc.nat(80), (text, limit) => {
          const cut = cutText(text, limit, measure);
          expect(measure(cut)).toBeLessThanOrEqual(limit);
          expect(strict(cut)).toBe(true);
          const whole = wellFormed(text);
          if (measure(whole) <= limit || limit < measure('…')) {
            expect(cut).toBe(measure(whole) <= limit ? whole : '');
            return;
          }
          expect(cut.endsWith('…')).toBe(true);
          const kept = cut.slice(0, -1);
          expect(whole.startsWith(kept)).toBe(true);
          const next = String.fromCodePoint(whole.codePointAt(kept.length)!);
          expect(measure(`${kept + next}…`)).toBeGreaterThan(limit);
        }),
        { numRuns: 500 },
      );
    },
  );
});

describe('neutralise', () => {
  test.each([
    ['plain ünï 汉字 😀', 'plain ünï 汉字 😀'],
    ['a\nb\tc\rd', 'a\\nb\\tc\\rd'],
    ['\x1b]52;c;aGk=\x07', '\\x1b]52;c;aGk=\\x07'],
    ['\x1b[2J', '\\x1b[2J'],
    ['\u009b31m', '\\x9b31m'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['\u2066x\u2069', '\\u2066x\\u2069'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['\ufeffbom', '\\ufeffbom'],
    ['\u200b\u200e\u200f\u061c', '\\u200b\\u200e\\u200f\\u061c'],
    ['\x7f\x00', '\\x7f\\x00'],
    ['half \ud83d', 'half \ufffd'],
    ['👩‍👩‍👧', '👩‍👩‍👧'],
  ])('%j', (text, expected) => expect(neutralise(text)).toBe(expected));

  test('leaves no control character and no mark that reorders, whatever comes', () => {
    fc.assert(
      fc.property(
        anyText,
        (text) => !/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(neutralise(text)) && strict(neutralise(text)),
      ),
      { numRuns: 500 },
    );
  });
});

describe('shellQuote', () => {
  test.each([
    [['ls', '-l', 'a/b.txt'], 'ls -l a/b.txt'],
    [['echo', ''], "echo ''"],
    [['echo', "it's"], "echo 'it'\\''s'"],
    [['echo', 'a b', '$HOME', '*'], "echo 'a b' '$HOME' '*'"],
    [['echo', '汉'], "echo '汉'"],
  ])('%j', (argv, expected) => expect(shellQuote(argv)).toBe(expected));

  test('B05 a shell reads back the same argv', () => {
    const argv = [
      'printf',
      '%s|',
      'a b',
      '',
      'x\ny',
      '-z',
      '😀',
      "'",
      '"',
      '\\',
      '$(id)',
      '`id`',
      '!',
      '~',
      '#',
      '=a',
      'tab\t',
    ];
    const { stdout } = spawnSync(
      'sh',
      ['-c', `set -- ${shellQuote(argv)}; for a; do printf '%s\\0' "$a"; done`],
      { encoding: 'utf8' },
    );
    expect(stdout.split('\0').slice(0, -1)).toEqual(argv);
  });
});
