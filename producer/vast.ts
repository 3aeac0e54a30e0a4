// Whether a folder that nothing marks as a project is far too large to be one: the home folder, a disk. It would be walked
// whole, and all that a recipe names in it read.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PreviewError } from '../src/errors.js';
import { CONFIG_NAME, gitTop } from '../src/layout.js';

/** More files and folders than this are no project that somebody forgot to mark (I10). */
export const MOST_UNMARKED = 50_000;

/**
 * Refuses a folder without a config and outside git that holds more than `most` files and folders; hidden ones and
 * node_modules are not looked into.
 * @throws PreviewError `usage`.
 */
export function refuseVast(project: string, most = MOST_UNMARKED): void {
  if (existsSync(join(project, CONFIG_NAME)) || gitTop(project) !== null) return;
  const folders = [project];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      if (++seen > most)
        throw new PreviewError(
          'usage',
          `${project} holds more than ${most} files and nothing says that it is a project: no ${CONFIG_NAME}, no git`,
          'change to the folder of the project, or run `preview init` here if this is it',
        );
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(join(folder, entry.name));
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // EACCES, ENOENT: the listing of the sources says what cannot be read.
    return [];
  }
}
