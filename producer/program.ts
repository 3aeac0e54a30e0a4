// Where a program lies, as execvp would find it.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** The file a program's name stands for, as execvp would find it; null where there is none. */
export function findProgram(
  name: string,
  cwd: string,
  path: string = process.env['PATH'] ?? '',
): string | null {
  const candidates = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : path.split(delimiter).map((dir) => join(dir || cwd, name));
  for (const candidate of candidates) {
    try {
      // In most folders it is not, which is not to be an error each time.
      if (!statSync(candidate, { throwIfNoEntry: false })?.isFile()) continue;
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not this one: the next folder of PATH.
    }
  }
  return null;
}
