// preview.config.json and recipes (protocol, section 8): one zod schema, from which the checks, the types and the
// shipped JSON Schema come. Built-in recipes have the same form. Unknown keys are errors here: a typo must not pass.
import * as z from 'zod/mini';
import { PreviewError } from './errors.js';
import { ROLES } from './schema.js';
import { cutText } from './text.js';

const described = <T extends z.core.$ZodType>(schema: T, description: string): T => {
  z.globalRegistry.add(schema, { description });
  return schema;
};
const names = (what: string) => described(z.optional(z.array(z.string().check(z.minLength(1)))), what);

const artifactRule = z.strictObject({
  path: described(
    z.string().check(z.minLength(1)),
    'A file or glob in {out}; beginning with {project}/ one in the project.',
  ),
  role: z.enum(ROLES),
  label: z.optional(z.string()),
  view: z.optional(z.string()),
  changed: described(z.optional(z.boolean()), 'Only files that are new or changed since the step before.'),
  limit: described(
    z.optional(z.int().check(z.positive())),
    'At most so many files of a glob (8 unless told).',
  ),
});

const factRule = z.strictObject({
  name: z.string().check(z.minLength(1)),
  from: described(z.string(), 'stdout, stderr, or a file in {out}.'),
  match: described(
    z.string(),
    'A regular expression; its first group is the fact, a number where it reads as one.',
  ),
});

const warningRule = z.strictObject({
  from: described(z.string(), 'stdout, stderr, or a file in {out}.'),
  match: described(z.string(), 'A regular expression; each of its matches (five at most) is a warning.'),
  text: described(
    z.optional(z.string()),
    'The warning, `code: words`, $1 its first group; a code that begins with added_ makes the bundle partial.',
  ),
});

const needRule = z.strictObject({
  program: z.string(),
  or: described(
    z.optional(z.array(z.string())),
    'Programs that do as well; $NAME is the one that this environment variable names.',
  ),
  debian: z.optional(z.string()),
});

const recipeSchema = z.strictObject({
  description: z.optional(z.string()),
  software: z.optional(z.string()),
  uses: described(z.optional(z.string()), 'A built-in recipe to start from; what stands here changes it.'),
  sources: names('Globs of what the recipe reads; without them the git work tree.'),
  exclude: names('Globs of what it does not read.'),
  with: described(
    z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    'Values for {name} in run.',
  ),
  run: described(
    z.optional(z.array(z.array(z.string()).check(z.minLength(1)))),
    'Commands, each a list of arguments, done in order in the project without a shell. {out} is where they write, {project} the project, {source} the main source file, an argument {sources} becomes all of them.',
  ),
  draws: described(
    z.optional(z.array(z.string())),
    'Globs: of the sources, those that {source} and each take; the others are what these refer to. All unless told.',
  ),
  each: described(
    z.optional(z.boolean()),
    'true: run is done once for every source file (eight at most, those that changed first), which is {source}; {name} is a plain name for its output.',
  ),
  parallel: described(z.optional(z.boolean()), 'true: the commands of run do not need one another.'),
  env: described(z.optional(z.record(z.string(), z.string())), 'Added to the environment of run.'),
  network: described(z.optional(z.boolean()), 'true: run may use the network.'),
  memory_mb: described(
    z.optional(z.number().check(z.positive())),
    'At most so much memory for run (4096 unless told).',
  ),
  output_mb: described(
    z.optional(z.number().check(z.positive())),
    'At most so much in {out} (500 unless told).',
  ),
  artifacts: z.optional(z.array(artifactRule)),
  fills: described(
    z.optional(z.boolean()),
    'true: the picture fills its frame, as a page or a film does: nothing that reaches its border is cut there.',
  ),
  facts: z.optional(z.array(factRule)),
  warnings: z.optional(z.array(warningRule)),
  needs: z.optional(z.array(needRule)),
  version: described(
    z.optional(z.array(z.string()).check(z.minLength(1))),
    'The command that prints the version of the renderer.',
  ),
  timeout_s: z.optional(z.number().check(z.positive())),
  reuse: described(
    z.optional(z.boolean()),
    'false: never reuse a bundle, for what the recipe shows depends on more than its sources.',
  ),
});
export type Recipe = z.infer<typeof recipeSchema>;
export type ArtifactRule = z.infer<typeof artifactRule>;
export type FactRule = z.infer<typeof factRule>;
export type WarningRule = z.infer<typeof warningRule>;
export type Need = z.infer<typeof needRule>;

const configSchema = z.strictObject({
  $schema: z.optional(z.string()),
  software: z.optional(z.string()),
  default_recipe: z.optional(z.string()),
  recipes: z.optional(z.record(z.string().check(z.regex(/^[a-z0-9][a-z0-9_-]{0,39}$/)), recipeSchema)),
});
export type Config = z.infer<typeof configSchema>;

/** The JSON Schema (draft 2020-12) of preview.config.json, shipped beside the program. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: 'preview.config.json', ...z.toJSONSchema(configSchema, { io: 'input' }) };
}

/** Paths that recipes name must stay in the project (or in `{out}`). */
function leavesProject(path: string): boolean {
  const inProject = path.startsWith('{project}/') ? path.slice('{project}/'.length) : path;
  return inProject.startsWith('/') || inProject.split('/').includes('..');
}

/** Checks a parsed config. @throws PreviewError `config_invalid` naming the file, the path in it and what was expected. */
export function checkConfig(value: unknown, file: string): Config {
  const config = parse(configSchema, value, file);
  for (const [name, recipe] of Object.entries(config.recipes ?? {}))
    checkRecipePaths(recipe, `recipes.${name}`, file);
  return config;
}

/** Checks one recipe, a built-in one for instance. */
export function checkRecipe(value: unknown, file: string): Recipe {
  const recipe = parse(recipeSchema, value, file);
  checkRecipePaths(recipe, '', file);
  return recipe;
}

function checkRecipePaths(recipe: Recipe, at: string, file: string): void {
  const paths: [string, string][] = [
    ...(recipe.sources ?? []).map((path, n): [string, string] => [`${at}.sources.${n}`, path]),
    ...(recipe.exclude ?? []).map((path, n): [string, string] => [`${at}.exclude.${n}`, path]),
    ...(recipe.draws ?? []).map((path, n): [string, string] => [`${at}.draws.${n}`, path]),
    ...(recipe.facts ?? []).map((rule, n): [string, string] => [`${at}.facts.${n}.from`, rule.from]),
    ...(recipe.warnings ?? []).map((rule, n): [string, string] => [`${at}.warnings.${n}.from`, rule.from]),
    ...(recipe.artifacts ?? []).map((rule, n): [string, string] => [`${at}.artifacts.${n}.path`, rule.path]),
  ];
  for (const [where, path] of paths) {
    if (leavesProject(path))
      throw invalid(file, [
        `${where.replace(/^\./, '')}: expected a path inside the project, got ${JSON.stringify(path)}`,
      ]);
  }
  for (const key of ['facts', 'warnings'] as const) {
    for (const [n, { match }] of (recipe[key] ?? []).entries()) {
      try {
        new RegExp(match);
      } catch (error) {
        const where = `${at}.${key}.${n}.match`.replace(/^\./, '');
        throw invalid(file, [`${where}: expected a regular expression: ${(error as Error).message}`]);
      }
    }
  }
}

function parse<T>(schema: z.ZodMiniType<T>, value: unknown, file: string): T {
  const result = z.safeParse(schema, value, { reportInput: true });
  if (result.success) return result.data;
  throw invalid(
    file,
    result.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'it'}: ${explain(issue)}`),
  );
}

/** zod/mini has no messages of its own: what was expected, and what came, in words. */
function explain(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return `unknown ${issue.keys.length > 1 ? 'keys' : 'key'} ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
  }
  const got = issue.input === undefined ? '' : `, got ${cutText(JSON.stringify(issue.input) ?? '', 60)}`;
  return `expected ${expectation(issue)}${got}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'number'
        ? `more than ${issue.minimum}`
        : `at least ${issue.minimum} ${issue.origin === 'string' ? 'character' : 'item'}`;
    case 'invalid_key':
    case 'invalid_format':
      return 'a name of lower-case letters, digits, - and _';
    case 'invalid_union':
      return 'a text, a number, true or false';
    default:
      return issue.message;
  }
}

const invalid = (file: string, issues: string[]) =>
  new PreviewError(
    'config_invalid',
    `${file}: ${issues.join('; ')}`,
    'guides/recipes.md shows the form; `preview recipes` lists what is built in',
  );
