// What the server of `previews watch` and the page say to each other, and what an exported page holds: zod schemas and
// the types made from them. Keys are snake_case, as everything that crosses a boundary. Texts are untrusted; they are
// shown as text only.
import * as z from 'zod/mini';
import { noteInputSchema, noteSchema } from './notes.js';

z.config({ jitless: true });

/** Number of this protocol. A page and a server of different numbers do not talk: the page asks to be loaded again. */
export const STREAM_PROTOCOL = 1;

/** Every cap of the stream (I10). */
export const STREAM_LIMITS = {
  /** Steps in a snapshot, and in one answer to `range`. */
  window: 200,
  /** The largest message of the server: a window is cut where it would be larger. */
  messageBytes: 256 * 1024,
  /** The largest message of a page. */
  requestBytes: 32 * 1024,
  /** Ranges in an answer to `search`. */
  hits: 5000,
  /** Buckets in an answer to `outline`. */
  buckets: 1000,
  /** Points in an answer to `series`. */
  points: 1000,
  /** A command, a note or a headline in a shown step, in UTF-16 units; the whole text is in its detail. */
  text: 400,
  /** Notes that a page is told at first, the newest. */
  notes: 500,
  /** So far back the facts of an earlier step are looked for. */
  factsBack: 50,
  /** Sessions in a listing, the newest first. */
  sessions: 200,
} as const;

const text = z.string();
const count = z.int().check(z.nonnegative());
const nullable = <T extends z.core.$ZodType>(schema: T) => z.nullable(schema);

/** A file of a bundle, as the page asks for it. `sha256` makes its address immutable; null where nobody recorded it. */
export const shownFileSchema = z.object({
  bundle: text,
  path: text,
  sha256: nullable(text),
  bytes: count,
  media_type: text,
  width: nullable(z.number()),
  height: nullable(z.number()),
});
export type ShownFile = z.infer<typeof shownFileSchema>;

export const shownStepSchema = z.object({
  index: z.int().check(z.positive()),
  step_id: text,
  /** Cut to `STREAM_LIMITS.text`; null where none was told. */
  command: nullable(text),
  published_at: nullable(text),
  duration_ms: nullable(z.number()),
  exit_code: nullable(z.int()),
  signal: nullable(text),
  reason: text,
  recipe: nullable(text),
  status: z.enum(['ok', 'partial', 'error']),
  cached: z.boolean(),
  /** True where nothing of what was recorded is left. */
  lost: z.boolean(),
  label: nullable(text),
  note: nullable(text),
  /** The key of its bundle in its session: `ShownFile.bundle`. */
  bundle: nullable(text),
  headline: nullable(text),
  warning_count: count,
  /** The hero, whatever it is; a picture, a clip, a model, a text. */
  hero: nullable(shownFileSchema),
  thumb: nullable(shownFileSchema),
  /** The share of the picture whose tiles differ from the step's before, 0 to 1; null where that is not known. */
  changed: nullable(z.number()),
});
export type ShownStep = z.infer<typeof shownStepSchema>;

export const shownSessionSchema = z.object({
  /** What the page's links and requests call it: its folder's name. */
  key: text,
  format: text,
  title: nullable(text),
  software: nullable(text),
  recipe: nullable(text),
  project_name: nullable(text),
  /** `active` and `waiting` are being recorded; the others are not. */
  status: text,
  stop_reason: nullable(text),
  continues: nullable(text),
  created_at: nullable(text),
  updated_at: nullable(text),
  /** The first step that can be had: an export may have left older ones out. */
  first_step: count,
  step_count: count,
  bundle_count: count,
  /** What is wrong with its head, in words. */
  problems: z.array(text),
});
export type ShownSession = z.infer<typeof shownSessionSchema>;

export const problemSchema = z.object({ kind: text, where: text, detail: text });

/** All that is known of one step. `step`, `manifest` and `summary` are as they were recorded. */
export const shownDetailSchema = z.object({
  index: count,
  step: z.record(text, z.unknown()),
  manifest: nullable(z.record(text, z.unknown())),
  summary: nullable(z.record(text, z.unknown())),
  /** The facts of the newest step before it that has some of the same recipe. */
  before: nullable(z.object({ index: count, facts: z.record(text, z.unknown()) })),
  problems: z.array(problemSchema),
});
export type ShownDetail = z.infer<typeof shownDetailSchema>;

export const verdictSchema = z.object({
  ok: z.boolean(),
  /** When it was verified; an exported page says what was true then. */
  at: text,
  problems: z.array(problemSchema),
  notes: z.array(text),
});
export type ShownVerdict = z.infer<typeof verdictSchema>;

/** What is searched: words in commands, labels, notes, headlines, facts and output, all of which must be found. */
export const querySchema = z.object({
  words: text,
  status: z.optional(z.enum(['ok', 'partial', 'error'])),
  reason: z.optional(text),
  recipe: z.optional(text),
  changed_only: z.optional(z.boolean()),
});
export type Query = z.infer<typeof querySchema>;

/** Found steps as ranges of indexes, both ends included, ascending. */
export const hitsSchema = z.object({
  count,
  ranges: z.array(z.tuple([count, count])),
  /** True where there were more ranges than are listed. */
  more: z.boolean(),
});
export type Hits = z.infer<typeof hitsSchema>;

/** Neighbouring steps taken together for the filmstrip: first index, how many, worst status, largest change, when it began. */
export const bucketSchema = z.object({
  from: count,
  count,
  status: z.enum(['ok', 'partial', 'error']),
  changed: nullable(z.number()),
  at: nullable(text),
});
export type Bucket = z.infer<typeof bucketSchema>;

/** A fact over the steps: where it is a number, its value at a step; of neighbouring steps the last. */
export const seriesSchema = z.array(z.tuple([count, z.number()]));
export type Series = z.infer<typeof seriesSchema>;

const rect = z.object({ x: count, y: count, width: count, height: count });

/** Which step last changed a place of a picture: `Blame` of src/compare/blameback.ts, where it is said what is what. */
export const blameSchema = z.object({
  picture_of: count,
  recipe: nullable(text),
  region: rect,
  looked_at: rect,
  tile: count,
  changed_by: count,
  kind: z.enum(['changed', 'resized', 'first']),
  before: nullable(count),
  between: count,
  passed_over: z.object({ failed: count, nothing: count, lost: count, diff: count, other_recipe: count }),
});
export type ShownBlame = z.infer<typeof blameSchema>;

/**
 * Server to page. `snapshot`, `steps`, `head`, `sessions`, `notes` and `bye` carry `seq`, which counts from 0 on each connection
 * without gaps (I8); the others answer the request of the same `id`.
 */
export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    seq: count,
    protocol: count,
    /** Names this run of the server. */
    server: text,
    session: shownSessionSchema,
    sessions: z.array(shownSessionSchema),
    /** Hand it back in `hello` after a broken connection. */
    cursor: text,
    /** True where the cursor was still good: `steps` begin right behind what the page has. */
    resumed: z.boolean(),
    steps: z.array(shownStepSchema),
  }),
  z.object({ type: z.literal('steps'), seq: count, cursor: text, steps: z.array(shownStepSchema) }),
  z.object({ type: z.literal('head'), seq: count, session: shownSessionSchema }),
  z.object({ type: z.literal('sessions'), seq: count, sessions: z.array(shownSessionSchema) }),
  /**
   * Notes of the session shown, in the order they were written; `foldNotes` says what stands. All that there are follow
   * a snapshot, the newest where there are too many; later those that are new. A note may be told again.
   */
  z.object({ type: z.literal('notes'), seq: count, notes: z.array(noteSchema) }),
  z.object({ type: z.literal('bye'), seq: count, reason: text }),
  z.object({ type: z.literal('range'), id: count, from: count, steps: z.array(shownStepSchema) }),
  z.object({ type: z.literal('detail'), id: count, detail: nullable(shownDetailSchema) }),
  z.object({ type: z.literal('hits'), id: count, hits: hitsSchema }),
  z.object({ type: z.literal('outline'), id: count, buckets: z.array(bucketSchema) }),
  z.object({ type: z.literal('series'), id: count, points: seriesSchema }),
  z.object({ type: z.literal('blame'), id: count, blame: blameSchema }),
  z.object({ type: z.literal('verdict'), id: count, verdict: verdictSchema }),
  z.object({ type: z.literal('noted'), id: count, note: noteSchema }),
  z.object({ type: z.literal('refused'), id: nullable(count), code: text, message: text }),
]);
export type ServerMessage = z.infer<typeof serverMessageSchema>;

/** Page to server. `hello` comes first, and again to show another session: then a new snapshot answers. */
export const pageMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    protocol: count,
    /** Null: the newest. */
    session: nullable(text),
    cursor: nullable(text),
  }),
  z.object({ type: z.literal('range'), id: count, from: count, to: count }),
  z.object({ type: z.literal('detail'), id: count, index: count }),
  z.object({ type: z.literal('search'), id: count, query: querySchema }),
  z.object({ type: z.literal('outline'), id: count, buckets: count }),
  /** `fact` is named as in the facts of a summary. */
  z.object({ type: z.literal('series'), id: count, fact: text }),
  /** Which step last changed this place, in pixels, of the picture of step `index`. */
  z.object({
    type: z.literal('blame'),
    id: count,
    index: z.int().check(z.positive()),
    x: z.int().check(z.nonnegative()),
    y: z.int().check(z.nonnegative()),
    width: z.int().check(z.positive()),
    height: z.int().check(z.positive()),
  }),
  z.object({ type: z.literal('verify'), id: count, index: count }),
  /** The one thing that a page has written: beside the root, never in a session. */
  z.object({ type: z.literal('note'), id: count, note: noteInputSchema }),
]);
export type PageMessage = z.infer<typeof pageMessageSchema>;

/**
 * What an exported page says of itself (`#recording`). Its steps lie beside it in pieces of `STREAM_LIMITS.window`, so
 * that a long session opens as fast as a short one; piece 0 begins with step `first`.
 */
export const exportedSchema = z.object({
  protocol: count,
  exported_at: text,
  session: shownSessionSchema,
  first: count,
  last: count,
  outline: z.array(bucketSchema),
  /** The piece that holds a bundle, by its key. */
  bundles: z.record(text, count),
  /** By `bundle/path`; equal files share a number. What is not listed is left out. */
  files: z.record(text, z.int()),
  /** By number: where a file lies beside the page, or null where it is in the page. */
  places: z.array(nullable(text)),
  /** What is not in the page, in words. */
  left_out: z.array(text),
});
export type Exported = z.infer<typeof exportedSchema>;

/** One bundle in an exported page. */
export const exportedBundleSchema = z.object({
  manifest: nullable(z.record(text, z.unknown())),
  summary: nullable(z.record(text, z.unknown())),
  problems: z.array(problemSchema),
  verdict: verdictSchema,
});
export type ExportedBundle = z.infer<typeof exportedBundleSchema>;

/** A piece of an exported page: `steps` as they are shown, `recorded` as they were recorded (null for a lost one). */
export const exportedPieceSchema = z.object({
  steps: z.array(shownStepSchema),
  recorded: z.array(nullable(z.record(text, z.unknown()))),
  bundles: z.record(text, exportedBundleSchema),
});
export type ExportedPiece = z.infer<typeof exportedPieceSchema>;
