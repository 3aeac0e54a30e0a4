// Sealing a bundle before it is published: summary and manifest of what lies in the stage. Giving it a number is
// commit.ts's business (I1).
import { join } from 'node:path';
import { addArtifact } from './artifact.js';
import { createFile, exists, syncPath, withoutWriteBits } from './disk.js';
import { sha256 } from './hash.js';
import { MANIFEST_NAME, SUMMARY_NAME } from './layout.js';
import { maskedWarning, redactDeep } from './redact.js';
import type { Manifest, SourceFile } from './schema.js';
import type { Stage } from './stage.js';
import { fitSummary } from './summary.js';
import { cutText, wellFormedJson } from './text.js';
import { BUNDLE_PROTOCOL, LIMITS, PACKAGE_VERSION } from './version.js';

/** What a manifest says beyond the artifacts and the number it will get. */
export interface BundleFields {
  bundle_kind?: 'capture' | 'diff';
  command: string | null;
  software?: string | null;
  recipe?: string | null;
  status: 'ok' | 'partial' | 'error';
  cache_key?: string | null;
  source_fingerprint?: string | null;
  generator?: Record<string, unknown>;
  source?: {
    project_name?: string;
    project_path?: string;
    project_fingerprint?: string;
    files?: SourceFile[];
    [key: string]: unknown;
  };
  headline: string;
  facts?: Record<string, unknown>;
  warnings?: string[];
  next_actions?: string[];
  context?: Record<string, unknown>;
  metrics?: Record<string, unknown>;
  labels?: string[];
  source_bundles?: string[];
}

/** A staged bundle that lacks nothing but its number. */
export interface Sealed {
  stage: Stage;
  fields: BundleFields;
  manifest: Omit<Manifest, 'bundle_id'>;
  /** Path of the hero inside the bundle, or null. */
  render: string | null;
  warnings: string[];
}

/**
 * Writes summary.json and makes everything but the manifest durable. The manifest's name exists already, empty, so
 * that its entry in the folder is durable too and costs no further fsync under the lock.
 */
export function sealStage(stage: Stage, given: BundleFields): Sealed {
  const { fields, count } = masked(stage, wellFormedJson(given));
  const total = stage.artifacts.reduce((sum, artifact) => sum + artifact.bytes, 0);
  const warnings = [
    ...(fields.warnings ?? []),
    ...maskedWarning(count, 'the command and what was captured; --no-redact keeps them'),
  ];
  if (total > LIMITS.bundle)
    warnings.push(
      `bundle_large: the bundle holds ${mb(total)}, over the ${mb(LIMITS.bundle)} that stay cheap to keep and show`,
    );
  const summary = fitSummary({
    command: fields.command,
    headline: fields.headline,
    facts: fields.facts ?? {},
    warnings,
    next_actions: fields.next_actions ?? [],
  });
  const summaryText = `${JSON.stringify(summary, null, 2)}\n`;
  write(stage, SUMMARY_NAME, summaryText);
  const source = fields.source ? sourceOf(stage, fields.source) : undefined;
  const manifest: Omit<Manifest, 'bundle_id'> = {
    protocol_version: BUNDLE_PROTOCOL,
    bundle_kind: fields.bundle_kind ?? 'capture',
    command: fields.command === null ? null : cutText(fields.command, LIMITS.command),
    software: fields.software ?? null,
    recipe: fields.recipe ?? null,
    status: fields.status,
    created_at: new Date().toISOString(),
    cache_key: fields.cache_key ?? null,
    source_fingerprint: fields.source_fingerprint ?? null,
    generator: { entry_point: 'preview', version: PACKAGE_VERSION, ...fields.generator },
    ...(source ? { source } : {}),
    summary_path: SUMMARY_NAME,
    summary_sha256: sha256(summaryText),
    artifacts: stage.artifacts,
    ...(warnings.length ? { warnings } : {}),
    ...(fields.context ? { context: fields.context } : {}),
    ...(fields.metrics && Object.keys(fields.metrics).length ? { metrics: fields.metrics } : {}),
    ...(fields.labels ? { labels: fields.labels } : {}),
    ...(fields.source_bundles ? { source_bundles: fields.source_bundles } : {}),
  };
  const manifestPath = join(stage.bundle, MANIFEST_NAME);
  if (!exists(manifestPath)) createFile(manifestPath, '', false);
  if (exists(join(stage.bundle, 'artifacts'))) syncPath(join(stage.bundle, 'artifacts'));
  syncPath(stage.bundle);
  const render = stage.artifacts.find((artifact) => artifact.role === 'hero')?.path ?? null;
  return { stage, fields, manifest, render, warnings };
}

/** Fields that hold what somebody wrote or a program printed. Paths and hashes are none of them. */
const TEXTS = [
  'command',
  'headline',
  'facts',
  'warnings',
  'next_actions',
  'generator',
  'context',
  'labels',
] as const;

function masked(stage: Stage, fields: BundleFields): { fields: BundleFields; count: number } {
  if (!stage.redact) return { fields, count: 0 };
  const texts = Object.fromEntries(TEXTS.flatMap((key) => (key in fields ? [[key, fields[key]]] : [])));
  const { value, count } = redactDeep(texts);
  const captured = stage.artifacts.reduce((sum, { secrets_masked }) => sum + (secrets_masked ?? 0), 0);
  return { fields: { ...fields, ...value }, count: count + captured };
}

function write(stage: Stage, name: string, content: string): void {
  const path = join(stage.bundle, name);
  createFile(path, content, true);
  withoutWriteBits(path);
}

/** The list of source files goes into a file of its own beyond 200 (protocol, section 6). */
function sourceOf(stage: Stage, source: NonNullable<BundleFields['source']>) {
  if (!source.files || source.files.length <= LIMITS.manifestFiles) return source;
  const { files, ...rest } = source;
  const artifact = addArtifact(stage, {
    content: `${JSON.stringify(files)}\n`,
    role: 'pipeline-json',
    name: 'source-files.json',
    label: 'Source files',
  });
  return {
    ...rest,
    files_path: artifact.path,
    files_sha256: artifact.sha256 ?? null,
    files_count: files.length,
  };
}

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
