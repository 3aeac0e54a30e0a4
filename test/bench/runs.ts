// What `preview run` adds to a command where nothing is to be rendered, in starts of a bare Node.
import { bareNode, type Command, compare, type Line, round, withEarlier } from './measure.js';
import type { Site } from './site.js';

/** The command that takes no time, and one during which what recording needs can be loaded. */
const COMMANDS = [['true'], ['sleep', '0.3']];
const BUDGET = 2;

/** Times each command bare and recorded; a miss is measured again, as `timed` does. */
export function runLines(dir: string, site: Site, pairs: number, tries: number): Line[] {
  const base = bareNode(dir);
  const bare = COMMANDS.map((argv): Command => ({ name: argv.join(' '), argv, cwd: site.project }));
  const recorded = bare.map(
    ({ name, argv, cwd }): Command => ({
      name: `run -- ${name}`,
      argv: [process.execPath, `${dir}/dist/preview.cjs`, 'run', '--', ...argv],
      cwd,
    }),
  );
  const earlier: number[][] = [];
  for (let again = 0; ; again++) {
    const measured = compare([...bare, ...recorded], base, pairs);
    const lines = bare.map(({ name }): Line => {
      const [without, under] = [measured.get(name)!, measured.get(`run -- ${name}`)!];
      const ratio = round((under.command.median - without.command.median) / under.base.median, 3);
      return {
        name: `preview run -- ${name}: added to the command, in starts of a bare node`,
        ratio,
        budget: BUDGET,
        pass: ratio <= BUDGET,
        bare: without.command,
        recorded: under.command,
        base: under.base,
      };
    });
    if (again + 1 >= tries || lines.every((line) => line.pass)) return withEarlier(lines, earlier);
    earlier.push(lines.map((line) => line.ratio));
  }
}
