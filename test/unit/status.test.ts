// The status document: at most 1,024 bytes whatever was recorded, from the head alone.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fullStatus, readStatus } from '../../src/status.js';
import { LIMITS } from '../../src/version.js';
import { temporary, write } from '../helpers/project.js';

const dir = temporary();
const head = (change: Record<string, unknown> = {}, step: Record<string, unknown> = {}) => ({
  status: 'active',
  trajectory_step_count: 42,
  current_render_path: 'bundle_007/render.png',
  latest_step: {
    step_id: 'step-0042',
    command: 'chassis build',
    bundle_id: 'bundle_007',
    published_at: '2026-05-31T10:45:00.000Z',
    publish_reason: 'mutation',
    ...step,
  },
  ...change,
});
const read = (value: unknown) => {
  write(dir, { 'session.json': typeof value === 'string' ? value : JSON.stringify(value) });
  return readStatus(dir);
};
const bytes = (value: unknown) => Buffer.byteLength(`${JSON.stringify(value)}\n`);

test('is the document of the protocol', () => {
  expect(read(head()).document).toEqual({
    active: true,
    session_dir: dir,
    trajectory_summary: {
      total_commands: 42,
      latest: { command: 'chassis build', bundle: 'bundle_007', timestamp: '2026-05-31T10:45:00.000Z' },
    },
    status: 'active',
    step: 'step-0042',
    reason: 'mutation',
    render: 'bundle_007/render.png',
  });
});

test.each([
  ['active', true],
  ['waiting', true],
  ['open', false],
  ['stopped', false],
  ['failed', false],
  ['dreaming', false],
])('%s: active is %s, the document otherwise the same', (status, active) => {
  const { document } = read(head({ status }));
  expect(document).toMatchObject({ active, status });
  expect(Object.keys(document!)).toEqual([
    'active',
    'session_dir',
    'trajectory_summary',
    'status',
    'step',
    'reason',
    'render',
  ]);
});

test('without a session it is the fixed document', () => {
  const fixed = { active: false, session_dir: null, trajectory_summary: null };
  expect(readStatus(null).document).toEqual(fixed);
  expect(readStatus(join(dir, 'absent')).document).toEqual(fixed);
});

test.each(['', '{', '[]', 'null', '\0\0'])('a damaged head %j gives a problem, not a document', (content) => {
  expect(read(content)).toMatchObject({ document: null, head: null, problem: expect.stringMatching(/./) });
});

describe('a hand-made head', () => {
  test.each([
    [{}],
    [{ latest_step: null }],
    [{ latest_step: [] }],
    [{ latest_step: 'x' }],
    [{ latest_step: { command: 7, step_id: {}, bundle_id: [], published_at: 1, publish_reason: false } }],
    [{ trajectory_step_count: 'many', status: {}, current_render_path: 4 }],
    [{ version: 99, trajectory_step_count: -1 }],
  ])('%j is read for what it is', (value) => {
    const { document } = read(value);
    expect(Object.keys(document!)).toEqual([
      'active',
      'session_dir',
      'trajectory_summary',
      'status',
      'step',
      'reason',
      'render',
    ]);
    expect(bytes(document)).toBeLessThanOrEqual(LIMITS.status);
  });

  test.each(['status', 'current_render_path'])('I10 a long %s does not make it longer', (key) => {
    expect(bytes(read(head({ [key]: 'x'.repeat(5000) })).document)).toBeLessThanOrEqual(LIMITS.status);
  });
  test.each(['step_id', 'bundle_id', 'published_at', 'publish_reason'])(
    'I10 a long %s of the latest step does not make it longer',
    (key) => {
      expect(bytes(read(head({}, { [key]: 'x'.repeat(5000) })).document)).toBeLessThanOrEqual(LIMITS.status);
    },
  );
});

describe('I10 whatever was recorded it keeps to 1,024 bytes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 5000 }),
    fc
      .tuple(
        fc.constantFrom('汉字', '😀', '👩‍👩‍👧', '\u0001', '"', '\\', '\u2028', 'e\u0301', 'x'),
        fc.nat(3000),
      )
      .map(([unit, times]) => unit.repeat(times)),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 3000 })
      .map((units) => String.fromCharCode(...units)),
  );
  test('and cuts the command at a character, ending in …, only where it must', () => {
    fc.assert(
      fc.property(text, (recorded) => {
        const command = recorded.toWellFormed();
        const { document } = read(head({}, { command }));
        const line = JSON.stringify(document);
        expect(Buffer.byteLength(`${line}\n`)).toBeLessThanOrEqual(LIMITS.status);
        const { command: shown } = (document as any).trajectory_summary.latest;
        if (shown === command) return;
        expect(shown.isWellFormed()).toBe(true);
        expect(shown.endsWith('…')).toBe(true);
        expect(command.startsWith(shown.slice(0, -1))).toBe(true);
        // A character takes at most 12 bytes of JSON; more room than that would have been used.
        expect(Buffer.byteLength(`${line}\n`)).toBeGreaterThan(LIMITS.status - 12);
      }),
      { numRuns: 300 },
    );
  });

  test('and mends half a character that another writer left in the head', () => {
    expect(JSON.stringify(read(head({}, { command: 'draw \ud800' })).document)).not.toMatch(/\\ud[89a-f]/i);
  });

  test.each(['汉', '😀'])('%s is cut between characters', (unit) => {
    for (let shift = 0; shift < 4; shift++) {
      const shown: string = (
        read(head({}, { command: 'x'.repeat(shift) + unit.repeat(1000) })).document as any
      ).trajectory_summary.latest.command;
      expect(shown.slice(shift, -1).replaceAll(unit, '')).toBe('');
      expect(shown.at(-1)).toBe('…');
    }
  });
});

test('--full has the head and the names of CLI-Anything', () => {
  const whole = {
    ...head(),
    latest_command: 'c',
    latest_publish_reason: 'mutation',
    history: [{ step_id: 'step-0042' }],
    current_bundle_id: 'bundle_007',
  };
  expect(fullStatus('/s', whole)).toMatchObject({
    ...whole,
    active: true,
    session_dir: '/s',
    trajectory_summary: {
      step_count: 42,
      latest_command: 'c',
      latest_publish_reason: 'mutation',
      recent_steps: [{ step_id: 'step-0042' }],
    },
  });
  expect(fullStatus('/s', {})).toMatchObject({
    active: false,
    trajectory_summary: { step_count: 0, latest_command: null, recent_steps: [] },
  });
});
