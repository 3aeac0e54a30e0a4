// `capture --from DIR`: what another program rendered already becomes a bundle. The folder is a preview-bundle/v1 as
// harnesses make them, or holds `render.*`, `views/*` and other files, and may hold a report as renderers write it.
import { existsSync, lstatSync, utimesSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { addArtifact } from '../src/artifact.js';
import { type BundleFields, sealStage } from '../src/bundle.js';
import { monotonicMs, now } from '../src/clock.js';
import type { Recipe } from '../src/config.js';
import { copyBytes, makeDir, statOf } from '../src/disk.js';
import { PreviewError } from '../src/errors.js';
import { HEAD_NAME, MANIFEST_NAME, workingDirectory } from '../src/layout.js';
import { inside, readBundle } from '../src/read.js';
import { type Artifact, ROLES } from '../src/schema.js';
import { type OpenSession, openSession, record } from '../src/session.js';
import { closeStage, openStage, type Stage } from '../src/stage.js';
import { type CaptureOptions, finished, stepInput } from './attempt.js';
import { collect, filesIn } from './collect.js';
import { loadProject } from './config.js';
import { isPlainFile } from './facts.js';
import { finishPicture } from './finish.js';
import { type CaptureResult, resultOf } from './result.js';

/** A folder of more files than this is hardly one bundle (I10). */
const MAX_FILES = 200;

/** How the files of a plain folder are kept. Without a `render.*` the newest picture is the hero. */
const PLAIN: Recipe = {
  artifacts: [
    { path: 'render.*', role: 'hero' },
    { path: 'thumb.*', role: 'thumb' },
    { path: '{views/**,*.{png,jpg,jpeg,webp,gif,svg}}', role: 'gallery' },
    { path: '**/*.{mp4,webm,mov}', role: 'preview-clip' },
    { path: '**/*.cast', role: 'terminal' },
    { path: '**/*.log', role: 'log' },
    { path: '**/*', role: 'render-output', limit: MAX_FILES },
  ],
};

type Fields = Omit<BundleFields, 'command'>;

/**
 * Publishes the files of a folder as one step; the folder stays as it is. The picture is finished as a rendered one is.
 * @throws PreviewError `usage` for what is no folder or holds nothing; as `capture` otherwise.
 */
export async function captureFrom(from: string, options: CaptureOptions): Promise<CaptureResult> {
  const cwd = options.cwd ?? workingDirectory();
  const dir = resolve(cwd, from);
  const began = { ...now(), clock: monotonicMs() };
  const paths = filesOf(dir);
  const project = loadProject(cwd);
  const reading = existsSync(join(dir, MANIFEST_NAME)) ? readBundle(dir) : null;
  const bundle = reading?.value ?? null;
  const manifest = bundle?.manifest ?? null;
  if (reading && !manifest)
    throw new PreviewError(
      'usage',
      `${join(dir, MANIFEST_NAME)} is no manifest of a bundle: ${reading.problems[0]?.detail ?? 'it cannot be read'}`,
      'mend it, or take it away to have the files taken as they are',
    );
  const software = manifest?.software ?? project.config?.software ?? basename(dir);
  const recipe = manifest?.recipe ?? null;
  const session = await openSession({
    cwd,
    env: options.env ?? process.env,
    root: options.root,
    session: options.session,
    software,
    recipe: recipe ?? undefined,
    project_name: basename(project.dir),
    project_path: project.dir,
    timeout_ms: options.lock_timeout_ms,
    onWait: (owner) => options.onPhase?.(`waiting for the session: ${owner}`),
  });
  const stage = openStage(session.dir, options);
  try {
    options.onPhase?.('taking the files over');
    const fields = manifest
      ? takeBundle(stage, dir, manifest.artifacts, bundle!)
      : takeFolder(stage, dir, paths, project.dir);
    const told = manifest?.source?.['project_fingerprint'];
    const source_fingerprint = typeof told === 'string' ? told : null;
    const picture = await finishPicture(stage, {
      project: project.dir,
      session,
      recipe: { name: recipe ?? '' },
      sources: { fingerprint: source_fingerprint ?? '' },
    });
    const sealed = sealStage(stage, {
      ...fields,
      command: options.command ?? options.own_command ?? null,
      software,
      recipe,
      source_fingerprint,
      warnings: [...(fields.warnings ?? []), ...picture.warnings],
      metrics: { ...fields.metrics, ...picture.metrics },
    });
    const step = stepInput(options, began, recipe, source_fingerprint);
    const recorded = await record(session, { kind: 'new', sealed }, finished({ step, began, options }), {
      begun: began,
      redact: options.redact,
    });
    return resultOf(recorded, (session as OpenSession).warnings, {
      artifacts: stage.artifacts,
      warnings: sealed.warnings,
    });
  } finally {
    closeStage(stage);
  }
}

function filesOf(dir: string): string[] {
  const usage = (what: string, hint: string) => new PreviewError('usage', `${dir} ${what}`, hint);
  if (!statOf(dir)?.isDirectory())
    throw usage('is no folder', 'expected a folder with render.png, or a bundle with a manifest.json');
  const paths = filesIn(dir).filter((path) => isPlainFile(dir, path));
  if (paths.length === 0)
    throw usage('holds no file', 'let the program write its picture there first; links are not followed');
  const recorded = paths.find((path) => path.split('/').at(-1) === HEAD_NAME);
  if (recorded !== undefined)
    throw usage(`holds a recording (${recorded})`, 'name the folder that the program writes its pictures to');
  if (paths.length > MAX_FILES)
    throw usage(
      `holds ${paths.length} files, over the ${MAX_FILES} of a bundle`,
      'name the folder of one picture',
    );
  return paths;
}

/** The artifacts that another program's manifest names, with its own words about them. */
function takeBundle(
  stage: Stage,
  dir: string,
  artifacts: readonly Artifact[],
  { manifest, summary }: ReturnType<typeof readBundle>['value'],
): Fields {
  const warnings = [...(manifest?.warnings ?? [])];
  for (const artifact of artifacts.slice(0, MAX_FILES)) {
    const file = inside(dir, artifact.path);
    if (file === null || !isPlainFile(dir, artifact.path)) {
      warnings.push(`artifact_missing: ${artifact.path} is named by the manifest and not there`);
      continue;
    }
    const known = (ROLES as readonly string[]).includes(artifact.role);
    addArtifact(stage, {
      file,
      role: known ? artifact.role : 'render-output',
      name: basename(artifact.path),
      label: artifact.label ?? artifact.path,
      ...(artifact.view ? { view: artifact.view } : {}),
      ...(artifact.duration_s == null ? {} : { duration_s: artifact.duration_s }),
    });
  }
  const status = manifest?.status;
  const missing = warnings.some((warning) => warning.startsWith('artifact_missing:'));
  return {
    status: status === 'error' || (status === 'ok' && !missing) ? status : 'partial',
    headline: summary?.headline ?? basename(dir),
    facts: summary?.facts ?? {},
    warnings: [...new Set([...warnings, ...(summary?.warnings ?? [])])],
    next_actions: summary?.next_actions ?? [],
    generator: manifest?.generator ?? {},
    ...(manifest?.context ? { context: manifest.context } : {}),
    ...(manifest?.metrics ? { metrics: manifest.metrics } : {}),
    ...(manifest?.labels ? { labels: manifest.labels } : {}),
  };
}

/** All files of a folder, copied before anything of it is moved or taken away. */
function takeFolder(stage: Stage, dir: string, paths: readonly string[], project: string): Fields {
  for (const path of paths) {
    const target = join(stage.out, path);
    makeDir(dirname(target));
    copyBytes(join(dir, path), target);
    const { atime, mtime } = lstatSync(join(dir, path));
    // The newest picture is the hero where none is named.
    utimesSync(target, atime, mtime);
  }
  const unit = { source: '', name: '01-from', prefix: '' };
  const { absent: _, ...found } = collect(stage, PLAIN, {
    project,
    sources: [],
    changed: new Set(),
    said: [{ unit, stdout: '', stderr: '' }],
    later: false,
  });
  const count = stage.artifacts.length;
  return {
    ...found,
    status: found.warnings.some((warning) => warning.startsWith('added_')) ? 'partial' : 'ok',
    headline: found.headline ?? `${basename(dir)}: ${count} ${count === 1 ? 'file' : 'files'}`,
    generator: { command: ['--from', basename(dir)], backend: found.backend },
  };
}
