// What a capture's manifest says of its project, sources and recipe, however its pictures come about.
import { basename } from 'node:path';
import type { BundleFields } from '../src/bundle.js';
import type { SourceFingerprint } from '../src/fingerprint.js';
import type { Attempt } from './attempt.js';
import type { Keyed } from './changes.js';

/** The fields of a bundle that are known before anything is rendered. */
export function bundleFields(
  run: Attempt,
  sources: SourceFingerprint,
  { key, since }: Keyed,
): Omit<BundleFields, 'status' | 'headline'> {
  const { project, recipe, step } = run;
  return {
    command: step.command,
    software: recipe.software ?? project.config?.software ?? recipe.name,
    recipe: recipe.name,
    cache_key: key,
    source_fingerprint: sources.fingerprint,
    source: {
      project_name: basename(project.dir),
      project_path: project.dir,
      project_fingerprint: sources.fingerprint,
      files: sources.files.flatMap(({ sha256, ...file }) =>
        sha256 === null ? [] : [{ ...file, sha256: `sha256:${sha256}` }],
      ),
    },
    ...(since ? { context: { since_fingerprint: since } } : {}),
    warnings: sources.problems
      .filter((problem) => !isOpenGlob(problem) || sources.files.length === 0)
      .map((problem) => `sources: ${problem}`),
  };
}

/** A wildcard that matches nothing yet is no news where another one matches; a file named outright is. */
const isOpenGlob = (problem: string) => /^no file matches the source .*[*?{[]/.test(problem);
