// Reading JSON that may be damaged, and the hash of it.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashFile, sha256 } from '../../src/hash.js';
import { isObject, readJsonObject } from '../../src/json.js';
import { temporary, write } from '../helpers/project.js';

describe('readJsonObject', () => {
  test.each([
    ['a whole object', '{"a":1}', { a: 1 }, []],
    ['an empty file', '', null, ['invalid']],
    ['a cut one', '{"a":', null, ['invalid']],
    ['an array', '[1]', null, ['invalid']],
    ['null', 'null', null, ['invalid']],
    ['zero bytes', '\0\0\0\0', null, ['invalid']],
    ['a number', '7', null, ['invalid']],
  ] as const)('%s', (_name, content, value, kinds) => {
    const dir = temporary();
    write(dir, { 'x.json': content });
    const reading = readJsonObject(join(dir, 'x.json'), 'x.json');
    expect(reading.value).toEqual(value);
    expect(reading.problems.map((problem) => problem.kind)).toEqual(kinds);
    expect(reading.text).toBe(content);
    for (const problem of reading.problems)
      expect(problem).toMatchObject({ where: 'x.json', detail: expect.stringMatching(/./) });
  });

  test('a missing file, a folder and a loop of links are problems, not exceptions', () => {
    const dir = temporary();
    mkdirSync(join(dir, 'folder'));
    symlinkSync('loop', join(dir, 'loop'));
    for (const name of ['absent', 'folder', 'loop', 'absent/deeper']) {
      expect(readJsonObject(join(dir, name), name)).toMatchObject({
        value: null,
        problems: [{ kind: 'missing', where: name }],
      });
    }
  });

  test('isObject', () => {
    expect([{}, { a: 1 }].every(isObject)).toBe(true);
    expect([null, [], 'x', 1, undefined].some(isObject)).toBe(false);
  });
});

test('hashFile agrees with sha256 of the content, across its pieces', () => {
  const dir = temporary();
  const bytes = Buffer.alloc(600_000, 'abcdefg');
  write(dir, { large: bytes, empty: '' });
  expect(hashFile(join(dir, 'large'))).toEqual({ sha256: sha256(bytes), bytes: 600_000 });
  expect(hashFile(join(dir, 'empty'))).toEqual({
    sha256: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    bytes: 0,
  });
});
