// A step as it is replayed: how it came about, how it came out, and what is new in it. Reads only; how it is drawn on a
// terminal is block.ts's business.
import { compareFacts, type FactChange, isChanged } from '../../src/compare/facts.js';
import type { Recording } from '../../src/formats/seen.js';
import { isObject } from '../../src/object.js';
import { asWarnings, inside } from '../../src/read.js';
import type { Problem } from '../../src/schema.js';
import { shower } from '../../src/shown.js';
import type { ShownFile, ShownStep } from '../../src/stream.js';
import { printedLines } from '../printed.js';

export interface Frame {
  step: ShownStep;
  /** Milliseconds since the step before was published; null where that is not known. Never negative. */
  gap_ms: number | null;
  /** Facts that differ from those of the newest step before it that has some of its recipe. */
  facts: FactChange[];
  warnings: string[];
  /** The start and the end of what its command printed. */
  output: string[];
  /** The hero and its thumbnail, as absolute paths of files that lie in the bundle. */
  hero: Located | null;
  thumb: Located | null;
  problems: Problem[];
}

export interface Located extends ShownFile {
  file: string;
}

/** Makes the frames of a recording, in any order. */
export function framer(recording: Recording): (index: number) => Frame {
  const shown = shower(() => recording);
  const locate = (file: ShownFile | null): Located | null => {
    const dir = file && shown.bundleDir(file.bundle);
    const path = dir && inside(dir, file.path);
    return file && path ? { ...file, file: path } : null;
  };
  return (index) => {
    const steps = shown.steps(index - 1, index);
    const step = steps.at(-1)!;
    const detail = step.lost ? null : shown.detail(index);
    const facts = factsOf(detail?.summary);
    return {
      step,
      gap_ms: index > 1 ? between(steps[0]?.published_at, step.published_at) : null,
      facts: compareFacts(detail?.before?.facts ?? {}, facts).filter(isNew(facts)),
      warnings: asWarnings(detail?.summary?.['warnings']),
      output: printedLines(detail?.manifest?.['context']),
      hero: locate(step.hero),
      thumb: locate(step.thumb),
      problems: detail?.problems ?? [],
    };
  };
}

const factsOf = (summary: Record<string, unknown> | null | undefined): Record<string, unknown> =>
  isObject(summary?.['facts']) ? summary['facts'] : {};

/** A step without facts of its own has not lost those of an earlier one. */
const isNew = (facts: Record<string, unknown>) => (change: FactChange) =>
  Object.keys(facts).length > 0 && isChanged(change);

function between(before: string | null | undefined, after: string | null): number | null {
  const gap = Date.parse(after ?? '') - Date.parse(before ?? '');
  return Number.isNaN(gap) ? null : Math.max(0, gap);
}

/** A frame as a line of `--json`: the keys of a step, and what is new in it. */
export const lineOf = ({ step, gap_ms, facts, warnings, output, hero, problems }: Frame) => ({
  step_id: step.step_id,
  step_index: step.index,
  command: step.command,
  published_at: step.published_at,
  gap_ms,
  duration_ms: step.duration_ms,
  exit_code: step.exit_code,
  signal: step.signal,
  publish_reason: step.reason,
  recipe: step.recipe,
  status: step.status,
  cached: step.cached,
  lost: step.lost,
  stage_label: step.label,
  note: step.note,
  headline: step.headline,
  facts,
  warnings,
  output,
  picture: hero?.file ?? null,
  problems,
});
