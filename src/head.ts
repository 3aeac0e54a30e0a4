// What a head says: of a session without steps, and after one more step. Writing it is commit.ts's business.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isBefore, type Moment } from './clock.js';
import { exists } from './disk.js';
import { sha256 } from './hash.js';
import { CURRENT_NAME, numberOf, TRAJECTORY_NAME } from './layout.js';
import type { Head, Step } from './schema.js';
import { historyEntry } from './step.js';
import { EMPTY_TAIL } from './trajectory.js';
import { HEAD_VERSION, LIMITS, LIVE_PROTOCOL, TRAJECTORY_PROTOCOL } from './version.js';

/** What a new session's head is told beyond its number. */
export interface SessionFields {
  status?: 'open' | 'active';
  title?: string | null;
  continues?: string | null;
  software?: string | null;
  recipe?: string | null;
  project_name?: string | null;
  project_path?: string | null;
}

/** The head of a session without steps. */
export function emptyHead(name: string, fields: SessionFields, at: string): Head {
  return {
    version: HEAD_VERSION,
    protocol_version: LIVE_PROTOCOL,
    session_name: name,
    session_id: randomUUID(),
    title: fields.title ?? null,
    continues: fields.continues ?? null,
    software: fields.software ?? null,
    recipe: fields.recipe ?? null,
    status: fields.status ?? 'open',
    stop_kind: null,
    stop_reason: null,
    outcome: null,
    attempt: 1,
    live_mode: 'manual',
    project_name: fields.project_name ?? null,
    project_path: fields.project_path ?? null,
    created_at: at,
    updated_at: at,
    stopped_at: null,
    current_link: CURRENT_NAME,
    current_bundle_id: null,
    current_bundle_dir: null,
    current_manifest_path: null,
    current_summary_path: null,
    current_render_path: null,
    current_cached: null,
    current_step_id: null,
    current_begun: null,
    bundle_count: 0,
    bundle_last: 0,
    orphans: [],
    trajectory_path: TRAJECTORY_NAME,
    trajectory_protocol_version: TRAJECTORY_PROTOCOL,
    ...EMPTY_TAIL,
    latest_step: null,
    latest_command: null,
    latest_publish_reason: null,
    history: [],
    watcher: null,
    recoveries: [],
    publish_command: `preview capture --session ${name}`,
    watch_command: null,
    inspect_command: `previews inspect ${name}`,
  };
}

/** A line of the head's `recoveries`. */
export const recovery = (kind: string, key: string, detail: string) => ({
  at: new Date().toISOString(),
  key,
  kind,
  detail,
});

/** What a publication changes in the head besides its step. */
export interface Change {
  /** Numbers passed over because a folder of that name exists, and the last number given out. */
  strays: string[];
  bundle_last: number;
  begun: Moment;
  /** False where nobody looked at the work. */
  looked?: boolean | undefined;
  trajectory_bytes: number;
  line: string;
  recoveries: Head['recoveries'];
}

/** The head after this step. Keys that this version does not know are kept. */
export function nextHead(dir: string, head: Head, step: Step, change: Change): Head {
  const late = head.current_begun && isBefore(change.begun, head.current_begun as Moment);
  // A diff shows two states of before, and a command alone none: what was seen last is still what was seen last.
  const seen = step.publish_reason !== 'diff' && change.looked !== false;
  const moves = !late && (seen || head.current_step_id === null);
  // I9: a head is untrusted too, and what it calls an orphan will be removed.
  const known = head.orphans.filter((name) => numberOf(name, 'bundle') !== null && exists(join(dir, name)));
  const orphans = [...known, ...change.strays].slice(-LIMITS.orphans);
  const recoveries = [...head.recoveries, ...change.recoveries];
  if (change.strays.length > 0)
    recoveries.push(
      recovery(
        'orphans',
        change.strays[0]!,
        `${change.strays.length} bundles that no step names are removed`,
      ),
    );
  return {
    ...head,
    updated_at: step.published_at,
    ...(moves
      ? {
          current_bundle_id: step.bundle_id,
          current_bundle_dir: step.bundle_dir,
          current_manifest_path: step.manifest_path,
          current_summary_path: step.summary_path ?? null,
          current_render_path: step.render_path ?? null,
          current_cached: step.cached,
          current_step_id: step.step_id,
          current_begun: { ...change.begun },
        }
      : {}),
    recipe: step.recipe ?? head.recipe ?? null,
    bundle_count: head.bundle_count + (step.cached ? 0 : 1),
    bundle_last: change.bundle_last,
    orphans,
    trajectory_step_count: step.step_index,
    trajectory_bytes: change.trajectory_bytes,
    trajectory_sha256: sha256(change.line),
    latest_command: step.command,
    latest_publish_reason: step.publish_reason,
    latest_step: step,
    history: [historyEntry(step), ...head.history].slice(0, LIMITS.historySteps),
    recoveries: recoveries.slice(-LIMITS.recoveries),
  };
}
