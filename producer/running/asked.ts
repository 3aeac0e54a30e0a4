// What `preview run` is asked for, read from its command line without loading a parser of options: the command is to
// start at once. Whatever is not plain, help and mistakes too, is left to usage.ts, which knows the same options.
import { wellFormed } from '../../src/text.js';

export interface Asked {
  /** The command, exactly as given. */
  argv: string[];
  timeout_s?: number;
  cwd?: string;
  env: string[];
  recipe?: string;
  label?: string;
  note?: string;
  session?: string;
  root?: string;
  force: boolean;
  /** False where only the command and its output are recorded. */
  capture: boolean;
  /** Whether secrets are masked. */
  redact: boolean;
  lockTimeout?: number;
  json: boolean;
}

const FLAGS: Record<string, Partial<Asked>> = {
  '--json': { json: true },
  '--force': { force: true },
  '--no-capture': { capture: false },
  '--no-redact': { redact: false },
};
const TEXTS = {
  '--cwd': 'cwd',
  '--recipe': 'recipe',
  '--label': 'label',
  '--note': 'note',
  '--session': 'session',
  '--root': 'root',
} as const;
const SECONDS = { '--timeout': 'timeout_s', '--lock-timeout': 'lockTimeout' } as const;

/** Reads a plain command line; null where it is not one. */
export function readPlainly(argv: readonly string[]): Asked | null {
  const end = argv.indexOf('--');
  const command = argv.slice(end + 1);
  if (end < 0 || !command[0]) return null;
  const asked: Asked = { argv: command, env: [], force: false, capture: true, redact: true, json: false };
  for (let at = 0; at < end; at++) {
    const name = argv[at]!;
    if (Object.hasOwn(FLAGS, name)) {
      Object.assign(asked, FLAGS[name]);
      continue;
    }
    const value = at + 1 < end ? argv[++at]! : '';
    if (value === '' || value.startsWith('-')) return null;
    if (Object.hasOwn(TEXTS, name)) asked[TEXTS[name as keyof typeof TEXTS]] = wellFormed(value);
    else if (Object.hasOwn(SECONDS, name) && /^\d+(\.\d+)?$/.test(value))
      asked[SECONDS[name as keyof typeof SECONDS]] = Number(value);
    else if (name === '--env' && /^[^=]+=/.test(value)) asked.env.push(value);
    else return null;
  }
  return asked;
}
