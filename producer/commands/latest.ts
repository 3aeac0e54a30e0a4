// `preview latest`: the current bundle, and whether the sources have changed since.
import { join } from 'node:path';
import { printJson, say } from '../../src/cli.js';
import { command, runCommand, withPlace } from '../../src/command.js';
import { PreviewError } from '../../src/errors.js';
import { fingerprintSources } from '../../src/fingerprint.js';
import { CACHE_NAME, findRoot, findSession, workingDirectory } from '../../src/layout.js';
import { readHead } from '../../src/read.js';
import type { Head } from '../../src/schema.js';
import { findRecipe, loadProject, type NamedRecipe, type Project } from '../config.js';
import { reportCapture } from '../report.js';
import { currentResult } from '../result.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, () => {
    const made = command(
      'preview latest',
      'Show the current bundle and whether the sources have changed since.',
    );
    return withPlace(made)
      .usage('[options]')
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        const place = {
          cwd: workingDirectory(),
          env: process.env,
          root: options.root,
          session: options.session,
        };
        const root = findRoot(place);
        const dir = findSession(place, root);
        const reading = dir === null ? null : readHead(dir);
        if (dir === null || reading?.problems[0]?.kind === 'missing')
          throw new PreviewError(
            'not_found',
            `no session is recorded in ${root}`,
            '`preview capture` begins one',
          );
        if (!reading?.value)
          throw new PreviewError(
            'session_damaged',
            `${dir}: session.json: ${reading?.problems[0]?.detail}`,
            'see `previews verify`',
          );
        const head = reading.value;
        if (!head.current_bundle_id)
          throw new PreviewError('not_found', `${dir} has no step yet`, '`preview capture` records one');
        const result = { ...currentResult(dir, head), stale: await isStale(head, root) };
        if (options.json) {
          printJson(result);
          return;
        }
        reportCapture(result, false);
        const words = {
          true: 'stale    the sources have changed since',
          false: 'fresh    the sources are as they were',
          null: 'unknown  another program recorded it, so whether it is stale cannot be told',
        };
        say(`  ${words[`${result.stale}`]}`);
      });
  });
}

/** Compares the sources as they are with what the current step was made from; null where that cannot be told. */
async function isStale(head: Head, root: string): Promise<boolean | null> {
  const current = head.history.find((step) => step.step_id === head.current_step_id) ?? head.latest_step;
  const project = loadProject(workingDirectory());
  const name = current?.['recipe'];
  const recipe = typeof name === 'string' ? recipeOrNull(name, project) : null;
  // Another program published it, under a name that is no recipe of ours.
  if (recipe === null || !current?.['source_fingerprint']) return null;
  const sources = await fingerprintSources(project.dir, {
    sources: recipe.sources,
    exclude: recipe.exclude,
    previewRoot: root,
    cacheDir: join(root, CACHE_NAME),
  });
  return sources.fingerprint !== current['source_fingerprint'];
}

function recipeOrNull(name: string, { config }: Project): NamedRecipe | null {
  try {
    return findRecipe(name, config);
  } catch (error) {
    if (error instanceof PreviewError && error.code === 'recipe_unknown') return null;
    throw error;
  }
}
