// Versions of session.json.
import { describe, expect, test } from 'vitest';
import { migrate, versionOf } from '../../src/migrate.js';

describe('versionOf', () => {
  test.each([
    [{}, 1],
    [{ version: 1 }, 1],
    [{ version: 2 }, 2],
    [{ version: 41 }, 41],
    [{ version: 0 }, 1],
    [{ version: -3 }, 1],
    [{ version: 1.5 }, 1],
    [{ version: '2' }, 1],
    [{ version: null }, 1],
  ])('%j is %i', (head, version) => expect(versionOf(head)).toBe(version));
});

describe('migrate', () => {
  const steps = {
    1: (head: Record<string, unknown>) => ({ ...head, name: head['title'], title: undefined }),
    2: ({ name, ...head }: Record<string, unknown>) => ({ ...head, names: [name] }),
  };

  test('runs each step from n to n + 1 in order', () => {
    expect(migrate({ version: 1, title: 'x', kept: true }, steps, 3)).toEqual({
      version: 3,
      names: ['x'],
      title: undefined,
      kept: true,
    });
    expect(migrate({ version: 2, name: 'y' }, steps, 3)).toEqual({ version: 3, names: ['y'] });
  });

  test('a file without a version is version 1', () => {
    expect(migrate({ title: 'x' })).toEqual({ version: 1, title: 'x' });
    expect(migrate({ title: 'x' }, steps, 2)).toEqual({ version: 2, name: 'x', title: undefined });
  });

  test('a newer one comes back as it is', () => {
    expect(migrate({ version: 9, strange: 1 }, steps, 3)).toEqual({ version: 9, strange: 1 });
  });

  test('its input is not changed, and unknown keys are kept', () => {
    const head = Object.freeze({ version: 1, title: 'x', other: { deep: 1 } });
    expect(migrate(head, steps, 2)).toMatchObject({ other: { deep: 1 } });
    expect(head).toEqual({ version: 1, title: 'x', other: { deep: 1 } });
  });
});
