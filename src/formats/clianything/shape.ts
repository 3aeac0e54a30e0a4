// Whose recording it is: CLI-Anything's session.json and manifest.json name the same protocols as ours.
import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openRegular } from '../../disk.js';
import { errnoOf } from '../../errors.js';
import { isObject, type JsonObject, readJsonObject } from '../../json.js';
import { HEAD_NAME, numberOf, TRAJECTORY_NAME } from '../../layout.js';

/** Keys that every head of ours has, and none of theirs. */
const OURS = ['version', 'trajectory_bytes', 'latest_step', 'bundle_last'];

/** True for a head in CLI-Anything's form. One of ours that lost a few keys is still taken for ours. */
export const isCliAnythingHead = (head: JsonObject): boolean =>
  String(head['protocol_version'] ?? '').startsWith('preview-live/') && !OURS.some((key) => key in head);

/** True for a session's folder in their form; where the head cannot be read, their trajectory is an object and ours an array. */
export function isCliAnythingSession(dir: string): boolean {
  const { value } = readJsonObject(join(dir, HEAD_NAME), HEAD_NAME);
  return value === null ? beginsObject(join(dir, TRAJECTORY_NAME)) : isCliAnythingHead(value);
}

/**
 * True for a manifest in their form: they know no hash of the summary, and their ids are not numbered. Never asked of a
 * bundle inside a session of ours, which could be passed off as theirs by taking its hashes away.
 */
export const isCliAnythingManifest = (manifest: JsonObject): boolean =>
  String(manifest['protocol_version'] ?? '').startsWith('preview-bundle/') &&
  !('summary_sha256' in manifest) &&
  isObject(manifest['generator']) &&
  numberOf(String(manifest['bundle_id']), 'bundle') === null;

/** An object, but not a step, which is what one of ours begins with once its first bytes are lost. */
function beginsObject(path: string): boolean {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error;
    return false;
  }
  try {
    const start = Buffer.alloc(64);
    return /^\s*\{(?!\s*"step_id")/.test(start.toString('utf8', 0, readSync(fd, start)));
  } finally {
    closeSync(fd);
  }
}
