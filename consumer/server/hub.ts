// One session and all pages that show it. The disk is read once and told to all. A page gets a snapshot and then each
// new step in order; what cannot be told that way begins anew with a snapshot (I8).
import { asPreviewError } from '../../src/errors.js';
import type { Recording } from '../../src/formats/seen.js';
import { openRecording } from '../../src/recording.js';
import { type Shower, shower, showSession } from '../../src/shown.js';
import { type ShownSession, type ShownStep, STREAM_LIMITS, STREAM_PROTOCOL } from '../../src/stream.js';
import { type Cursor, cursorText, readCursor } from './cursor.js';
import { fitting, pieces } from './fit.js';
import type { ServerLimits } from './limits.js';
import { openNoteFeed } from './notes.js';
import { type Outline, outlineOf } from './outline.js';
import { inSlices, oneAtATime } from './slices.js';

/** A page, as a hub knows it. `body` is the message's JSON without its braces and without `type` and `seq`. */
export interface Viewer {
  tell(type: 'snapshot' | 'steps' | 'head' | 'notes', body: string): void;
}

export interface Hub {
  key: string;
  dir: string;
  /** Begins to tell a page of everything; `cursor` as it was handed back. */
  join(viewer: Viewer, cursor: string | null): Promise<void>;
  leave(viewer: Viewer): void;
  viewers(): number;
  /** Reads the disk, and tells what is new. Never rejects. */
  look(): Promise<void>;
  /** Tells notes that are new. Never throws. */
  lookAtNotes(): void;
  shower(): Shower;
  recording(): Recording;
  session(): ShownSession;
  /** Steps that are told. */
  count(): number;
  outline(): Outline;
}

interface Entry {
  index: number;
  at: string | null;
  json: string;
}

const entryOf = (step: ShownStep): Entry => ({
  index: step.index,
  at: step.published_at,
  json: JSON.stringify(step),
});

const countOf = ({ head }: Recording): number => head?.trajectory_step_count ?? 0;
const hashOf = ({ head }: Recording): unknown => head?.['trajectory_sha256'] ?? null;

/** Names a recording, wherever its folder lies and whatever it is called. */
function identityOf({ head, format }: Recording): string {
  if (head === null) return '';
  const id = head['session_id'];
  if (typeof id === 'string' && id !== '') return id.slice(0, 200);
  return `${format} ${String(head.session_name).slice(0, 200)} ${head['created_at']}`;
}

/** `sessions` gives the JSON list that a snapshot has; `server` names this run. */
export function openHub(
  key: string,
  dir: string,
  { limits, server, sessions }: { limits: ServerLimits; server: string; sessions: () => string },
): Hub {
  const viewers = new Set<Viewer>();
  let recording = openRecording(dir);
  let shown = shower(() => recording);
  let outline = outlineOf((from, to) => shown.steps(from, to));
  let identity = identityOf(recording);
  let session = { ...showSession(recording), key };
  let toldSession = JSON.stringify(session);
  /** The newest steps, without gaps, up to `told`. */
  let window: Entry[] = [];
  let told = countOf(recording);
  let hash = hashOf(recording);
  /** Counts how often all began anew. */
  let era = 0;
  let filling: Promise<unknown> = Promise.resolve();

  const cursorAt = (count: number) =>
    cursorText({ id: identity, count, at: window.find(({ index }) => index === count)?.at ?? null });

  /** Reads older steps into the window, back to `from`. False where all began anew meanwhile. */
  const readBack = async (from: number, mine: number): Promise<boolean> => {
    for (;;) {
      if (mine !== era) return false;
      const first = Math.max(1, from, told - STREAM_LIMITS.window);
      const to = (window[0]?.index ?? told + 1) - 1;
      if (to < first) return true;
      const low = Math.max(first, to - 15);
      const older: Entry[] = [];
      await inSlices(
        low,
        to,
        (a, b) => older.push(...shown.steps(a, b).map(entryOf)),
        () => mine !== era,
      );
      if (mine !== era) return false;
      if (older.length !== to - low + 1) return true;
      // New steps may have come meanwhile, and the window's oldest may have gone.
      if ((window[0]?.index ?? told + 1) === to + 1) window.unshift(...older);
    }
  };
  /** One after the other, or two would put the same steps there. */
  const reachBack = (from: number): Promise<boolean> => {
    const mine = era;
    const run = filling.then(() => readBack(from, mine));
    filling = run.catch(() => {
      // Whoever asked is told; whoever asks next tries anew.
    });
    return run;
  };

  const snapshot = (steps: string[], resumed: boolean): string => {
    const before = (really: boolean) =>
      `"protocol":${STREAM_PROTOCOL},"server":${JSON.stringify(server)},"session":${toldSession},"sessions":${sessions()},"cursor":"${cursorAt(told)}","resumed":${really},"steps":`;
    const room = STREAM_LIMITS.messageBytes - Buffer.byteLength(before(false)) - 100;
    const kept = fitting(steps, room, true);
    if (resumed && kept.length < steps.length) return snapshot(newest(), false);
    return `${before(resumed)}[${kept.join(',')}]`;
  };
  const newest = () => window.slice(-STREAM_LIMITS.window).map(({ json }) => json);
  const feed = openNoteFeed(dir, () => recording.head?.['session_id']);
  const tellNotes = (to: Iterable<Viewer>, notes: string[]) => {
    for (const piece of pieces(notes, STREAM_LIMITS.messageBytes - 4096))
      for (const viewer of to) viewer.tell('notes', `"notes":[${piece.join(',')}]`);
  };
  const lookAtNotes = () => {
    try {
      tellNotes(viewers, feed.fresh());
    } catch {
      // EIO and its like: the steps go on, and the next look may find the notes well.
    }
  };
  const tellAll = (type: 'snapshot' | 'steps' | 'head', body: string) => {
    for (const viewer of viewers) viewer.tell(type, body);
  };

  /** Forgets everything and begins with what was just opened. */
  const beginAnew = async (opened: Recording) => {
    era++;
    recording = opened;
    shown = shower(() => recording);
    outline = outlineOf((from, to) => shown.steps(from, to));
    identity = identityOf(opened);
    window = [];
    told = countOf(opened);
    hash = hashOf(opened);
    session = { ...showSession(opened), key };
    toldSession = JSON.stringify(session);
    await reachBack(told - FIRST + 1);
    tellAll('snapshot', snapshot(newest(), false));
    tellNotes(viewers, feed.all());
  };

  /** Whether `opened` is what was told before, with nothing or something behind it. */
  const goesOn = (opened: Recording): boolean => {
    const count = countOf(opened);
    if (identityOf(opened) !== identity || count < told || count - told > limits.behind) return false;
    if (typeof hash !== 'string') return true;
    if (count === told) return hashOf(opened) === hash;
    const next = opened.steps(told + 1, told + 1).value[0]?.['prev_sha256'];
    return next === undefined || next === hash;
  };

  const tellSteps = (steps: ShownStep[]) => {
    const entries = steps.map(entryOf);
    window.push(...entries);
    for (const piece of pieces(
      entries.map(({ json }) => json),
      STREAM_LIMITS.messageBytes - 4096,
    )) {
      told += piece.length;
      tellAll('steps', `"cursor":"${cursorAt(told)}","steps":[${piece.join(',')}]`);
    }
    if (window.length > STREAM_LIMITS.window + 1) window.splice(0, window.length - STREAM_LIMITS.window - 1);
  };

  const tellSession = (now: ShownSession) => {
    session = now;
    const text = JSON.stringify(now);
    if (text === toldSession) return;
    toldSession = text;
    tellAll('head', `"session":${text}`);
  };

  const read = async () => {
    let opened: Recording;
    try {
      opened = openRecording(dir);
      // The last good view stays where the head cannot be read; why is said beside it.
      if (opened.head === null && identity !== '') {
        tellSession({ ...session, problems: showSession(opened).problems });
        return;
      }
      if (!goesOn(opened)) {
        await beginAnew(opened);
        return;
      }
      recording = opened;
      const count = countOf(opened);
      await inSlices(told + 1, count, (from, to) => tellSteps(shown.steps(from, to)));
      hash = hashOf(opened);
      tellSession({ ...showSession(opened), key });
    } catch (error) {
      // The disk fails or the folder goes while it is read: the next look may find it well.
      tellSession({ ...session, problems: [asPreviewError(error).message.slice(0, 400)] });
    }
  };

  /** The steps behind what a page has, or null where its cursor is of no use. */
  const missedSince = (cursor: Cursor | null): string[] | null => {
    if (cursor === null || cursor.id !== identity || cursor.count > told) return null;
    if (told - cursor.count > STREAM_LIMITS.window) return null;
    const last = window.find(({ index }) => index === cursor.count);
    if (cursor.count > 0 && (last === undefined || last.at !== cursor.at)) return null;
    const missed = window.filter(({ index }) => index > cursor.count).map(({ json }) => json);
    return missed.length === told - cursor.count ? missed : null;
  };

  const look = oneAtATime(async () => {
    await read();
    lookAtNotes();
  });
  return {
    key,
    dir,
    async join(viewer, text) {
      // What was published until now is part of the snapshot, whether an event has told of it or not.
      await look();
      const cursor = readCursor(text);
      const isUsed = cursor !== null && cursor.id === identity;
      if (isUsed) await reachBack(cursor.count);
      if (!isUsed || missedSince(cursor) === null) while (!(await reachBack(told - FIRST + 1)));
      // From here to the end nothing else runs, so the page misses nothing and gets nothing twice.
      const missed = missedSince(cursor);
      viewers.add(viewer);
      viewer.tell('snapshot', snapshot(missed ?? newest(), missed !== null));
      tellNotes([viewer], feed.all());
    },
    leave: (viewer) => void viewers.delete(viewer),
    viewers: () => viewers.size,
    look,
    lookAtNotes,
    shower: () => shown,
    recording: () => recording,
    session: () => session,
    count: () => told,
    outline: () => outline,
  };
}

/** Steps that the first page waits for; those who come later get all that was read by then. */
const FIRST = 48;
