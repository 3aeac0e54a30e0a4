// How long listing and fingerprinting 10,000 unchanged files takes, against `git status` in the same tree
// in the same run; and five files named by globs, which is what most projects have.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprintSources } from '../../src/fingerprint.js';

const FOLDERS = 200;
const FILES_EACH = 50;
const RUNS = 15;

export interface FingerprintBench {
  files: number;
  git_status_ms: number;
  /** git lists, every content hash comes from the stat cache. */
  git_ms: number;
  walk_ms: number;
  /** Nothing cached: every file is read. */
  cold_ms: number;
  /** One of the files was written since. */
  one_changed_ms: number;
  five_files_ms: number;
  /** Five files that git lists. */
  five_files_git_ms: number;
  git_ratio: number;
  walk_ratio: number;
}

/** Makes the tree in `dir` (an empty folder) and measures: medians in ms, and ratios to whole `git status`. */
export async function benchFingerprint(dir: string): Promise<FingerprintBench> {
  const tree = join(dir, 'tree');
  const small = join(dir, 'small');
  makeTree(tree, FOLDERS, FILES_EACH);
  makeTree(small, 1, 5);
  for (const folder of [tree, small]) {
    git(folder, ['init', '-q']);
    git(folder, ['add', '.']);
    const person = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
    git(folder, [...person, '-c', 'commit.gpgsign=false', 'commit', '-q', '-m', 'tree']);
  }
  // The files were written just now. Seen from later they are old, as they are when a person works.
  const now = () => Date.now() + 60_000;
  const cacheDir = join(tree, '.preview', '.cache');
  const runs: Record<string, () => unknown> = {
    status: () => git(tree, ['status', '--porcelain']),
    git: () => fingerprintSources(tree, { cacheDir, now }),
    walk: () => fingerprintSources(tree, { cacheDir, now, sources: ['**'] }),
    five: () =>
      fingerprintSources(small, {
        cacheDir: join(small, '.preview', '.cache'),
        now,
        sources: ['folder_0/*.scad'],
      }),
    fiveGit: () => fingerprintSources(small, { cacheDir: join(small, '.preview', '.cache'), now }),
    cold: () => fingerprintSources(tree),
  };
  const times: Record<string, number[]> = {};
  const measure = async (name: string, run: () => unknown) => {
    const from = performance.now();
    await run();
    times[name] = [...(times[name] ?? []), performance.now() - from];
  };
  for (const run of Object.values(runs)) await run();
  // Taking turns, so that a busy moment of the machine falls on all alike.
  for (let i = 0; i < RUNS; i++) for (const [name, run] of Object.entries(runs)) await measure(name, run);
  for (let i = 0; i < RUNS; i++) {
    writeFileSync(join(tree, 'folder_7', 'part_7.scad'), `sphere(${i});\n`);
    await measure('changed', runs.git!);
  }
  const ms = (name: string) => median(times[name]!);
  return {
    files: FOLDERS * FILES_EACH,
    git_status_ms: round(ms('status')),
    git_ms: round(ms('git')),
    walk_ms: round(ms('walk')),
    cold_ms: round(ms('cold')),
    one_changed_ms: round(ms('changed')),
    five_files_ms: round(ms('five')),
    five_files_git_ms: round(ms('fiveGit')),
    git_ratio: round(ms('git') / ms('status')),
    walk_ratio: round(ms('walk') / ms('status')),
  };
}

function makeTree(dir: string, folders: number, filesEach: number): void {
  mkdirSync(join(dir, '.preview'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, '.preview', '.gitignore'), '*\n');
  for (let folder = 0; folder < folders; folder++) {
    mkdirSync(join(dir, `folder_${folder}`));
    for (let file = 0; file < filesEach; file++) {
      writeFileSync(
        join(dir, `folder_${folder}`, `part_${file}.scad`),
        `cube(${folder * filesEach + file});\n`,
      );
    }
  }
}

function git(cwd: string, args: string[]): void {
  const done = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const round = (value: number): number => Math.round(value * 100) / 100;
