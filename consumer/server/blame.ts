// Which step last changed a place of a picture, for a page that asks: manifests are read backwards, no more than the
// answer needs, in slices.
import { monotonicMs, turn } from '../../src/clock.js';
import { type Blame, blameBack, type Looked } from '../../src/compare/blameback.js';
import type { Rect } from '../../src/compare/boxes.js';
import { PreviewError } from '../../src/errors.js';
import { looker, TILES } from '../comparing/looking.js';
import type { Hub } from './hub.js';

/** Steps whose lines are read at a time. */
const PIECE = 200;
const SLICE_MS = 12;

/** Null where `stop` said so. @throws PreviewError `not_found` where there is no such picture or place. */
export async function blameIn(
  hub: Hub,
  { index, ...place }: Rect & { index: number },
  stop: () => boolean,
): Promise<Blame | null> {
  if (index > hub.count()) throw new PreviewError('not_found', `there is no step ${index}`);
  const { x, y, width, height } = place;
  const answer = await blameBack(lookingBack(hub, index, stop), { x, y, width, height });
  if (stop()) return null;
  if ('problem' in answer) throw new PreviewError('not_found', answer.problem);
  return answer;
}

async function* lookingBack(hub: Hub, index: number, stop: () => boolean): AsyncGenerator<Looked[]> {
  const recording = hub.recording();
  const look = looker(recording, TILES);
  let began = monotonicMs();
  for (let to = index; to >= 1; to -= PIECE) {
    const from = Math.max(1, to - PIECE + 1);
    const steps = new Map(recording.steps(from, to).value.map((step) => [step.step_index, step]));
    for (let at = to; at >= from; at--) {
      const { value, ...looked } = look(steps.get(at));
      yield [{ index: at, ...looked, tiled: value }];
      if (monotonicMs() - began < SLICE_MS) continue;
      await turn();
      if (stop()) return;
      began = monotonicMs();
    }
  }
}
