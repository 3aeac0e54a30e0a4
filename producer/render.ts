// From a recipe and the sources' state to a sealed bundle in a stage: commands run, files collected, picture finished.
// The lock is not held here (I5). A render that failed gives a bundle too, of status `error`, with the output as its log.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  addArtifact,
  type BundleFields,
  resetStage,
  type Sealed,
  type Stage,
  sealStage,
} from '../src/bundle.js';
import { monotonicMs } from '../src/clock.js';
import { PreviewError } from '../src/errors.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import type { Artifact } from '../src/schema.js';
import { shellQuote } from '../src/text.js';
import { LIMITS } from '../src/version.js';
import { type Collected, collect } from './collect.js';
import { type NamedRecipe, RENDERERS } from './config.js';
import { type Outcome, runCommand } from './process.js';
import type { Tools } from './tools.js';

export interface RenderInput {
  project: string;
  recipe: NamedRecipe;
  tools: Tools;
  sources: SourceFingerprint;
  changed: ReadonlySet<string>;
  /** Fields of the manifest that the capture knows already. */
  fields: Omit<BundleFields, 'status' | 'headline'>;
  signal?: AbortSignal | undefined;
}

/** What is known only after rendering: reasons why it is partial, and what the caller changes in the bundle's fields. */
export interface Finish {
  partial?: string[];
  over?: (fields: BundleFields) => BundleFields;
}

/** Where `run` leaves the recorded terminal for a recipe that draws it: `{terminal}`. */
export const terminalFile = (stage: Stage): string => join(stage.dir, 'terminal.cast');

const asTheyAre = (fields: BundleFields) => fields;
const DEFAULT_TIMEOUT_S = 60;

/** Renders into the empty stage. The returned function seals, with whatever must still be added. */
export async function render(stage: Stage, input: RenderInput): Promise<(more: Finish) => Sealed> {
  const { recipe, tools } = input;
  if (tools.missing) {
    const { program, debian } = tools.missing;
    return failed(
      stage,
      input,
      `${program} is not installed`,
      `renderer_missing: ${program} is not there${debian ? `; Debian has it in the package ${debian}` : ''}`,
      Buffer.alloc(0),
    );
  }
  const runs: { argv: string[]; outcome: Outcome }[] = [];
  const deadline = monotonicMs() + (recipe.timeout_s ?? DEFAULT_TIMEOUT_S) * 1000;
  for (const command of recipe.run ?? []) {
    const argv = expand(command, stage, input);
    const env = rendererEnv(command, stage);
    const outcome = await runCommand(argv, {
      cwd: input.project,
      env,
      timeout_ms: Math.max(1, deadline - monotonicMs()),
      signal: input.signal,
    });
    if (input.signal?.aborted) throw new PreviewError('interrupted', 'interrupted; nothing was recorded');
    runs.push({ argv, outcome });
    const bad = complaint(outcome, argv[0]!, recipe);
    if (bad) return failed(stage, input, bad.headline, bad.warning, logOf(runs));
  }
  const stdout = runs.map(({ outcome }) => outcome.stdout).join('');
  const stderr = runs.map(({ outcome }) => outcome.stderr).join('');
  const produced = {
    project: input.project,
    sources: input.sources.files.map((file) => file.path),
    changed: input.changed,
    stdout,
    stderr,
  };
  const found = collect(stage, recipe, produced);
  if (found.absent.length > 0) {
    return failed(
      stage,
      input,
      `${recipe.name} left no ${found.absent[0]}`,
      `output_missing: the commands ended well but left no ${found.absent.join(', ')}`,
      logOf(runs),
    );
  }
  found.warnings.push(...(await finishPicture(stage, input)));
  return ({ partial = [], over = asTheyAre }) => {
    const fields: BundleFields = {
      ...input.fields,
      status: partial.length > 0 || isHonestlyPartial(found) ? 'partial' : 'ok',
      headline: found.headline ?? headlineOf(stage, input),
      facts: found.facts,
      warnings: [...(input.fields.warnings ?? []), ...partial, ...found.warnings],
      next_actions: found.next_actions,
      generator: {
        ...input.fields.generator,
        command: recordedCommand(recipe),
        backend: found.backend ?? tools.backend,
      },
    };
    return sealStage(stage, over(fields));
  };
}

/** Codes of warnings that say a picture shows something other than the work itself. */
const PARTIAL_CODES = ['svg_unreadable:', 'namespace_added:', 'added_'];
const isHonestlyPartial = ({ warnings }: Collected) =>
  warnings.some((warning) => PARTIAL_CODES.some((code) => warning.startsWith(code)));

function headlineOf(stage: Stage, { recipe, changed, sources }: RenderInput): string {
  const shown = stage.artifacts.filter((artifact) => artifact.role !== 'thumb').length;
  if (recipe.run) return `${recipe.name}: ${shown} ${shown === 1 ? 'file' : 'files'} rendered`;
  return changed.size === 0
    ? `${sources.files.length} files, none new`
    : `${changed.size} of ${sources.files.length} files new or changed`;
}

const withOf = (recipe: NamedRecipe) => (recipe.with ?? {}) as Record<string, string | number | boolean>;

/** An argument's placeholders filled in. What is none of ours stays as it is. */
function filled(arg: string, values: Record<string, string | number | boolean>): string {
  return arg.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

/** The renderer's argv as the manifest has it: one list, or several where the recipe runs several. */
function recordedCommand(recipe: NamedRecipe): unknown {
  const commands = (recipe.run ?? []).map((argv) => argv.map((arg) => filled(arg, withOf(recipe))));
  return commands.length === 1 ? commands[0] : commands;
}

/**
 * A command's argv as it is run; `{sources}` alone becomes the source files. What the manifest records has only `with`
 * filled in: the folders are this machine's, and the staging folder is gone by then.
 */
function expand(
  command: readonly string[],
  stage: Stage,
  { project, recipe, sources }: RenderInput,
): string[] {
  const values = {
    ...withOf(recipe),
    out: stage.out,
    project,
    node: process.execPath,
    renderers: RENDERERS,
    terminal: terminalFile(stage),
  };
  return command.flatMap((arg) =>
    arg === '{sources}' ? sources.files.map((file) => file.path) : [filled(arg, values)],
  );
}

/** Renderers of ours need no certificates, whose parsing would double their start. */
function rendererEnv(command: readonly string[], stage: Stage): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, PREVIEW_OUT: stage.out };
  if (command[0] === '{node}') delete env['NODE_EXTRA_CA_CERTS'];
  return env;
}

function complaint(
  outcome: Outcome,
  program: string,
  recipe: NamedRecipe,
): { headline: string; warning: string } | null {
  const last = outcome.stderr.trim().split('\n').at(-1) ?? '';
  const says = last ? `: ${last}` : '';
  const name = program === process.execPath ? recipe.name : program;
  if (outcome.missing)
    return {
      headline: `${name} could not be started`,
      warning: `renderer_missing: ${name} could not be started${says}`,
    };
  if (outcome.timed_out)
    return {
      headline: `${name} took too long`,
      warning: `renderer_timeout: ${name} was ended after ${recipe.timeout_s ?? DEFAULT_TIMEOUT_S} s${says}`,
    };
  if (outcome.signal)
    return {
      headline: `${name} was killed`,
      warning: `renderer_failed: ${name} was ended by ${outcome.signal}${says}`,
    };
  if (outcome.exit_code !== 0)
    return {
      headline: `${name} failed`,
      warning: `renderer_failed: ${name} ended with exit code ${outcome.exit_code}${says}`,
    };
  return null;
}

/** The renderer's own output, byte for byte, each command before it. */
function logOf(runs: { argv: string[]; outcome: Outcome }[]): Buffer {
  return Buffer.concat(
    runs.flatMap(({ argv, outcome }) => [Buffer.from(`$ ${shellQuote(argv)}\n`), outcome.raw]),
  );
}

function failed(
  stage: Stage,
  input: RenderInput,
  headline: string,
  warning: string,
  log: Buffer,
): (more: Finish) => Sealed {
  resetStage(stage);
  if (log.length > 0)
    addArtifact(stage, {
      content: log,
      role: 'log',
      name: 'renderer.log',
      label: 'What the renderer said',
      kind: 'text',
      media_type: 'text/plain',
    });
  return ({ partial = [], over = asTheyAre }) => {
    const fields: BundleFields = {
      ...input.fields,
      status: 'error',
      generator: { ...input.fields.generator, command: recordedCommand(input.recipe) },
      headline,
      warnings: [warning, ...partial, ...(input.fields.warnings ?? [])],
      next_actions: log.length > 0 ? ['Read the log artifact for what the renderer said.'] : [],
    };
    return sealStage(stage, over(fields));
  };
}

/** Gives the hero its thumbnail, and its size where it is over 1280 px; in a child, for the picture is untrusted. */
async function finishPicture(stage: Stage, { project, signal }: RenderInput): Promise<string[]> {
  const hero = stage.artifacts.find((artifact) => artifact.role === 'hero');
  if (hero?.kind !== 'image') return [];
  const large = Math.max(hero.width ?? 0, hero.height ?? 0) > LIMITS.heroPixels;
  if (stage.artifacts.some((artifact) => artifact.role === 'thumb') && !large) return [];
  const argv = [
    process.execPath,
    join(RENDERERS, 'finish.cjs'),
    '--in',
    join(stage.bundle, hero.path),
    '--out',
    stage.out,
  ];
  const env = { ...process.env };
  delete env['NODE_EXTRA_CA_CERTS'];
  const { stdout, exit_code, stderr } = await runCommand(argv, {
    cwd: project,
    env,
    timeout_ms: 30_000,
    signal,
  });
  const warnings: string[] = [];
  if (exit_code !== 0)
    return [`thumb_missing: no thumbnail could be made: ${stderr.trim().split('\n').at(-1) ?? ''}`];
  const thumb = join(stage.out, 'thumb.png');
  const scaled = join(stage.out, 'scaled.png');
  if (existsSync(thumb) && !stage.artifacts.some((artifact) => artifact.role === 'thumb')) {
    addArtifact(stage, { file: thumb, move: true, role: 'thumb', name: 'thumb.png', label: 'Thumbnail' });
  } else if (!existsSync(thumb)) warnings.push(`thumb_missing: ${reasonIn(stdout)}`);
  if (large && existsSync(scaled)) replaceHero(stage, hero, scaled);
  else if (large)
    warnings.push(
      `hero_large: the picture is ${hero.width} × ${hero.height} px, over the ${LIMITS.heroPixels} that stay cheap to look at`,
    );
  return warnings;
}

const reasonIn = (stdout: string): string =>
  /"reason":"([^"]*)"/.exec(stdout)?.[1] ?? 'no thumbnail could be made';

/** The picture as it came stays, as a render-output; what is shown is its smaller copy. */
function replaceHero(stage: Stage, hero: Artifact, scaled: string): void {
  const index = stage.artifacts.indexOf(hero);
  stage.artifacts.splice(index, 1);
  const original = addArtifact(stage, {
    file: join(stage.bundle, hero.path),
    move: true,
    role: 'render-output',
    name: hero.label ?? 'render',
    label: `${hero.label} (full size)`,
  });
  stage.artifacts.splice(stage.artifacts.indexOf(original), 1);
  addArtifact(stage, {
    file: scaled,
    move: true,
    role: 'hero',
    name: 'render.png',
    label: hero.label ?? 'render',
  });
  stage.artifacts.push(original);
}
