// Where the page's recording comes from: a live server, or what an exported file holds. The page knows no more of
// either than this.
import type { Rect } from '../../src/compare/boxes.js';
import type { Note } from '../../src/notes.js';
import type {
  Bucket,
  Hits,
  Query,
  Series,
  ShownBlame,
  ShownDetail,
  ShownFile,
  ShownSession,
  ShownStep,
  ShownVerdict,
} from '../../src/stream.js';

/** How the page stands to what is recorded. `behind`: connected again and catching up. */
export type Link = 'connecting' | 'live' | 'behind' | 'offline' | 'ended' | 'exported';

/** Told of all that comes. Calls are in order; steps are never told twice. */
export interface Listener {
  /** Everything begins anew: the session, all sessions there are, and its newest steps. */
  onSnapshot(snapshot: { session: ShownSession; sessions: ShownSession[]; steps: ShownStep[] }): void;
  /** Steps right behind the newest that was told. */
  onSteps(steps: ShownStep[]): void;
  onSession(session: ShownSession): void;
  onSessions(sessions: ShownSession[]): void;
  /** Notes of the session shown, some of them for the second time; nobody has to want them. */
  onNotes?(notes: Note[]): void;
  /** The session that was asked for is not there; another follows. */
  onMissing(session: string): void;
  /** `detail` says why, for people. */
  onLink(link: Link, detail: string): void;
}

export interface Source {
  kind: 'live' | 'exported';
  /** Begins to tell; `session` null: the newest. */
  open(session: string | null, listener: Listener): void;
  /** Shows another session: a snapshot follows. */
  choose(session: string): void;
  /** Steps `from` to `to`, at most `STREAM_LIMITS.window`; fewer where they do not fit in a message. */
  steps(from: number, to: number): Promise<ShownStep[]>;
  detail(index: number): Promise<ShownDetail | null>;
  search(query: Query): Promise<Hits>;
  outline(buckets: number): Promise<Bucket[]>;
  /** A fact over the steps, where it is a number. */
  series(fact: string): Promise<Series>;
  /** Which step last changed a place, in whole pixels, of the picture of a step. Rejects, in words, where none can be told. */
  blame(index: number, place: Rect): Promise<ShownBlame>;
  /** Whether the step's bundle is what was recorded. */
  verify(index: number): Promise<ShownVerdict>;
  /** An address for `<img>`, `<video>` and downloads; null where an export has left the file out. */
  url(file: ShownFile): string | null;
  /** The file's bytes. Rejects where they cannot be had. */
  bytes(file: ShownFile): Promise<ArrayBuffer>;
  /** What an export has left out, in words. */
  leftOut: readonly string[];
  close(): void;
}
