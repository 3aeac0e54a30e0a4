// A command as a shell runs it and as `preview run` does: what comes out of each, to the byte, through real pipes.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { previewArgv, run } from './cli.js';

export interface Seen {
  code: number;
  /** SHA-256 and length of each stream. */
  stdout: string;
  stderr: string;
}

/** stdout and stderr each into a hash of its own; `set +e` throughout, for most of these fail. */
const SCRIPT = `
mkfifo "$D/out" "$D/err"
count() { tee >(wc -c >"$D/$1.bytes") <"$D/$1" | sha256sum >"$D/$1.sum"; }
count out & count err &
if [ -n "$STDIN" ]; then exec <"$STDIN"; else exec </dev/null; fi
"$@" >"$D/out" 2>"$D/err"
echo $? >"$D/code"
wait
until [ -s "$D/out.bytes" ] && [ -s "$D/err.bytes" ]; do sleep 0.01; done
`;

/** Runs argv from bash, so that its outputs are pipes and its exit code is what a shell sees. */
export async function seen(
  argv: readonly string[],
  { cwd, tmp, stdin, env }: { cwd: string; tmp: string; stdin?: string; env?: Record<string, string> },
): Promise<Seen> {
  const folder = mkdtempSync(join(tmp, 'seen-'));
  const { code, stderr } = await run(['bash', '-c', SCRIPT, 'seen', ...argv], {
    cwd,
    env: { D: folder, STDIN: stdin ?? '', TERM: 'xterm-256color', ...env },
  });
  const file = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  if (!existsSync(join(folder, 'code'))) throw new Error(`bash ended with ${code}: ${stderr}`);
  const stream = (name: string) => `${file(`${name}.bytes`)} bytes ${file(`${name}.sum`).slice(0, 64)}`;
  return { code: Number(file('code')), stdout: stream('out'), stderr: stream('err') };
}

/** The argv that runs a command under `preview run`. */
export const underRun = (argv: readonly string[], ...options: string[]): string[] =>
  previewArgv('run', ...options, '--', ...argv);
