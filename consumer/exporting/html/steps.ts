// The steps of an exported page, in pieces that the page unpacks when it shows them: the newest first, until their
// share of the file is used up.
import { gzipSync } from 'node:zlib';
import type { Recording } from '../../../src/formats/seen.js';
import { endOf, gatherBuckets } from '../../../src/search.js';
import type { Shower } from '../../../src/shown.js';
import {
  type Bucket,
  type ExportedPiece,
  type ShownFile,
  type ShownStep,
  type ShownVerdict,
  STREAM_LIMITS,
} from '../../../src/stream.js';
import { verdictOn } from '../../../src/verdict.js';

/** A bundle whose files may go into the page. */
export interface TakenBundle {
  key: string;
  dir: string;
  /** The newest step of the export that shows it. */
  step: number;
  files: (ShownFile & { role: string })[];
}

export interface TakenSteps {
  first: number;
  last: number;
  outline: Bucket[];
  /** Packed (gzip, then base64), oldest first. */
  pieces: string[];
  /** The piece that holds a bundle. */
  pieceOf: Record<string, number>;
  bundles: TakenBundle[];
  /** Steps older than the first that did not fit. */
  left: number;
}

/** What the outline needs of a step. */
type Lite = Pick<ShownStep, 'index' | 'status' | 'changed' | 'published_at'>;

export interface StepsWanted {
  recording: Recording;
  shower: Shower;
  from: number;
  to: number;
  /** What all pieces together may take. */
  bytes: number;
  onProgress?: (done: number, total: number) => void;
}

/** Packs the steps `from` to `to`; the newest piece is there however large it is. */
export function takeSteps({ recording, shower, from, to, bytes, onProgress }: StepsWanted): TakenSteps {
  const size = STREAM_LIMITS.window;
  const packed: { text: string; keys: string[]; steps: Lite[] }[] = [];
  const bundles = new Map<string, TakenBundle>();
  let used = 0;
  let first = to + 1;
  for (let end = to; end >= from; ) {
    // Pieces are counted from the first step, so the newest may be shorter.
    const begin = end === to ? Math.max(from, to - ((to - from) % size)) : Math.max(from, end - size + 1);
    const piece = pieceOf(recording, shower, begin, end, bundles);
    const text = gzipSync(JSON.stringify(piece), { level: 9 }).toString('base64');
    if (packed.length > 0 && used + text.length > bytes) break;
    used += text.length;
    for (const step of piece.steps.toReversed())
      if (step.bundle) take(bundles, shower, step.bundle, step.index);
    const steps = piece.steps.map((step) => ({
      index: step.index,
      status: endOf(step),
      changed: step.changed,
      published_at: step.published_at,
    }));
    packed.unshift({ text, keys: Object.keys(piece.bundles), steps });
    first = begin;
    end = begin - 1;
    onProgress?.(to - end, to - from + 1);
  }
  for (const key of bundles.keys()) if (bundles.get(key)!.step < first) bundles.delete(key);
  const outline = gatherBuckets(to, STREAM_LIMITS.buckets);
  for (const { steps } of packed) for (const step of steps) outline.add(step);
  return {
    first,
    last: to,
    outline: outline.buckets,
    pieces: packed.map(({ text }) => text),
    pieceOf: Object.fromEntries(packed.flatMap(({ keys }, at) => keys.map((key) => [key, at] as const))),
    bundles: [...bundles.values()],
    left: first - from,
  };
}

/** Each bundle is told once, in the newest piece that shows it. */
function pieceOf(
  recording: Recording,
  shower: Shower,
  from: number,
  to: number,
  told: ReadonlyMap<string, TakenBundle>,
): ExportedPiece {
  const read = shower.searched(from, to);
  const bundles: ExportedPiece['bundles'] = {};
  for (const { step: shown, recorded: step } of read.toReversed()) {
    const { bundle } = shown;
    if (bundle === null || !step || told.has(bundle) || Object.hasOwn(bundles, bundle)) continue;
    const { value, problems } = recording.readBundle(shower.bundleDir(bundle) ?? '');
    const verdict: ShownVerdict = verdictOn(recording, step);
    bundles[bundle] = { manifest: value.manifest, summary: value.summary, problems, verdict };
  }
  return { steps: read.map(({ step }) => step), recorded: read.map(({ recorded }) => recorded), bundles };
}

function take(bundles: Map<string, TakenBundle>, shower: Shower, key: string, step: number): void {
  if (bundles.has(key)) return;
  const dir = shower.bundleDir(key);
  if (dir !== null) bundles.set(key, { key, dir, step, files: shower.files(key) });
}
