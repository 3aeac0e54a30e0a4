// A recording as it is shown, ours or a neighbour's: the keys of section 3 and 5 of the protocol, less what only
// our own files have. A `Head` and a `Step` are one each.
import type { Manifest, Problem, Reading, Step, Summary } from '../schema.js';

export type Format = 'preview' | 'cli-anything';

export interface SeenStep {
  [key: string]: unknown;
  step_id: string;
  step_index: number;
  command: string | null;
  /** Where a command over 4 KB is kept whole; ours only. */
  command_path?: string | null;
  /** Null where nothing was recorded of it. */
  published_at: string | null;
  exit_code?: number | null;
  signal?: string | null;
  publish_reason: string;
  bundle_id: string | null;
  /** Ours: relative to the session. A neighbour's: absolute, where it really is here, or null. */
  bundle_dir: string | null;
  manifest_path: string | null;
  /** Null in recordings that have no hashes. */
  manifest_sha256: string | null;
  status: Step['status'];
  cached: boolean;
  note?: string | null;
}

export interface SeenHead {
  [key: string]: unknown;
  session_name: string;
  title?: string | null;
  continues?: string | null;
  software?: string | null;
  recipe?: string | null;
  status: string;
  updated_at: string | null;
  bundle_count: number;
  trajectory_step_count: number;
  current_bundle_id: string | null;
  current_bundle_dir: string | null;
  current_step_id: string | null;
  current_render_path?: string | null;
  recoveries: { at: string; kind: string }[];
}

export interface SeenBundle {
  dir: string;
  manifest: Manifest | null;
  summary: Summary | null;
}

/** A session that was opened for reading. Nothing in it is written, and nothing needs to be closed. */
export interface Recording {
  format: Format;
  dir: string;
  head: SeenHead | null;
  /** session.json as it stands there, where it is JSON at all. */
  raw: Record<string, unknown> | null;
  /** What is wrong with the head, and in a neighbour's recording with the trajectory. */
  problems: Problem[];
  /** Steps `from` to `to` (1-based, inclusive). */
  steps(from: number, to: number): Reading<SeenStep[]>;
  /** The folder of a step's bundle, or null where the stored path leaves what may be read, or nothing is there. */
  bundleDir(step: SeenStep): string | null;
  readBundle(dir: string): Reading<SeenBundle>;
  /** Bundles that no step names. */
  strays(): Problem[];
}
