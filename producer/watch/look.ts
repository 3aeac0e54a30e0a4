// One look: what the sources are now, and whether the recording shows that already. The truth is a fresh fingerprint
// compared with what the head says was recorded (I7), so a push or a capture that came between makes no double.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  changedFiles,
  type FileEntry,
  fingerprintSources,
  type SourceFingerprint,
} from '../../src/fingerprint.js';
import { CACHE_NAME, WORK_NAME } from '../../src/layout.js';
import { currentOwner, judge, parseOwner } from '../../src/owner.js';
import { inside, readBundle } from '../../src/read.js';
import type { Head, Step } from '../../src/schema.js';
import { chooseRecipe } from '../capture.js';
import { keyOf } from '../changes.js';
import { loadProject, type NamedRecipe } from '../config.js';
import { lookUpTools } from '../tools.js';
import type { WatchRequest } from './request.js';

export interface Look {
  recipe: NamedRecipe;
  sources: SourceFingerprint;
}

/** What the watcher knows beyond the head. */
export interface Memory {
  /** The recipe as it was when a step was last found to show it. */
  recipe: string | null;
  /** The fingerprint it recorded last, for when other recipes have filled the head's history. */
  fingerprint: string | null;
}

/** Reads the config anew and fingerprints the sources. @throws PreviewError as a capture does. */
export async function look({ project, recipe, root }: WatchRequest): Promise<Look> {
  const loaded = loadProject(project);
  const chosen = await chooseRecipe(loaded, recipe ?? undefined, root);
  const sources = await fingerprintSources(project, {
    sources: chosen.sources,
    exclude: chosen.exclude,
    previewRoot: root,
    cacheDir: join(root, CACHE_NAME),
  });
  return { recipe: chosen, sources };
}

/** The newest step with this recipe that the head still knows. */
const lastWith = (head: Head, recipe: string): Partial<Step> | undefined =>
  (head.history as Partial<Step>[]).find((step) => step.recipe === recipe);

/** Whether the last step, or the last one with this recipe, shows these sources. */
export function isShown(head: Head, recipe: string, fingerprint: string, otherwise: string | null): boolean {
  if (head.latest_step?.source_fingerprint === fingerprint) return true;
  return (lastWith(head, recipe)?.source_fingerprint ?? otherwise) === fingerprint;
}

/** Whether there is something to record: other sources than the head shows, or a recipe that was changed since. */
export async function isNews(
  { recipe, sources }: Look,
  head: Head,
  memory: Memory,
  { session, project, root }: WatchRequest,
): Promise<boolean> {
  if (!isShown(head, recipe.name, sources.fingerprint, memory.fingerprint)) return true;
  const text = JSON.stringify(recipe);
  if (memory.recipe === text) return false;
  // The recipe is another than at the last look: the cache key of what is shown tells whether it shows this one.
  const shown = lastWith(head, recipe.name)?.bundle_dir;
  const bundle = shown ? inside(session, shown) : null;
  const key = bundle && readBundle(bundle).value.manifest?.cache_key;
  if (key) {
    const tools = await lookUpTools(recipe, project, root);
    if (keyOf({ recipe, tools, session_dir: session }, sources).key !== key) return true;
  }
  memory.recipe = text;
  return false;
}

/** How many files a remark names. */
const NAMED = 4;

/** What changed between two looks, as the step's note: it has no command that could say so. */
export function remark(before: readonly FileEntry[], now: readonly FileEntry[]): string | undefined {
  const there = new Set(now.map((file) => file.path));
  const known = new Set(before.map((file) => file.path));
  const changed = changedFiles(before, now);
  const parts = [
    said(
      'changed',
      changed.filter((path) => known.has(path)),
    ),
    said(
      'new',
      changed.filter((path) => !known.has(path)),
    ),
    said(
      'gone',
      [...known].filter((path) => !there.has(path)),
    ),
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join('; ') : undefined;
}

const said = (what: string, paths: string[]): string => {
  if (paths.length === 0) return '';
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return `${what}: ${paths.slice(0, NAMED).join(', ')}${more}`;
};

/** Whether another process is rendering for this session: what it records may be what was about to be recorded. */
export function othersRender(session: string): boolean {
  const self = currentOwner();
  let names: string[];
  try {
    names = readdirSync(join(session, WORK_NAME));
  } catch {
    // ENOENT: nobody has staged anything since .work was removed.
    return false;
  }
  return names.some((name) => {
    const owner = parseOwner(/^stage-([^-]+)/.exec(name)?.[1] ?? '');
    return owner !== null && owner.pid !== self.pid && judge(owner, self) === 'alive';
  });
}
