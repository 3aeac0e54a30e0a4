// The hero's last touches: a child looks at it, makes its thumbnail and, where it is too large, a smaller copy.
// The picture is untrusted, so it is never decoded in this process.
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { addArtifact } from '../src/artifact.js';
import { readJsonObject } from '../src/json.js';
import type { Artifact } from '../src/schema.js';
import type { Stage } from '../src/stage.js';
import { neutralise } from '../src/text.js';
import { LIMITS } from '../src/version.js';
import { type Waiting, waitingRenderer } from './askrenderer.js';
import { GLANCE_NAME, type Glance } from './render/glance.js';
import { type Before, glanceOf, metricsOf, pictureBefore, remarksOn } from './seen.js';

export interface FinishInput {
  project: string;
  session: { dir: string };
  recipe: { name: string };
  sources: { fingerprint: string };
  signal?: AbortSignal | undefined;
}

export interface Finished {
  warnings: string[];
  metrics: Record<string, unknown>;
}

/** What finishes a picture: it can be begun while the picture is still being made. */
export const finisherFor = ({ project, signal }: Pick<FinishInput, 'project' | 'signal'>): Waiting =>
  waitingRenderer('finish', { cwd: project, signal });

/** Finishes the stage's hero, where it is an image, with what may wait for it already; what it says of the picture becomes warnings and metrics. */
export async function finishPicture(
  stage: Stage,
  input: FinishInput,
  finisher: Waiting = finisherFor(input),
): Promise<Finished> {
  const hero = stage.artifacts.find((artifact) => artifact.role === 'hero');
  if (hero?.kind !== 'image') return { warnings: [], metrics: {} };
  const large = Math.max(hero.width ?? 0, hero.height ?? 0) > LIMITS.heroPixels;
  const thumbed = stage.artifacts.some((artifact) => artifact.role === 'thumb');
  const told = large || !thumbed ? null : ownGlance(stage, hero);
  if (told) return seen(told, [], input, pictureBefore(input));
  const args = [
    '--in',
    join(stage.bundle, hero.path),
    '--out',
    stage.out,
    ...(thumbed ? ['--no-thumb'] : []),
  ];
  const asked = finisher.ask(args);
  // Read while the child is at work.
  const before = pictureBefore(input);
  const { report, failure } = await asked;
  const reason =
    failure ?? (typeof report['reason'] === 'string' ? report['reason'] : 'its renderer said nothing');
  const warnings: string[] = [];
  const thumb = join(stage.out, 'thumb.png');
  const scaled = join(stage.out, 'scaled.png');
  if (!thumbed && existsSync(thumb))
    addArtifact(stage, { file: thumb, move: true, role: 'thumb', name: 'thumb.png', label: 'Thumbnail' });
  else if (!thumbed) warnings.push(`thumb_missing: no thumbnail could be made: ${neutralise(reason)}`);
  if (large && existsSync(scaled)) replaceHero(stage, hero, scaled);
  else if (large)
    warnings.push(
      `hero_large: the picture is ${hero.width} × ${hero.height} px, over the ${LIMITS.heroPixels} that stay cheap to look at`,
    );
  const glance = glanceOf(report['glance']);
  if (glance) return seen(glance, warnings, input, before);
  // Said once: a missing thumbnail has the same reason.
  if (thumbed) warnings.push(`picture_unread: the picture could not be looked at: ${neutralise(reason)}`);
  return { warnings, metrics: {} };
}

const seen = (glance: Glance, warnings: string[], input: FinishInput, before: Before | null): Finished => ({
  warnings: [...warnings, ...remarksOn(glance, input, before)],
  metrics: metricsOf(glance),
});

/** What a renderer of ours has told of this very hero while it had its pixels at hand: a child less. */
function ownGlance(stage: Stage, hero: Artifact): Glance | null {
  const path = join(stage.out, GLANCE_NAME);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > LIMITS.logBytes) return null;
  const told = readJsonObject(path, GLANCE_NAME).value;
  return told && told['sha256'] === hero.sha256 ? glanceOf(told['glance']) : null;
}

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
