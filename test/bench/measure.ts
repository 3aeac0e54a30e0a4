// Timing processes against each other: in turns, so that a busy moment of the machine falls on both sides.
import { spawnSync } from 'node:child_process';

export interface Command {
  name: string;
  argv: string[];
  cwd: string;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** One budgeted figure of the report; times in ms. `ratio` is the figure itself. */
export interface Line {
  name: string;
  ratio: number;
  /** Null for what is only told. */
  budget: number | null;
  pass: boolean | null;
  /** Further figures of the line. */
  [detail: string]: unknown;
}

export interface Times {
  command: Spread;
  base: Spread;
  /** Median over median. */
  ratio: number;
  /** Median of the ratios of neighbouring runs. */
  pair_ratio: number;
  pairs: number;
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median: round(median), min: round(sorted[0]!), max: round(sorted.at(-1)!) };
}

/** The environment of every child: what would squash the ratios (a certificate bundle) or steer the program is taken out. */
export function plainEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_|PREVIEW_|GIT_|LD_PRELOAD$)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...extra };
}

/** Runs a command to its end; throws unless it exits 0. */
export function run(
  { argv, cwd }: Command,
  env: NodeJS.ProcessEnv = plainEnv(),
): { ms: number; stdout: string; stderr: string } {
  const began = performance.now();
  const done = spawnSync(argv[0]!, argv.slice(1), {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const ms = performance.now() - began;
  if (done.status !== 0)
    throw new Error(`${argv.join(' ')}: ${done.error ?? `exit ${done.status}: ${done.stderr}`}`);
  return { ms, stdout: done.stdout, stderr: done.stderr };
}

/** `node -e 0`: what any program of ours costs at least. */
export const bareNode = (cwd: string): Command => ({
  name: 'node -e 0',
  argv: [process.execPath, '-e', '0'],
  cwd,
});

/** Times each command in pairs with `base` (A B A B …), all commands taking turns. Each is run once before. */
export function compare(commands: readonly Command[], base: Command, pairs: number): Map<string, Times> {
  const runs = new Map(commands.map(({ name }) => [name, { command: [] as number[], base: [] as number[] }]));
  for (const command of [base, ...commands]) run(command);
  for (let pair = 0; pair < pairs; pair++) {
    for (const command of commands) {
      const times = runs.get(command.name)!;
      times.base.push(run(base).ms);
      times.command.push(run(command).ms);
    }
  }
  return new Map(
    [...runs].map(([name, times]) => {
      const [command, bare] = [spread(times.command), spread(times.base)];
      const ratios = times.command.map((ms, pair) => ms / times.base[pair]!);
      const ratio = round(command.median / bare.median, 3);
      return [name, { command, base: bare, ratio, pair_ratio: round(spread(ratios).median, 3), pairs }];
    }),
  );
}

/**
 * Lines for each command against its budget, and one that says whether the last takes as long as the first. A miss on
 * a busy machine may be none: all are measured up to `tries` times, and `earlier` keeps what was seen before.
 */
export function timed(
  commands: readonly Command[],
  base: Command,
  pairs: number,
  budgets: { each: number; flat: number; flatName: string; tries: number },
): Line[] {
  const { tries } = budgets;
  const earlier: number[][] = [];
  for (let again = 0; ; again++) {
    const measured = compare(commands, base, pairs);
    const lines: Line[] = [...measured].map(([name, times]) => {
      const { ratio, ...details } = times;
      return { name, ratio, budget: budgets.each, pass: ratio <= budgets.each, ...details };
    });
    const ratios = lines.map((line) => line.ratio);
    const flat = round(ratios.at(-1)! / ratios[0]!, 3);
    lines.push({ name: budgets.flatName, ratio: flat, budget: budgets.flat, pass: flat <= budgets.flat });
    if (earlier.length > 0)
      for (const [n, line] of lines.entries()) line['earlier'] = earlier.map((seen) => seen[n]);
    if (again + 1 >= tries || lines.every((line) => line.pass)) return lines;
    earlier.push(lines.map((line) => line.ratio));
  }
}

/** Tells beside each ratio what was measured before it was measured again. */
export function withEarlier(lines: Line[], earlier: number[][]): Line[] {
  if (earlier.length === 0) return lines;
  return lines.map((line, n) => ({ ...line, earlier: earlier.map((seen) => seen[n]) }));
}
