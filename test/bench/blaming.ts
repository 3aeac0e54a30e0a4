// Which step changed a place, over 1,000 steps with a picture each: with the index that is kept in the user's cache,
// and without, when every manifest is read once. And two sessions of that length set side by side.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSession, publish } from '../../src/index.js';
import { bareNode, type Command, compare, type Line, round, withEarlier } from './measure.js';

const STEPS = 1000;
/** Tiles of a hero of 1280 × 960 px. */
const [COLUMNS, ROWS] = [20, 15];
/** Tiles that a step changes: a tenth of the picture. */
const CHANGED = 30;
/** Starts of a bare Node that an answer may take. */
const STARTS = 2;
/** And two sessions side by side: a second, where a bare Node starts in 50 ms. */
const COMPARE_STARTS = 20;

const hashOf = (step: number, tile: number): string =>
  createHash('sha256').update(`${step} ${tile}`).digest('hex').slice(0, 8);

/** A session of `STEPS` steps, each with a bundle of its own; only the manifests' tiles are looked at. */
async function makeSession(root: string): Promise<string> {
  const session = await openSession({ root, env: {} });
  const hashes = Array.from({ length: COLUMNS * ROWS }, (_, tile) => hashOf(0, tile));
  for (let step = 1; step <= STEPS; step++) {
    // The last tile is changed by one step in the middle alone, so that all steps behind it must be looked at.
    for (let n = 0; n < CHANGED; n++) {
      const tile = (step * 37 + n) % (hashes.length - 1);
      hashes[tile] = hashOf(step, tile);
    }
    if (step === STEPS / 2) hashes[hashes.length - 1] = hashOf(step, -1);
    await publish(
      session,
      {
        headline: `Step ${step}`,
        recipe: 'bench',
        facts: { step, half: step < STEPS / 2 ? 'first' : 'second' },
        artifacts: [{ content: `picture ${step}\n`, role: 'hero', name: 'picture.png' }],
        metrics: {
          picture: { width: COLUMNS * 64, height: ROWS * 64 },
          tiles: { size: 64, columns: COLUMNS, rows: ROWS, hashes: hashes.join('') },
        },
      },
      { command: `edit ${step}` },
    );
  }
  return session.dir;
}

const READ = `
const { readFileSync, readdirSync } = require('fs');
for (const name of readdirSync('.')) if (/^bundle_/.test(name)) JSON.parse(readFileSync(name + '/manifest.json', 'utf8'));
`;

/** Times the commands with and without an index; a miss is measured again, as `timed` does. */
export async function blameLines(dir: string, pairs: number, tries: number): Promise<Line[]> {
  const session = await makeSession(join(dir, 'blaming', '.preview'));
  const cache = join(dir, 'cache');
  mkdirSync(cache);
  const corner = `${COLUMNS * 64 - 1},${ROWS * 64 - 1}`;
  const span = ['--good', `${session}/step-0001`, '--bad', `${session}/step-${STEPS}`];
  const asked: [string, string[]][] = [
    ['blame', ['blame', `${session}/step-${STEPS}`, corner]],
    ['bisect --region', ['bisect', ...span, '--region', corner]],
    ['bisect --fact', ['bisect', ...span, '--fact', 'half']],
  ];
  const program = (args: string[]) => [process.execPath, join(dir, 'dist', 'previews.cjs'), ...args];
  const kept = asked.map(
    ([name, args]): Command => ({
      name,
      argv: ['env', `XDG_CACHE_HOME=${cache}`, ...program(args)],
      cwd: dir,
    }),
  );
  const anew = asked.map(
    ([name, args]): Command => ({
      name: `${name}, no index`,
      argv: ['sh', '-c', 'rm -rf "$XDG_CACHE_HOME"/*; exec "$@"', 'sh', ...program(args)],
      cwd: dir,
    }),
  );
  for (const command of anew) command.argv.unshift('env', `XDG_CACHE_HOME=${join(dir, 'emptied')}`);
  mkdirSync(join(dir, 'emptied'));
  const beside: Command = {
    name: 'compare',
    argv: program(['compare', session, session, '--json']),
    cwd: dir,
  };
  const read: Command = { name: 'read', argv: [process.execPath, '-e', READ], cwd: session };
  const earlier: number[][] = [];
  for (let again = 0; ; again++) {
    const measured = compare([...kept, ...anew, beside, read], bareNode(dir), pairs);
    const time = (name: string) => measured.get(name)!.command.median;
    const bare = measured.get('read')!.base.median;
    const lines: Line[] = asked.flatMap(([name]) => {
      const allowed = STARTS * bare + (time('read') - bare);
      const known = round(time(name) / allowed, 3);
      const fresh = round(time(`${name}, no index`) / allowed, 3);
      const { command, base } = measured.get(name)!;
      return [
        {
          name: `previews ${name} over ${STEPS} steps, index kept: against ${STARTS} starts and reading the manifests`,
          ratio: known,
          budget: 1,
          pass: known <= 1,
          starts: measured.get(name)!.ratio,
          command,
          base,
        },
        {
          name: `previews ${name} over ${STEPS} steps, no index: against ${STARTS} starts and reading the manifests`,
          ratio: fresh,
          // Once a session: it also reads the steps, and writes what it found.
          budget: null,
          pass: null,
          command: measured.get(`${name}, no index`)!.command,
          reading_ms: round(time('read') - bare),
        },
      ];
    });
    const { ratio, command, base } = measured.get('compare')!;
    lines.push({
      name: `previews compare of two sessions of ${STEPS} steps: in starts of a bare node`,
      ratio,
      budget: COMPARE_STARTS,
      pass: ratio <= COMPARE_STARTS,
      command,
      base,
    });
    if (again + 1 >= tries || lines.every((line) => line.pass !== false)) return withEarlier(lines, earlier);
    earlier.push(lines.map((line) => line.ratio));
  }
}
