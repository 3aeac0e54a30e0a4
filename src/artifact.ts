// Files on their way into a bundle: given a portable place, hashed, made durable, and without write bits.
import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { copyBytes, createFile, makeDir, PRIVATE_FILE, setMode, syncPath, withoutWriteBits } from './disk.js';
import { errnoOf, PreviewError } from './errors.js';
import { hashFile } from './hash.js';
import { detectMedia } from './media.js';
import { redactBytes } from './redact.js';
import { type Artifact, ROLES } from './schema.js';
import type { Stage } from './stage.js';
import { cutText } from './text.js';
import { LIMITS } from './version.js';

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
