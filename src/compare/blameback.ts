// Which step last changed a place of a picture, asked of steps that come piece by piece, the newest first: the server
// reads them in slices, an exported page unpacks them. Pure; nothing is decoded.
import { type Change, changeBetween, clipped, tilesAround } from './blame.js';
import type { Rect } from './boxes.js';
import type { Tiled } from './tiles.js';

/** One step, as far as pictures are compared: `lost` is gone, `diff` a comparison, `nothing` has no picture. */
export interface Looked {
  index: number;
  recipe: string | null;
  state: 'shown' | 'nothing' | 'failed' | 'diff' | 'lost';
  tiled: Tiled | null;
}

export interface Blame {
  /** The step whose picture was taken: the one asked for, or where it has none the newest one before it. */
  picture_of: number;
  recipe: string | null;
  /** The part of the place that lies in the picture, and the tiles around it: a change anywhere in these counts. */
  region: Rect;
  looked_at: Rect;
  tile: number;
  changed_by: number;
  kind: Change['kind'];
  /** The step it was compared with; null for the first picture there is. */
  before: number | null;
  /** So many steps between the two show nothing that can be compared: it may have come with one of them. */
  between: number;
  /** Steps that were passed over on the way, by why. */
  passed_over: Record<'failed' | 'nothing' | 'lost' | 'diff' | 'other_recipe', number>;
}

/**
 * `looks` begins with the step whose picture is asked about. Takes no more of it than it needs. In words, where there is
 * no answer.
 */
export async function blameBack(
  looks: AsyncIterable<readonly Looked[]>,
  place: Rect,
): Promise<Blame | { problem: string }> {
  const passed_over: Blame['passed_over'] = { failed: 0, nothing: 0, lost: 0, diff: 0, other_recipe: 0 };
  let asked: Looked | null = null;
  let start: { index: number; recipe: string | null; region: Rect; tiled: Tiled } | null = null;
  let later: { index: number; tiled: Tiled } | null = null;
  let between = 0;
  const answer = (change: Pick<Change, 'index' | 'before' | 'kind'>): Blame => ({
    picture_of: start!.index,
    recipe: start!.recipe,
    region: start!.region,
    looked_at: tilesAround(start!.tiled, start!.region),
    tile: start!.tiled.tiles.size,
    changed_by: change.index,
    kind: change.kind,
    before: change.before,
    between: change.before === null ? 0 : between,
    passed_over,
  });
  for await (const piece of looks) {
    for (const look of piece) {
      asked ??= look;
      const { index, recipe, state, tiled } = look;
      if (start === null) {
        const isAny = asked.state === 'lost' || asked.state === 'diff' || asked.recipe === null;
        if (tiled === null || !(isAny || recipe === asked.recipe)) continue;
        const region = clipped(place, tiled);
        if (region === null)
          return {
            problem: `${place.x}, ${place.y} lies outside of the picture, which is ${tiled.width} × ${tiled.height} px`,
          };
        start = { index, recipe, region, tiled };
        later = { index, tiled };
        continue;
      }
      if (tiled === null || recipe !== start.recipe) {
        const why = state === 'shown' ? 'other_recipe' : state;
        passed_over[why]++;
        if (why !== 'diff') between++;
        continue;
      }
      const change = changeBetween({ index, tiled }, later!, start.region);
      if (change) return answer(change);
      later = { index, tiled };
      between = 0;
    }
  }
  if (start === null || later === null)
    return { problem: 'neither this step nor one before it has a picture whose tiles are known' };
  return answer({ index: later.index, before: null, kind: 'first' });
}
