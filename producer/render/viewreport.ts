// What the renderers of models share: the report beside their pictures, and their command lines' values.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Measured, rounded, sizeText } from './measure.js';

export interface Report {
  headline: string;
  facts: Record<string, unknown>;
  warnings: string[];
  labels?: Record<string, string>;
  backend?: string;
}

/** `{out}/preview.json`, as guides/recipes.md describes it. */
export const writeReport = (out: string, report: Report): void =>
  writeFileSync(join(out, 'preview.json'), `${JSON.stringify(report)}\n`);

/** Facts of a mesh; `name` sets several of them apart. */
export function meshFacts(found: Measured, name = ''): Record<string, unknown> {
  const facts: Record<string, unknown> = {
    triangles: found.triangles,
    bounding_box: sizeText(found.size),
    watertight: found.watertight,
    volume: found.volume === null ? null : rounded(found.volume),
  };
  return Object.fromEntries(
    Object.entries(facts)
      .filter(([, value]) => value !== null)
      .map(([fact, value]) => [name ? `${name} ${fact}` : fact, value]),
  );
}

/** `960x720` or a pair given apart. Throws an Error that says what was expected. */
export function sizeFrom(width: string | undefined, height: string | undefined) {
  const one = (name: string, value: string | undefined) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= 64 && number <= 1280) return number;
    throw new Error(`--${name} must be a whole number of pixels from 64 to 1280, not ${value}`);
  };
  return { width: one('width', width), height: one('height', height) };
}
