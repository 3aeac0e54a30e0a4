// Values of a file that anybody may have written: taken where they have the type that is expected, else null.
import { statOf } from '../../disk.js';
import { errnoOf } from '../../errors.js';
import { inside } from '../../inside.js';
import { isObject, type JsonObject, readJsonObject } from '../../json.js';
import type { Problem } from '../../schema.js';
import { wellFormed } from '../../text.js';
import { LIMITS } from '../../version.js';

export const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? wellFormed(value) : null;

export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

export const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

export const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

export const object = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** A word of a path in their form: lower case, digits and hyphens. */
export const slug = (words: string | null | undefined): string =>
  (words ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'preview';

/** A moment in the form that ours have: RFC 3339, UTC, milliseconds. */
export function moment(value: unknown): string | null {
  const at = typeof value === 'string' ? new Date(value) : null;
  return at === null || Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** The first of `values` that is a moment. */
export const firstMoment = (...values: unknown[]): string | null =>
  values.map(moment).find((at) => at !== null) ?? null;

/** A free value, less what is nested so deeply that printing it would fail. */
export function bounded(value: unknown, depth = 12): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => bounded(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item, depth - 1)]));
}

/** What the system says of a path that names nothing that can be reached: a hostile name, a loop of links, no right. */
export const UNREACHABLE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES', 'EPERM'];

/** `inside` for a path that anybody may have written: null also where no file can have such a name. */
export function within(dir: string, stored: string): string | null {
  try {
    return inside(dir, stored);
  } catch (error) {
    if (!UNREACHABLE.includes(errnoOf(error) ?? '')) throw error;
    return null;
  }
}

/** The JSON object in a file of `dir`: not through a link that leads out, and not beyond the cap. */
export function readOwn(dir: string, name: string): { value: JsonObject | null; problems: Problem[] } {
  const problem = (kind: string, detail: string) => ({
    value: null,
    problems: [{ kind, where: name, detail }],
  });
  const path = within(dir, name);
  if (path === null) return problem('path_leaves', 'it leads out of its folder');
  const stat = statOf(path);
  if (stat !== undefined && stat.size > LIMITS.neighbourJson)
    return problem('too_large', `it has ${stat.size} bytes; at most ${LIMITS.neighbourJson} are read`);
  return readJsonObject(path, name);
}
