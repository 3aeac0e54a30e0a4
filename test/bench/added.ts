// What recording adds to a program: `preview run` to a command where nothing is to be rendered, and a capture to the
// program that draws.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareNode, type Command, compare, type Line, round, type Times, withEarlier } from './measure.js';
import type { Site } from './site.js';

interface Row {
  name: string;
  bare: Command;
  recorded: Command;
  budget: number;
  /** The figure: what is added in starts of a bare Node, or the one time over the other. */
  figure: 'starts' | 'times';
}

/** The command that takes no time, and one during which what recording needs can be loaded. */
const COMMANDS = [['true'], ['sleep', '0.3']];
/** How long the programs that draw take, in s, each with its budget: 150 ms where a bare Node starts in 45, then 15%. */
const PROGRAMS = [
  { seconds: 0.5, budget: 3.33, figure: 'starts' },
  { seconds: 1.5, budget: 1.15, figure: 'times' },
] as const;

function runRows(dir: string, { project }: Site): Row[] {
  return COMMANDS.map((argv) => ({
    name: `preview run -- ${argv.join(' ')}: added to the command, in starts of a bare node`,
    bare: { name: argv.join(' '), argv, cwd: project },
    recorded: {
      name: `run -- ${argv.join(' ')}`,
      argv: [process.execPath, `${dir}/dist/preview.cjs`, 'run', '--', ...argv],
      cwd: project,
    },
    budget: 2,
    figure: 'starts',
  }));
}

/** A recipe around a program that takes its time and leaves a picture, against the program alone. */
function recipeRows(dir: string, picture: string): Row[] {
  const project = join(dir, 'recipes');
  const out = join(dir, 'drawn');
  mkdirSync(project);
  mkdirSync(out);
  copyFileSync(picture, join(project, 'picture.png'));
  const draw = (seconds: number, to: string) => ['sh', '-c', `sleep ${seconds}; cp picture.png "$0"`, to];
  const recipes = Object.fromEntries(
    PROGRAMS.map(({ seconds }, at) => [
      `program-${at}`,
      {
        sources: ['picture.png'],
        run: [draw(seconds, '{out}/render.png')],
        artifacts: [{ path: 'render.png', role: 'hero' }],
      },
    ]),
  );
  writeFileSync(join(project, 'preview.config.json'), JSON.stringify({ recipes }));
  return PROGRAMS.map(({ seconds, budget, figure }, at) => ({
    name: `a capture around a program of ${seconds} s: ${figure === 'starts' ? 'added, in starts of a bare node' : 'over the program alone'}`,
    bare: { name: `program of ${seconds} s`, argv: draw(seconds, join(out, 'render.png')), cwd: project },
    recorded: {
      name: `capture of ${seconds} s`,
      argv: [process.execPath, `${dir}/dist/preview.cjs`, 'capture', '--force', '--recipe', `program-${at}`],
      cwd: project,
    },
    budget,
    figure,
  }));
}

function lineOf({ name, budget, figure, bare, recorded }: Row, measured: Map<string, Times>): Line {
  const [without, under] = [measured.get(bare.name)!, measured.get(recorded.name)!];
  const [short, long] = [without.command.median, under.command.median];
  const ratio = round(figure === 'times' ? long / short : (long - short) / under.base.median, 3);
  const times = { bare: without.command, recorded: under.command, base: under.base };
  return { name, ratio, budget, pass: ratio <= budget, ...times };
}

/** Times each program bare and recorded; a miss is measured again, as `timed` does. */
export function addedLines(dir: string, site: Site, picture: string, pairs: number, tries: number): Line[] {
  const rows = [...runRows(dir, site), ...recipeRows(dir, picture)];
  const commands = rows.flatMap(({ bare, recorded }) => [bare, recorded]);
  const earlier: number[][] = [];
  for (let again = 0; ; again++) {
    const measured = compare(commands, bareNode(dir), pairs);
    const lines = rows.map((row) => lineOf(row, measured));
    if (again + 1 >= tries || lines.every((line) => line.pass)) return withEarlier(lines, earlier);
    earlier.push(lines.map((line) => line.ratio));
  }
}
