// Whether git would list the same files as it did last time, told without starting it: a process costs a
// small project ten times what the rest does. All that `git ls-files` looks at goes into one digest, by
// content and never by time: every name below the project, the ignore files, the index's own checksum, the
// configuration. Where it is not plain what git would look at, there is no witness, and git is asked.
import { createHash } from 'node:crypto';
import {
  closeSync,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errnoOf } from './errors.js';

/** An index ends in a hash of itself: SHA-1's 20 bytes, or SHA-256's 32. */
const TRAILER_BYTES = 32;
const ALL_ZERO = /^(00){20}$/;

/** `[include]` may bring any file, `worktree` any folder, and a continued line hides either. */
const UNPLAIN_CONFIG = /\[\s*include|worktree\s*=|\\\r?\n/i;
const EXCLUDES_FILE = /excludesfile\s*=[ \t]*([^\r\n]*)/gi;
const PLAIN_PATH = /^(~\/|\/)[^"'#;\\%\u0080-\u00ff]*$/;

/**
 * A digest that is the same only if git lists the same names for `projectDir`; undefined where that is
 * not certain. Folders that `isSource` refuses are not looked into. Beyond `limit` names (an ignored
 * node_modules, which git need not enter) looking costs more than asking.
 */
export function gitWitness(
  projectDir: string,
  isSource: (path: string) => boolean,
  limit: number,
): string | undefined {
  try {
    const project = realpathSync.native(projectDir);
    const repository = findRepository(project);
    if (!repository) return undefined;
    const { top, gitDir, commonDir } = repository;
    const said: (string | undefined)[] = [project, top, gitDir, commonDir, String(process.getuid?.())];
    for (const name of Object.keys(process.env).sort()) {
      if (/^(GIT_|HOME$|XDG_CONFIG_HOME$|PATH$)/.test(name)) said.push(`${name}=${process.env[name]}`);
    }
    if (!sayConfig(said, gitDir, commonDir) || !sayIndex(said, join(gitDir, 'index'))) return undefined;
    for (let folder = project; folder !== top; folder = dirname(folder)) {
      said.push(textOf(join(dirname(folder), '.gitignore')));
    }
    const names = namesBelow(project, project === top, isSource, limit);
    if (names === undefined) return undefined;
    return createHash('sha256').update(JSON.stringify(said)).update(names).digest('hex');
  } catch {
    // Whatever cannot be read here (EACCES, ELOOP, a folder that goes meanwhile), git knows better.
    return undefined;
  }
}

/** The repository git would find: the nearest `.git`, if it is a whole one. */
function findRepository(project: string): { top: string; gitDir: string; commonDir: string } | undefined {
  let top = project;
  for (;;) {
    const stat = lstatSync(join(top, '.git'), { throwIfNoEntry: false });
    if (stat) {
      if (!stat.isDirectory() && !stat.isFile()) return undefined;
      const link = stat.isFile() ? textOf(join(top, '.git'))?.match(/^gitdir: (.+)\n?$/)?.[1] : '.git';
      if (link === undefined) return undefined;
      const gitDir = resolve(top, link);
      const common = textOf(join(gitDir, 'commondir'));
      const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trimEnd());
      const isWhole =
        textOf(join(gitDir, 'HEAD')) !== undefined &&
        ['objects', 'refs'].every((name) => lstatSync(join(commonDir, name), { throwIfNoEntry: false }));
      return isWhole ? { top, gitDir, commonDir } : undefined;
    }
    if (top === dirname(top)) return undefined;
    top = dirname(top);
  }
}

/** The text of a small file; undefined where there is none. */
function textOf(path: string): string | undefined {
  try {
    // A fifo would keep us waiting.
    if (!statSync(path).isFile()) throw new Error(`${path} is no file`);
    // Byte for byte: two texts that differ in invalid UTF-8 only are not the same.
    return readFileSync(path, 'latin1');
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Every configuration file git reads unasked, and the ignore files they name. False where they are not plain. */
function sayConfig(said: (string | undefined)[], gitDir: string, commonDir: string): boolean {
  const { env } = process;
  // Configuration that is in no file.
  if (env.GIT_CONFIG_COUNT || env.GIT_CONFIG_PARAMETERS) return false;
  const home = env.HOME ?? homedir();
  const xdg = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'git');
  const configs = [
    env.GIT_CONFIG_SYSTEM ?? '/etc/gitconfig',
    ...(env.GIT_CONFIG_GLOBAL === undefined
      ? [join(xdg, 'config'), join(home, '.gitconfig')]
      : [env.GIT_CONFIG_GLOBAL]),
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
  ];
  const ignores = [join(xdg, 'ignore'), join(commonDir, 'info', 'exclude')];
  for (const config of configs) {
    const text = textOf(config);
    said.push(text);
    if (text === undefined) continue;
    if (UNPLAIN_CONFIG.test(text)) return false;
    for (const [, value = ''] of text.matchAll(EXCLUDES_FILE)) {
      const path = value.trim();
      if (!PLAIN_PATH.test(path)) return false;
      ignores.push(path.startsWith('~') ? join(home, path.slice(2)) : path);
    }
  }
  for (const ignore of ignores) said.push(textOf(ignore));
  return true;
}

/** What the index says of its own content. False where it says nothing (`index.skipHash`). */
function sayIndex(said: (string | undefined)[], path: string): boolean {
  if (!lstatSync(path, { throwIfNoEntry: false })) {
    said.push(undefined);
    return true;
  }
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const trailer = Buffer.alloc(TRAILER_BYTES);
    if (
      size < TRAILER_BYTES ||
      readSync(fd, trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES) < TRAILER_BYTES
    ) {
      return false;
    }
    const hex = trailer.toString('hex');
    said.push(`${size} ${hex}`);
    return !ALL_ZERO.test(hex.slice(-40));
  } finally {
    closeSync(fd);
  }
}

/** Every name below the project with its kind, and the text of every .gitignore. */
function namesBelow(
  project: string,
  isTop: boolean,
  isSource: (path: string) => boolean,
  limit: number,
): string | undefined {
  let names = '';
  let left = limit;
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = readdirSync(join(project, folder), { withFileTypes: true });
    left -= entries.length;
    if (left < 0) return undefined;
    names += `/${folder}\0`;
    for (const entry of entries) {
      names += `${kindOf(entry)}${entry.name}\0`;
      // A repository within: whether git enters it depends on what is in it.
      if (entry.name === '.git' && !(isTop && folder === '')) return undefined;
      if (entry.name === '.git') continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      // git does not follow a link of this name; what it does instead depends on its version.
      if (entry.name === '.gitignore' && !entry.isFile()) return undefined;
      if (entry.name === '.gitignore') names += `${JSON.stringify(textOf(join(project, path)))}\0`;
      if (entry.isDirectory() && isSource(path)) folders.push(path);
    }
  }
  return names;
}

function kindOf(entry: Dirent): string {
  if (entry.isFile()) return 'f';
  if (entry.isDirectory()) return 'd';
  return entry.isSymbolicLink() ? 'l' : 'o';
}
