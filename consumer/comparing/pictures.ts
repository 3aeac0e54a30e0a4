// The pictures of one recipe, out of a survey of all steps: what is passed over is counted.
import { clipped, type Pictured } from '../../src/compare/blame.js';
import type { Rect } from '../../src/compare/boxes.js';
import type { Tiled } from '../../src/compare/tiles.js';
import { PreviewError } from '../../src/errors.js';
import { stepId } from '../../src/layout.js';
import type { Look, State } from './looking.js';
import type { Survey } from './survey.js';

/** Steps that could not be compared, by why. */
export type PassedOver = Record<'failed' | 'nothing' | 'lost' | 'diff' | 'other_recipe', number>;

export const noneOver = (): PassedOver => ({ failed: 0, nothing: 0, lost: 0, diff: 0, other_recipe: 0 });

/** Why a step is passed over when steps of `recipe` are compared, or null where it is not. */
export function passedOver({ state, recipe }: Look<unknown>, of: string | null): keyof PassedOver | null {
  if (state !== 'shown') return state as Exclude<State, 'shown'>;
  return recipe === of ? null : 'other_recipe';
}

/**
 * The step whose value is taken for step `index`: itself, or where it shows nothing the newest one before it, of its
 * recipe where it names one.
 * @throws PreviewError `not_found` where there is none.
 */
export function startAt<T>(
  survey: Survey<T>,
  index: number,
  what: string,
): { index: number; recipe: string | null; value: T } {
  const asked = survey.at(index);
  const any = asked.state === 'lost' || asked.state === 'diff' || asked.recipe === null;
  for (let at = index; at >= 1; at--) {
    const { state, recipe, value } = survey.at(at);
    if (state === 'shown' && (any || recipe === asked.recipe)) return { index: at, recipe, value: value! };
  }
  throw new PreviewError(
    'not_found',
    `${stepId(index)} has no ${what}, nor has a step before it${asked.recipe ? ` of the recipe ${asked.recipe}` : ''}`,
    'name a later step; `previews inspect` shows them',
  );
}

/** Steps from `from` to `to`, in either direction, those that are passed over without tiles. Counts them in `over`. */
export function* pictured(
  survey: Survey<Tiled>,
  from: number,
  to: number,
  recipe: string | null,
  over: PassedOver,
): Generator<Pictured> {
  const way = from <= to ? 1 : -1;
  for (let index = from; index !== to + way; index += way) {
    const look = survey.at(index);
    const why = passedOver(look, recipe);
    if (why !== null) over[why]++;
    yield { index, tiled: why === null ? look.value : null };
  }
}

/** The part of a place that lies in a picture. @throws PreviewError `usage` where none does. */
export function placeIn(region: Rect, tiled: Tiled, step: number): Rect {
  const part = clipped(region, tiled);
  if (part !== null) return part;
  throw new PreviewError(
    'usage',
    `${region.x},${region.y} lies outside of the picture of ${stepId(step)}`,
    `it is ${tiled.width} × ${tiled.height} px, and its top left pixel is 0,0`,
  );
}
