// All steps of a session as far as they are compared. What was read once is kept in an index in the user's cache, which
// is extended as the session grows.
import type { Recording } from '../../src/formats/seen.js';
import { type Aspect, type Look, looker } from './looking.js';
import { emptyPacked } from './packed.js';
import { loadIndex, saveIndex } from './stepindex.js';

export interface Survey<T> {
  /** Step `index`, from 1 to what was surveyed. */
  at(index: number): Look<T>;
}

/** Steps that are read at a time. */
const PIECE = 500;

/**
 * Surveys steps 1 to `to`. What the index lacks is read from the session and added to it; where an index cannot be kept
 * (a full disk, no home) it is done without. `onProgress` hears which step is read.
 */
export function survey<T>(
  recording: Recording,
  aspect: Aspect<T>,
  to: number,
  onProgress: (index: number) => void = () => {},
): Survey<T> {
  const look = looker(recording, aspect);
  const kept = loadIndex(recording, aspect) ?? emptyPacked(aspect);
  const known = kept.last;
  for (let from = known + 1; from <= to; from += PIECE) {
    onProgress(from);
    const last = Math.min(to, from + PIECE - 1);
    const steps = new Map(recording.steps(from, last).value.map((step) => [step.step_index, step]));
    for (let index = from; index <= last; index++) kept.add(look(steps.get(index)));
  }
  if (kept.last > known) saveIndex(recording, aspect, kept);
  return {
    at(index) {
      // Older than what an index has room for; or missing then, which a copy that was still under way is no more.
      const found = index < kept.first ? null : kept.at(index);
      if (found !== null && (found.state !== 'lost' || index > known)) return found;
      return look(recording.steps(index, index).value[0]);
    },
  };
}
