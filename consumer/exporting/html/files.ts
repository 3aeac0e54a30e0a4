// Which files go into an exported page, and what is left out first where they do not all fit.
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { readRegular } from '../../../src/disk.js';
import { errnoOf } from '../../../src/errors.js';
import { inside } from '../../../src/inside.js';
import type { ShownFile } from '../../../src/stream.js';
import { isPart, type PartName, shownAs } from '../../viewer/shownas.js';
import type { TakenBundle } from './steps.js';

/** The order in which files are taken, so the last is left out first; within one kind the newest steps come first. */
const KINDS = [
  'thumbnails',
  'main pictures',
  'texts, casts, patches and JSON',
  'other pictures',
  'clips',
  'models',
  'files that are only offered for download',
] as const;
type Kind = (typeof KINDS)[number];

/** What is shown as text is small; one larger than this is taken last. */
const SMALL = 1024 * 1024;

function kindOf(file: TakenBundle['files'][number], isHero: boolean): Kind {
  const shown = shownAs(file);
  if (file.role === 'thumb') return 'thumbnails';
  if (shown === 'image') return isHero ? 'main pictures' : 'other pictures';
  if (shown === 'clip') return 'clips';
  if (shown === 'model') return 'models';
  if (shown === 'none' || file.bytes > SMALL) return 'files that are only offered for download';
  return 'texts, casts, patches and JSON';
}

export interface TakenFile {
  media_type: string;
  sha256: string;
  bytes: Buffer;
  /** Whether the page must have its bytes, which it cannot ask for where it is opened from a disk. */
  read: boolean;
}

export interface TakenFiles {
  /** Each content once, in the order they were taken. */
  files: TakenFile[];
  /** By `bundle/path` the number in `files`. */
  numbers: Record<string, number>;
  left_out: string[];
}

/** Takes what fits into `bytes`: each content as large as `sizeOf` says it becomes, and with the first that needs one, the part that shows it. */
export function takeFiles(
  bundles: readonly TakenBundle[],
  bytes: number,
  sizeOf: (bytes: number, read: boolean) => number,
  partSize: (part: PartName) => number,
): TakenFiles {
  const files: TakenFile[] = [];
  const numbers: Record<string, number> = {};
  const byHash = new Map<string, number>();
  const left = new Map<Kind, { count: number; bytes: number }>();
  const gone: string[] = [];
  const parts = new Set<PartName>();
  let used = 0;
  for (const { kind, bundle, file } of inOrder(bundles)) {
    const name = `${bundle.key}/${file.path}`;
    const shown = shownAs(file);
    const read = isPart(shown) || shown === 'frame';
    const known = file.sha256 === null ? undefined : byHash.get(file.sha256);
    if (known !== undefined) {
      numbers[name] = known;
      continue;
    }
    const path = inside(bundle.dir, file.path);
    const size = path === null ? null : sizeOnDisk(path);
    if (path === null || size === null) {
      gone.push(name);
      continue;
    }
    const part = isPart(shown) && !parts.has(shown) ? shown : null;
    const around = part ? partSize(part) : 0;
    if (used + sizeOf(size, read) + around > bytes) {
      const sum = left.get(kind) ?? { count: 0, bytes: 0 };
      left.set(kind, { count: sum.count + 1, bytes: sum.bytes + size });
      continue;
    }
    const content = readRegular(path);
    const sha256 = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    numbers[name] = byHash.get(sha256) ?? files.length;
    if (byHash.has(sha256)) continue;
    byHash.set(sha256, files.length);
    used += sizeOf(content.length, read) + around;
    if (part) parts.add(part);
    files.push({ media_type: file.media_type, sha256, bytes: content, read });
  }
  const left_out = KINDS.flatMap((kind) => {
    const sum = left.get(kind);
    return sum ? [`${sum.count} ${kind} (${megabytes(sum.bytes)})`] : [];
  });
  if (gone.length > 0) left_out.push(`${gone.length} files that are not there any more: ${listed(gone)}`);
  return { files, numbers, left_out };
}

export const megabytes = (bytes: number): string =>
  bytes < 1e5 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const listed = (names: string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} …`;

function inOrder(bundles: readonly TakenBundle[]) {
  const newest = bundles.toSorted((a, b) => b.step - a.step);
  const all = newest.flatMap((bundle) =>
    bundle.files.map((file: ShownFile & { role: string }) => {
      const isHero = file.role === 'hero';
      return { kind: kindOf(file, isHero), bundle, file };
    }),
  );
  return KINDS.flatMap((kind) => all.filter((each) => each.kind === kind));
}

/** The size of a regular file, or null: a link is not followed (I9). */
function sizeOnDisk(path: string): number | null {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? stat.size : null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
}
