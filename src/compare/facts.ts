// Two bundles' facts and files side by side. Pure, and runs in a browser too.
import { isObject } from '../object.js';

/** A fact before and after; null where a bundle does not have it. */
export interface FactChange {
  name: string;
  before: unknown;
  after: unknown;
}

/**
 * All facts of both, the ones that changed first, each in the order of `after`. A nested object's facts are named with
 * dots: `box.width`. A list is one value.
 */
export function compareFacts(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): FactChange[] {
  const [old, now] = [flat(before), flat(after)];
  const rows = [...new Set([...now.keys(), ...old.keys()])].map((name) => ({
    name,
    before: old.get(name) ?? null,
    after: now.get(name) ?? null,
  }));
  return [...rows.filter(isChanged), ...rows.filter((row) => !isChanged(row))];
}

/** Whether a fact's values differ. The order of an object's keys in a list does not matter. */
export const isChanged = ({ before, after }: FactChange): boolean => canonical(before) !== canonical(after);

/** Objects within objects at most so deep are taken apart; what is deeper is one value. */
const DEPTH = 8;

function flat(
  facts: Readonly<Record<string, unknown>>,
  prefix = '',
  into: Map<string, unknown> = new Map(),
  depth = 0,
): Map<string, unknown> {
  for (const [key, value] of Object.entries(facts)) {
    if (isObject(value) && Object.keys(value).length > 0 && depth < DEPTH)
      flat(value, `${prefix}${key}.`, into, depth + 1);
    else into.set(prefix + key, value);
  }
  return into;
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );

/** What is compared of a bundle's file: where it lies in the bundle, and its hash. */
export interface NamedFile {
  path: string;
  role: string;
  sha256?: string | undefined;
}

/** Names of files, in their order. */
export interface FileChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** Files by name and hash. Thumbnails are left out: they follow the picture. A file without a hash counts as changed. */
export function compareFiles(before: readonly NamedFile[], after: readonly NamedFile[]): FileChanges {
  const [old, now] = [before, after].map(
    (files) =>
      new Map(files.filter(({ role }) => role !== 'thumb').map(({ path, sha256 }) => [path, sha256])),
  ) as [Map<string, string | undefined>, Map<string, string | undefined>];
  return {
    added: [...now.keys()].filter((path) => !old.has(path)),
    removed: [...old.keys()].filter((path) => !now.has(path)),
    changed: [...now].flatMap(([path, hash]) =>
      old.has(path) && (hash === undefined || old.get(path) !== hash) ? [path] : [],
    ),
  };
}
