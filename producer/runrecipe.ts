// Running a recipe's commands: placeholders filled in, in order or side by side, with a folder of their own for
// temporary files, without network, within their limits.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monotonicMs } from '../src/clock.js';
import { errnoOf } from '../src/errors.js';
import type { Stage } from '../src/stage.js';
import { type NamedRecipe, RENDERERS } from './config.js';
import { diesWithUs, networkFence } from './isolate.js';
import { type Outcome, runCommand } from './process.js';
import type { Unit } from './units.js';

export const DEFAULT_TIMEOUT_S = 60;
const DEFAULT_MEMORY_MB = 4096;
const DEFAULT_OUTPUT_MB = 500;
/** A socket's path may have 107 bytes: folders for temporary files whose path is longer are made in the system's. */
const LONGEST_TMP = 64;

export interface RecipeRun {
  project: string;
  recipe: NamedRecipe;
  sources: string[];
  units: Unit[];
  /** Called once a command runs: what is begun then costs no time. */
  onStart?: (() => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface Ran {
  argv: string[];
  outcome: Outcome;
}

/** What was run for one unit; `bad` is the command that did not end well, where one did not. */
export interface UnitRun {
  unit: Unit;
  runs: Ran[];
  bad: Ran | null;
}

export interface RecipeRan {
  units: UnitRun[];
  /** Whether the commands were kept off the network; null where they may use it or there were none. */
  fenced: boolean | null;
}

/** Runs the commands for every unit. An abort or a command that fails ends what else runs for its unit. */
export async function runRecipe(stage: Stage, input: RecipeRun): Promise<RecipeRan> {
  const { recipe } = input;
  const commands = recipe.run ?? [];
  const done = input.units.map((unit): UnitRun => ({ unit, runs: [], bad: null }));
  if (commands.length === 0) return { units: done, fenced: null };
  const free = (command: readonly string[]) =>
    recipe.network === true || (recipe.network === undefined && isOurs(command));
  const leash = diesWithUs(input.project);
  const fence = commands.every(free) ? null : networkFence(input.project);
  const deadline = monotonicMs() + (recipe.timeout_s ?? DEFAULT_TIMEOUT_S) * 1000;
  const tmp = temporaryFolder(stage);
  const one = async (run: UnitRun, command: readonly string[], at: number, signal?: AbortSignal) => {
    const places = { ...input, unit: run.unit, out: stage.out, tmp, terminal: terminalFile(stage) };
    const argv = expand(command, places);
    const start = (way: readonly string[]) =>
      runCommand([...way, ...leash, ...argv], {
        cwd: input.project,
        env: environment(recipe, command, places),
        timeout_ms: Math.max(1, deadline - monotonicMs()),
        signal,
        limits: {
          memory_bytes: (recipe.memory_mb ?? DEFAULT_MEMORY_MB) * 1e6,
          output_bytes: (recipe.output_mb ?? DEFAULT_OUTPUT_MB) * 1e6,
          output_dir: stage.out,
        },
      });
    let outcome: Outcome;
    for (;;) {
      const way = (!free(command) && fence?.before()) || [];
      const running = start(way);
      input.onStart?.();
      outcome = await running;
      if (!(await fence?.failed(way, outcome))) break;
    }
    run.runs[at] = { argv, outcome };
    const failed = outcome.missing || outcome.timed_out || outcome.over !== null || outcome.exit_code !== 0;
    if (failed && !signal?.aborted) run.bad ??= run.runs[at]!;
    return !failed;
  };
  try {
    await inParallel(
      done.flatMap((run) => {
        const stop = new AbortController();
        const signal = input.signal ? AbortSignal.any([input.signal, stop.signal]) : stop.signal;
        const next = async (command: readonly string[], at: number) => {
          if (signal.aborted) return;
          if (!(await one(run, command, at, signal))) stop.abort();
        };
        if (recipe.parallel) return commands.map((command, at) => () => next(command, at));
        return [
          async () => {
            for (const [at, command] of commands.entries()) await next(command, at);
          },
        ];
      }),
    );
  } finally {
    removeTemporary(tmp);
  }
  for (const run of done) run.runs = run.runs.filter(Boolean);
  return { units: done, fenced: fence && fence.before().length > 0 };
}

/** A renderer of ours asks the network for nothing; where it starts other programs its recipe says `"network": false`. */
const isOurs = (command: readonly string[]) =>
  command[0] === '{node}' && command[1]?.startsWith('{renderers}/') === true;

/** Does all jobs, as many at once as there are cores. */
async function inParallel(jobs: (() => Promise<void>)[]): Promise<void> {
  const waiting = [...jobs];
  const worker = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, worker));
}

/**
 * What was just killed may still be writing for a moment: it is tried again for a second or two. What stays all the same
 * is no reason to lose the step; in the stage it is swept with it.
 */
function removeTemporary(tmp: string): void {
  try {
    rmSync(tmp, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 });
  } catch (error) {
    if (!['ENOTEMPTY', 'EBUSY', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** In the stage, so that what a killed capture leaves is swept with it. */
function temporaryFolder(stage: Stage): string {
  const inside = join(stage.dir, 'tmp');
  if (Buffer.byteLength(inside) > LONGEST_TMP) return mkdtempSync(join(tmpdir(), 'preview-'));
  mkdirSync(inside, { mode: 0o700, recursive: true });
  return inside;
}

const withOf = (recipe: NamedRecipe) => (recipe.with ?? {}) as Record<string, string | number | boolean>;

/** An argument's placeholders filled in. What is none of ours stays as it is. */
function filled(arg: string, values: Record<string, string | number | boolean>): string {
  return arg.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

/** The renderer's argv as the manifest has it: one list, or several where the recipe runs several. */
export function recordedCommand(recipe: NamedRecipe): unknown {
  const commands = (recipe.run ?? []).map((argv) => argv.map((arg) => filled(arg, withOf(recipe))));
  return commands.length === 1 ? commands[0] : commands;
}

/** Where `run` leaves the recorded terminal for a recipe that draws it: `{terminal}`. */
export const terminalFile = (stage: Stage): string => join(stage.dir, 'terminal.cast');

interface Places extends Pick<RecipeRun, 'project' | 'recipe' | 'sources'> {
  unit: Unit;
  out: string;
  tmp: string;
  terminal: string;
}

const valuesFor = ({ recipe, unit, out, tmp, terminal, project }: Places) => ({
  name: unit.name,
  ...withOf(recipe),
  source: unit.source,
  out,
  tmp,
  terminal,
  project,
  node: process.execPath,
  renderers: RENDERERS,
});

/**
 * A command's argv as it is run; `{sources}` alone becomes the source files. What the manifest records has only `with`
 * filled in: the folders are this machine's, and the staging folder is gone by then.
 */
function expand(command: readonly string[], places: Places): string[] {
  const values = valuesFor(places);
  return command.flatMap((arg) => (arg === '{sources}' ? places.sources : [filled(arg, values)]));
}

/** Renderers of ours need no certificates, whose parsing would double their start. */
function environment(recipe: NamedRecipe, command: readonly string[], places: Places): NodeJS.ProcessEnv {
  const { out, tmp } = places;
  const values = valuesFor(places);
  const stated = Object.entries(recipe.env ?? {}).map(([key, value]) => [key, filled(value, values)]);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    TMPDIR: tmp,
    TMP: tmp,
    TEMP: tmp,
    ...Object.fromEntries(stated),
    PREVIEW_OUT: out,
  };
  if (command[0] === '{node}') delete env['NODE_EXTRA_CA_CERTS'];
  return env;
}
