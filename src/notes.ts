// What a person says of a step who looks at it: notes, boxes on the picture, verdicts. Here are their form and what
// follows from all of them together; pure, for the page needs it too. Where they lie is notefiles.ts.
import * as z from 'zod/mini';

z.config({ jitless: true });

/** Every cap of notes (I10). Bytes unless the name says otherwise. */
export const NOTE_LIMITS = {
  text: 4096,
  author: 100,
  path: 1024,
  /** One note's file. */
  file: 16 * 1024,
  /** Notes that one place holds; of more the newest are read, and none is added. */
  notes: 10_000,
} as const;

export const VERDICTS = ['accept', 'reject'] as const;
export type Verdict = (typeof VERDICTS)[number];

const text = z.string();
const count = z.int().check(z.nonnegative(), z.lte(1e9));
const side = z.int().check(z.positive(), z.lte(1e9));
const atMost = (bytes: number) => z.string().check(z.refine((value) => bytesOf(value) <= bytes));
/** The page has no Buffer. */
const bytesOf = (value: string) => new TextEncoder().encode(value).length;
const nullable = <T extends z.core.$ZodType>(schema: T) => z.nullable(schema);

/** A place of a picture, in its pixels. */
export const boxSchema = z.object({ x: count, y: count, width: side, height: side });
export type NoteBox = z.infer<typeof boxSchema>;

/** What somebody says, before it is known who and of what exactly. */
export const noteInputSchema = z.object({
  step_index: z.int().check(z.positive()),
  /** A file of the step's bundle; with a box and without a path, the main picture. */
  artifact: nullable(atMost(NOTE_LIMITS.path)),
  box: nullable(boxSchema),
  text: atMost(NOTE_LIMITS.text),
  verdict: nullable(z.enum(VERDICTS)),
  /** The note that this answers, or with `deleted` the one that it takes back. */
  replies_to: nullable(atMost(100)),
  deleted: z.boolean(),
});
export type NoteInput = z.infer<typeof noteInputSchema>;

export const noteSchema = z.looseObject({
  id: text,
  at: text,
  author: atMost(NOTE_LIMITS.author),
  /** The session's name in its root, and its id, which stays when the folder is renamed. */
  session: text,
  session_id: nullable(text),
  step_id: text,
  step_index: z.int().check(z.positive()),
  bundle_id: nullable(text),
  /** What was looked at. */
  manifest_sha256: nullable(text),
  artifact: nullable(atMost(NOTE_LIMITS.path)),
  box: nullable(boxSchema),
  text: atMost(NOTE_LIMITS.text),
  verdict: nullable(z.enum(VERDICTS)),
  replies_to: nullable(text),
  deleted: z.boolean(),
});
export type Note = z.infer<typeof noteSchema>;

/** A note that stands, with what the others make of it. */
export interface StandingNote extends Note {
  /** The note that its thread began with; its own id where it answers none. */
  thread: string;
  /** False once the step or the thread was accepted after it. */
  open: boolean;
}

export interface Standing {
  /** Notes that were not taken back, in the order they were written. */
  notes: StandingNote[];
  /** Ids that were. */
  deleted: string[];
  /** The newest verdict that stands for each step, by `stepKey`. */
  verdicts: Map<string, StandingNote>;
}

/** Names a step over all sessions of a root. */
export const stepKey = ({
  session_id,
  session,
  step_index,
}: Pick<Note, 'session_id' | 'session' | 'step_index'>) => `${session_id ?? session} ${step_index}`;

/** What stands of `notes`, which are in the order they were written. Pure. */
export function foldNotes(notes: readonly Note[]): Standing {
  const deleted = new Set(
    notes.flatMap((note) => (note.deleted && note.replies_to !== null ? [note.replies_to] : [])),
  );
  const byId = new Map(notes.map((note) => [note.id, note]));
  const standing = notes.filter((note) => !note.deleted && !deleted.has(note.id));
  const verdicts = new Map<string, StandingNote>();
  /** Accepted later, by step and by thread: the newest is looked at first. */
  const accepted = new Set<string>();
  const folded = standing.toReversed().map((note): StandingNote => {
    const thread = threadOf(note, byId);
    const accepts = note.verdict === 'accept';
    const open = !accepts && !accepted.has(stepKey(note)) && !accepted.has(thread);
    const made = { ...note, thread, open };
    if (note.verdict !== null && !verdicts.has(stepKey(note))) verdicts.set(stepKey(note), made);
    if (accepts) accepted.add(stepKey(note)).add(thread);
    return made;
  });
  return { notes: folded.reverse(), deleted: [...deleted].filter((id) => byId.has(id)), verdicts };
}

/** The first note of a thread. Answers that name each other in a circle, or one that is not there, begin with themselves. */
function threadOf(note: Note, byId: ReadonlyMap<string, Note>): string {
  const seen = new Set<string>();
  let first = note;
  while (first.replies_to !== null && !seen.has(first.id)) {
    seen.add(first.id);
    const before = byId.get(first.replies_to);
    if (before === undefined) return first.id;
    first = before;
  }
  return seen.has(first.id) ? note.id : first.id;
}
