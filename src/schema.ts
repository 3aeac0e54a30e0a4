// What is on disk, as zod schemas and the types made from them: session.json (head), a step of
// trajectory.json, manifest.json and summary.json (protocol, sections 3, 5 and 6). Keys are used as
// they are on disk. Objects are loose: unknown keys are kept. zod/mini: a twelfth of zod's size.
import * as z from 'zod/mini';

// A command checks a handful of objects and ends: compiling a checker for each schema would cost more than it saves.
z.config({ jitless: true });

const text = z.string();
const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));
const nullable = <T extends z.core.$ZodType>(schema: T) => z.nullable(schema);
const maybe = <T extends z.core.$ZodType>(schema: T) => z.optional(z.nullable(schema));

export const BUNDLE_STATUS = ['ok', 'partial', 'error'] as const;
export const SESSION_STATUS = ['open', 'active', 'waiting', 'stopped', 'failed'] as const;
export const PUBLISH_REASON = ['start', 'mutation', 'capture', 'diff', 'rollback'] as const;
export const ROLES = [
  'hero',
  'gallery',
  'preview-clip',
  'before',
  'after',
  'diff',
  'diff-json',
  'pipeline-json',
  'viewport',
  'render-output',
  'thumb',
  'terminal',
  'patch',
  'log',
] as const;
export const KINDS = ['image', 'clip', 'json', 'model', 'capture', 'text'] as const;

export const stepSchema = z.looseObject({
  step_id: text,
  step_index: z.int().check(z.positive()),
  command: nullable(text),
  command_started_at: maybe(text),
  command_finished_at: maybe(text),
  duration_ms: maybe(z.number()),
  published_at: text,
  exit_code: maybe(z.int()),
  signal: maybe(text),
  publish_reason: text,
  recipe: maybe(text),
  source_fingerprint: maybe(text),
  bundle_id: text,
  bundle_dir: text,
  manifest_path: text,
  summary_path: maybe(text),
  render_path: maybe(text),
  manifest_sha256: sha256,
  prev_sha256: nullable(sha256),
  status: z.enum(BUNDLE_STATUS),
  cached: z.boolean(),
  stage_label: maybe(text),
  note: maybe(text),
  /** Where a text of over 4 KB is kept whole: texts/<sha256>.txt in the session. */
  command_path: maybe(text),
  note_path: maybe(text),
});
export type Step = z.infer<typeof stepSchema>;

export const headSchema = z.looseObject({
  version: z.int().check(z.positive()),
  protocol_version: text,
  session_name: text,
  session_id: maybe(text),
  title: maybe(text),
  continues: maybe(text),
  software: maybe(text),
  recipe: maybe(text),
  status: text,
  stop_kind: maybe(text),
  stop_reason: maybe(text),
  outcome: maybe(text),
  attempt: maybe(count),
  live_mode: maybe(text),
  project_name: maybe(text),
  project_path: maybe(text),
  created_at: text,
  updated_at: text,
  stopped_at: maybe(text),
  current_link: maybe(text),
  current_bundle_id: nullable(text),
  current_bundle_dir: nullable(text),
  current_manifest_path: nullable(text),
  current_summary_path: nullable(text),
  current_render_path: maybe(text),
  current_cached: nullable(z.boolean()),
  current_step_id: nullable(text),
  current_begun: maybe(z.looseObject({ at: text, boot_id: nullable(text), monotonic_ns: nullable(text) })),
  bundle_count: count,
  bundle_last: count,
  orphans: z.array(text),
  trajectory_path: text,
  trajectory_protocol_version: text,
  trajectory_step_count: count,
  trajectory_bytes: count,
  trajectory_sha256: nullable(sha256),
  latest_command: nullable(text),
  latest_publish_reason: nullable(text),
  latest_step: nullable(stepSchema),
  history: z.array(z.looseObject({ step_id: text })),
  watcher: maybe(z.looseObject({})),
  recoveries: z.array(z.looseObject({ at: text, kind: text })),
  publish_command: maybe(text),
  watch_command: maybe(text),
  inspect_command: maybe(text),
});
export type Head = z.infer<typeof headSchema>;

export const artifactSchema = z.looseObject({
  artifact_id: text,
  role: text,
  kind: text,
  label: maybe(text),
  media_type: maybe(text),
  path: text,
  bytes: count,
  sha256: z.optional(text),
  width: maybe(z.number()),
  height: maybe(z.number()),
  duration_s: maybe(z.number()),
  view: maybe(text),
  /** How many secrets were masked in a captured text: then it is not what the program printed, byte for byte. */
  secrets_masked: maybe(count),
});
export type Artifact = z.infer<typeof artifactSchema>;

export const sourceFileSchema = z.looseObject({ path: text, sha256: text, bytes: count });
export type SourceFile = z.infer<typeof sourceFileSchema>;

export const manifestSchema = z.looseObject({
  protocol_version: text,
  bundle_id: text,
  bundle_kind: text,
  command: maybe(text),
  software: maybe(text),
  recipe: maybe(text),
  status: text,
  created_at: text,
  cache_key: maybe(text),
  source_fingerprint: maybe(text),
  generator: maybe(z.looseObject({})),
  source: maybe(
    z.looseObject({
      files: z.optional(z.array(sourceFileSchema)),
      files_path: maybe(text),
      files_sha256: maybe(text),
    }),
  ),
  summary_path: maybe(text),
  summary_sha256: maybe(text),
  artifacts: z.array(artifactSchema),
  context: maybe(z.looseObject({})),
  metrics: maybe(z.looseObject({})),
  warnings: z.optional(z.array(text)),
  labels: z.optional(z.array(text)),
  source_bundles: z.optional(z.array(text)),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const summarySchema = z.looseObject({
  command: maybe(text),
  headline: text,
  facts: z.record(text, z.unknown()),
  warnings: z.array(text),
  next_actions: z.array(text),
});
export type Summary = z.infer<typeof summarySchema>;

/** One thing found wrong while reading: `where` is a path, a step id or a line. */
export interface Problem {
  kind: string;
  where: string;
  detail: string;
}

/** The forgiving result of every reader: what could be had, and what was wrong with it. */
export interface Reading<T> {
  value: T;
  problems: Problem[];
}

/** Checks `value` by `schema`; the first few issues come back as one problem. Never throws. */
export function check<T>(schema: z.ZodMiniType<T>, value: unknown, where: string): Reading<T | null> {
  const result = z.safeParse(schema, value);
  // The object itself, not zod's copy: its keys keep their order, on which a line's hash depends.
  if (result.success) return { value: value as T, problems: [] };
  const issues = result.error.issues
    .slice(0, 4)
    .map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`);
  return { value: null, problems: [{ kind: 'invalid', where, detail: issues.join('; ') }] };
}
