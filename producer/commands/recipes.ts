// `preview recipes`: what can be rendered here, and what each recipe needs.

import { painter, printJson, say } from '../../src/cli.js';
import { command, runCommand } from '../../src/command.js';
import { workingDirectory } from '../../src/layout.js';
import { DEFAULT_RULES } from '../collect.js';
import { builtinNames, findRecipe, loadProject, type NamedRecipe } from '../config.js';
import { findNeed, needsOf, packagesOf } from '../tools.js';

interface Row {
  name: string;
  description: string;
  emits: string[];
  needs: string[];
  available: boolean;
  /** What has to be installed: Debian's packages, or programs where they are not known. */
  missing: string[];
}

function rowOf(recipe: NamedRecipe, project: string): Row {
  const needs = needsOf(recipe).filter(({ program }) => program !== '{node}');
  const missing = needs.filter((need) => findNeed(need, project) === null);
  return {
    name: recipe.name,
    description: recipe.description ?? '',
    emits: [...new Set((recipe.artifacts ?? DEFAULT_RULES).map((rule) => rule.role))],
    needs: needs.map(({ program }) => program),
    available: missing.length === 0,
    missing: packagesOf(missing),
  };
}

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, () =>
    command('preview recipes', 'List the recipes of this project and those built in.')
      .usage('[options]')
      .option('--json', 'print one JSON document')
      .action((options) => {
        const { dir, config } = loadProject(workingDirectory());
        const names = [...new Set([...Object.keys(config?.recipes ?? {}), ...builtinNames()])];
        const recipes = names.map((name) => rowOf(findRecipe(name, config), dir));
        if (options.json) {
          printJson({ recipes });
          return;
        }
        const paint = painter();
        const width = Math.max(...recipes.map(({ name }) => name.length));
        for (const { name, description, available, missing } of recipes) {
          const own = config?.recipes?.[name] ? " (this project's)" : '';
          say(
            `${paint('bold', name.padEnd(width))}  ${description}${paint('dim', own)}  ${available ? paint('green', 'ready') : paint('yellow', `needs ${missing.join(', ')}`)}`,
          );
        }
      }),
  );
}
