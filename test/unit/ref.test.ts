// Every form of a REF.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { resolveRef, sessionsOf } from '../../src/ref.js';
import { recordSession, temporary, write } from '../helpers/project.js';

const project = temporary();
const root = join(project, '.preview');
const session = join(root, 'session_001');
const other = join(root, 'session_002');
beforeAll(async () => {
  await recordSession(2, { root });
  cpSync(session, other, { recursive: true, verbatimSymlinks: true });
  cpSync(join(session, 'bundle_001'), join(project, 'kept'), { recursive: true });
  write(project, { 'unrelated/readme.txt': 'x', 'unrelated/notes.json': '{}' });
  mkdirSync(join(project, 'empty'));
});
const resolved = (ref: string | undefined, cwd = project) => resolveRef(ref, { cwd, env: {} });

describe('forms', () => {
  test.each([
    ['nothing', undefined, { kind: 'session', session }],
    ['a preview root', '.preview', { kind: 'root', root }],
    ['a project', '.', { kind: 'root', root }],
    ['an absolute root', root, { kind: 'root', root }],
    ['a session directory', '.preview/session_002', { kind: 'session', session: other }],
    ['a session.json', '.preview/session_002/session.json', { kind: 'session', session: other }],
    ['a trajectory.json', '.preview/session_002/trajectory.json', { kind: 'session', session: other }],
    [
      'a bundle directory',
      '.preview/session_002/bundle_001',
      { kind: 'bundle', session: other, bundle: join(other, 'bundle_001') },
    ],
    [
      'a manifest.json',
      '.preview/session_002/bundle_001/manifest.json',
      { kind: 'bundle', session: other, bundle: join(other, 'bundle_001') },
    ],
    [
      'a bundle that lies in no session',
      'kept',
      { kind: 'bundle', session: null, bundle: join(project, 'kept') },
    ],
    ['session_NNN', 'session_002', { kind: 'session', session: other }],
    ['session_NNN/', 'session_002/', { kind: 'session', session: other }],
    [
      'session_NNN/bundle_NNN',
      'session_002/bundle_002',
      { kind: 'bundle', session: other, bundle: join(other, 'bundle_002') },
    ],
    ['session_NNN/step-NNNN', 'session_002/step-0002', { kind: 'step', session: other, index: 2 }],
    ['step-NNNN', 'step-0002', { kind: 'step', session, index: 2 }],
    ['a number', '2', { kind: 'step', session, index: 2 }],
    ["a number behind a session's name", 'session_002/1', { kind: 'step', session: other, index: 1 }],
    ['bundle_NNN', 'bundle_002', { kind: 'bundle', session, bundle: join(session, 'bundle_002') }],
    [
      "a step behind a session's path",
      '.preview/session_002/step-0001',
      { kind: 'step', session: other, index: 1 },
    ],
  ])('%s', (_name, ref, expected) => expect(resolved(ref)).toEqual(expected));

  test('from inside the session and the bundle', () => {
    expect(resolved('.', session)).toEqual({ kind: 'session', session });
    expect(resolved('.', join(session, 'bundle_001'))).toMatchObject({ kind: 'bundle', session });
    expect(resolved('step-0001', join(session, 'bundle_001'))).toMatchObject({ kind: 'step', index: 1 });
  });

  test('a session whose head is gone is still found by its trajectory', () => {
    const copy = join(temporary(), 'session_009');
    cpSync(session, copy, { recursive: true, verbatimSymlinks: true });
    write(copy, {});
    expect(resolved(join(copy, 'trajectory.json'))).toMatchObject({ kind: 'session', session: copy });
  });
});

describe('what is not there', () => {
  test.each([
    'session_009',
    'session_002/bundle_009',
    'session_009/step-0001',
    'nonsense',
    '../nowhere',
    'unrelated',
    'unrelated/notes.json',
    'empty',
    '/nonexistent/x',
    'a/b/c',
    'session_002/../../x',
  ])('%j', (ref) => {
    expect(() => resolved(ref)).toThrow(expect.objectContaining({ code: 'not_found', exitCode: 3 }));
  });
  test.each(['x'.repeat(300), 'a\0b'])('a name that no file can have: %j', (ref) => {
    expect(() => resolved(ref)).toThrow(
      expect.objectContaining({ exitCode: expect.toSatisfy((code: number) => code === 2 || code === 3) }),
    );
  });
  test('no session at all', () => {
    expect(() => resolved(undefined, temporary())).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(() => resolved('step-0001', temporary())).toThrow(expect.objectContaining({ code: 'not_found' }));
  });
});

test('sessions of a root are in numeric order, strays left out', () => {
  const at = temporary();
  for (const name of [
    'session_1000',
    'session_999',
    'session_002',
    'session_x',
    'current',
    '.work',
    'session_01',
  ])
    mkdirSync(join(at, name));
  write(at, { session_003: 'a file' });
  expect(sessionsOf(at)).toEqual(['session_002', 'session_999', 'session_1000']);
  expect(sessionsOf(join(at, 'absent'))).toEqual([]);
});
