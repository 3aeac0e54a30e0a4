// The document that `live status --json` prints: one small file read, at most 1,024 bytes (protocol, section 7).
// No schema is loaded for it, so it looks at each field itself.
import { join } from 'node:path';
import { painter, printJson, say } from './cli.js';
import { exists } from './disk.js';
import { PreviewError } from './errors.js';
import { isObject, type JsonObject, readJsonObject } from './json.js';
import { HEAD_NAME } from './layout.js';
import { cutText, jsonBytes, neutralise, utf8Bytes } from './text.js';
import { LIMITS } from './version.js';
import { watcherLife, watcherLog, watcherOf } from './watcher.js';

/** A text of the head, which may have been written by anybody: whole characters, and at most 96 bytes but for the command. */
const text = (value: unknown, limit = 96): string | null =>
  typeof value === 'string' ? cutText(value, limit, jsonBytes) : null;
const nothing = { active: false, session_dir: null, trajectory_summary: null };

export interface Status {
  /** The document, or null where there is a session that cannot be read. */
  document: JsonObject | null;
  /** The head as it is, for `--full`. */
  head: JsonObject | null;
  problem: string | null;
}

/** What a session's head says of its state; `dir` null where there is no session. */
export function readStatus(dir: string | null): Status {
  if (dir === null) return { document: nothing, head: null, problem: null };
  const { value: head, problems } = readJsonObject(join(dir, HEAD_NAME), HEAD_NAME);
  if (head === null) {
    // A session's folder without its head is damage; no folder is no session.
    const gone = problems[0]?.kind === 'missing' && !exists(dir);
    return gone
      ? { document: nothing, head: null, problem: null }
      : { document: null, head: null, problem: problems[0]?.detail ?? 'it cannot be read' };
  }
  return { document: shorten(statusOf(dir, head)), head, problem: null };
}

function statusOf(dir: string, head: JsonObject) {
  const step = isObject(head['latest_step']) ? head['latest_step'] : null;
  const status = text(head['status']);
  const latest = step && {
    command: text(step['command'], LIMITS.status),
    bundle: text(step['bundle_id']),
    timestamp: text(step['published_at']),
  };
  return {
    active: ACTIVE.includes(status ?? ''),
    session_dir: dir,
    trajectory_summary: { total_commands: Number(head['trajectory_step_count']) || 0, latest },
    status,
    step: step && text(step['step_id']),
    reason: step && text(step['publish_reason']),
    render: text(head['current_render_path']),
    ...watched(head, status),
  };
}

const ACTIVE = ['active', 'waiting'];

/** Whether the watcher lives, for a session that should have one. */
function watched(head: JsonObject, status: string | null): { watcher?: 'alive' | 'dead' } {
  if (head['live_mode'] !== 'watch' || !ACTIVE.includes(status ?? '')) return {};
  const watcher = watcherOf(head);
  return { watcher: watcher === null ? 'dead' : watcherLife(watcher) };
}

export type StatusDocument = ReturnType<typeof statusOf>;

/** Cuts the command so that the whole document keeps to its bytes. */
export function shorten(document: StatusDocument): JsonObject {
  const latest = document.trajectory_summary.latest;
  if (!latest?.command) return document;
  const over = utf8Bytes(JSON.stringify(document)) + 1 - LIMITS.status;
  if (over > 0)
    latest.command = cutText(latest.command, Math.max(0, jsonBytes(latest.command) - over), jsonBytes);
  return document;
}

/** The document as text for people. `paint` styles it where that may be. */
export function statusLines(document: JsonObject, paint: (style: 'bold', text: string) => string): string[] {
  const summary = document['trajectory_summary'];
  if (!isObject(summary)) return ['Nothing is recorded here yet. `preview capture` begins a session.'];
  const said = (value: unknown) => neutralise(String(value ?? '–'));
  const latest = isObject(summary['latest']) ? summary['latest'] : null;
  const total = Number(summary['total_commands']);
  const lines = [
    `${paint('bold', said(document['status']))}  ${total} ${total === 1 ? 'step' : 'steps'}  ${said(document['session_dir'])}`,
  ];
  if (latest) {
    lines.push(
      `  latest   ${said(document['step'])}  ${said(latest['bundle'])}  ${said(document['reason'])}  ${said(latest['timestamp'])}`,
    );
    lines.push(`  command  ${said(latest['command'])}`);
  }
  if (document['render'])
    lines.push(`  picture  ${said(join(String(document['session_dir']), String(document['render'])))}`);
  return lines;
}

/** What the document's `watcher` means, for people: the process, its heartbeat, its last error, and its log. */
function watcherLines(document: JsonObject, head: JsonObject, dir: string): string[] {
  const life = document['watcher'];
  if (life === undefined) return [];
  const watcher = watcherOf(head);
  const said = (value: string) => neutralise(cutText(value, LIMITS.status));
  if (watcher === null) return ['  watcher  none; `preview live start --mode watch` begins one'];
  const lines = [
    `  watcher  ${life}  process ${watcher.pid}  since ${said(watcher.started_at)}  heartbeat ${said(watcher.heartbeat_at)}${watcher.watching === 'polling' ? '  polling' : ''}`,
  ];
  if (life === 'dead') lines.push('           `preview live start --mode watch` begins another');
  if (watcher.last_error) lines.push(`  error    ${said(watcher.last_error)}`);
  lines.push(`  log      ${said(watcherLog(dir))}`);
  return lines;
}

/**
 * Prints a status in the form asked for.
 * @throws PreviewError `session_damaged` where the head cannot be read.
 */
export function printStatus(
  { document, head, problem }: Status,
  dir: string | null,
  { json, full }: { json: boolean; full: boolean },
): void {
  if (document === null) {
    throw new PreviewError(
      'session_damaged',
      `${dir}: session.json: ${problem}`,
      'see `previews verify`; the next capture begins a new session, `preview repair` mends this one',
    );
  }
  if (json) printJson(full && head && dir ? fullStatus(dir, head) : document);
  else {
    for (const line of statusLines(document, painter())) say(line);
    if (head && dir) for (const line of watcherLines(document, head, dir)) say(line);
  }
}

/** `--full`: the head, with the names that CLI-Anything's status has besides. */
export function fullStatus(dir: string, head: JsonObject): JsonObject {
  const history = Array.isArray(head['history']) ? head['history'] : [];
  return {
    ...head,
    session_dir: dir,
    active: head['status'] === 'active' || head['status'] === 'waiting',
    trajectory_summary: {
      step_count: head['trajectory_step_count'] ?? 0,
      latest_command: head['latest_command'] ?? null,
      latest_publish_reason: head['latest_publish_reason'] ?? null,
      recent_steps: history,
    },
  };
}
