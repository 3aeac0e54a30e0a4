// `preview run`: runs a command and records what it did.
import { fail } from '../../src/cli.js';
import { readPlainly } from '../running/asked.js';
import { run } from '../running/run.js';

/** All that it prints is written at once. */
export const endsAtOnce = true;

export async function main(argv: string[]): Promise<number> {
  const asked = readPlainly(argv) ?? (await (await import('../running/usage.js')).readInFull(argv));
  if (typeof asked === 'number') return asked;
  try {
    return await run(asked);
  } catch (error) {
    return fail(error, { json: asked.json, program: 'preview' });
  }
}
