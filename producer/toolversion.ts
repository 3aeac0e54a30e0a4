// A renderer's own version line: asked once for each build of the program, then remembered in `.cache`.
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { makeDir } from '../src/disk.js';
import { readJsonObject } from '../src/json.js';
import { CACHE_NAME } from '../src/layout.js';
import { cutText } from '../src/text.js';
import { LIMITS } from '../src/version.js';
import { runCommand } from './process.js';
import { VERSIONS_NAME } from './tools.js';

/** The first line that `argv` prints, or null where it prints none or is not there. */
export async function askVersion(
  argv: string[],
  identity: string,
  project: string,
  root: string,
): Promise<string | null> {
  const file = join(root, CACHE_NAME, VERSIONS_NAME);
  const known = readJsonObject(file, 'cache').value ?? {};
  const { stdout, stderr, missing } = await runCommand(argv, {
    cwd: project,
    env: process.env,
    timeout_ms: 20_000,
    keep_bytes: 8192,
  });
  const said = `${stdout}\n${stderr}`.split('\n').find((text) => text.trim() !== '');
  const line = said && cutText(said.trim(), LIMITS.label);
  if (missing || !line) return null;
  try {
    makeDir(join(root, CACHE_NAME));
    writeFileAtomic.sync(file, JSON.stringify({ ...known, [identity]: line }), { mode: 0o600, fsync: false });
  } catch {
    // It is asked again next time.
  }
  return line;
}
