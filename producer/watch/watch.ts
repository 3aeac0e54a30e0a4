// The watcher's life: take the seat, look at each hint and each tick, record what is new, say so in the head, and end
// with its session. Nothing that a capture meets ends it.
import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import { monotonicMs } from '../../src/clock.js';
import { asPreviewError, PreviewError } from '../../src/errors.js';
import type { FileEntry } from '../../src/fingerprint.js';
import type { Head } from '../../src/schema.js';
import type { OpenSession } from '../../src/session.js';
import { HEARTBEAT_MS, ownWatcher } from '../../src/watcher.js';
import { capture } from '../capture.js';
import type { CaptureResult } from '../result.js';
import { watchSources } from './hints.js';
import { note, shareLog } from './log.js';
import { isNews, isShown, type Look, look, type Memory, othersRender, remark } from './look.js';
import { type Beat, MAX_WAIT_MS, makePulse, POLL_MS, TICK_MS } from './pulse.js';
import type { WatchRequest, Word } from './request.js';
import { ACTIVE, claim, leave, report, standing } from './seat.js';

/** Between two looks that nothing asked for lies so many times what the last one took of a processor. */
const REST = { events: 200, polling: 20 };
const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;
/** Another process that renders longer than this is not waited for. */
const OTHERS_MS = 60_000;

/** Watches until the session ends, another watcher has the seat, the project is gone, or `SIGTERM` comes. */
export async function watch(begun: WatchRequest, tell: (word: Word) => void): Promise<void> {
  const request = { ...begun };
  const own = ownWatcher();
  const seat = await claim(request.session, own);
  tell({ word: seat === 'ours' ? 'watching' : seat });
  if (seat !== 'ours') return;
  note(`process ${own.pid} watches ${request.project} for ${request.session}`);

  const pulse = makePulse(request.quiet_ms);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, pulse.end);
  // The terminal it was begun in may close.
  process.on('SIGHUP', () => {});
  const memory: Memory = { recipe: null, fingerprint: null };
  const failed = { count: 0, until: 0 };
  let waitedSince: number | null = null;
  let lastSeen: string | null = null;
  /** The sources as they were last found recorded. */
  let known: readonly FileEntry[] | null = null;
  let rendererError: string | null = null;
  let nextLook = 0;
  let isFirst = true;

  /** What failed goes into the head at once; where that cannot be written, with a later heartbeat. */
  const say = async (error: string | null) => {
    const text = error ?? sources.refused();
    const watching = sources.working() ? 'events' : 'polling';
    if (text === own.last_error && watching === own.watching) return;
    if (error !== null && error !== own.last_error) note(error);
    Object.assign(own, { last_error: text, watching });
    await beat();
  };
  const beat = async () => {
    try {
      await report(request.session, own);
    } catch (error) {
      note(`the head could not be written: ${asPreviewError(error).message}`);
    }
  };
  const sources = watchSources(request, { hint: pulse.hint, refused: () => void say(own.last_error) });
  const heart = setInterval(() => void beat(), HEARTBEAT_MS);

  const record = async (seen: Look, head: Head | null): Promise<CaptureResult> => {
    const count = head?.trajectory_step_count ?? 0;
    return capture({
      cwd: request.project,
      recipe: request.recipe ?? undefined,
      into: openedOf(request, head),
      allowed: ACTIVE,
      ...(head && count === 0
        ? { reason: 'start', own_command: request.command, note: request.note ?? undefined }
        : { reason: 'mutation', note: known ? remark(known, seen.sources.files) : undefined }),
      // Of two that saw the same change the one that commits first has recorded it.
      unless: (now, step) =>
        now.trajectory_step_count > count &&
        isShown(now, seen.recipe.name, step.source_fingerprint ?? '', null),
      onPhase: () => {
        if (pulse.ended()) throw new PreviewError('interrupted', 'the watcher was ended');
      },
    });
  };

  /** Looks, and records what is new. */
  const act = async (why: Beat, head: Head | null): Promise<void> => {
    const began = monotonicMs();
    const before = process.cpuUsage();
    let seen = await look(request);
    const { user, system } = process.cpuUsage(before);
    const [least, rest] = sources.working() ? [TICK_MS, REST.events] : [POLL_MS, REST.polling];
    // Half of the tick, so that the one that is due at this time is not passed over for some milliseconds.
    nextLook = began + Math.min(Math.max(least / 2, ((user + system) / 1000) * rest), 60_000);
    const isNew = (at: Look) =>
      head ? isNews(at, head, memory, request) : at.sources.fingerprint !== memory.fingerprint;
    if (!isFirst && why === 'tick' && monotonicMs() < failed.until) return;
    let news = await isNew(seen);
    const isUntold = !sources.told() && !isFirst && seen.sources.fingerprint !== lastSeen;
    if (news && isUntold) {
      sources.missed();
      seen = await settled(seen);
      news = await isNew(seen);
    }
    lastSeen = seen.sources.fingerprint;
    await sources.follow(seen);
    if (!news) {
      known = seen.sources.files;
      failed.count = failed.until = 0;
      await say(head?.latest_step?.status === 'error' ? rendererError : null);
      return;
    }
    const othersSince = othersRender(request.session) ? (waitedSince ?? monotonicMs()) : null;
    waitedSince = othersSince;
    if (othersSince !== null && monotonicMs() < othersSince + OTHERS_MS) {
      pulse.hint();
      return;
    }
    const result = await record(seen, head);
    known = seen.sources.files;
    Object.assign(memory, { recipe: JSON.stringify(seen.recipe), fingerprint: seen.sources.fingerprint });
    failed.count = failed.until = 0;
    note(`${result.step_id} ${result.bundle_id} ${result.status}${result.cached ? ' (reused)' : ''}`);
    if (result.session_dir !== request.session) await move(result.session_dir);
    rendererError =
      result.status === 'error' ? (result.warnings[0] ?? 'renderer_failed: see the log of the bundle') : null;
    await say(rendererError);
  };

  /** Without events there is no quiet to wait for: two looks that agree must do. */
  const settled = async (first: Look): Promise<Look> => {
    const until = monotonicMs() + MAX_WAIT_MS;
    for (let before = first; ; ) {
      await pulse.pause(request.quiet_ms);
      const seen = await look(request);
      if (seen.sources.fingerprint === before.sources.fingerprint || monotonicMs() > until) return seen;
      before = seen;
    }
  };

  /** The session was damaged or full, and recording went on in the one that follows. */
  const move = async (session: string) => {
    note(`recording goes on in ${session}`);
    shareLog(request.session, session);
    Object.assign(request, { session });
    process.env['PREVIEW_SESSION'] = session;
    if ((await claim(session, own)) !== 'ours') pulse.end();
  };

  const trouble = async (error: unknown) => {
    const { code, message, hint } = asPreviewError(error);
    // Somebody else recorded it, or it was ended while it rendered: the next look says what is left to do.
    if (code === 'already_recorded' || (code === 'interrupted' && pulse.ended())) return;
    failed.until = monotonicMs() + Math.min(RETRY_MS * 2 ** failed.count++, LONGEST_RETRY_MS);
    if (isFirst) tell({ word: 'failed', code, message, hint });
    await say(`${code}: ${message}`);
  };

  try {
    for (;;) {
      const why = await pulse.next();
      if (why === 'end') break;
      const { head, wanted } = standing(request.session, own);
      if (!wanted || !isThere(request.project)) break;
      pulse.tickEvery(sources.working() ? TICK_MS : POLL_MS);
      if (why === 'tick' && !isFirst && monotonicMs() < nextLook) continue;
      try {
        await act(why, head);
      } catch (error) {
        await trouble(error);
      }
      if (isFirst) tell({ word: 'looked' });
      isFirst = false;
    }
  } finally {
    clearInterval(heart);
    await sources.close();
    await leave(request.session, own).catch((error: unknown) =>
      note(`the seat was not left: ${String(error)}`),
    );
    note(`process ${own.pid} has ended`);
  }
}

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The session as a capture takes it; what a session that follows it would be told. */
function openedOf({ session, root, project }: WatchRequest, head: Head | null): OpenSession {
  return {
    dir: session,
    root,
    name: basename(session),
    created: false,
    warnings: [],
    fields: {
      status: 'active',
      title: head?.title ?? null,
      software: head?.software ?? null,
      recipe: head?.recipe ?? null,
      project_name: basename(project),
      project_path: project,
    },
    lock: { timeout_ms: 30_000 },
  };
}
