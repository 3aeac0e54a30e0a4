// trajectory.json: appending, healing what a crash leaves, and reading ranges, against a naive model that
// parses the whole file. I4: a byte before the closing bracket never changes.
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeAll } from '../../src/disk.js';
import { sha256 } from '../../src/hash.js';
import {
  appendRecord,
  EMPTY,
  EMPTY_TAIL,
  eachLine,
  healTail,
  inspectTail,
  lastOffset,
  openTrajectory,
  readLines,
  stepIndexOf,
  type Tail,
  type TailState,
} from '../../src/trajectory.js';
import { temporary } from '../helpers/project.js';

interface Step {
  step_id: string;
  step_index: number;
  command: string;
}

const file = join(temporary(), 'trajectory.json');
const stepOf = (index: number, command: string): Step => ({
  step_id: `step-${String(index).padStart(4, '0')}`,
  step_index: index,
  command,
});

interface Model {
  /** The whole file, and what it was before the last append. */
  bytes: Buffer;
  before: Buffer;
  record: { offset: number; bytes: Buffer };
  tail: Tail;
  steps: Step[];
}

/** Builds a trajectory by appends, as the program does. */
function build(commands: readonly string[]): Model {
  let tail: Tail = EMPTY_TAIL;
  let bytes = Buffer.from(EMPTY);
  let before = bytes;
  let record = { offset: 0, bytes: Buffer.from(EMPTY) };
  const pieces = [Buffer.from('[')];
  const steps = commands.map((command, n) => stepOf(n + 1, command));
  for (const [n, step] of steps.entries()) {
    const line = JSON.stringify(step);
    const append = appendRecord(line, n, tail.trajectory_bytes);
    record = append;
    if (n === steps.length - 1) before = Buffer.concat([...pieces, Buffer.from('\n]\n')]);
    pieces.push(append.bytes.subarray(0, -3));
    tail = {
      trajectory_step_count: n + 1,
      trajectory_bytes: append.end,
      trajectory_sha256: sha256(line),
      latest_step: step,
    };
  }
  if (steps.length > 0) bytes = Buffer.concat([...pieces, Buffer.from('\n]\n')]);
  return { bytes, before, record, tail, steps };
}

function heal(bytes: Uint8Array, tail: Tail): { state: TailState; after: Buffer } {
  writeFileSync(file, bytes);
  const fd = openTrajectory(file);
  try {
    const looked = inspectTail(fd, tail);
    const state = healTail(fd, tail);
    expect(state).toEqual(looked);
    return { state, after: readFileSync(file) };
  } finally {
    closeSync(fd);
  }
}

const command = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.nat(15_000).map((length) => '汉'.repeat(length / 3)) },
);
const commands = fc.array(command, { minLength: 1, maxLength: 6 });

describe('append', () => {
  test('gives exactly the form of the protocol', () => {
    expect(build([]).bytes.toString()).toBe('[\n]\n');
    expect(build(['a']).bytes.toString()).toBe(
      '[\n{"step_id":"step-0001","step_index":1,"command":"a"}\n]\n',
    );
    expect(build(['a', 'b']).bytes.toString()).toBe(
      '[\n{"step_id":"step-0001","step_index":1,"command":"a"},\n{"step_id":"step-0002","step_index":2,"command":"b"}\n]\n',
    );
  });

  test('I4 is valid JSON for any reader, keeps every byte before the old closing bracket, and needs one positioned write', () => {
    fc.assert(
      fc.property(commands, (texts) => {
        const { bytes, before, record, tail, steps } = build(texts);
        expect(JSON.parse(bytes.toString())).toEqual(steps);
        expect(bytes.subarray(0, record.offset)).toEqual(before.subarray(0, record.offset));
        expect(before.subarray(record.offset).toString()).toBe('\n]\n');
        writeFileSync(file, before);
        const fd = openSync(file, 'r+');
        writeAll(fd, record.bytes, record.offset);
        closeSync(fd);
        expect(readFileSync(file).equals(bytes)).toBe(true);
        expect(bytes.subarray(tail.trajectory_bytes).toString()).toBe('\n]\n');
        expect(lastOffset(tail)).toBe(record.offset);
      }),
    );
  });
});

describe('healing', () => {
  test('a whole one is left as it is', () => {
    for (const texts of [[], ['a'], ['a', 'b', 'c']]) {
      const { bytes, tail } = build(texts);
      expect(heal(bytes, tail)).toEqual({ state: { state: 'whole' }, after: bytes });
    }
  });

  /** Every way a write of `record` over `before` can have stopped after `done` bytes. */
  function leavings({ bytes, before, record }: Model, done: number): [string, Buffer][] {
    const written = Buffer.concat([before.subarray(0, record.offset), record.bytes.subarray(0, done)]);
    return [
      ['cut', written],
      ['rest of the old closing', Buffer.concat([written, before.subarray(written.length)])],
      ['zeros to the full length', Buffer.concat([written, Buffer.alloc(bytes.length - written.length)])],
      ['zeros past it', Buffer.concat([written, Buffer.alloc(bytes.length - written.length + 70_000)])],
      ['few zeros', Buffer.concat([written, Buffer.alloc(Math.min(2, bytes.length - written.length))])],
    ];
  }

  test.each([[['a']], [['a', 'b']], [['one', 'two', '汉字 😀']]])(
    'every prefix of the last record of %j is healed to the whole',
    (texts) => {
      const model = build(texts);
      for (let done = 0; done <= model.record.bytes.length; done++) {
        for (const [name, left] of leavings(model, done)) {
          const { state, after } = heal(left, model.tail);
          expect(state.state, `${name} after ${done} bytes`).not.toBe('damaged');
          expect(after.equals(model.bytes), `${name} after ${done} bytes`).toBe(true);
        }
      }
    },
  );

  test('any prefix of any record is healed to the whole', () => {
    fc.assert(
      fc.property(commands, fc.nat(), (texts, seed) => {
        const model = build(texts);
        for (const [name, left] of leavings(model, seed % (model.record.bytes.length + 1))) {
          const { state, after } = heal(left, model.tail);
          expect(state.state, name).not.toBe('damaged');
          expect(after.equals(model.bytes), name).toBe(true);
        }
      }),
    );
  });

  test('surplus bytes behind the closing bracket are taken away', () => {
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 4 }),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        (texts, surplus) => {
          const model = build(texts);
          expect(heal(Buffer.concat([model.bytes, surplus]), model.tail)).toEqual({
            state: { state: 'pending', kind: 'surplus' },
            after: model.bytes,
          });
        },
      ),
    );
  });

  test('an opening overtaken by a late closing bracket is healed', () => {
    const model = build(['a', 'b']);
    const turned = Buffer.from(model.bytes);
    turned.write('\n]\n', model.record.offset);
    expect(heal(turned, model.tail)).toEqual({
      state: { state: 'pending', kind: 'overtaken' },
      after: model.bytes,
    });
  });

  test('an empty trajectory that was cut is made whole', () => {
    for (let length = 0; length < EMPTY.length; length++) {
      expect(heal(Buffer.from(EMPTY).subarray(0, length), EMPTY_TAIL).after.toString()).toBe(EMPTY);
    }
  });
});

describe('damage is told, and nothing is written', () => {
  const damaged = (bytes: Uint8Array, tail: Tail) => {
    const { state, after } = heal(bytes, tail);
    expect(state.state).toBe('damaged');
    expect(after.equals(Buffer.from(bytes))).toBe(true);
  };
  const model = build(['one', 'two', 'three']);

  test.each([
    ['a file cut before its last entry', model.bytes.subarray(0, model.record.offset - 1)],
    ['an empty file', Buffer.alloc(0)],
    ['another last entry', Buffer.from(model.bytes.toString().replace('three', 'thrEE'))],
    ['a longer last entry', Buffer.from(model.bytes.toString().replace('three', 'threee'))],
    ['a dropped entry', Buffer.from(model.bytes.toString().replace(/\{[^}]*"two"\},\n/, ''))],
    ['another file', Buffer.from('{"not":"a trajectory"}'.repeat(20))],
  ])('%s', (_name, bytes) => damaged(bytes, model.tail));

  test.each([
    ['steps although the head has none', build(['a']).bytes, EMPTY_TAIL],
    ['no steps although the head has some', Buffer.from(EMPTY), model.tail],
    ['a head that names too few bytes', model.bytes, { ...model.tail, trajectory_bytes: 3 }],
    ['a head that names too many bytes', model.bytes, { ...model.tail, trajectory_bytes: 3000 }],
    [
      'a head whose count is of an earlier time',
      model.bytes,
      { ...model.tail, trajectory_step_count: 1, trajectory_bytes: 400 },
    ],
  ])('%s', (_name, bytes, tail) => damaged(bytes, tail));

  test('any changed byte of the last record, but for what a crash leaves', () => {
    for (let at = model.record.offset; at < model.bytes.length; at++) {
      for (const change of [(byte: number) => byte ^ 1, (byte: number) => byte ^ 0x80, () => 0x0a, () => 0]) {
        const bytes = Buffer.from(model.bytes);
        bytes[at] = change(bytes[at]!);
        // Zeros to the end are what a power failure leaves.
        if (bytes.equals(model.bytes) || bytes.subarray(at).every((byte) => byte === 0)) continue;
        damaged(bytes, model.tail);
      }
    }
  });

  test('a missing one is not made anew', () => {
    expect(() => openTrajectory(join(temporary(), 'trajectory.json'))).toThrow(/ENOENT/);
  });
});

describe('reading ranges', () => {
  const sizes = [10, 80, 300, 15_000];
  const many = build(
    Array.from(
      { length: 3000 },
      (_, n) => `${n} "step_index":${n * 7} ${'x'.repeat(n % 97 === 0 ? sizes[3]! : sizes[n % 3]!)}`,
    ),
  );
  const long = join(temporary(), 'trajectory.json');
  writeFileSync(long, many.bytes);
  const model = (JSON.parse(many.bytes.toString()) as Step[]).map((step) => JSON.stringify(step));

  test('any range of 3,000 steps is that of the parsed array', () => {
    fc.assert(
      fc.property(fc.integer({ min: -10, max: 3100 }), fc.integer({ min: -10, max: 3100 }), (from, to) => {
        expect(readLines(long, many.tail, from, to)).toEqual(
          model.slice(Math.max(0, from - 1), Math.max(0, to)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('single steps anywhere, and the corners', () => {
    for (const index of [1, 2, 98, 99, 1500, 2935, 2936, 2937, 2938, 2998, 2999, 3000])
      expect(readLines(long, many.tail, index, index)).toEqual([model[index - 1]]);
    expect(readLines(long, many.tail, 1, 3000)).toEqual(model);
    expect(readLines(long, many.tail, 3001, 4000)).toEqual([]);
    expect(readLines(long, many.tail, 5, 4)).toEqual([]);
  });

  test('the last step comes from the head, whatever is appended, pending or torn meanwhile', () => {
    const { before, record, tail, bytes } = build(['one', 'two', '汉字']);
    const lines =
      tail.latest_step === null
        ? []
        : [
            JSON.stringify(stepOf(1, 'one')),
            JSON.stringify(stepOf(2, 'two')),
            JSON.stringify(tail.latest_step),
          ];
    for (let done = 0; done <= record.bytes.length; done++) {
      writeFileSync(
        file,
        Buffer.concat([
          before.subarray(0, record.offset),
          record.bytes.subarray(0, done),
          before.subarray(record.offset + done),
        ]),
      );
      expect(readLines(file, tail, 1, 3)).toEqual(lines);
    }
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -3), Buffer.from(',\n{"step_id":"step-0004"')]));
    expect(readLines(file, tail, 1, 3)).toEqual(lines);
    expect(readLines(file, tail, 2, 2)).toEqual([lines[1]]);
  });

  test('an empty one has no lines', () => {
    writeFileSync(file, EMPTY);
    expect(readLines(file, EMPTY_TAIL, 1, 10)).toEqual([]);
    const fd = openSync(file, 'r');
    expect([...eachLine(fd, 0, 1)]).toEqual([]);
    closeSync(fd);
  });

  test('eachLine gives the same lines across its pieces', () => {
    const fd = openSync(long, 'r');
    expect([...eachLine(fd, 0, many.tail.trajectory_bytes)]).toEqual(model);
    closeSync(fd);
  });

  test('stepIndexOf', () => {
    expect(stepIndexOf(model[41]!)).toBe(42);
    expect(stepIndexOf('null')).toBeNull();
    expect(stepIndexOf('{"step_id":"x"}')).toBeNull();
  });
});
