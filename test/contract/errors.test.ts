// The list of error codes and the table in guides/errors.md are the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/errors.js';
import { REPOSITORY } from '../helpers/cli.js';

/** Rows of the first table whose first column is a code in backticks; warnings have a table of their own. */
function rows(): string[][] {
  const text = readFileSync(join(REPOSITORY, 'guides/errors.md'), 'utf8');
  const section = /^## Error codes$(.*?)^## /ms.exec(`${text}\n## `)?.[1] ?? '';
  return section
    .split('\n')
    .filter((line) => /^\|\s*`[a-z_]+`\s*\|/.test(line) && !line.includes('`code` |'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('guides/errors.md has one row for each code, and no other', () => {
  const codes = rows().map(([code]) => code!.replaceAll('`', ''));
  expect(codes.length).toBeGreaterThan(10);
  expect([...codes].sort()).toEqual(Object.keys(ERROR_CODES).sort());
});

test("each row says something, and names the code's exit code", () => {
  const found = rows();
  expect(found.length).toBe(Object.keys(ERROR_CODES).length);
  for (const [code, ...cells] of found) {
    expect(cells.length, code).toBeGreaterThanOrEqual(2);
    for (const cell of cells) expect(cell, code).not.toBe('');
    expect(cells.join(' '), code).toMatch(
      new RegExp(`\\b${ERROR_CODES[code!.replaceAll('`', '') as keyof typeof ERROR_CODES]}\\b`),
    );
  }
});
