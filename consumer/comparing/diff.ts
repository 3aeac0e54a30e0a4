// `previews diff`: two bundles compared; nothing is recorded.
import { basename } from 'node:path';
import type { Box } from '../../src/compare/boxes.js';
import { compareFacts, compareFiles, type FactChange, type FileChanges } from '../../src/compare/facts.js';
import { changedTiles, joinedTiles, type Tiled, tiledOf } from '../../src/compare/tiles.js';
import { inside } from '../../src/inside.js';
import type { Place } from '../../src/layout.js';
import { type Side, sideOf } from '../../src/side.js';

/** A limit of changed pixels: a share of the picture, or a number. */
export interface Limit {
  value: number;
  unit: '%' | 'px';
}

export interface DiffOptions {
  recipe?: string | undefined;
  threshold?: number | undefined;
  /** False: by tiles alone. */
  pixels: boolean;
  failOver?: Limit | undefined;
}

interface ToldSide {
  name: string;
  session_dir: string | null;
  bundle_dir: string;
  status: string;
  picture: string | null;
}

export interface DiffResult {
  before: ToldSide;
  after: ToldSide;
  /** What the pixels are exact to: with `tile` whole tiles count, so it is the most that can have changed. */
  exact: 'pixel' | 'tile' | null;
  /** Null where there are not two pictures that can be compared; `warnings` says why. */
  changed_pixels: number | null;
  changed_ratio: number | null;
  boxes: Box[];
  /** All facts of both, the ones that changed first. */
  facts: FactChange[];
  files: FileChanges;
  warnings: string[];
  /** Whether more changed than `--fail-over` allows; null without it. */
  over: boolean | null;
  /** The page's address of the comparison, behind that of the page; null for steps of two sessions. */
  link: string | null;
}

type Pictures = Pick<DiffResult, 'exact' | 'changed_pixels' | 'changed_ratio' | 'boxes' | 'warnings'>;
const NO_PIXELS = { exact: null, changed_pixels: null, changed_ratio: null, boxes: [] };

/** @throws PreviewError `not_found`, `session_damaged`, `bundle_damaged`, `renderer_failed`. */
export async function diff(refs: [string, string], place: Place, options: DiffOptions): Promise<DiffResult> {
  const [before, after] = refs.map((ref) => sideOf(ref, place, options.recipe)) as [Side, Side];
  const told = [before, after].map((side) => toldSide(side, before.session === after.session));
  const names = told.map(({ name }) => name) as [string, string];
  const pictures = await comparedPictures([before, after], names, options);
  return {
    before: told[0]!,
    after: told[1]!,
    ...pictures,
    facts: compareFacts(before.summary?.facts ?? {}, after.summary?.facts ?? {}),
    files: compareFiles(before.manifest.artifacts, after.manifest.artifacts),
    warnings: [...recipesDiffer(before, after, names), ...pictures.warnings],
    over: options.failOver ? isOver(pictures, options.failOver, before, after) : null,
    link: linkOf(before, after),
  };
}

function toldSide(side: Side, oneSession: boolean): ToldSide {
  const { ref, session, dir, step, manifest } = side;
  const inSession = step?.step_id ?? basename(dir);
  return {
    name: session === null ? ref : oneSession ? inSession : `${basename(session)}/${inSession}`,
    session_dir: session,
    bundle_dir: dir,
    status: manifest.status,
    picture: pictureOf(side),
  };
}

const pictureOf = ({ dir, hero }: Side): string | null => (hero ? inside(dir, hero.path) : null);

async function comparedPictures(
  sides: [Side, Side],
  names: [string, string],
  options: DiffOptions,
): Promise<Pictures> {
  const [before, after] = sides;
  const paths = sides.map(pictureOf);
  if (paths.includes(null))
    return {
      ...NO_PIXELS,
      warnings: sides.flatMap((side, at) => (paths[at] ? [] : [pictureless(side, names[at]!)])),
    };
  const [a, b] = sides.map(({ manifest }) => tiledOf(manifest.metrics)) as [Tiled | null, Tiled | null];
  const hash = before.hero?.sha256;
  if (hash !== undefined && hash === after.hero?.sha256)
    return { exact: 'pixel', changed_pixels: 0, changed_ratio: 0, boxes: [], warnings: [] };
  if (!options.pixels) {
    if (a !== null && b !== null) return byTiles(a, b);
    const lacking = names.filter((_, at) => [a, b][at] === null).join(' and ');
    return {
      ...NO_PIXELS,
      warnings: [`no_tiles: no tiles of ${lacking} are known; without --no-pixels the pictures are decoded`],
    };
  }
  const { comparePictures } = await import('./askcompare.js');
  const report = await comparePictures(paths[0]!, paths[1]!, options.threshold);
  if ('unread' in report)
    return {
      ...NO_PIXELS,
      warnings: Object.entries(report.unread).map(
        ([side, why]) =>
          `picture_unread: the picture of ${names[side === 'before' ? 0 : 1]} could not be compared: ${why}`,
      ),
    };
  return {
    exact: 'pixel',
    changed_pixels: report.count,
    changed_ratio: rounded(report.ratio),
    boxes: report.boxes,
    warnings: report.padded ? [sizesDiffer(report.before, report.after)] : [],
  };
}

function byTiles(a: Tiled, b: Tiled): Pictures {
  const tiles = changedTiles(a, b);
  const pixels = tiles.reduce((sum, { width, height }) => sum + width * height, 0);
  const area = Math.max(a.width, b.width) * Math.max(a.height, b.height);
  return {
    exact: 'tile',
    changed_pixels: pixels,
    changed_ratio: rounded(pixels / area),
    boxes: joinedTiles(tiles).map((each) => ({ ...each, pixels: each.width * each.height })),
    warnings: a.width === b.width && a.height === b.height ? [] : [sizesDiffer(a, b)],
  };
}

/** As `preview diff` says it: six digits, but never 0 for what is more. */
const rounded = (ratio: number): number => Math.round(ratio * 1e6) / 1e6 || ratio;

type Size = { width: number; height: number };
const sizesDiffer = (a: Size, b: Size): string =>
  `sizes_differ: the pictures are ${a.width} × ${a.height} and ${b.width} × ${b.height} px; what only one of them has counts as changed`;

const pictureless = ({ manifest }: Side, name: string): string =>
  `no_picture: ${name} has none${manifest.status === 'error' ? ', for its render failed' : ''}; facts and files are compared all the same`;

function recipesDiffer(before: Side, after: Side, names: [string, string]): string[] {
  const [old, fresh] = [before.manifest.recipe ?? null, after.manifest.recipe ?? null];
  if (old === fresh) return [];
  return [
    `recipes_differ: ${names[0]} was made with ${old ?? 'no recipe'}, ${names[1]} with ${fresh ?? 'no recipe'}`,
  ];
}

/** What cannot be told counts as over, but where neither was ever to have a picture: a gate is not passed by failing. */
function isOver(
  { changed_pixels, changed_ratio }: Pictures,
  { value, unit }: Limit,
  a: Side,
  b: Side,
): boolean {
  if (changed_pixels === null || changed_ratio === null)
    return [a, b].some(({ hero, manifest }) => hero !== null || manifest.status === 'error');
  return unit === 'px' ? changed_pixels > value : changed_ratio * 100 > value;
}

function linkOf(before: Side, after: Side): string | null {
  if (after.session === null || before.session !== after.session || !before.step || !after.step) return null;
  const key = encodeURIComponent(basename(after.session));
  return `#/${key}/${after.step.step_id}?vs=${before.step.step_id}&mode=swipe`;
}
