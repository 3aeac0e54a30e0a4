// Asking one of our own renderers about untrusted pictures: a child that prints one line of JSON.
import { join } from 'node:path';
import { isObject, type JsonObject } from '../src/json.js';
import { RENDERERS } from './config.js';
import { runCommand } from './process.js';

export interface Answer {
  report: JsonObject;
  /** Why there is no report, in the renderer's last words; else null. */
  failure: string | null;
}

const TIMEOUT_MS = 60_000;

/** Runs `dist/renderers/NAME.cjs` in `cwd` and reads its answer. An abort ends it. */
export async function askRenderer(
  name: string,
  args: readonly string[],
  { cwd, signal }: { cwd: string; signal?: AbortSignal | undefined },
): Promise<Answer> {
  const env = { ...process.env };
  // It needs no certificates, whose parsing would double its start.
  delete env['NODE_EXTRA_CA_CERTS'];
  const argv = [process.execPath, join(RENDERERS, `${name}.cjs`), ...args];
  const run = await runCommand(argv, { cwd, env, timeout_ms: TIMEOUT_MS, signal });
  if (run.timed_out) return { report: {}, failure: `it took longer than ${TIMEOUT_MS / 1000} s` };
  if (run.exit_code !== 0)
    return { report: {}, failure: run.stderr.trim().split('\n').at(-1) || `it was ended by ${run.signal}` };
  return { report: parsed(run.stdout), failure: null };
}

function parsed(stdout: string): JsonObject {
  try {
    const value: unknown = JSON.parse(stdout);
    return isObject(value) ? value : {};
  } catch {
    // SyntaxError: cut off.
    return {};
  }
}
