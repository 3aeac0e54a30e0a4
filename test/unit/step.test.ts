// A step keeps to its bounds whatever is recorded, and loses nothing: what is cut is kept whole in a file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/hash.js';
import { check, stepSchema } from '../../src/schema.js';
import { bounded, historyEntry, keepText, makeStep, type StepInput } from '../../src/step.js';
import { jsonBytes, utf8Bytes, wellFormed } from '../../src/text.js';
import { LIMITS } from '../../src/version.js';
import { temporary } from '../helpers/project.js';

const place = {
  step_id: 'step-0001',
  step_index: 1,
  published_at: '2026-05-31T10:45:00.000Z',
  bundle_id: 'bundle_001',
  render: 'render.png',
  manifest_sha256: sha256('m'),
  prev_sha256: sha256('p'),
  status: 'ok',
  cached: false,
  command_path: null,
  note_path: null,
} as const;
const make = (input: Partial<StepInput>) =>
  makeStep({ command: 'draw', publish_reason: 'mutation', ...input }, place);
const bytes = (value: unknown) => utf8Bytes(JSON.stringify(value));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 })
    .map((units) => String.fromCharCode(...units)),
);
const longText = fc.tuple(anyText, fc.nat(400)).map(([text, times]) => text.repeat(times));

describe("a step's line", () => {
  test('holds the fields of the protocol, in their order', () => {
    const step = make({
      exit_code: 0,
      duration_ms: 12.6,
      stage_label: 'l',
      note: 'n',
      git: { head: 'x' },
      usage: { tokens: 1 },
      actor: { name: 'a' },
    });
    expect(Object.keys(step)).toEqual([
      'step_id',
      'step_index',
      'command',
      'command_started_at',
      'command_finished_at',
      'duration_ms',
      'published_at',
      'exit_code',
      'signal',
      'publish_reason',
      'recipe',
      'source_fingerprint',
      'bundle_id',
      'bundle_dir',
      'manifest_path',
      'summary_path',
      'render_path',
      'manifest_sha256',
      'prev_sha256',
      'status',
      'cached',
      'stage_label',
      'note',
      'git',
      'usage',
      'actor',
    ]);
    expect(step).toMatchObject({
      duration_ms: 13,
      bundle_dir: 'bundle_001',
      manifest_path: 'bundle_001/manifest.json',
      summary_path: 'bundle_001/summary.json',
      render_path: 'bundle_001/render.png',
    });
    expect(check(stepSchema, step, 'x').problems).toEqual([]);
  });

  test('what is not known is null, never invented', () => {
    expect(make({})).toMatchObject({
      command_started_at: null,
      command_finished_at: null,
      duration_ms: null,
      exit_code: null,
      signal: null,
      recipe: null,
      source_fingerprint: null,
    });
    expect(makeStep({ command: null, publish_reason: 'capture' }, { ...place, render: null })).toMatchObject({
      command: null,
      render_path: null,
    });
    expect(make({ duration_ms: -5 }).duration_ms).toBe(0);
  });

  test('I10 is at most 16 KB whatever texts it holds, strict UTF-8, and the same when parsed and written again', () => {
    fc.assert(
      fc.property(longText, longText, longText, (command, note, stage_label) => {
        const step = make({ command, note, stage_label });
        const line = JSON.stringify(step);
        expect(utf8Bytes(line)).toBeLessThanOrEqual(LIMITS.stepLine);
        expect(utf8Bytes(step.command!)).toBeLessThanOrEqual(LIMITS.command);
        expect(JSON.stringify(JSON.parse(line))).toBe(line);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/[\n\r]/);
        expect(bytes(historyEntry(step))).toBeLessThanOrEqual(LIMITS.historyStep);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['control characters, six bytes each in JSON', '\u0001'.repeat(20_000)],
    ['quotes and backslashes', '"\\'.repeat(20_000)],
    ['characters of three bytes', '汉'.repeat(20_000)],
    ['characters of four bytes', '😀'.repeat(20_000)],
    ['half characters', '\ud83d'.repeat(20_000)],
    ['line separators', '\u2028'.repeat(20_000)],
  ])('I10 at its worst: %s in every text', (_name, text) => {
    const step = make({ command: text, note: text, stage_label: text });
    expect(bytes(step)).toBeLessThanOrEqual(LIMITS.stepLine);
    expect(step.command).toMatch(/…$/u);
    expect(step.note).toMatch(/…$/u);
    expect(bytes(historyEntry(step))).toBeLessThanOrEqual(LIMITS.historyStep);
  });

  test('I10 at its worst: history with long paths, ids and recipes besides a long command', () => {
    const step = makeStep(
      {
        command: '\u0001'.repeat(9000),
        publish_reason: 'mutation',
        recipe: 'r'.repeat(40),
        source_fingerprint: sha256('s'),
      },
      { ...place, step_id: 'step-2000000', step_index: 2_000_000, bundle_id: 'bundle_2000000' },
    );
    expect(bytes(historyEntry(step))).toBeLessThanOrEqual(LIMITS.historyStep);
  });

  test('git, usage and actor that overflow the line are refused by name', () => {
    expect(() => make({ git: { status: 'x'.repeat(17_000) } })).toThrow(
      expect.objectContaining({ code: 'step_too_large' }),
    );
    expect(make({ git: { status: 'x'.repeat(9000) } }).git).toEqual({ status: 'x'.repeat(9000) });
  });

  test('half characters in git, usage, actor and recipe are mended too', () => {
    const step = make({ git: { branch: 'a\ud800' }, actor: { '\udc00key': ['\ud800'] }, recipe: '\ud800' });
    expect(JSON.stringify(step)).not.toMatch(/\\ud[89a-f]/i);
  });
});

describe('cutting and keeping', () => {
  test('4,096 bytes stay whole, 4,097 are cut at a character and end in …', () => {
    expect(make({ command: 'x'.repeat(4096) }).command).toBe('x'.repeat(4096));
    expect(make({ command: 'x'.repeat(4097) }).command).toBe(`${'x'.repeat(4093)}…`);
    const cut = make({ command: '汉'.repeat(1366) }).command!;
    expect(cut).toBe(`${'汉'.repeat(1364)}…`);
    expect(utf8Bytes(cut)).toBeLessThanOrEqual(4096);
  });

  test('what is cut is kept whole in a file of its hash, once, and only then', () => {
    const dir = temporary();
    expect(keepText(dir, 'x'.repeat(4096), LIMITS.command)).toBeNull();
    expect(keepText(dir, null, LIMITS.command)).toBeNull();
    expect(keepText(dir, undefined, LIMITS.command)).toBeNull();
    expect(existsSync(join(dir, 'texts'))).toBe(false);
    const text = `${'汉字 '.repeat(2000)}end`;
    const path = keepText(dir, text, LIMITS.command)!;
    expect(path).toBe(`texts/${sha256(text).slice(7)}.txt`);
    expect(readFileSync(join(dir, path), 'utf8')).toBe(text);
    expect(keepText(dir, text, LIMITS.command)).toBe(path);
    expect(readdirSync(join(dir, 'texts'))).toHaveLength(1);
  });

  test('nothing of any text is lost: it is in the step or in its file', () => {
    const dir = temporary();
    fc.assert(
      fc.property(longText, (text) => {
        const path = keepText(dir, text, LIMITS.command);
        const kept = path === null ? bounded(text, LIMITS.command) : readFileSync(join(dir, path), 'utf8');
        expect(kept).toBe(wellFormed(text));
      }),
    );
  });

  test('bounded keeps both its bytes and, in JSON, twice as many', () => {
    fc.assert(
      fc.property(longText, fc.integer({ min: 10, max: 5000 }), (text, limit) => {
        const cut = bounded(text, limit);
        expect(utf8Bytes(cut)).toBeLessThanOrEqual(limit);
        expect(jsonBytes(cut)).toBeLessThanOrEqual(limit * 2);
      }),
    );
  });
});
