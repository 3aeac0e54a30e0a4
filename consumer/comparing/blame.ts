// `previews blame` and `previews bisect`: which steps changed a place of the picture, or a fact.
import { type Change, changesBack, changesOn, tilesAround } from '../../src/compare/blame.js';
import type { Rect } from '../../src/compare/boxes.js';
import { isChanged } from '../../src/compare/facts.js';
import { PreviewError } from '../../src/errors.js';
import type { Recording } from '../../src/formats/seen.js';
import { stepId } from '../../src/layout.js';
import { FACTS, TILES } from './looking.js';
import { noneOver, type PassedOver, passedOver, pictured, placeIn, startAt } from './pictures.js';
import { type ToldStep, toldStep } from './step.js';
import { type Survey, survey } from './survey.js';

/** A step that changed what was asked for. */
export interface Blamed extends ToldStep {
  kind: Change['kind'];
  /** The step it was compared with. */
  before: string | null;
  /** So many steps between the two show nothing that can be compared: it may have come with one of them. */
  between: number;
  tiles: Rect[];
  /** Why pixels could not be looked at, so that this is exact to tiles only. */
  unread?: string;
}

interface Common {
  session_dir: string;
  recipe: string | null;
  region: Rect;
  /** `tile`: a change anywhere in the tiles that `looked_at` spans counts. */
  exact: 'tile' | 'pixel';
  tile: number;
  looked_at: Rect;
  passed_over: PassedOver;
}

export interface BlameResult extends Common {
  /** The step that was asked for, and the one whose picture was taken for it. */
  step: string;
  picture_of: string;
  changed_by: Blamed;
  /** The steps that changed it before, the newest first. */
  earlier: Blamed[];
  /** False where `earlier` goes back to the first picture. */
  more: boolean;
}

export interface HowToLook {
  pixels: boolean;
  onProgress?: (index: number) => void;
}

/** So many steps before the one that is asked for are told without `all`. */
const EARLIER = 3;

/** @throws PreviewError `not_found`, `usage` for a place outside of the picture. */
export async function blame(
  recording: Recording,
  step: number,
  asked: Rect,
  { all, pixels, onProgress }: HowToLook & { all: boolean },
): Promise<BlameResult> {
  const steps = survey(recording, TILES, step, onProgress);
  const start = startAt(steps, step, 'picture whose tiles are known');
  const region = placeIn(asked, start.value, start.index);
  const passed_over = noneOver();
  const found = changesBack(pictured(steps, start.index, 1, start.recipe, passed_over), region);
  const { byPixels } = pixels ? await import('./pixels.js') : { byPixels: null };
  const changes = byPixels === null ? found : byPixels(recording, found, region);
  const told: Blamed[] = [];
  let more = false;
  for await (const change of changes) {
    more = !all && told.length > EARLIER;
    if (more) break;
    told.push(toldChange(recording, steps, start.recipe, change));
  }
  const [changed_by, ...earlier] = told;
  return {
    session_dir: recording.dir,
    step: stepId(step),
    picture_of: stepId(start.index),
    recipe: start.recipe,
    region,
    exact: pixels ? 'pixel' : 'tile',
    tile: start.value.tiles.size,
    looked_at: pixels ? region : tilesAround(start.value, region),
    changed_by: changed_by!,
    earlier,
    more,
    passed_over,
  };
}

function toldChange(
  recording: Recording,
  steps: Survey<unknown>,
  recipe: string | null,
  { index, before, kind, tiles, unread }: Change & { unread?: string },
): Blamed {
  return {
    ...toldStep(recording, index),
    kind,
    before: before === null ? null : stepId(before),
    between: before === null ? 0 : between(steps, recipe, before, index),
    tiles,
    ...(unread === undefined ? {} : { unread }),
  };
}

/** Steps between two that may have changed it too, as they show nothing. Those of another recipe changed sources as well. */
function between(steps: Survey<unknown>, recipe: string | null, before: number, after: number): number {
  let count = 0;
  for (let index = before + 1; index < after; index++) {
    const why = passedOver(steps.at(index), recipe);
    if (why !== null && why !== 'diff') count++;
  }
  return count;
}

export interface BisectResult extends Partial<Common> {
  session_dir: string;
  good: string;
  bad: string;
  recipe: string | null;
  fact?: string;
  /** The first step at which it changed, or null where it did not. */
  first: (Partial<Blamed> & ToldStep & { from?: unknown; to?: unknown }) | null;
  /** At how many steps it changed, up to `bad`. */
  changes: number;
  /** Whether `bad` differs from `good` at all: it may have changed back. */
  differs: boolean;
  passed_over: PassedOver;
}

/** @throws PreviewError `not_found`, `usage`. */
export async function bisectRegion(
  recording: Recording,
  good: number,
  bad: number,
  asked: Rect,
  { pixels, onProgress }: HowToLook,
): Promise<BisectResult> {
  const steps = survey(recording, TILES, bad, onProgress);
  const start = startAt(steps, good, 'picture whose tiles are known');
  const region = placeIn(asked, start.value, start.index);
  const passed_over = noneOver();
  const tiles = [...changesOn(pictured(steps, start.index, bad, start.recipe, passed_over), region)];
  const found = pixels ? await byPixelsOn(recording, tiles, start.index, region) : tiles;
  const [first] = found;
  const end = [...pictured(steps, bad, start.index, start.recipe, noneOver())].find(({ tiled }) => tiled);
  const ends = [{ index: start.index, tiled: start.value }, end!];
  const apart = [...changesOn(ends, region)];
  const differs = pixels ? await byPixelsOn(recording, apart, start.index, region) : apart;
  return {
    session_dir: recording.dir,
    good: stepId(good),
    bad: stepId(bad),
    recipe: start.recipe,
    region,
    exact: pixels ? 'pixel' : 'tile',
    tile: start.value.tiles.size,
    looked_at: pixels ? region : tilesAround(start.value, region),
    first: first ? toldChange(recording, steps, start.recipe, first) : null,
    changes: found.length,
    differs: differs.length > 0,
    passed_over,
  };
}

/** The changes that pixels confirm, oldest first; `start` is the step before the first of them. */
async function byPixelsOn(
  recording: Recording,
  changes: readonly Change[],
  start: number,
  region: Rect,
): Promise<(Change & { unread?: string })[]> {
  if (changes.length === 0) return [];
  const first: Change = { index: start, before: null, kind: 'first', tiles: [] };
  const { byPixels } = await import('./pixels.js');
  const confirmed = [];
  for await (const change of byPixels(recording, [...changes].reverse().concat(first), region))
    if (change.kind !== 'first') confirmed.unshift(change);
  return confirmed;
}

/** @throws PreviewError `not_found` where `good` has no such fact. */
export function bisectFact(
  recording: Recording,
  good: number,
  bad: number,
  fact: string,
  onProgress?: (index: number) => void,
): BisectResult {
  const steps = survey(recording, FACTS, bad, onProgress);
  const start = startAt(steps, good, 'facts');
  if (!Object.hasOwn(start.value, fact))
    throw new PreviewError(
      'not_found',
      `${stepId(start.index)} has no fact ${JSON.stringify(fact)}`,
      `it has ${Object.keys(start.value).slice(0, 20).join(', ')}`,
    );
  const passed_over = noneOver();
  let [last, value, changes] = [start.index, start.value[fact], 0];
  let first: BisectResult['first'] = null;
  for (let index = start.index; index <= bad; index++) {
    const look = steps.at(index);
    const why = passedOver(look, start.recipe) ?? (Object.hasOwn(look.value!, fact) ? null : 'nothing');
    if (why !== null) {
      passed_over[why]++;
      continue;
    }
    const now = look.value![fact];
    if (isChanged({ name: fact, before: value, after: now })) {
      changes++;
      first ??= {
        ...toldStep(recording, index),
        before: stepId(last),
        between: between(steps, start.recipe, last, index),
        from: value,
        to: now,
      };
    }
    [last, value] = [index, now];
  }
  return {
    session_dir: recording.dir,
    good: stepId(good),
    bad: stepId(bad),
    recipe: start.recipe,
    fact,
    first,
    changes,
    differs: isChanged({ name: fact, before: start.value[fact], after: value }),
    passed_over,
  };
}
