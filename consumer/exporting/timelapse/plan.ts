// A session as a film: which frames there are, what they say, and how long each is seen. Reads only.

import { join } from 'node:path';
import { PreviewError } from '../../../src/errors.js';
import type { FilmFrame } from '../../../src/filmframe.js';
import type { Recording } from '../../../src/formats/seen.js';
import { inside } from '../../../src/inside.js';
import { type Shower, shower } from '../../../src/shown.js';
import type { ShownStep } from '../../../src/stream.js';
import { outcomeOf } from '../../outcome.js';

/** Steps of one film: each costs a picture. */
export const MAX_FRAMES = 5000;
/** Durations are whole numbers of these, which every player can keep. */
export const TICK_S = 0.04;
/** No step is seen for less. */
const LEAST_S = 0.12;
/** The last step is seen at least so long, for nothing comes behind it. */
const LAST_S = 1;
/** Earlier commands beside the current one; a frame shows as many as it has room for. */
const BEFORE = 16;

export type Pace =
  | { by: 'step'; secondsPerStep: number }
  /** As it was recorded, `speed` times as fast, with no wait longer than `idleLimit` seconds before that. */
  | { by: 'time'; idleLimit: number; speed: number };

/** What the renderer draws of a step, and for how long it is shown. */
export interface Frame extends FilmFrame {
  duration_s: number;
}

/** @throws PreviewError `not_found` where there are no such steps, `usage` where there are too many. */
export function planFrames(
  recording: Recording,
  range: { from: number; to: number } | undefined,
  pace: Pace,
): Frame[] {
  const count = recording.head?.trajectory_step_count ?? 0;
  const from = Math.max(1, range?.from ?? 1);
  const to = Math.min(count, range?.to ?? count);
  if (from > to)
    throw new PreviewError(
      'not_found',
      `${recording.dir} has no such steps; it has ${count}`,
      'see `previews inspect --all`',
    );
  if (to - from + 1 > MAX_FRAMES)
    throw new PreviewError(
      'usage',
      `${to - from + 1} steps are more than the ${MAX_FRAMES} of one film`,
      'name some of them: --steps 1..1000',
    );
  const shown = shower(() => recording);
  const steps = shown.steps(from, to);
  const durations = durationsOf(
    steps.map(({ published_at }) => published_at),
    pace,
  );
  const total = durations.reduce((sum, duration) => sum + duration, 0);
  const { head } = recording;
  const about = [head?.title, head?.['project_name'], head?.software].filter(
    (word) => typeof word === 'string' && word !== '',
  );
  const title = [...new Set(about)].slice(0, 2).join(' · ');
  let over = 0;
  return steps.map((step, at): Frame => {
    over += durations[at]!;
    const { style, text } = outcomeOf(step);
    return {
      name: `${String(at + 1).padStart(6, '0')}.png`,
      step: `Step ${step.index}`,
      of: `of ${count}`,
      title: title || recording.head?.session_name || '',
      when: whenOf(step),
      outcome: { tone: style, text },
      command: saidOf(step),
      headline: step.headline ?? '',
      before: steps
        .slice(Math.max(0, at - BEFORE), at)
        .reverse()
        .map((each) => {
          const { style: tone, mark } = outcomeOf(each);
          return { step: String(each.index), tone, mark, command: saidOf(each) };
        }),
      done: over / total,
      pictures: picturesOf(step, shown),
      duration_s: durations[at]!,
    };
  });
}

const saidOf = (step: ShownStep): string =>
  step.lost ? '(lost)' : (step.command ?? `(${step.reason})`).trim() || `(${step.reason})`;

function whenOf({ published_at, duration_ms }: ShownStep): string {
  const at = published_at === null ? 'time unknown' : `${published_at.slice(0, 19).replace('T', ' ')} UTC`;
  return duration_ms === null ? at : `${at}, took ${tookOf(duration_ms)}`;
}

const tookOf = (ms: number): string =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

/** Roles whose pictures stand for a step that has no picture as its hero. */
const ROLES = ['hero', 'viewport', 'gallery', 'diff', 'terminal', 'after', 'thumb'];

/** Absolute paths of a step's pictures, the best first; none leads out of its bundle (I9). */
function picturesOf(step: ShownStep, shown: Shower): string[] {
  const dir = step.bundle === null ? null : shown.bundleDir(step.bundle);
  if (dir === null || step.bundle === null) return [];
  const isPicture = ({ media_type }: { media_type: string }) => media_type.startsWith('image/');
  const hero = step.hero && isPicture(step.hero) ? [step.hero] : [];
  const files = hero.length > 0 && step.thumb ? [...hero, step.thumb] : othersOf(step.bundle, shown);
  return files.filter(isPicture).flatMap(({ path }) => {
    const found = inside(dir, path);
    return found === null ? [] : [found];
  });

  function othersOf(bundle: string, { files }: Shower) {
    const rank = ({ role }: { role: string }) => ROLES.indexOf(role);
    return files(bundle)
      .filter((file) => rank(file) >= 0 && isPicture(file))
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, 3);
  }
}

/** Seconds that each step is seen, in whole ticks that add up to the exact time. Pure. */
export function durationsOf(times: readonly (string | null)[], pace: Pace): number[] {
  const exact = times.map((time, at) => {
    if (pace.by === 'step') return pace.secondsPerStep;
    const last = at === times.length - 1;
    const wait = last ? pace.idleLimit : waitOf(time, times[at + 1]!, pace.idleLimit);
    return Math.max(last ? LAST_S : LEAST_S, Math.min(wait, pace.idleLimit) / pace.speed);
  });
  let over = 0;
  let told = 0;
  return exact.map((seconds) => {
    over += seconds;
    const ticks = Math.max(1, Math.round(over / TICK_S) - told);
    told += ticks;
    return Math.round(ticks * TICK_S * 100) / 100;
  });
}

/** Seconds between two steps; a clock that was set back counts as no time, one that is not known as the longest wait. */
function waitOf(from: string | null, to: string | null, unknown: number): number {
  const between = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isFinite(between) ? Math.max(0, between / 1000) : unknown;
}

/** Where the renderer's program lies, beside the folder of the commands. */
export const RENDERER = join(__dirname, '..', 'renderers', 'timelapse.cjs');
