// Changes that tiles tell of, looked at pixel by pixel. A child decodes the pictures, for they are untrusted.
import type { Change } from '../../src/compare/blame.js';
import type { Rect } from '../../src/compare/boxes.js';
import type { Recording } from '../../src/formats/seen.js';
import { askCompare } from './askcompare.js';
import { pictureOf } from './step.js';

/** Pictures that a child is given at once: few at first, since the first change is mostly what is asked for. */
const [FEW, MANY] = [3, 24];

type Confirmed = Change & { unread?: string };

/**
 * Of changes, the newest first and the first picture last, those at which a pixel of `region` did change. Between two of
 * them the tiles of the region stay the same, and so do its pixels: each is compared with the next.
 */
export async function* byPixels(
  recording: Recording,
  newestFirst: Iterable<Change>,
  region: Rect,
): AsyncGenerator<Confirmed> {
  const source = newestFirst[Symbol.iterator]();
  let held: Change[] = [];
  for (let size = FEW; ; size = MANY) {
    let ended = false;
    while (held.length < size && !ended) {
      const next = source.next();
      if (next.done) ended = true;
      else held.push(next.value);
    }
    yield* confirmed(recording, held, region);
    if (ended) {
      if (held.length > 0) yield held.at(-1)!;
      return;
    }
    // The last is what the next ones are compared with.
    held = held.slice(-1);
  }
}

/** All but the last of `changes`, as far as pixels tell them from the one behind. */
async function* confirmed(
  recording: Recording,
  changes: readonly Change[],
  region: Rect,
): AsyncGenerator<Confirmed> {
  if (changes.length < 2) return;
  const paths = changes.map(({ index }) => pictureOf(recording, index));
  const told = await askCompare(paths, region);
  for (const [at, change] of changes.slice(0, -1).entries()) {
    const { differs, unread } = told[at]!;
    // A picture that is gone or cannot be decoded leaves what its tiles told.
    if (unread !== undefined) yield { ...change, unread };
    else if (differs || change.kind === 'resized') yield change;
  }
}
