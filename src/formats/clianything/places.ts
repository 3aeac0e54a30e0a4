// Where a path that CLI-Anything recorded is here. Its paths are absolute and may come from another machine, so none
// is ever opened as it stands: its last parts are looked for below the one folder that may be read (I9).
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, normalize, relative, sep } from 'node:path';
import { readPointer, statOf } from '../../disk.js';
import { errnoOf } from '../../errors.js';
import { inside } from '../../inside.js';
import { CURRENT_NAME, MANIFEST_NAME } from '../../layout.js';
import { UNREACHABLE, within } from './values.js';

/** Folders beside a session that a recorded path is looked for in. */
const BASES = 64;

/** Their layout: SOFTWARE/live/SESSION beside SOFTWARE/RECIPE/BUNDLE. */
export const LIVE_NAME = 'live';

export interface Places {
  session: string;
  /** Nothing above or beside this folder is read. */
  root: string;
  /** Folders that the end of a recorded path may continue from. */
  bases: string[];
}

/**
 * What may be read for a session: the folder that holds its `live` folder and the bundles beside it; for a session that
 * lies in no `live` folder, the folder that it lies in.
 */
export function placesOf(session: string): Places {
  const parent = dirname(session);
  const root = basename(parent) === LIVE_NAME ? dirname(parent) : parent;
  const bases = [...new Set([session, parent, root, ...foldersIn(root).slice(0, BASES)])];
  return { session, root, bases };
}

/** Real folders in a folder, by name; links are left out. */
export function foldersIn(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(dir, name))
      .sort();
  } catch (error) {
    if (!UNREACHABLE.includes(errnoOf(error) ?? '')) throw error;
    return [];
  }
}

/** The same of a folder in `dir`, unless a link leads out of it. */
export function foldersAt(dir: string, name: string): string[] {
  const path = within(dir, name);
  return path === null ? [] : foldersIn(path);
}

export interface Found {
  path: string | null;
  /** Why there is none. */
  why: 'missing' | 'path_leaves' | null;
}

/** How many of a recorded path's last parts are tried: SOFTWARE/RECIPE/BUNDLE and one more. */
const TAIL = 4;

/** The folder that a recorded path names here; the longest matching end wins. */
export function locate({ session, root, bases }: Places, recorded: string): Found {
  if (recorded === '' || recorded.length > 4096 || recorded.includes('\0'))
    return { path: null, why: 'missing' };
  const windows = /^[A-Za-z]:[\\/]|^\\\\/.test(recorded);
  const absolute = windows || recorded.startsWith('/');
  const parts = recorded.split(windows ? /[\\/]/ : '/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) {
    if (absolute) return { path: null, why: 'path_leaves' };
    return folderAt(root, normalize(join(session, recorded)));
  }
  let leaves = false;
  for (let length = Math.min(TAIL, parts.length); length > 0; length--) {
    const tail = parts.slice(-length).join(sep);
    for (const base of bases) {
      const { path, why } = folderAt(root, join(base, tail));
      if (path !== null) return { path, why: null };
      leaves ||= why === 'path_leaves';
    }
  }
  return { path: null, why: leaves ? 'path_leaves' : 'missing' };
}

/** `path` if it is a folder inside `root` and no link on the way leads out. */
function folderAt(root: string, path: string): Found {
  try {
    const way = relative(root, path);
    const found = way === '' ? null : inside(root, way);
    if (found === null) return { path: null, why: 'path_leaves' };
    if (statOf(found)?.isDirectory()) return { path: found, why: null };
  } catch (error) {
    if (!UNREACHABLE.includes(errnoOf(error) ?? '')) throw error;
  }
  return { path: null, why: 'missing' };
}

/** Where `current` leads here: a link or a file holding its target, relative, or absolute on another machine. */
export function locateLink(dir: string): string | null {
  const target = readPointer(join(dir, CURRENT_NAME));
  return target === null ? null : locate(placesOf(dir), target).path;
}

/** A bundle's folder, even one whose capture failed: by its manifest, its artifacts, or its name. */
export const isBundleFolder = (dir: string): boolean =>
  /^\d{8}T\d{6}Z_/.test(basename(dir)) ||
  existsSync(join(dir, MANIFEST_NAME)) ||
  existsSync(join(dir, 'artifacts'));
