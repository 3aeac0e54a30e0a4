// Whether the recipe that `preview run` was told to render with is there, asked before the command runs: a mistake on the
// command line runs nothing. Loaded only where one was named.
import { PreviewError } from '../../src/errors.js';
import { loadProject, needRecipes } from '../config.js';

/** @throws PreviewError `recipe_unknown`. */
export function refuseUnknown(name: string, cwd: string): void {
  try {
    needRecipes(name, loadProject(cwd).config);
  } catch (error) {
    // A config that is broken is no mistake on the command line: the command runs, and its record says what is wrong.
    if (error instanceof PreviewError && error.code === 'recipe_unknown')
      throw new PreviewError(error.code, error.message, `nothing was run; ${error.hint}`);
  }
}
