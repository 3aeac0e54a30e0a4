// Whether a program is there, told before anything is built.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a program lies on PATH. */
export const has = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder of PATH.
      return false;
    }
  });
