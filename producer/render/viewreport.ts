// What the renderers of models share: the report beside their pictures, and sizes on their command lines.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Size } from './crop.js';
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

/** The folder for the pictures and the file to draw. Throws an Error in words where one was not told. */
export function placesFrom(source: string | undefined, what: string): { out: string; source: string } {
  const out = process.env['PREVIEW_OUT'];
  if (!out) throw new Error('PREVIEW_OUT must name a folder for the pictures');
  if (!source) throw new Error(`there is no ${what} file to draw`);
  return { out, source };
}

/** `iso,front`, each one of `known`. Throws an Error that says what was expected. */
export function viewsFrom(text: string, known: Readonly<Record<string, unknown>>): string[] {
  const views = text.split(',');
  const unknown = views.find((view) => !Object.hasOwn(known, view));
  if (unknown === undefined) return views;
  throw new Error(`views are ${Object.keys(known).join(', ')}, not ${JSON.stringify(unknown)}`);
}

/** `960x720`, in pixels. Throws an Error that says what was expected. */
export function sizeFrom(text: string): Size {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text)?.map(Number) ?? [];
  const fits = (side: number | undefined): side is number => side !== undefined && side >= 64 && side <= 1280;
  if (fits(width) && fits(height)) return { width, height };
  throw new Error(`the size must be WIDTHxHEIGHT, each from 64 to 1280 pixels, not ${text}`);
}
