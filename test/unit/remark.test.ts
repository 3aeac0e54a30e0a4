// What the note of a watched step says.
import { expect, test } from 'vitest';
import { remark } from '../../producer/watch/look.js';
import type { FileEntry } from '../../src/fingerprint.js';

const files = (all: Record<string, string>): FileEntry[] =>
  Object.entries(all).map(([path, sha256]) => ({ path, sha256, bytes: 1, mode: 'file' }));

test.each<[Record<string, string>, Record<string, string>, string | undefined]>([
  [{ a: '1', b: '1' }, { a: '2', b: '1' }, 'changed: a'],
  [{ a: '1' }, { a: '1', b: '1' }, 'new: b'],
  [{ a: '1', b: '1' }, { a: '1' }, 'gone: b'],
  [{ a: '1', b: '1' }, { a: '2', c: '1' }, 'changed: a; new: c; gone: b'],
  [{}, { a: '1', b: '1', c: '1', d: '1', e: '1', f: '1' }, 'new: a, b, c, d and 2 more'],
  [{ a: '1' }, { a: '1' }, undefined],
])('from %j to %j', (before, now, note) => {
  expect(remark(files(before), files(now))).toBe(note);
});
