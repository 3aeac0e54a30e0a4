// One of our sessions in CLI-Anything's form: what its session.json, trajectory.json and manifest.json hold. Its own
// reader needs texts where ours may be null, and a reader of this form keeps what it does not know, so our times, exit
// codes and hashes go along. Writes nothing.
import { join } from 'node:path';
import type { Manifest, Summary } from '../../schema.js';
import { shellQuote } from '../../text.js';
import {
  BUNDLE_PROTOCOL,
  LIMITS,
  LIVE_PROTOCOL,
  PACKAGE_VERSION,
  TRAJECTORY_PROTOCOL,
} from '../../version.js';
import type { SeenHead, SeenStep } from '../seen.js';
import { moment, object, slug, text } from './values.js';

const hexOf = (hash: string | null | undefined): string =>
  /^sha256:([0-9a-f]{8})/.exec(hash ?? '')?.[1] ?? '00000000';

/** `20261130T150211Z_644fd4f1_quick`: when, eight digits of a hash, and the recipe. A name that is safe in any path. */
export function theirBundleId(created_at: string, hash: string | null, recipe: string): string {
  const at = moment(created_at)?.replace(/\.\d+/, '').replace(/[-+:]/g, '') ?? '00000000T000000Z';
  return `${at}_${hexOf(hash)}_${slug(recipe)}`;
}

/** `page-9ff937cc-quick`: the project, eight digits of a hash of the session's id, and the recipe. */
export const theirSessionName = (project: string, hash: string, recipe: string): string =>
  `${slug(project)}-${hexOf(hash)}-${slug(recipe)}`;

const withoutNulls = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item != null)) as Partial<T>;

/** Where a bundle of ours lies in the export. */
export interface Placed {
  id: string;
  /** Absolute, as their programs write it. */
  dir: string;
  created_at: string;
}

export function theirManifest(ours: Manifest, { id }: Placed, session_id: string | null): object {
  const { command, version, ...generator } = object(ours.generator);
  const argv = Array.isArray(command) ? shellQuote(command.map(String)) : text(command);
  return withoutNulls({
    protocol_version: BUNDLE_PROTOCOL,
    bundle_id: id,
    bundle_kind: ours.bundle_kind,
    software: ours.software ?? 'preview',
    recipe: ours.recipe ?? 'preview',
    status: ours.status,
    created_at: ours.created_at,
    cache_key: ours.cache_key,
    generator: withoutNulls({
      ...generator,
      entry_point: 'preview',
      harness_version: text(version) ?? PACKAGE_VERSION,
      command: ours.command ?? argv,
      renderer_command: argv,
    }),
    source: withoutNulls({
      project_path: text(ours.source?.['project_path']),
      project_name: text(ours.source?.['project_name']),
      project_fingerprint: ours.source_fingerprint,
      session_id,
    }),
    summary_path: 'summary.json',
    artifacts: ours.artifacts.map((artifact) => ({
      ...withoutNulls(artifact),
      label: artifact.label ?? artifact.artifact_id,
      media_type: artifact.media_type ?? 'application/octet-stream',
    })),
    warnings: ours.warnings?.length ? ours.warnings : null,
    context: { ...object(ours.context), recorded_as: ours.bundle_id },
    metrics: ours.metrics,
    labels: ours.labels?.length ? ours.labels : null,
    source_bundles: ours.source_bundles?.length
      ? ours.source_bundles.map((bundle_id) => ({ bundle_id }))
      : null,
  });
}

export const theirSummary = ({ headline, facts, warnings, next_actions }: Summary): object => ({
  headline,
  facts,
  warnings,
  next_actions,
});

/** Our reasons by their names for them; what they have no name for is kept. */
const REASONS: Record<string, string> = { start: 'live-start', capture: 'manual-push' };

/** A step; without `placed` its bundle is not there to be shown. `command` is whole, which a step may hold cut. */
export const theirStep = (
  step: SeenStep,
  command: string | null,
  placed: Placed | null,
): Record<string, unknown> =>
  withoutNulls({
    step_id: step.step_id,
    step_index: step.step_index,
    bundle_id: placed?.id,
    bundle_dir: placed?.dir,
    manifest_path: placed && join(placed.dir, 'manifest.json'),
    summary_path: placed && join(placed.dir, 'summary.json'),
    created_at: placed?.created_at,
    status: step.status,
    cached: step.cached,
    publish_reason: REASONS[step.publish_reason] ?? step.publish_reason,
    command,
    command_started_at: step['command_started_at'],
    command_finished_at: step['command_finished_at'],
    source_fingerprint: step['source_fingerprint'],
    stage_label: step['stage_label'],
    note: step.note,
    published_at: step.published_at,
    duration_ms: step['duration_ms'],
    exit_code: step.exit_code,
    signal: step.signal,
  });

/** What both of their session's files say of it. */
export interface Words {
  software: string;
  recipe: string;
  session_name: string;
  session_dir: string;
  /** The folder that the export is in, which their programs take as `--root-dir`. */
  root: string;
}

const about = (head: SeenHead, { software, recipe }: Words) => ({
  software,
  recipe,
  project_path: head['project_path'] ?? null,
  project_name: head['project_name'] ?? 'untitled',
});

export const theirTrajectory = (head: SeenHead, steps: Record<string, unknown>[], words: Words): object => ({
  protocol_version: TRAJECTORY_PROTOCOL,
  session_name: words.session_name,
  ...about(head, words),
  created_at: head['created_at'],
  updated_at: head.updated_at,
  step_count: steps.length,
  current_step_id: head.current_step_id,
  steps,
});

/** Their head. It is `stopped`, whatever ours is: nothing is published into a copy. */
export function theirHead(
  head: SeenHead,
  steps: Record<string, unknown>[],
  current: Placed | null,
  words: Words,
): object {
  const latest = steps.at(-1) ?? {};
  const shown = steps.find((step) => step['step_id'] === head.current_step_id) ?? latest;
  const history: Record<string, unknown>[] = [];
  for (const step of [...steps].reverse())
    if (
      history.length < LIMITS.historySteps &&
      !history.some(({ bundle_id }) => bundle_id === step['bundle_id'])
    )
      history.push(step);
  const refer = (verb: string) => `cli-hub previews ${verb} ${shellQuote([words.session_dir])}`;
  return {
    protocol_version: LIVE_PROTOCOL,
    ...about(head, words),
    status: 'stopped',
    live_mode: 'manual',
    session_name: words.session_name,
    session_id: head['session_id'] ?? null,
    created_at: head['created_at'],
    updated_at: head.updated_at,
    stopped_at: head['stopped_at'] ?? head.updated_at,
    refresh_hint_ms: 1500,
    source_poll_ms: 500,
    preview_root_dir: words.root,
    current_link: 'current',
    current_bundle_id: current?.id ?? null,
    current_bundle_dir: current?.dir ?? null,
    current_manifest_path: current && join(current.dir, 'manifest.json'),
    current_summary_path: current && join(current.dir, 'summary.json'),
    current_cached: shown['cached'] === true,
    bundle_count: history.length,
    history,
    trajectory_path: 'trajectory.json',
    trajectory_protocol_version: TRAJECTORY_PROTOCOL,
    trajectory_step_count: steps.length,
    current_step_id: head.current_step_id,
    latest_command: latest['command'] ?? null,
    latest_publish_reason: latest['publish_reason'] ?? null,
    source_state: {
      source_type: 'project-file',
      project_path: head['project_path'] ?? null,
      last_rendered_fingerprint: shown['source_fingerprint'] ?? null,
      last_rendered_at: shown['published_at'] ?? null,
      last_publish_reason: latest['publish_reason'] ?? null,
    },
    poller: { running: false, last_exit_reason: 'exported' },
    watch_command: `${refer('watch')} --open --poll-ms 1500`,
    inspect_command: refer('inspect'),
    html_command: refer('html'),
    exported_from: { title: head.title ?? null, session_name: head.session_name, status: head.status },
  };
}
