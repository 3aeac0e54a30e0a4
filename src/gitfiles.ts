// What git calls the work tree's files: tracked, and untracked but not ignored. One `git ls-files`, which
// never writes the index, runs no hook, asks nobody and fetches nothing. Whether a name still exists, and
// what is in it, is asked of the file system by others: git's own idea of "changed" can be hidden by
// filters, assume-unchanged and skip-worktree.
import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { errnoOf } from './errors.js';
import { neutralise } from './text.js';

/** More names than this are cut off, and said to be. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 16 * 1024;
const TIMEOUT_MS = 60_000;

const LS_FILES = [
  // A configured fsmonitor is a program that git would run for us.
  ...['-c', 'core.fsmonitor=false', '-c', 'core.quotepath=false'],
  // A partial clone would fetch what it lacks; a listing must not reach the network.
  ...['-c', 'protocol.allow=never'],
  ...['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--'],
];

// What `git rev-parse --local-env-vars` lists: set inside a hook, they point git at another repository or
// index than the one that projectDir lies in.
const LOCAL_ENV = [
  ...['GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_CONFIG', 'GIT_CONFIG_PARAMETERS', 'GIT_CONFIG_COUNT'],
  ...['GIT_OBJECT_DIRECTORY', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_IMPLICIT_WORK_TREE', 'GIT_GRAFT_FILE'],
  ...['GIT_INDEX_FILE', 'GIT_NO_REPLACE_OBJECTS', 'GIT_REPLACE_REF_BASE', 'GIT_PREFIX', 'GIT_SHALLOW_FILE'],
  ...['GIT_COMMON_DIR', 'GIT_INTERNAL_SUPER_PREFIX'],
];

export type GitListing =
  | { listed: true; files: string[]; problems: string[]; complete: boolean }
  | { listed: false; reason: string };

/**
 * The names git lists under `projectDir`: relative to it, `/`-separated, sorted by code unit, each once.
 * Deleted tracked files and submodule folders are among them. `listed: false` (no git, no repository,
 * ownership refused …) carries git's own reason. Never throws but for `signal`.
 */
export async function gitFiles(projectDir: string, signal?: AbortSignal): Promise<GitListing> {
  const run = await runGit(projectDir, signal);
  signal?.throwIfAborted();
  if (run.failure) return { listed: false, reason: run.failure };
  const warnings = run.stderr.split('\n').filter((line) => line !== '');
  const { names, dropped } = splitNames(run.stdout);
  const problems = warnings.map((line) => `git: ${neutralise(line)}`);
  if (dropped > 0) problems.push(`${dropped} file name(s) are not UTF-8 and were left out`);
  if (run.cut) problems.push(`git listed more than ${MAX_LIST_BYTES} bytes of names; the rest was left out`);
  const unread = warnings.some((line) => line.includes('could not open directory'));
  return { listed: true, files: names, problems, complete: !unread && !run.cut && dropped === 0 };
}

/** NUL-terminated names, sorted and each once (a conflicted path is listed per stage), without nested repositories. */
function splitNames(output: Buffer): { names: string[]; dropped: number } {
  const text = output.toString('utf8');
  let names = text.split('\0');
  names.pop();
  let dropped = 0;
  // Decoding turns invalid bytes into U+FFFD, so only where one is seen are the bytes themselves asked.
  if (text.includes('\ufffd') && !isUtf8(output)) {
    names = [];
    for (let start = 0; start < output.length; ) {
      const end = output.indexOf(0, start);
      const name = output.subarray(start, end);
      if (isUtf8(name)) names.push(name.toString('utf8'));
      else dropped++;
      start = end + 1;
    }
  }
  names.sort();
  // git names an untracked nested repository as a folder, with a closing slash.
  return { names: names.filter((name, i) => name !== names[i - 1] && !name.endsWith('/')), dropped };
}

interface GitRun {
  stdout: Buffer;
  stderr: string;
  cut: boolean;
  failure?: string;
}

function runGit(cwd: string, signal?: AbortSignal): Promise<GitRun> {
  const env = {
    ...process.env,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    LC_ALL: 'C',
  };
  for (const name of LOCAL_ENV) delete (env as NodeJS.ProcessEnv)[name];
  return new Promise((resolve) => {
    const child = spawn('git', LS_FILES, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      windowsHide: true,
      signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let stderr = '';
    let cut = false;
    const finish = (failure?: string): void => {
      const whole = Buffer.concat(chunks);
      // Killed in the middle of a name: keep what was said whole.
      resolve({ stdout: whole.subarray(0, whole.lastIndexOf(0) + 1), stderr, cut, failure });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      if (cut) return;
      bytes += chunk.length;
      cut = bytes > MAX_LIST_BYTES;
      if (cut) child.kill();
      else chunks.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString('utf8');
    });
    child.on('error', (error) =>
      finish(errnoOf(error) === 'ENOENT' ? 'there is no git program' : neutralise(error.message)),
    );
    child.on('close', (code, killedBy) => {
      if (code === 0 || cut) finish();
      else if (killedBy) finish(`git ls-files was ended by ${killedBy}`);
      else finish(neutralise(stderr.split('\n')[0] || `git ls-files failed with exit code ${code}`));
    });
  });
}
