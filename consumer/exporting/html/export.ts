// `previews html`: one session, or some of its steps, as a page that needs nothing but a browser.
import { basename } from 'node:path';
import { PreviewError } from '../../../src/errors.js';
import type { Recording } from '../../../src/formats/seen.js';
import { shower, showSession } from '../../../src/shown.js';
import { type Exported, STREAM_PROTOCOL } from '../../../src/stream.js';
import { scriptsFor, shownAs } from '../../viewer/shownas.js';
import { compose, frameFor, inScript, partSize } from './compose.js';
import { megabytes, type TakenFiles, takeFiles } from './files.js';
import { type TakenSteps, takeSteps } from './steps.js';

/** What a page may take unless told. */
export const MAX_BYTES = 25_000_000;
/** The share of what is left beside the page itself that steps may take; pictures get the rest. */
const STEPS_SHARE = 0.5;
/** For tags and hashes around each file, and the counts in the page's head. */
const AROUND = 120;

export interface HtmlOptions {
  /** First and last step, 1-based; the whole session unless told. */
  steps?: { from: number; to: number } | undefined;
  maxBytes?: number | undefined;
  /** Files that need not be read by the page lie beside it. */
  beside?: boolean | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface HtmlExport {
  html: string;
  /** What lies beside the page, by relative path. */
  beside: { path: string; bytes: Buffer }[];
  steps: { first: number; last: number };
  files: number;
  /** What is not in it, in words. */
  left_out: string[];
}

/**
 * Makes the page. Steps come first, the newest of them; then files, in the order that guides/viewer.md states.
 * @throws PreviewError for a session without steps, a range outside of it, or a limit that the page alone exceeds.
 */
export function exportHtml(recording: Recording, options: HtmlOptions = {}): HtmlExport {
  const show = shower(() => recording);
  const session = showSession(recording);
  const { from, to } = rangeOf(session.step_count, options.steps, recording);
  const most = options.maxBytes ?? MAX_BYTES;
  const bare = compose(frameFor([]), { title: '', head: '', pieces: [], files: [] });
  const room = most - Buffer.byteLength(bare) - JSON.stringify(session).length;
  if (room < 100_000)
    throw new PreviewError(
      'usage',
      `a page of ${megabytes(most)} is too small: the page itself takes ${megabytes(most - room)}`,
      `give --max-bytes at least ${Math.ceil((most - room + 1e6) / 1e6)}000000`,
    );
  const steps = takeSteps({
    recording,
    shower: show,
    from,
    to,
    bytes: room * STEPS_SHARE,
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
  });
  const used = steps.pieces.reduce((sum, piece) => sum + piece.length + AROUND, 0) + headBytes(steps);
  const inPage = (bytes: number) => Math.ceil(bytes / 3) * 4 + AROUND;
  // What lies beside the page counts as it is: a folder is sent as a whole too.
  const sizeOf = (bytes: number, read: boolean) => (options.beside && !read ? bytes : inPage(bytes));
  const taken = takeFiles(steps.bundles, room - used, sizeOf, partSize);
  return assemble(session, steps, taken, options, from);
}

function assemble(
  session: Exported['session'],
  steps: TakenSteps,
  taken: TakenFiles,
  { beside = false }: HtmlOptions,
  from: number,
): HtmlExport {
  const places = taken.files.map(({ read, sha256, media_type }, at) =>
    beside && !read ? `files/${at}-${sha256.slice(7, 15)}${EXTENSIONS[media_type] ?? '.bin'}` : null,
  );
  const left_out = [...taken.left_out];
  if (steps.left > 0) left_out.unshift(`the oldest ${steps.left} steps (${from} to ${steps.first - 1})`);
  const head: Exported = {
    protocol: STREAM_PROTOCOL,
    exported_at: new Date().toISOString(),
    session,
    first: steps.first,
    last: steps.last,
    outline: steps.outline,
    bundles: steps.pieceOf,
    files: taken.numbers,
    places,
    left_out,
  };
  const needed = scriptsFor([...new Set(taken.files.map(shownAs))]);
  const html = compose(frameFor(needed), {
    title: [session.project_name ?? session.title ?? session.key, session.recipe].filter(Boolean).join(' · '),
    head: JSON.stringify(head),
    pieces: steps.pieces,
    files: taken.files.map(({ bytes }, at) => (places[at] === null ? bytes.toString('base64') : null)),
  });
  return {
    html,
    beside: taken.files.flatMap(({ bytes }, at) => (places[at] ? [{ path: places[at], bytes }] : [])),
    steps: { first: steps.first, last: steps.last },
    files: Object.keys(taken.numbers).length,
    left_out,
  };
}

/** Names of files beside the page end as their type, of this list alone: a server guesses from it what they are. */
const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/avif': '.avif',
  'image/svg+xml': '.svg',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
};

/** About what the lists in the page's head take. */
const headBytes = ({ outline, pieceOf, bundles }: TakenSteps): number =>
  inScript(JSON.stringify(outline)).length +
  JSON.stringify(pieceOf).length +
  bundles.reduce((sum, { key, files }) => sum + files.length * (key.length + 24), 0);

function rangeOf(count: number, steps: HtmlOptions['steps'], recording: Recording) {
  if (count === 0)
    throw new PreviewError(
      'not_found',
      `${basename(recording.dir)} has no steps${recording.problems[0] ? `: ${recording.problems[0].detail}` : ''}`,
      '`preview capture` records one',
    );
  const { from, to } = steps ?? { from: 1, to: count };
  if (from > to || from > count || from < 1)
    throw new PreviewError(
      'usage',
      `${basename(recording.dir)} has steps 1 to ${count}, not ${from} to ${to}`,
      'give --steps A..B within them',
    );
  return { from, to: Math.min(to, count) };
}
