// What follows from all notes together: threads, verdicts, what was taken back, what is still open.
import { describe, expect, test } from 'vitest';
import { foldNotes, NOTE_LIMITS, type Note, noteInputSchema, noteSchema, stepKey } from '../../src/notes.js';
import { check } from '../../src/schema.js';

let last = 0;
/** The next note; its number follows the one before. */
const said = (more: Partial<Note> = {}): Note => ({
  id: `note-${String(++last).padStart(4, '0')}`,
  at: '2026-05-31T10:45:00.000Z',
  author: 'ada',
  session: 'session_001',
  session_id: null,
  step_id: `step-${String(more.step_index ?? 1).padStart(4, '0')}`,
  step_index: 1,
  bundle_id: 'bundle_001',
  manifest_sha256: null,
  artifact: null,
  box: null,
  text: 'look',
  verdict: null,
  replies_to: null,
  deleted: false,
  ...more,
});
const back = (note: Note): Note => said({ replies_to: note.id, deleted: true, text: '' });

describe('what stands', () => {
  test('the newest verdict of each step that was not taken back', () => {
    const [first, second] = [said({ verdict: 'reject' }), said({ verdict: 'accept' })];
    const other = said({ verdict: 'reject', step_index: 2 });
    const elsewhere = said({ verdict: 'reject', session: 'session_002' });
    const all = [first, second, other, elsewhere];
    const verdicts = (notes: Note[]) =>
      Object.fromEntries([...foldNotes(notes).verdicts].map(([key, { verdict }]) => [key, verdict]));
    expect(verdicts(all)).toEqual({
      'session_001 1': 'accept',
      'session_001 2': 'reject',
      'session_002 1': 'reject',
    });
    expect(verdicts([...all, back(second)])).toMatchObject({ 'session_001 1': 'reject' });
    expect(verdicts([...all, back(second), back(first)])).not.toHaveProperty('session_001 1');
    // A session keeps its verdicts when its folder gets another name.
    expect(stepKey({ session: 'a', session_id: 'x', step_index: 3 })).toBe(
      stepKey({ session: 'b', session_id: 'x', step_index: 3 }),
    );
  });

  test('a note that was taken back is gone, its answers stay, in the order written', () => {
    const first = said();
    const answer = said({ replies_to: first.id });
    const { notes, deleted } = foldNotes([first, answer, back(first)]);
    expect(notes.map(({ id }) => id)).toEqual([answer.id]);
    expect(notes[0]!.thread).toBe(first.id);
    expect(deleted).toEqual([first.id]);
    // What was never there is not told as taken back.
    expect(foldNotes([said({ replies_to: 'note-9999', deleted: true })])).toMatchObject({
      notes: [],
      deleted: [],
    });
  });

  test('a thread begins with the note that answers none; circles and gaps end', () => {
    const first = said();
    const second = said({ replies_to: first.id });
    const third = said({ replies_to: second.id });
    const lost = said({ replies_to: 'note-9999' });
    const self = said();
    self.replies_to = self.id;
    const [a, b] = [said(), said()];
    a.replies_to = b.id;
    b.replies_to = a.id;
    const threads = foldNotes([first, second, third, lost, self, a, b]).notes.map(({ thread }) => thread);
    expect(threads).toEqual([first.id, first.id, first.id, lost.id, self.id, a.id, b.id]);
  });

  test('what was accepted later, as a step or as a thread, is not open', () => {
    const complaint = said({ verdict: 'reject' });
    const other = said({ step_index: 2 });
    const early = said({ step_index: 3, verdict: 'accept' });
    const later = said({ step_index: 3, text: 'and yet' });
    // The fix is another step: its acceptance answers the complaint.
    const fixed = said({ step_index: 4, replies_to: complaint.id, verdict: 'accept' });
    const open = (notes: Note[]) => foldNotes(notes).notes.flatMap((note) => (note.open ? [note.id] : []));
    expect(open([complaint, other, early, later])).toEqual([complaint.id, other.id, later.id]);
    expect(open([complaint, other, early, later, fixed])).toEqual([other.id, later.id]);
    expect(open([complaint, other, early, later, fixed, back(fixed)])).toContain(complaint.id);
  });
});

describe('the form of a note (I10)', () => {
  const problems = (note: unknown) => check(noteSchema, note, 'it').problems;
  test.each([
    ['text', NOTE_LIMITS.text],
    ['author', NOTE_LIMITS.author],
    ['artifact', NOTE_LIMITS.path],
  ] as const)('%s holds as many bytes as it may, and no more', (key, bytes) => {
    expect(problems(said({ [key]: 'x'.repeat(bytes) }))).toEqual([]);
    expect(problems(said({ [key]: `${'x'.repeat(bytes - 1)}é` }))).toHaveLength(1);
  });

  test.each([
    [{ x: -1, y: 0, width: 1, height: 1 }],
    [{ x: 0, y: 0, width: 0, height: 1 }],
    [{ x: 0.5, y: 0, width: 1, height: 1 }],
    [{ x: 0, y: 0, width: 1e300, height: 1 }],
    [{ x: 0, y: 0, width: 1 }],
  ])('%j is no box', (box) => {
    expect(problems({ ...said(), box })).toHaveLength(1);
    expect(problems({ ...said(), box: { x: 0, y: 0, width: 1, height: 1 } })).toEqual([]);
  });

  test('a page may say no more than that', () => {
    const input = {
      step_index: 1,
      artifact: null,
      box: null,
      text: 'x'.repeat(NOTE_LIMITS.text),
      verdict: 'reject',
      replies_to: null,
      deleted: false,
    };
    const wrong = (more: object) => check(noteInputSchema, { ...input, ...more }, 'it').problems.length;
    expect(wrong({})).toBe(0);
    expect(wrong({ text: `${input.text}x` })).toBe(1);
    expect(wrong({ step_index: 0 })).toBe(1);
    expect(wrong({ verdict: 'maybe' })).toBe(1);
  });
});
