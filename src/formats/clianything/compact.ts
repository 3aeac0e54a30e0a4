// The status document of a CLI-Anything session: the same keys as for one of ours, from its own files.
import { relative } from 'node:path';
import type { JsonObject } from '../../json.js';
import { cutText, jsonBytes } from '../../text.js';
import { LIMITS } from '../../version.js';
import { openCliAnything } from './session.js';

const short = (value: unknown, limit = 96): string | null =>
  typeof value === 'string' ? cutText(value, limit, jsonBytes) : null;

export interface Compact {
  document: {
    active: boolean;
    session_dir: string;
    trajectory_summary: {
      total_commands: number;
      latest: { command: string | null; bundle: string | null; timestamp: string | null } | null;
    };
    status: string | null;
    step: string | null;
    reason: string | null;
    render: string | null;
  };
  /** The head with our keys, for `--full`. */
  head: JsonObject;
}

/** What the session says of its state, or null where neither of its files can be read. */
export function readCompact(dir: string): Compact | null {
  const session = openCliAnything(dir);
  const { head } = session;
  if (head === null) return null;
  const latest = session.steps(session.stepCount, session.stepCount).value[0] ?? null;
  const { current_render_path: render } = head;
  return {
    document: {
      active: head.status === 'active' || head.status === 'waiting',
      session_dir: dir,
      trajectory_summary: {
        total_commands: session.stepCount,
        latest: latest && {
          command: short(latest.command, LIMITS.status),
          bundle: short(latest.bundle_id),
          timestamp: latest.published_at,
        },
      },
      status: short(head.status),
      step: short(latest?.step_id),
      reason: short(latest?.publish_reason),
      render: render ? short(relative(dir, render)) : null,
    },
    head,
  };
}
