// Versions of session.json: what is older is migrated on read, what is newer is read for what is known.
import type { JsonObject } from './json.js';
import { HEAD_VERSION } from './version.js';

/** `migrations[n]` turns a head of version n into one of version n + 1. There is one version so far. */
const migrations: Record<number, (head: JsonObject) => JsonObject> = {};

/** The version a head says it has; one without is version 1. */
export function versionOf(head: JsonObject): number {
  const version = head['version'];
  return typeof version === 'number' && Number.isInteger(version) && version > 0 ? version : 1;
}

/** The head in this program's version, or as it is where it is newer. Its input is not changed. */
export function migrate(
  head: JsonObject,
  steps: typeof migrations = migrations,
  target: number = HEAD_VERSION,
): JsonObject {
  let value = { version: 1, ...head };
  for (let version = versionOf(head); version < target; version++) {
    value = { ...(steps[version]?.(value) ?? value), version: version + 1 };
  }
  return value;
}
