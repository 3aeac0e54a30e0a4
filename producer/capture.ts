// One capture: look at the sources, use an older bundle again or render, publish, and say what was recorded.
import { basename, join } from 'node:path';
import { findBundle } from '../src/cachekey.js';
import { monotonicMs, now } from '../src/clock.js';
import { PreviewError } from '../src/errors.js';
import { fingerprintSources, type SourceFingerprint } from '../src/fingerprint.js';
import { CACHE_NAME, findRoot, workingDirectory } from '../src/layout.js';
import { readBundle, readHead } from '../src/read.js';
import { openSession, record } from '../src/session.js';
import { type Attempt, type CaptureOptions, commitOptions, finished, stepInput } from './attempt.js';
import { keyOf } from './changes.js';
import { findRecipe, loadProject, type NamedRecipe, type Project, partsOf } from './config.js';
import { type CaptureResult, resultOf } from './result.js';
import { lookUpTools } from './tools.js';
import { refuseVast } from './vast.js';

/** The recipe a capture uses: the one named, the config's default, or what `init` would have found. */
export async function chooseRecipe(
  project: Project,
  name: string | undefined,
  previewRoot: string,
): Promise<NamedRecipe> {
  const { config } = project;
  const stated = name ?? config?.default_recipe ?? Object.keys(config?.recipes ?? {})[0];
  if (stated !== undefined) return findRecipe(stated, config);
  const { detect } = await import('./detect.js');
  return findRecipe((await detect(project.dir, previewRoot)).recipe, config);
}

/**
 * Captures the state of the project as one step.
 * @throws PreviewError for wrong use or config, a locked or newer session, a full disk; a failed render is recorded and returned.
 */
export async function capture(options: CaptureOptions): Promise<CaptureResult> {
  const cwd = options.cwd ?? workingDirectory();
  const env = options.env ?? process.env;
  const began = { ...now(), clock: monotonicMs() };
  const project = loadProject(cwd);
  refuseVast(project.dir);
  const place = { cwd, env, root: options.root, session: options.session };
  // The recipe comes first: a wrong name must not begin a session.
  const recipe = await chooseRecipe(project, options.recipe, options.into?.root ?? findRoot(place));
  refuseTerminal(options, recipe);
  const session =
    options.into ??
    (await openSession({
      ...place,
      ...projectFields(project, recipe),
      timeout_ms: options.lock_timeout_ms,
      onWait: (owner) => options.onPhase?.(`waiting for the session: ${owner}`),
    }));
  const look = () =>
    fingerprintSources(project.dir, {
      sources: recipe.sources,
      exclude: recipe.exclude,
      previewRoot: session.root,
      cacheDir: join(session.root, CACHE_NAME),
    });
  options.onPhase?.('looking at the sources');
  const [sources, tools] = await Promise.all([look(), lookUpTools(recipe, project.dir, session.root)]);
  const run: Attempt = {
    options,
    project,
    session,
    recipe,
    tools,
    look,
    began,
    step: stepInput(options, began, recipe.name, sources.fingerprint),
  };
  const reused = await reuse(run, sources);
  if (reused) return reused;
  // What only rendering needs is not loaded before.
  const { renderAndRecord } = await import('./fresh.js');
  return renderAndRecord(run, sources);
}

/** What a new session's head says of the project. */
const projectFields = ({ dir, config }: Project, recipe: NamedRecipe) => ({
  software: config?.software ?? recipe.software ?? null,
  recipe: recipe.name,
  project_name: basename(dir),
  project_path: dir,
});

/** What draws a command's output has nothing to draw here. */
function refuseTerminal(options: CaptureOptions, recipe: NamedRecipe): void {
  const fed = partsOf(recipe).find((part) => part.run?.some((argv) => argv.includes('{terminal}')));
  if (!fed || options.ran) return;
  throw new PreviewError(
    'usage',
    `the recipe ${fed.name} draws what a command printed, and a capture runs none`,
    `preview run --recipe ${fed.name} -- COMMAND`,
  );
}

/** Records a step with a bundle that shows just this state already; null where none may be reused. */
async function reuse(run: Attempt, sources: SourceFingerprint): Promise<CaptureResult | null> {
  const { options, recipe, session, tools } = run;
  if (options.force || recipe.reuse === false || !sources.complete || !tools.complete) return null;
  const head = readHead(session.dir).value;
  if (!head?.session_id) return null;
  const keyed = keyOf({ ...run, session_dir: session.dir }, sources);
  const found = findBundle(session.root, session.dir, head.session_id, keyed.key);
  const manifest = found && readBundle(join(session.dir, found.bundle_id)).value.manifest;
  if (!found || !manifest) return null;
  if (options.ran || !found.whole) {
    const takeOver = options.takeOver ?? (await import('./taken.js')).takeOver;
    return takeOver(run, sources, keyed, { bundle_id: found.bundle_id, manifest });
  }
  try {
    const recorded = await record(
      session,
      { kind: 'reuse', reuse: found },
      finished(run),
      commitOptions(run),
    );
    // What was masked in the bundle was another command's.
    const warnings = manifest.warnings?.filter((warning) => !warning.startsWith('secrets_masked:'));
    return resultOf(recorded, session.warnings, { ...manifest, warnings });
  } catch (error) {
    // Gone or damaged in the meantime: it is rendered instead.
    const code = error instanceof PreviewError ? error.code : null;
    if (code === 'bundle_gone' || code === 'session_damaged') return null;
    if (code === 'session_not_active' && !options.allowed) return null;
    throw error;
  }
}
