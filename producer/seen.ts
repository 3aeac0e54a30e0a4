// What an agent is told about its picture: blank, cut at an edge, the same although the sources changed, far darker or
// brighter than before. The thresholds are explained in guides/compare.md.
import { sameTiles, TILE_HEX } from '../src/compare/tiles.js';
import { isObject } from '../src/json.js';
import { inside, readBundle, readHead } from '../src/read.js';
import type { Manifest } from '../src/schema.js';
import { listed } from '../src/text.js';
import type { Edge, Glance } from './render/glance.js';

/**
 * From this share of one colour on, a picture is blank or nearly so: one pixel in twenty thousand is left, 51 of a window
 * of 1280 × 800. There `Hi` in letters of 20 px has 102 to 142, as fonts go, and a letter alone about 30.
 */
const BLANK = 0.99995;
/** So much of the range from black to white, and the change in brightness is worth a word. */
const FAR = 0.25;

/** What a manifest keeps of a glance, in `metrics`. */
export const metricsOf = ({ tiles, ...picture }: Glance): Record<string, unknown> => ({ picture, tiles });

const EDGES: readonly string[] = ['top', 'right', 'bottom', 'left'];
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** A glance as another program reported it, or null where it is none. */
export function glanceOf(value: unknown): Glance | null {
  if (!isObject(value)) return null;
  const { width, height, mean, common, edges, tiles } = value;
  if (!isNumber(width) || !isNumber(height) || !isNumber(mean) || !isObject(common) || !isObject(tiles))
    return null;
  const { colour, share } = common;
  const { size, columns, rows, hashes } = tiles;
  if (typeof colour !== 'string' || !/^#[0-9a-f]{6}$/.test(colour) || !isNumber(share)) return null;
  if (!isNumber(size) || !isNumber(columns) || !isNumber(rows) || typeof hashes !== 'string') return null;
  if (!/^[0-9a-f]*$/.test(hashes) || hashes.length !== columns * rows * TILE_HEX) return null;
  return {
    width,
    height,
    mean,
    common: { colour, share },
    edges: (Array.isArray(edges) ? edges : []).filter((edge): edge is Edge => EDGES.includes(edge)),
    tiles: { size, columns, rows, hashes },
  };
}

/** The glance that a bundle's manifest keeps, or null. */
export function glanceIn(manifest: Manifest): Glance | null {
  const { picture, tiles } = (manifest.metrics ?? {}) as Record<string, unknown>;
  return isObject(picture) ? glanceOf({ ...picture, tiles }) : null;
}

export interface Looked {
  session: { dir: string };
  recipe: { name: string; fills?: boolean | undefined };
  sources: { fingerprint: string };
}

/** The warnings about a picture, by itself and against the one before it, where there is one. */
export function remarksOn(glance: Glance, looked: Looked, before: Before | null): string[] {
  const remarks: string[] = [];
  const { colour, share } = glance.common;
  if (share >= BLANK) {
    const whole = share === 1 ? 'all' : `${(Math.floor(share * 1e4) / 100).toFixed(2)}%`;
    remarks.push(`picture_blank: ${whole} of the picture is one colour, ${colour}`);
  }
  if (glance.edges.length > 0 && !looked.recipe.fills) {
    const edges = `${listed(glance.edges)} ${glance.edges.length === 1 ? 'edge' : 'edges'}`;
    remarks.push(`picture_touches_border: what is drawn reaches the ${edges} and may be cut off there`);
  }
  if (!before) return remarks;
  if (before.source_fingerprint !== looked.sources.fingerprint && sameTiles(before.glance, glance))
    remarks.push(
      `picture_unchanged: the sources changed since ${before.bundle_id}, the picture is the same, pixel by pixel`,
    );
  const change = glance.mean - before.glance.mean;
  if (Math.abs(change) > FAR) {
    const [code, word] = change < 0 ? ['picture_darker', 'darker'] : ['picture_brighter', 'brighter'];
    const percent = (mean: number) => `${Math.round(mean * 100)}%`;
    remarks.push(
      `${code}: the picture is far ${word} than in ${before.bundle_id}: ${percent(before.glance.mean)} of white then, ${percent(glance.mean)} now`,
    );
  }
  return remarks;
}

/** What a picture is compared with. */
export interface Before {
  bundle_id: string;
  source_fingerprint: string | null;
  glance: Glance;
}

/**
 * The newest picture of the same recipe: the current bundle's, else that of one of the session's newest steps. A step
 * that failed, one of another recipe, and a diff in between are passed over.
 */
export function pictureBefore({ session, recipe }: Looked): Before | null {
  const head = readHead(session.dir).value;
  if (!head) return null;
  const fits = (step: Record<string, unknown>) =>
    step['recipe'] === recipe.name && step['status'] !== 'error' && step['publish_reason'] !== 'diff';
  const places = [head.current_bundle_dir, head.history.find(fits)?.['bundle_dir']];
  for (const stored of places) {
    const dir = typeof stored === 'string' ? inside(session.dir, stored) : null;
    const manifest = dir === null ? null : readBundle(dir).value.manifest;
    if (manifest?.recipe !== recipe.name || manifest.bundle_kind === 'diff') continue;
    const glance = glanceIn(manifest);
    if (!glance) continue;
    return { bundle_id: manifest.bundle_id, source_fingerprint: manifest.source_fingerprint ?? null, glance };
  }
  return null;
}
