// The files of a step, as its bundle's manifest lists them.
import { isObject } from '../../src/object.js';
import type { ShownDetail, ShownFile } from '../../src/stream.js';

export type Item = ShownFile & { role: string; label: string | null };

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** The files of a bundle, as its manifest lists them. */
export function itemsOf(detail: ShownDetail | null, bundle: string | null): Item[] {
  const artifacts = detail?.manifest?.['artifacts'];
  if (!Array.isArray(artifacts) || bundle === null) return [];
  return artifacts.filter(isObject).map((artifact) => ({
    bundle,
    path: text(artifact['path']) ?? '',
    sha256: text(artifact['sha256']),
    bytes: number(artifact['bytes']) ?? 0,
    media_type: text(artifact['media_type']) ?? 'application/octet-stream',
    width: number(artifact['width']),
    height: number(artifact['height']),
    role: text(artifact['role']) ?? '',
    label: text(artifact['label']),
  }));
}
