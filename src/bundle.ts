// A bundle before it is published: files gathered and hashed in a staging folder whose name tells its
// owner, made durable, and without write bits. Giving it a number is commit.ts's business (I1).
import { linkSync, lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import {
  copyBytes,
  createFile,
  exists,
  makeDir,
  PRIVATE_FILE,
  setMode,
  syncPath,
  withoutWriteBits,
} from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { hashFile, sha256 } from './hash.js';
import { MANIFEST_NAME, SUMMARY_NAME } from './layout.js';
import { makeWork } from './lock.js';
import { detectMedia } from './media.js';
import { currentOwner, ownerName } from './owner.js';
import { maskedWarning, redactBytes, redactDeep } from './redact.js';
import { type Artifact, type Manifest, ROLES, type SourceFile } from './schema.js';
import { fitSummary } from './summary.js';
import { cutText, wellFormedJson } from './text.js';
import { BUNDLE_PROTOCOL, LIMITS, PACKAGE_VERSION } from './version.js';

export interface Stage {
  dir: string;
  /** Where a renderer leaves its files. */
  out: string;
  /** What becomes `bundle_NNN`. */
  bundle: string;
  artifacts: Artifact[];
  /** Whether secrets in texts and captured bytes are masked. */
  redact: boolean;
}

/** Makes a staging folder in the session's `.work`. Secrets are masked unless `redact` is false. */
export function openStage(session: string, { redact = true }: { redact?: boolean | undefined } = {}): Stage {
  const dir = join(makeWork(session), `stage-${ownerName(currentOwner())}`);
  const stage = { dir, out: join(dir, 'out'), bundle: join(dir, 'bundle'), artifacts: [], redact };
  makeDir(stage.out);
  makeDir(stage.bundle);
  return stage;
}

/** Empties the stage for another try. */
export function resetStage(stage: Stage): void {
  rmSync(stage.dir, { recursive: true, force: true });
  stage.artifacts.length = 0;
  makeDir(stage.out);
  makeDir(stage.bundle);
}

/** Removes what is left of a staging folder. What cannot be removed is swept when this process is gone. */
export function closeStage(stage: Stage): void {
  try {
    rmdirSync(stage.out);
    rmdirSync(stage.dir);
    return;
  } catch {
    // Something is left in it (ENOTEMPTY), for which more must be loaded; or it is gone.
  }
  try {
    rmSync(stage.dir, { recursive: true, force: true });
  } catch {
    // A failing disk: the step may be recorded by now, and stays so.
  }
}

export interface ArtifactInput {
  /** A file to copy, or (with `move`) to take over; or the content itself. */
  file?: string;
  move?: boolean;
  content?: string | Uint8Array;
  role: string;
  /** The true name, from which a portable file name is made. */
  name?: string;
  label?: string;
  kind?: string;
  media_type?: string;
  view?: string;
  duration_s?: number;
  /** True for what a program printed: secrets in the `content` are masked, each by as many `*`. */
  captured?: boolean;
}

/**
 * Adds a file to the bundle: the first hero as `render.<ext>`, the first thumb as `thumb.<ext>`, all else under
 * `artifacts/`. Throws system errors; a symlink, a folder or a device is refused, for no path leaves the session (I9).
 */
export function addArtifact(stage: Stage, input: ArtifactInput): Artifact {
  if (!(ROLES as readonly string[]).includes(input.role)) {
    throw new PreviewError(
      'usage',
      `${JSON.stringify(input.role)} is no role of an artifact`,
      `there are: ${ROLES.join(', ')}`,
    );
  }
  const source = input.file;
  const name = input.name ?? (source ? basename(source) : input.role);
  const incoming = join(stage.dir, 'incoming');
  const masked = { count: 0 };
  if (source === undefined) createFile(incoming, contentOf(stage, input, masked), false);
  else {
    if (!lstatSync(source).isFile()) {
      throw new PreviewError(
        'usage',
        `${source} is no regular file`,
        'an artifact is a file, not a folder, a link or a device',
      );
    }
    if (input.move) moveFile(source, incoming);
    else copyBytes(source, incoming);
    setMode(incoming, PRIVATE_FILE);
  }
  const media = detectMedia(incoming, name);
  const path = placeFor(stage, input.role, name, media.ext);
  const target = join(stage.bundle, path);
  makeDir(dirname(target));
  renameSync(incoming, target);
  const { sha256: hash, bytes } = hashFile(target);
  withoutWriteBits(target);
  syncPath(target);
  const artifact: Artifact = {
    artifact_id: nextId(stage, input.role),
    role: input.role,
    kind: input.kind ?? media.kind,
    label: cutText((input.label ?? name) + (masked.count > 0 ? ' (secrets masked)' : ''), LIMITS.note),
    media_type: input.media_type ?? media.media_type,
    path,
    bytes,
    sha256: hash,
    ...(media.width ? { width: media.width, height: media.height } : {}),
    ...(input.view ? { view: input.view } : {}),
    ...(input.duration_s === undefined ? {} : { duration_s: input.duration_s }),
    ...(masked.count > 0 ? { secrets_masked: masked.count } : {}),
  };
  stage.artifacts.push(artifact);
  return artifact;
}

/**
 * Takes over a file of a published bundle as it is: as a hard link, for neither of the two ever changes (I1), or as a
 * copy where there are none. Throws system errors.
 */
export function takeArtifact(stage: Stage, bundle: string, artifact: Artifact): Artifact {
  const target = join(stage.bundle, artifact.path);
  makeDir(dirname(target));
  try {
    linkSync(join(bundle, artifact.path), target);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errnoOf(error) ?? ''))
      throw error;
    copyBytes(join(bundle, artifact.path), target);
    withoutWriteBits(target);
    syncPath(target);
  }
  const taken = { ...artifact, artifact_id: nextId(stage, artifact.role) };
  stage.artifacts.push(taken);
  return taken;
}

/** `log`, `log-2` …: unique in the bundle. */
function nextId(stage: Stage, role: string): string {
  const sameRole = stage.artifacts.filter((other) => other.role === role).length;
  return sameRole === 0 ? role : `${role}-${sameRole + 1}`;
}

function contentOf(stage: Stage, { content = '', captured }: ArtifactInput, masked: { count: number }) {
  if (!captured || !stage.redact) return content;
  const { bytes, count } = redactBytes(Buffer.from(content));
  masked.count = count;
  return bytes;
}

/** Takes a file over, by copy where it lies on another device. */
function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    copyBytes(from, to);
    rmSync(from, { force: true });
  }
}

/** The artifact's path in the bundle: portable on every system, unique without regard to case. */
function placeFor(stage: Stage, role: string, name: string, ext: string): string {
  const taken = new Set(stage.artifacts.map((artifact) => artifact.path.toLowerCase()));
  const first = role === 'hero' ? `render.${ext}` : role === 'thumb' ? `thumb.${ext}` : null;
  if (first && !taken.has(first)) return first;
  const stem = portableName(name);
  for (let n = 1; ; n++) {
    const path = `artifacts/${stem}${n === 1 ? '' : `-${n}`}.${ext}`;
    if (!taken.has(path.toLowerCase())) return path;
  }
}

/** A file name without its extension that every system can hold: `a:b.txt` → `a_b`, `aux` → `aux_`, at most 60 characters. */
export function portableName(name: string): string {
  const plain = basename(name, extname(name))
    .normalize('NFKD')
    .replace(/[^\w-]+/g, '_')
    .replace(/^[_.-]+|_+$/g, '')
    .slice(0, 60);
  if (plain === '') return 'file';
  return /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(plain) ? `${plain}_` : plain;
}

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
