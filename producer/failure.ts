// A recipe's commands that did not end well, in words: the headline, the warning with its code, and the log.
import type { Recipe } from '../src/config.js';
import { listed, shellQuote } from '../src/text.js';
import type { NamedRecipe } from './config.js';
import { DEFAULT_TIMEOUT_S, type Ran } from './runrecipe.js';
import type { PartTools } from './tools.js';
import type { Unit } from './units.js';

export interface Failure {
  headline: string;
  warning: string;
  /** What the commands printed, each command before it. */
  log: Buffer;
}

/** Programs of the recipe are not there; Debian's packages are named where they are known. */
export function missingFailure(missing: PartTools['missing']): Failure {
  const programs = listed(missing.map(({ program }) => program));
  const packages = [...new Set(missing.flatMap(({ debian = [] }) => debian))];
  const one = missing.length === 1;
  const debian = `Debian has ${one ? 'it' : 'them'} in the ${packages.length === 1 ? 'package' : 'packages'} ${packages.join(' ')}`;
  return {
    headline: `${programs} ${one ? 'is' : 'are'} not installed`,
    warning: `renderer_missing: ${programs} ${one ? 'is' : 'are'} not there${packages.length > 0 ? `; ${debian}` : ''}`,
    log: Buffer.alloc(0),
  };
}

/** What happened to the command that did not end well; with `each`, to which file. */
export function failureOf(bad: Ran, runs: readonly Ran[], unit: Unit, recipe: NamedRecipe): Failure {
  const { headline, warning } = complaint(bad, recipe);
  const file = recipe.each ? `${unit.source}: ` : '';
  return { headline: file + headline, warning: warning.replace(': ', `: ${file}`), log: logOf(runs) };
}

function complaint({ argv, outcome }: Ran, recipe: Recipe & { name: string }): Omit<Failure, 'log'> {
  const last = outcome.stderr.trim().split('\n').at(-1) ?? '';
  const says = last ? `: ${last}` : '';
  const name = argv[0] === process.execPath ? recipe.name : argv[0]!;
  if (outcome.missing)
    return {
      headline: `${name} could not be started`,
      warning: `renderer_missing: ${name} could not be started${says}`,
    };
  if (outcome.over !== null)
    return {
      headline: `${name} used too much`,
      warning: `renderer_limit: ${name} was ended: ${outcome.over}`,
    };
  if (outcome.timed_out)
    return {
      headline: `${name} took too long`,
      warning: `renderer_timeout: ${name} was ended after ${recipe.timeout_s ?? DEFAULT_TIMEOUT_S} s${says}`,
    };
  if (outcome.signal)
    return {
      headline: `${name} was killed`,
      warning: `renderer_failed: ${name} was ended by ${outcome.signal}${says}`,
    };
  return {
    headline: `${name} failed`,
    warning: `renderer_failed: ${name} ended with exit code ${outcome.exit_code}${says}`,
  };
}

/** The renderer's own output, byte for byte, each command before it. */
export function logOf(runs: readonly Ran[]): Buffer {
  return Buffer.concat(
    runs.flatMap(({ argv, outcome }) => [Buffer.from(`$ ${shellQuote(argv)}\n`), outcome.raw]),
  );
}
