// Real recordings of other programs, which lie beside the repository in ../shared/samples; PREVIEW_SAMPLES names another
// place. A worktree lies deeper, so every ancestor is looked at.
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { REPOSITORY } from './cli.js';
import { temporary } from './project.js';

/** The folder of a program's samples, or null where they are not on this machine. */
export function samplesOf(program: string): string | null {
  const named = process.env['PREVIEW_SAMPLES'];
  if (named !== undefined) return existsSync(join(named, program)) ? join(named, program) : null;
  for (let here = dirname(REPOSITORY.replace(/\/$/, '')); ; here = dirname(here)) {
    const path = join(here, 'shared/samples', program);
    if (existsSync(path)) return path;
    if (dirname(here) === here) return null;
  }
}

/** A copy of a sample that a test may change; a link that was stored as a file holding its target is a link again. */
export function copySample(sample: string): string {
  const copy = join(temporary(), 'copy');
  cpSync(sample, copy, { recursive: true, verbatimSymlinks: true });
  for (const name of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    const path = join(copy, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) chmodSync(path, 0o755);
    if (!stat?.isFile()) continue;
    chmodSync(path, 0o644);
    if (!path.endsWith('/current')) continue;
    const target = readFileSync(path, 'utf8').trim();
    rmSync(path);
    symlinkSync(target, path);
  }
  return copy;
}
