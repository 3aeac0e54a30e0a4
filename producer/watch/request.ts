// What `live start` hands to the watcher it begins, and what the watcher answers before it is left alone.

export interface WatchRequest {
  /** The session's folder and the project's, absolute. */
  session: string;
  root: string;
  project: string;
  recipe: string | null;
  /** The command line that began it, and its note: the first step's, where the session has none yet. */
  command: string;
  note: string | null;
  /** So long nothing may have happened before a change is recorded. */
  quiet_ms: number;
  /** Streams that whoever began it had open, and that the watcher must not keep. */
  streams: string[];
}

/** `looked` comes once, after the first look at the sources, which recorded a step where there was none. */
export type Word =
  | { word: 'watching' | 'elsewhere' | 'closed' | 'looked' }
  | { word: 'failed'; code: string; message: string; hint: string };

export const QUIET_MS = 300;
