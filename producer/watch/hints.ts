// Keeps the events of the right folders coming: begins anew when the recipe's sources change or a change was missed,
// and gives up on events where the system refuses them or stays silent.
import { lstatSync } from 'node:fs';
import { join, posix } from 'node:path';
import { asPreviewError } from '../../src/errors.js';
import { CONFIG_NAME } from '../../src/layout.js';
import { type Events, watchFolders } from './events.js';
import { note } from './log.js';
import type { Look } from './look.js';
import { POLL_MS } from './pulse.js';
import { reachOf } from './reach.js';
import type { WatchRequest } from './request.js';

/** So many changes in a row without an event mean that this file system tells of none. */
const MOST_MISSED = 3;
/** Paths remembered as no sources (I10). */
const MAX_STRANGERS = 10_000;

export interface Sources {
  /** False once events cannot be had: then only the looks find changes. */
  working(): boolean;
  /** Why not, as a warning, or null. */
  refused(): string | null;
  /** Whether an event told of anything since this was last asked. */
  told(): boolean;
  /** A look found a change of which no event told. */
  missed(): void;
  /** Watches what this look saw. */
  follow(seen: Look): Promise<void>;
  close(): Promise<void>;
}

/** Hints for one project's sources. `refused` is called when events turn out not to be had. */
export function watchSources(
  { project, root }: Pick<WatchRequest, 'project' | 'root'>,
  on: { hint: () => void; refused: () => void },
): Sources {
  let events: Events | null = null;
  let shape: string | null = null;
  let refusal: string | null = null;
  let missed = 0;
  let told = false;
  const hinted = new Set<string>();
  /** Files in watched folders that are no sources, such as a log that git ignores: their events are no news. */
  const strangers = new Set<string>();

  const onHint = (path: string) => {
    missed = 0;
    told = true;
    if (strangers.has(path)) return;
    if (path.endsWith('.gitignore')) strangers.clear();
    if (path !== CONFIG_NAME && hinted.size < MAX_STRANGERS) hinted.add(path);
    on.hint();
  };
  const giveUp = (why: string) => {
    if (refusal !== null) return;
    refusal = `watch_polling: ${why}; the sources are looked at every ${POLL_MS / 1000} s or so instead`;
    note(refusal);
    void events?.close();
    events = null;
    on.refused();
  };
  /** What was hinted at and turned out not to be among the sources is not hinted at again. */
  const sortOut = (files: ReadonlySet<string>) => {
    for (const path of hinted) {
      const isFile = lstatSync(join(project, path), { throwIfNoEntry: false })?.isFile() ?? false;
      if (isFile && !files.has(path) && strangers.size < MAX_STRANGERS) strangers.add(path);
    }
    hinted.clear();
  };

  return {
    working: () => refusal === null,
    refused: () => refusal,
    told() {
      const was = told;
      told = false;
      return was;
    },
    missed() {
      if (refusal !== null || events === null) return;
      missed++;
      if (missed >= MOST_MISSED) giveUp('no event told of the last changes');
      // A folder that was replaced leaves its watch behind: all are made anew.
      else shape = null;
    },
    async follow({ recipe, sources }) {
      if (refusal !== null) return;
      const now = JSON.stringify([recipe.sources, recipe.exclude]);
      const only = recipe.sources ? null : foldersOf(sources.files.map((file) => file.path));
      sortOut(new Set(sources.files.map((file) => file.path)));
      if (shape === now) {
        if (only) events?.include(only);
        return;
      }
      await events?.close();
      shape = now;
      strangers.clear();
      events = await watchFolders(project, {
        reach: reachOf(project, recipe.sources, recipe.exclude, root),
        only: sources.from === 'git' ? only : null,
        onHint,
        onRefused: (error) => giveUp(asPreviewError(error).message),
      });
      if (refusal !== null) {
        await events.close();
        events = null;
      }
      // What changed before the folders were watched.
      on.hint();
    },
    async close() {
      await events?.close();
    },
  };
}

/** The folders that hold these files, with those above them. */
function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = posix.dirname(file); at !== '.' && !folders.has(at); at = posix.dirname(at))
      folders.add(at);
  }
  return folders;
}
