import { basename, join } from 'node:path';
import { type BundleFields, closeStage, openStage, type Sealed } from '../src/bundle.js';
import { findBundle, rememberBundle } from '../src/cachekey.js';
import { type Moment, now } from '../src/clock.js';
import type { CommitOptions } from '../src/commit.js';
import { PreviewError } from '../src/errors.js';
import { fingerprintSources, type SourceFingerprint } from '../src/fingerprint.js';
import { CACHE_NAME } from '../src/layout.js';
import { readBundle, readHead } from '../src/read.js';
import { type OpenSession, openSession, type Recorded, record } from '../src/session.js';
import type { StepInput } from '../src/step.js';
import { type Keyed, keyOf } from './changes.js';
import { findRecipe, loadProject, type NamedRecipe, type Project } from './config.js';
import { detect } from './detect.js';
import { render } from './render.js';
import { type CaptureResult, resultOf } from './result.js';
import { lookUpTools, type Tools } from './tools.js';

export interface CaptureOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  root?: string | undefined;
  session?: string | undefined;
  recipe?: string | undefined;
  /** What the agent ran; without it the capture's own command line, and the reason is `capture`. */
  command?: string | undefined;
  own_command?: string;
  reason?: StepInput['publish_reason'];
  started_at?: string | undefined;
  exit_code?: number | undefined;
  label?: string | undefined;
  note?: string | undefined;
  force?: boolean | undefined;
  lock_timeout_ms?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Told what is being done, for progress. */
  onPhase?: ((phase: string) => void) | undefined;
  /** Takes the session to publish into instead of finding it. */
  into?: OpenSession;
  /** Only these statuses may be published into. */
  allowed?: CommitOptions['allowed'];
}

/** The recipe a capture uses: the one named, the config's default, or what `init` would have found. */
export async function chooseRecipe(
  project: Project,
  name: string | undefined,
  previewRoot: string,
): Promise<NamedRecipe> {
  const { config } = project;
  const chosen =
    name ??
    config?.default_recipe ??
    Object.keys(config?.recipes ?? {})[0] ??
    (await detect(project.dir, previewRoot)).recipe;
  return findRecipe(chosen, config);
}

/**
 * Captures the state of the project as one step.
 * @throws PreviewError for wrong use or config, a locked or newer session, a full disk; a failed render is recorded and returned.
 */
export async function capture(options: CaptureOptions): Promise<CaptureResult> {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  const began = { ...now(), clock: performance.now() };
  const project = loadProject(cwd);
  const place = { cwd, env, root: options.root, session: options.session };
  const session =
    options.into ??
    (await openSession({
      ...place,
      ...(await projectFields(project, options.recipe, place)),
      timeout_ms: options.lock_timeout_ms,
    }));
  const recipe = await chooseRecipe(project, options.recipe, session.root);
  const look = () =>
    fingerprintSources(project.dir, {
      sources: recipe.sources,
      exclude: recipe.exclude,
      previewRoot: session.root,
      cacheDir: join(session.root, CACHE_NAME),
      signal: options.signal,
    });
  options.onPhase?.('looking at the sources');
  const [sources, tools] = await Promise.all([look(), lookUpTools(recipe, project.dir, session.root)]);
  const run: Run = {
    options,
    project,
    session,
    recipe,
    tools,
    look,
    began,
    step: stepInput(options, began, recipe, sources),
  };
  return (await reuse(run, sources)) ?? (await renderAndRecord(run, sources));
}

interface Run {
  options: CaptureOptions;
  project: Project;
  session: OpenSession;
  recipe: NamedRecipe;
  tools: Tools;
  look: () => Promise<SourceFingerprint>;
  began: Moment & { clock: number };
  step: StepInput;
}

async function projectFields(project: Project, recipe: string | undefined, place: { cwd: string }) {
  const software = project.config?.software ?? null;
  return {
    software,
    recipe: recipe ?? project.config?.default_recipe ?? null,
    project_name: basename(project.dir),
    project_path: project.dir,
    cwd: place.cwd,
  };
}

function stepInput(
  options: CaptureOptions,
  began: Moment,
  recipe: NamedRecipe,
  sources: SourceFingerprint,
): StepInput {
  const given = options.command !== undefined;
  const started = given ? (options.started_at ?? null) : began.at;
  return {
    command: options.command ?? options.own_command ?? null,
    command_started_at: started,
    // A command that is reported to us ended before we were started.
    command_finished_at: given ? began.at : null,
    duration_ms: given && started ? Math.max(0, Date.parse(began.at) - Date.parse(started)) : null,
    exit_code: options.exit_code ?? null,
    publish_reason: options.reason ?? (given ? 'mutation' : 'capture'),
    recipe: recipe.name,
    source_fingerprint: sources.fingerprint,
    stage_label: options.label ?? null,
    note: options.note ?? null,
  };
}

/** Records a step with a bundle that shows just this state already; null where none may be reused. */
async function reuse(run: Run, sources: SourceFingerprint): Promise<CaptureResult | null> {
  const { options, recipe, session, tools } = run;
  if (options.force || recipe.reuse === false || !sources.complete || tools.missing) return null;
  const head = readHead(session.dir).value;
  if (!head?.session_id) return null;
  const found = findBundle(
    session.root,
    session.dir,
    head.session_id,
    keyOf({ ...run, session_dir: session.dir }, sources).key,
  );
  const manifest = found && readBundle(join(session.dir, found.bundle_id)).value.manifest;
  if (!found || !manifest) return null;
  try {
    const recorded = await record(
      session,
      { kind: 'reuse', reuse: found },
      finished(run),
      commitOptions(run),
    );
    return resultOf(recorded, session.warnings, manifest);
  } catch (error) {
    // Gone or damaged in the meantime: it is rendered instead.
    const code = error instanceof PreviewError ? error.code : null;
    if (code === 'bundle_gone' || code === 'session_damaged') return null;
    if (code === 'session_not_active' && !options.allowed) return null;
    throw error;
  }
}

function commitOptions({ began, options }: Run): Partial<CommitOptions> {
  return {
    begun: { at: began.at, boot_id: began.boot_id, monotonic_ns: began.monotonic_ns },
    ...(options.allowed ? { allowed: options.allowed } : {}),
  };
}

/** A capture that is its own command ends when it is recorded. */
function finished({ step, began, options }: Run): StepInput {
  if (options.command !== undefined) return step;
  return {
    ...step,
    command_finished_at: new Date().toISOString(),
    duration_ms: performance.now() - began.clock,
  };
}

/** How often a render is begun anew: once where sources changed under it, once where its bundle was removed. */
const TRIES = 3;

async function renderAndRecord(run: Run, first: SourceFingerprint): Promise<CaptureResult> {
  const { options, session, recipe } = run;
  const stage = openStage(session.dir);
  try {
    let sources = first;
    for (let tries = 1; ; tries++) {
      options.onPhase?.(`rendering with ${recipe.name}`);
      const keyed = keyOf({ ...run, session_dir: session.dir }, sources);
      const seal = await render(stage, {
        ...run,
        project: run.project.dir,
        sources,
        changed: keyed.changed,
        fields: bundleFields(run, sources, keyed),
        signal: options.signal,
      });
      const after = await run.look();
      const moved = after.fingerprint !== sources.fingerprint;
      if (moved && tries === 1) {
        sources = after;
        continue;
      }
      const sealed = seal({
        partial: moved
          ? [
              'sources_changed: the sources changed while they were rendered, twice; the picture may show neither state',
            ]
          : [],
      });
      run.step.source_fingerprint = sources.fingerprint;
      options.onPhase?.('recording');
      try {
        const recorded = await record(session, { kind: 'new', sealed }, finished(run), commitOptions(run));
        remember(recorded, sealed, keyed.key, sources.complete && !moved && recipe.reuse !== false);
        return resultOf(recorded, session.warnings, {
          artifacts: stage.artifacts,
          warnings: sealed.warnings,
        });
      } catch (error) {
        if (!(error instanceof PreviewError) || error.code !== 'bundle_gone' || tries >= TRIES) throw error;
      }
    }
  } finally {
    closeStage(stage);
  }
}

function bundleFields(
  run: Run,
  sources: SourceFingerprint,
  { key, since }: Keyed,
): Omit<BundleFields, 'status' | 'headline'> {
  const { project, recipe, step, tools } = run;
  return {
    command: step.command,
    software: recipe.software ?? project.config?.software ?? recipe.name,
    recipe: recipe.name,
    cache_key: key,
    source_fingerprint: sources.fingerprint,
    generator: { backend: tools.backend },
    source: {
      project_name: basename(project.dir),
      project_path: project.dir,
      project_fingerprint: sources.fingerprint,
      files: sources.files.flatMap(({ sha256, ...file }) =>
        sha256 === null ? [] : [{ ...file, sha256: `sha256:${sha256}` }],
      ),
    },
    ...(since ? { context: { since_fingerprint: since } } : {}),
    warnings: sources.problems,
  };
}

function remember(recorded: Recorded, sealed: Sealed, key: string, reusable: boolean): void {
  const { session_id } = recorded.head;
  if (!reusable || sealed.fields.status === 'error' || !session_id) return;
  rememberBundle(recorded.session.root, session_id, key, {
    bundle_id: recorded.step.bundle_id,
    manifest_sha256: recorded.step.manifest_sha256,
  });
}
