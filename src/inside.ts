// Which stored paths may be opened: those that stay in their folder.
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { errnoOf } from './errors.js';

/**
 * The absolute path of something inside `dir`, or null where the stored path leaves it, by `..`, by an
 * absolute path, or through a symlink (I9), or leads in a circle. What does not exist is resolved by name alone.
 */
export function inside(dir: string, stored: string): string | null {
  if (stored === '' || isAbsolute(stored) || stored.includes('\0')) return null;
  const within = (base: string, path: string) => {
    const way = relative(base, path);
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
  };
  const path = join(dir, stored);
  if (!within(dir, path)) return null;
  try {
    return within(realpathSync(dir), realpathSync(path)) ? path : null;
  } catch (error) {
    const errno = errnoOf(error);
    // A name that no file can have is that of nothing.
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ENAMETOOLONG') return path;
    // Links in a circle lead nowhere.
    if (errno === 'ELOOP') return null;
    throw error;
  }
}
