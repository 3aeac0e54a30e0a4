// `preview init`: looks at what is there and writes a small preview.config.json. Never asks, never overwrites.
import { copyFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { printJson, say } from '../../src/cli.js';
import { command, runCommand, text } from '../../src/command.js';
import { createFile, setMode } from '../../src/disk.js';
import { errnoOf, PreviewError } from '../../src/errors.js';
import { CONFIG_NAME, findRoot, inMainWorkTree, ROOT_NAME, workingDirectory } from '../../src/layout.js';
import { makeRoot } from '../../src/session.js';
import { DIST } from '../config.js';
import { configFor, detect } from '../detect.js';

const SCHEMA = 'preview.config.schema.json';

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, () =>
    command('preview init', 'Look at this folder and write a small preview.config.json for it.')
      .usage('[options]')
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--json', 'print one JSON document')
      .action(async (options) => {
        const project = workingDirectory();
        const file = join(project, CONFIG_NAME);
        const detected = await detect(project, join(project, ROOT_NAME));
        const root = rootOf(project, options.root);
        const config = configFor(detected, toPosix(relative(project, join(root, SCHEMA))));
        try {
          createFile(file, `${JSON.stringify(config, null, 2)}\n`, true);
        } catch (error) {
          if (errnoOf(error) !== 'EEXIST') throw error;
          throw new PreviewError(
            'usage',
            `${file} is there already and stays as it is`,
            'edit it, or move it away first',
          );
        }
        // Unlike a recording, a config is there to be shared.
        setMode(file, 0o644);
        makeRoot(root);
        copyFileSync(join(DIST, SCHEMA), join(root, SCHEMA));
        if (options.json) {
          printJson({
            config_path: file,
            recipe: config.default_recipe,
            uses: detected.recipe,
            found: detected.found,
          });
          return;
        }
        say(`Wrote ${file}: found ${detected.found}.`);
        say('Next: `preview capture` records what it looks like now.');
      }),
  );
}

/** Where this project's recordings will lie once its config marks it. */
function rootOf(project: string, named: string | undefined): string {
  const place = { cwd: project, env: process.env, root: named };
  const elsewhere =
    named !== undefined || process.env['PREVIEW_ROOT'] !== undefined || inMainWorkTree(project) !== project;
  return elsewhere ? findRoot(place) : join(project, ROOT_NAME);
}

const toPosix = (path: string) => (path.startsWith('.') ? path : `./${path}`).replaceAll('\\', '/');
