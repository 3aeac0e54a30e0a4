// A bundle of CLI-Anything's: its manifest and summary with the keys that ours have. It records no hashes.
import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import { isObject, type JsonObject } from '../../json.js';
import { MANIFEST_NAME, SUMMARY_NAME } from '../../layout.js';
import { asWarnings } from '../../read.js';
import type { Artifact, Manifest, Problem, Reading, Summary } from '../../schema.js';
import type { SeenBundle } from '../seen.js';
import { bounded, count, number, object, readOwn, text, within } from './values.js';

/** Reads a bundle; artifacts whose file is not there, or not inside the bundle, are problems and left out. */
export function readCliAnythingBundle(dir: string): Reading<SeenBundle> {
  const { value: raw, problems } = readOwn(dir, MANIFEST_NAME);
  if (raw === null) return { value: { dir, manifest: null, summary: null }, problems: [...problems] };
  const found: Problem[] = [...problems];
  const manifest = manifestOf(dir, raw, found);
  const summary = summaryOf(dir, manifest, found);
  return { value: { dir, manifest, summary }, problems: found };
}

function manifestOf(dir: string, raw: JsonObject, problems: Problem[]): Manifest {
  const source = object(raw['source']);
  const listed = raw['artifacts'];
  if (!Array.isArray(listed))
    problems.push({ kind: 'invalid', where: MANIFEST_NAME, detail: 'artifacts: it is no list' });
  return {
    ...object(bounded(raw)),
    protocol_version: text(raw['protocol_version']) ?? '',
    bundle_id: text(raw['bundle_id']) ?? basename(dir),
    bundle_kind: text(raw['bundle_kind']) ?? 'capture',
    command: text(object(raw['generator'])['command']),
    software: text(raw['software']),
    recipe: text(raw['recipe']),
    status: text(raw['status']) ?? 'partial',
    created_at: text(raw['created_at']) ?? '',
    cache_key: text(raw['cache_key']),
    source_fingerprint: text(source['project_fingerprint']) ?? text(source['capture_fingerprint']),
    generator: object(bounded(raw['generator'])),
    source: object(bounded(source)) as Manifest['source'],
    summary_path: text(raw['summary_path']) ?? SUMMARY_NAME,
    summary_sha256: null,
    artifacts: (Array.isArray(listed) ? listed : []).flatMap((item, n) =>
      artifactOf(dir, item, `artifact ${n + 1}`, problems),
    ),
    context: object(bounded(raw['context'])),
    metrics: object(bounded(raw['metrics'])),
    warnings: asWarnings(raw['warnings']),
    labels: asWarnings(raw['labels']),
    source_bundles: asBundleIds(raw['source_bundles']),
  };
}

/** Their diffs name each source bundle by an object, ours by its id. */
const asBundleIds = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).flatMap(
    (item) => text(item) ?? text(object(item)['bundle_id']) ?? text(object(item)['bundle_dir']) ?? [],
  );

function artifactOf(dir: string, item: unknown, where: string, problems: Problem[]): Artifact[] {
  const raw = object(item);
  const stored = text(raw['path']);
  if (!isObject(item) || stored === null) {
    problems.push({ kind: 'invalid', where, detail: 'it has no path' });
    return [];
  }
  const path = within(dir, stored);
  if (path === null) {
    problems.push({ kind: 'path_leaves', where: stored.slice(0, 200), detail: 'the path leaves the bundle' });
    return [];
  }
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) {
    const detail = stat ? 'it is no regular file' : 'the file is not there';
    problems.push({ kind: 'artifact_missing', where: stored, detail });
    return [];
  }
  return [
    {
      ...object(bounded(raw)),
      artifact_id: text(raw['artifact_id']) ?? stored,
      role: text(raw['role']) ?? 'render-output',
      kind: text(raw['kind']) ?? 'capture',
      label: text(raw['label']),
      media_type: text(raw['media_type']),
      path: stored,
      bytes: count(raw['bytes']) ?? stat.size,
      sha256: text(raw['sha256']) ?? undefined,
      width: number(raw['width']),
      height: number(raw['height']),
      duration_s: number(raw['duration_s']),
      view: text(raw['view']),
    },
  ];
}

function summaryOf(dir: string, manifest: Manifest, problems: Problem[]): Summary | null {
  const stored = manifest.summary_path ?? SUMMARY_NAME;
  const { value: raw, problems: found } = readOwn(dir, stored);
  problems.push(...found);
  if (raw === null) return null;
  if (!isObject(raw['facts']))
    problems.push({ kind: 'invalid', where: stored, detail: 'facts: it is no object' });
  return {
    ...object(bounded(raw)),
    command: manifest.command ?? null,
    headline: text(raw['headline']) ?? '',
    facts: object(bounded(raw['facts'])),
    warnings: asWarnings(raw['warnings']),
    next_actions: asWarnings(raw['next_actions']),
  };
}

/** The picture that stands for a bundle: the path of its hero inside it. */
export const heroOf = (manifest: Manifest | null): string | null =>
  manifest?.artifacts.find(({ role }) => role === 'hero')?.path ?? null;
