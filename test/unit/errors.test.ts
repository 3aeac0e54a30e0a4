// Whatever is thrown becomes a PreviewError with a code, a message that names the file, and an exit code.
import { describe, expect, test } from 'vitest';
import { asPreviewError, ERROR_CODES, EXIT, errnoOf, PreviewError } from '../../src/errors.js';

const system = (code: string, path?: string) => Object.assign(new Error(`${code}: refused`), { code, path });

describe('asPreviewError', () => {
  test.each([
    ['ENOSPC', 'disk_full', 1],
    ['EDQUOT', 'disk_full', 1],
    ['EACCES', 'not_writable', 1],
    ['EPERM', 'not_writable', 1],
    ['EROFS', 'not_writable', 1],
    ['EIO', 'io', 1],
    ['EMFILE', 'io', 1],
  ])('%s is %s', (errno, code, exit) => {
    const error = asPreviewError(system(errno, '/some/where/file'));
    expect(error).toMatchObject({ code, exitCode: exit, name: 'PreviewError' });
    expect(error.message).not.toMatch(/^preview/);
    expect(error.hint).not.toBe('');
    if (code !== 'io') expect(error.message).toContain('/some/where/file');
    expect(error.cause).toBeInstanceOf(Error);
  });

  test('a fault of ours is internal and keeps its cause; ours stays as it is', () => {
    const cause = new TypeError('x is not a function');
    expect(asPreviewError(cause)).toMatchObject({ code: 'internal', exitCode: 1, cause });
    expect(asPreviewError('thrown text').message).toContain('thrown text');
    const own = new PreviewError('not_found', 'nothing');
    expect(asPreviewError(own)).toBe(own);
  });

  test('errnoOf knows system errors only', () => {
    expect(errnoOf(system('ENOENT'))).toBe('ENOENT');
    expect(errnoOf(Object.assign(new Error(), { code: 'ERR_INVALID_ARG' }))).toBeUndefined();
    expect(errnoOf(null)).toBeUndefined();
    expect(errnoOf('x')).toBeUndefined();
  });
});

test('every code has an exit code of the protocol', () => {
  const known = new Set<number>(Object.values(EXIT));
  expect(Object.keys(ERROR_CODES).length).toBeGreaterThan(10);
  for (const [code, exit] of Object.entries(ERROR_CODES)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(known).toContain(exit);
    expect(exit).not.toBe(0);
    expect(new PreviewError(code as keyof typeof ERROR_CODES, 'x').exitCode).toBe(exit);
  }
});
