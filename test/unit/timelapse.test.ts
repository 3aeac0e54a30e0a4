// A film's times and words, without a picture.
import { describe, expect, test } from 'vitest';
import { durationsOf, TICK_S } from '../../consumer/exporting/timelapse/plan.js';
import { lineOf, linesOf } from '../../producer/render/words.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 4, 31) + seconds * 1000).toISOString();
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

describe('how long each step is seen', () => {
  const time = (times: (string | null)[], idleLimit: number, speed: number) =>
    durationsOf(times, { by: 'time', idleLimit, speed });

  test('by step: always the same, in whole ticks that add up', () => {
    expect(durationsOf(Array(3).fill(null), { by: 'step', secondsPerStep: 1 })).toEqual([1, 1, 1]);
    const thirds = durationsOf(Array(300).fill(null), { by: 'step', secondsPerStep: 1 / 3 });
    expect(Math.abs(sum(thirds) - 100)).toBeLessThan(TICK_S);
    expect(new Set(thirds)).toEqual(new Set([0.32, 0.36]));
  });

  test('by time: as long as until the next, so many times as fast, no idle longer than the limit', () => {
    expect(time([at(0), at(4), at(6)], 10, 2)).toEqual([2, 1, 5]);
    expect(time([at(0), at(3600), at(3604)], 4, 4)).toEqual([1, 1, 1]);
  });

  test('what is not known is idle, what runs backwards is no time, and nothing is too short to be seen', () => {
    expect(time([null, at(0), at(-100), at(0.001)], 8, 4)).toEqual([2, 0.12, 2, 2]);
    expect(time([at(0), at(0.001), at(0.002)], 0.1, 8)).toEqual([0.12, 0.12, 1]);
  });
});

describe('words in their cells', () => {
  const told = (cells: { text: string }[]) => cells.map(({ text }) => text).join('');
  const check = (text: string, columns: number, most: number) => linesOf({ text }, columns, most).map(told);

  test.each<[string, number, number, string[]]>([
    ['short', 10, 3, ['short']],
    ['draw the wheel of it', 10, 3, ['draw the ', 'wheel of ', 'it']],
    ['x'.repeat(25), 10, 2, ['x'.repeat(10), `${'x'.repeat(9)}…`]],
    ['one\ntwo\nthree', 10, 2, ['one', 'two…']],
    ['one\r\ntwo', 10, 2, ['one', 'two']],
    // Wide characters take two places, and none is halved.
    ['漢字漢字', 5, 9, ['漢字', '漢字']],
    ['a\x1b[31mb\u202ec', 40, 1, ['a\\x1b[31mb\\u202ec']],
    [`e${'\u0301'.repeat(50)}x`, 10, 1, [`e${'\u0301'.repeat(3)}x`]],
    ['', 10, 2, ['']],
  ])('%j in %i columns, %i lines', (text, columns, most, expected) => {
    expect(check(text, columns, most)).toEqual(expected);
  });

  test('a line is cut at its width, at a whole character', () => {
    expect(told(lineOf([{ text: 'step ' }, { text: '漢字漢字' }], 10))).toBe('step 漢字…');
    expect(told(lineOf([{ text: 'step' }], 4))).toBe('step');
  });
});
