// The fingerprint of a recipe's sources: one SHA-256 over every file's path, mode and content, never over
// times. The stat cache saves reading what cannot have changed; it never changes the result.
import { hash } from 'node:crypto';
import { join, relative } from 'node:path';
import { turn } from './clock.js';
import { fewProblems, insideOf, listNames, type SourceOptions, sourceFilter } from './files.js';
import { FILES_A_TURN, hideBehindLinks, kindAt, readRow, statAll } from './filestates.js';
import {
  bytesAt,
  type CachedTable,
  copyRow,
  emptyTable,
  HASH_BYTES,
  KIND,
  readCache,
  sameStat,
  type Table,
  writeCache,
} from './statcache.js';
import { neutralise } from './text.js';

export interface FileEntry {
  path: string;
  /** Lower-case hex; of a link's target text; null where it could not be read. */
  sha256: string | null;
  /** Bytes hashed. */
  bytes: number;
  mode: 'file' | 'exec' | 'link' | 'unreadable';
}

export interface Fingerprint {
  /** `sha256:` and 64 hex digits. */
  fingerprint: string;
  /** What it covers, sorted by path. Built when first asked for. */
  readonly files: FileEntry[];
  problems: string[];
  /** False where something could not be listed or read: equal fingerprints then prove nothing, so reuse nothing. */
  complete: boolean;
}

export interface SourceFingerprint extends Fingerprint {
  from: 'git' | 'walk';
}

export interface FingerprintOptions {
  /** The stat cache's file, in a folder that exists or whose parent does. Without it every file is read. */
  cachePath?: string | undefined;
  /** The wall clock, in ms. */
  now?: (() => number) | undefined;
  signal?: AbortSignal | undefined;
}

export interface SourceFingerprintOptions extends SourceOptions {
  /** The preview root's `.cache`: one stat cache is kept there for each project and choice of sources. */
  cacheDir?: string | undefined;
  now?: (() => number) | undefined;
}

/**
 * The fingerprint of `files` (relative to `projectDir`, `/`-separated, any order). A file that is not there
 * is left out with a problem; one that cannot be read counts as `unreadable`, with a problem.
 *
 * It is SHA-256 over one record a file, sorted by path (code units): `MODE SP HEX SP PATH NUL`, with MODE
 * `file`, `exec` (the owner may execute it), `link` or `unreadable`, and HEX the SHA-256 of the content (`-`
 * where unreadable).
 */
export async function fingerprint(
  projectDir: string,
  files: readonly string[],
  options: FingerprintOptions = {},
): Promise<Fingerprint> {
  const { cachePath, signal } = options;
  const startedAt = (options.now ?? Date.now)();
  const paths = [...new Set(files)].sort();
  const cached = cachePath === undefined ? undefined : readCache(cachePath, startedAt);
  const states = await statAll(projectDir, paths, signal);
  const { table, ...found } = await settle({
    projectDir,
    paths,
    states,
    cached,
    cachePath,
    startedAt,
    noteAbsent: true,
    signal,
  });
  return resultOf(table, { problems: fewProblems(found.problems), complete: found.complete });
}

/**
 * Lists the sources and fingerprints them. With a cache git is asked only where it could list other names
 * than last time; while it does, what was there last time is looked at.
 */
export async function fingerprintSources(
  projectDir: string,
  options: SourceFingerprintOptions = {},
): Promise<SourceFingerprint> {
  const startedAt = (options.now ?? Date.now)();
  const { signal } = options;
  const cachePath =
    options.cacheDir === undefined ? undefined : cacheFile(projectDir, options.cacheDir, options);
  // Before git starts: a fork makes every page that is written after it cost a fault.
  const cached = cachePath === undefined ? undefined : readCache(cachePath, startedAt);
  const witness = cachePath === undefined ? undefined : await witnessOf(projectDir, options, cached);
  const isAsBefore = cached !== undefined && witness !== undefined && cached.listing === witness;
  const [list, guess] = await Promise.all([
    isAsBefore ? { ...NO_NEWS, files: cached.paths } : listNames(projectDir, options),
    // A walk is over before this begins, and knows better what to look at.
    cached && !options.sources ? statAll(projectDir, cached.paths, signal) : undefined,
  ]);
  const paths = list.files;
  const guessed = cached && guess ? { paths: cached.paths, states: guess } : undefined;
  const states =
    guessed && samePaths(guessed.paths, paths)
      ? guessed.states
      : await statAll(projectDir, paths, signal, guessed);
  let listing = isAsBefore ? witness : undefined;
  if (!isAsBefore && witness !== undefined && list.from === 'git' && list.problems.length === 0) {
    // What changed while git listed may be in the list or not: then the next run asks again.
    const after = await witnessOf(projectDir, options, { paths });
    if (after === witness) listing = witness;
  }
  // git lists deleted files until the deletion is committed: no news. A walk has just seen its files.
  const noteAbsent = list.from === 'walk';
  const { table, ...found } = await settle({
    projectDir,
    paths,
    states,
    cached,
    cachePath,
    listing,
    startedAt,
    noteAbsent,
    signal,
  });
  return resultOf(table, {
    from: list.from,
    problems: fewProblems([...list.problems, ...found.problems]),
    complete: list.complete && found.complete,
  });
}

/** A listing is only remembered where it was whole. */
const NO_NEWS = { from: 'git', problems: [] as string[], complete: true } as const;
/** Where every file has to be read anyway, looking at this many names costs little. */
const FIRST_LOOK = 50_000;

/** The witness of git's listing, where git would be asked. Twice the names of last time are looked at, at most. */
async function witnessOf(
  projectDir: string,
  options: SourceOptions,
  last: { paths: readonly string[] } | undefined,
): Promise<string | undefined> {
  if (options.sources || options.limit !== undefined) return undefined;
  // Loaded where no globs say what the sources are.
  const { gitWitness } = await import('./gitwitness.js');
  const limit = last ? 2 * last.paths.length + 1_000 : FIRST_LOOK;
  return gitWitness(projectDir, sourceFilter(projectDir, options.exclude ?? [], options.previewRoot), limit);
}

/** The paths of `now` that are new, or not as they were in `before`. */
export function changedFiles(before: readonly FileEntry[], now: readonly FileEntry[]): string[] {
  const was = new Map(before.map((entry) => [entry.path, entry]));
  const isSame = (a: FileEntry | undefined, b: FileEntry): boolean =>
    a?.sha256 === b.sha256 && a.mode === b.mode;
  return now.filter((entry) => !isSame(was.get(entry.path), entry)).map((entry) => entry.path);
}

/** One cache a project and choice of sources: two recipes that took turns in one would forget each other's files. */
function cacheFile(
  projectDir: string,
  cacheDir: string,
  { sources, exclude, previewRoot }: SourceOptions,
): string {
  const root = previewRoot === undefined ? '' : insideOf(projectDir, previewRoot);
  const key = JSON.stringify([relative(cacheDir, projectDir), sources ?? null, exclude ?? [], root]);
  return join(cacheDir, `sources-${hash('sha256', key).slice(0, 16)}`);
}

function samePaths(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((path, i) => path === b[i]);
}

interface Settling {
  projectDir: string;
  /** Sorted. */
  paths: string[];
  /** `lstat` of each. */
  states: Float64Array;
  cached: CachedTable | undefined;
  cachePath: string | undefined;
  /** The witness to keep beside the files. */
  listing?: string | undefined;
  /** No file was looked at before this (ms). */
  startedAt: number;
  /** Whether a file that is not there is worth a word. */
  noteAbsent: boolean;
  signal: AbortSignal | undefined;
}

/** Takes from the cache what is as it was, reads the rest, and remembers it. */
async function settle(job: Settling): Promise<{ table: CachedTable; problems: string[]; complete: boolean }> {
  const { projectDir, paths, states, cached, signal } = job;
  hideBehindLinks(paths, states);
  const problems: string[] = [];
  const sameList = cached !== undefined && samePaths(cached.paths, paths);
  const table: Table = sameList ? cached : carryOver(cached, paths);
  const fresh = new Uint8Array(paths.length);
  let changed = !sameList || cached.listing !== job.listing;
  let complete = true;
  for (let row = 0; row < paths.length; row++) {
    if (kindAt(states, row) === KIND.absent) {
      changed ||= table.kinds[row] !== KIND.absent;
      table.kinds[row] = KIND.absent;
      if (job.noteAbsent)
        problems.push(`${neutralise(paths[row]!)} is not there (any more) and was left out`);
      continue;
    }
    if (table.kinds[row] !== KIND.absent && sameStat(table.stats, row, states, row)) continue;
    changed = true;
    fresh[row] = 1;
    const problem = await readRow(projectDir, table, row, kindAt(states, row) === KIND.link, states, signal);
    if (problem !== undefined) problems.push(problem);
    if (table.kinds[row] === KIND.unreadable) complete = false;
    if (row % FILES_A_TURN === 0) await turn();
    signal?.throwIfAborted();
  }
  if (sameList && !changed) return { table: cached, problems, complete };
  const settled: CachedTable = { ...table, fingerprint: fingerprintOf(table), listing: job.listing };
  if (job.cachePath !== undefined) writeCache(job.cachePath, settled, fresh, job.startedAt);
  return { table: settled, problems, complete };
}

/** A table for `paths` with the rows that `cached` has of them. */
function carryOver(cached: CachedTable | undefined, paths: string[]): Table {
  const table = emptyTable(paths);
  if (!cached) return table;
  const rows = new Map(cached.paths.map((path, row) => [path, row]));
  for (const [row, path] of paths.entries()) {
    const then = rows.get(path);
    if (then !== undefined) copyRow(cached, then, table, row);
  }
  return table;
}

const MODES = ['absent', 'file', 'exec', 'link', 'unreadable'] as const;

/** `use` for each row that is a source, in order; `hex` is null where it could not be read. */
function eachSource(
  table: Table,
  use: (row: number, mode: FileEntry['mode'], hex: string | null) => void,
): void {
  const hashes = table.hashes.toString('hex');
  for (let row = 0; row < table.paths.length; row++) {
    const mode = MODES[table.kinds[row]!];
    if (mode === undefined || mode === 'absent') continue;
    use(
      row,
      mode,
      mode === 'unreadable' ? null : hashes.slice(row * 2 * HASH_BYTES, (row + 1) * 2 * HASH_BYTES),
    );
  }
}

function fingerprintOf(table: Table): string {
  const records: string[] = [];
  eachSource(table, (row, mode, hex) => records.push(`${mode} ${hex ?? '-'} ${table.paths[row]}\0`));
  return `sha256:${hash('sha256', records.join(''))}`;
}

/** What is handed out: `rest` and the table's fingerprint and, once asked for, its files. */
function resultOf<T>(table: CachedTable, rest: T): T & Pick<Fingerprint, 'fingerprint' | 'files'> {
  let entries: FileEntry[] | undefined;
  return {
    ...rest,
    fingerprint: table.fingerprint,
    get files() {
      entries ??= entriesOf(table);
      return entries;
    },
  };
}

function entriesOf(table: Table): FileEntry[] {
  const entries: FileEntry[] = [];
  eachSource(table, (row, mode, sha256) => {
    entries.push({ path: table.paths[row]!, sha256, bytes: bytesAt(table, row), mode });
  });
  return entries;
}
