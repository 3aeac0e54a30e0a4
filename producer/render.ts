// From a recipe and the sources' state to a sealed bundle in a stage: commands run, files collected, picture finished.
// The lock is not held here (I5). A render that failed gives a bundle too, of status `error`, with the output as its log.

import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addArtifact } from '../src/artifact.js';
import { type BundleFields, type Sealed, sealStage } from '../src/bundle.js';
import { PreviewError } from '../src/errors.js';
import { listSources } from '../src/files.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import { resetStage, type Stage } from '../src/stage.js';
import type { Waiting } from './askrenderer.js';
import { type Collected, collect } from './collect.js';
import { type NamedRecipe, partsOf } from './config.js';
import { type Failure, failureOf, logOf, missingFailure } from './failure.js';
import { finisherFor, finishPicture } from './finish.js';
import { type RecipeRan, type RecipeRun, recordedCommand, runRecipe } from './runrecipe.js';

export { terminalFile } from './runrecipe.js';

import type { PartTools, Tools } from './tools.js';
import { unitsOf } from './units.js';

export interface RenderInput {
  project: string;
  session: { dir: string };
  recipe: NamedRecipe;
  tools: Tools;
  sources: SourceFingerprint;
  changed: ReadonlySet<string>;
  /** Fields of the manifest that the capture knows already. */
  fields: Omit<BundleFields, 'status' | 'headline'>;
  /** Called once nothing reads the sources any more, while the picture is still being finished. */
  onRendered: () => void;
  signal?: AbortSignal | undefined;
}

/** What is known only after rendering: reasons why it is partial, and what the caller changes in the bundle's fields. */
export interface Finish {
  partial?: string[];
  over?: (fields: BundleFields) => BundleFields;
}

const asTheyAre = (fields: BundleFields) => fields;

/** A bundle but for its number, and whether another capture of the same sources may use it again. */
export interface Rendered {
  seal: (more: Finish) => Sealed;
  whole: boolean;
}

/** What one recipe of a capture came to. */
interface Part {
  recipe: NamedRecipe;
  found: Collected | null;
  failures: Failure[];
  backend: string | null;
  fenced: boolean | null;
}

/** Renders into the empty stage. What is returned seals it, with whatever must still be added. */
export async function render(stage: Stage, input: RenderInput): Promise<Rendered> {
  const finisher = finisherFor(input);
  try {
    return await renderParts(stage, input, finisher);
  } finally {
    finisher.drop();
  }
}

/** Whether it may leave a picture that nobody has looked at yet. The SVG renderer does that itself. */
const needsFinishing = ({ run = [] }: NamedRecipe): boolean =>
  run.length > 0 && !run.some((command) => command[1] === '{renderers}/svg.cjs');

async function renderParts(stage: Stage, input: RenderInput, finisher: Waiting): Promise<Rendered> {
  const parts: Part[] = [];
  // Begun behind the first command, which is not to wait for it.
  const onStart = partsOf(input.recipe).some(needsFinishing) ? finisher.begin : undefined;
  for (const [at, recipe] of partsOf(input.recipe).entries())
    parts.push(
      await renderPart(partStage(stage, at), recipe, input.tools.parts[at]!, at > 0, { ...input, onStart }),
    );
  const failures = parts.flatMap((part) => part.failures);
  if (parts.every((part) => part.found === null))
    return { seal: sealFailed(stage, input, failures), whole: false };
  addLog(stage, failures);
  const found = joined(parts);
  const finishing = finishPicture(stage, input, finisher);
  input.onRendered();
  const picture = await finishing;
  found.warnings.push(...failures.map(({ warning }) => warning), ...picture.warnings);
  const seal: Rendered['seal'] = ({ partial = [], over = asTheyAre }) => {
    const fields: BundleFields = {
      ...input.fields,
      status: partial.length > 0 || failures.length > 0 || isHonestlyPartial(found) ? 'partial' : 'ok',
      headline: found.headline ?? headlineOf(stage, input),
      facts: found.facts,
      warnings: [...(input.fields.warnings ?? []), ...partial, ...found.warnings],
      next_actions: found.next_actions,
      metrics: { ...input.fields.metrics, ...picture.metrics },
      generator: {
        ...input.fields.generator,
        ...generatorOf(input.recipe, parts),
        backend: found.backend,
      },
    };
    return sealStage(stage, over(fields));
  };
  return { seal, whole: failures.length === 0 };
}

/** Later recipes leave their files in folders of their own, and all add to one list of artifacts. */
function partStage(stage: Stage, at: number): Stage {
  if (at === 0) return stage;
  const out = join(stage.dir, `out-${at + 1}`);
  mkdirSync(out, { mode: 0o700 });
  return { ...stage, out };
}

async function renderPart(
  stage: Stage,
  recipe: NamedRecipe,
  tools: PartTools,
  later: boolean,
  input: RenderInput & Pick<RecipeRun, 'onStart'>,
): Promise<Part> {
  const part = { recipe, found: null, failures: [], backend: tools.backend, fenced: null };
  if (tools.missing.length > 0) return { ...part, failures: [missingFailure(tools.missing)] };
  const sources = await sourcesOf(recipe, input);
  const { units, left } = unitsOf(recipe, input.project, sources, input.changed);
  const folders = foldersOf(stage);
  const places = [input.project, input.session.dir];
  const before = statesOf(places);
  const ran = await runRecipe(stage, { ...input, recipe, sources, units });
  if (input.signal?.aborted) throw new PreviewError('interrupted', 'interrupted; nothing was recorded');
  // Whatever is written now would make the folder anew.
  if (statesOf(places) !== before)
    throw new PreviewError(
      'io',
      `the recipe ${recipe.name} removed or replaced the project's folder, ${input.project}; nothing was recorded`,
      'let its commands write into {out} and {tmp} alone',
    );
  const failures = failuresOf(ran, recipe);
  // I9: what a link in place of a folder of ours leads to is not ours to take.
  if (foldersOf(stage) !== folders) {
    failures.push({
      headline: `${recipe.name} replaced its output folder`,
      warning:
        'output_replaced: its folder {out} is no longer the one that was made for it; nothing was taken from it',
      log: logOf(ran.units.flatMap(({ runs }) => runs)),
    });
    return { ...part, failures, fenced: ran.fenced };
  }
  if (failures.length > 0 && failures.length === ran.units.length)
    return { ...part, failures, fenced: ran.fenced };
  const found = collect(stage, recipe, {
    project: input.project,
    sources,
    changed: input.changed,
    said: ran.units.map(({ unit, runs }) => ({
      unit,
      stdout: runs.map(({ outcome }) => outcome.stdout).join(''),
      stderr: runs.map(({ outcome }) => outcome.stderr).join(''),
    })),
    later,
  });
  if (found.absent.length > 0) {
    const log = logOf(ran.units.flatMap(({ runs }) => runs));
    failures.push({
      headline: `${recipe.name} left no ${found.absent[0]}`,
      warning: `output_missing: the commands ended well but left no ${found.absent.join(', ')}`,
      log,
    });
    return { ...part, failures, fenced: ran.fenced };
  }
  if (left > 0)
    found.warnings.push(`left_out: ${left} more files are not drawn; name those you want in sources`);
  return { ...part, found, failures, fenced: ran.fenced };
}

/** Which folders those of a stage are: another one, or a link, in the place of one is not the same. */
const foldersOf = ({ dir, out, bundle }: Stage): string => statesOf([dir, out, bundle]);

const statesOf = (paths: readonly string[]): string =>
  paths
    .map((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : 'gone';
    })
    .join(' ');

/** Of what a capture of several recipes reads, that which this one reads. */
async function sourcesOf(
  recipe: NamedRecipe,
  { project, sources, recipe: whole }: RenderInput,
): Promise<string[]> {
  const all = sources.files.map((file) => file.path);
  if (!whole.parts) return all;
  const { files } = await listSources(project, { sources: recipe.sources, exclude: recipe.exclude });
  const own = new Set(files);
  return all.filter((path) => own.has(path));
}

const failuresOf = ({ units }: RecipeRan, recipe: NamedRecipe): Failure[] =>
  units.flatMap(({ unit, runs, bad }) => (bad ? [failureOf(bad, runs, unit, recipe)] : []));

/** One part's findings as they are; of several the facts and warnings of later ones are named for them. */
function joined(parts: Part[]): Omit<Collected, 'absent'> {
  const found = { facts: {}, warnings: [], next_actions: [], headline: null, backend: null } as Omit<
    Collected,
    'absent'
  >;
  // One that a later recipe has speaks of its own picture alone.
  found.headline = parts[0]!.found?.headline ?? null;
  for (const [at, part] of parts.entries()) {
    const backend = part.found?.backend ?? part.backend;
    if (backend) found.backend = found.backend ? `${found.backend}; ${backend}` : backend;
    if (!part.found) continue;
    const { facts, warnings, next_actions } = part.found;
    const prefix = at === 0 ? '' : `${part.recipe.name}.`;
    for (const [name, value] of Object.entries(facts)) found.facts[prefix + name] = value;
    found.warnings.push(...warnings);
    found.next_actions.push(...next_actions);
  }
  return found;
}

/** The renderer's argv of each recipe, and whether it was kept off the network. */
function generatorOf(recipe: NamedRecipe, parts: Part[]): Record<string, unknown> {
  const commands = partsOf(recipe).map(recordedCommand);
  const fenced = parts.map((part) => part.fenced).filter((each) => each !== null);
  return {
    command: commands.length === 1 ? commands[0] : commands,
    ...(fenced.length > 0 ? { network: fenced.every(Boolean) ? 'none' : 'not kept off' } : {}),
  };
}

/** Codes of warnings that say a picture shows something other than the work itself. */
const PARTIAL_CODES = ['svg_unreadable:', 'namespace_added:', 'added_'];
const isHonestlyPartial = ({ warnings }: { warnings: string[] }) =>
  warnings.some((warning) => PARTIAL_CODES.some((code) => warning.startsWith(code)));

function headlineOf(stage: Stage, { recipe, changed, sources }: RenderInput): string {
  const shown = stage.artifacts.filter((artifact) => artifact.role !== 'thumb').length;
  if (partsOf(recipe).some((part) => part.run))
    return `${recipe.name}: ${shown} ${shown === 1 ? 'file' : 'files'} rendered`;
  return changed.size === 0
    ? `${sources.files.length} files, none new`
    : `${changed.size} of ${sources.files.length} files new or changed`;
}

function addLog(stage: Stage, failures: Failure[]): void {
  const log = Buffer.concat(failures.map((failure) => failure.log));
  if (log.length === 0) return;
  addArtifact(stage, {
    content: log,
    captured: true,
    role: 'log',
    name: 'renderer.log',
    label: 'What the renderer said',
    kind: 'text',
    media_type: 'text/plain',
  });
}

function sealFailed(stage: Stage, input: RenderInput, failures: Failure[]): Rendered['seal'] {
  resetStage(stage);
  addLog(stage, failures);
  const offline = partsOf(input.recipe).some((part) => part.run && !part.network);
  const hints = stage.artifacts.length > 0 ? ['Read the log artifact for what the renderer said.'] : [];
  if (
    hints.length > 0 &&
    offline &&
    failures.some(({ log }) => SPEAKS_OF_NETWORK.test(log.toString('latin1')))
  )
    hints.push('Its commands had no network; a recipe that needs it says "network": true.');
  return ({ partial = [], over = asTheyAre }) => {
    const fields: BundleFields = {
      ...input.fields,
      status: 'error',
      generator: { ...input.fields.generator, ...generatorOf(input.recipe, []) },
      headline: failures[0]!.headline,
      warnings: [...failures.map(({ warning }) => warning), ...partial, ...(input.fields.warnings ?? [])],
      next_actions: hints,
    };
    return sealStage(stage, over(fields));
  };
}

const SPEAKS_OF_NETWORK =
  /network is unreachable|ENETUNREACH|could ?n.t resolve|EAI_AGAIN|name resolution|ECONNREFUSED|connection refused|cannot assign requested address|EADDRNOTAVAIL/i;
