// What a recipe's commands said, as facts and warnings: by the recipe's rules, and in a renderer's own report.
import { lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import type { FactRule, Recipe, WarningRule } from '../src/config.js';
import { isObject, readJsonObject } from '../src/json.js';
import { inside } from '../src/read.js';
import { cutText } from '../src/text.js';
import { LIMITS } from '../src/version.js';
import type { Unit } from './units.js';

/** A renderer may write this beside its files: headline, facts, warnings, labels (by path), next_actions, backend. */
export const REPORT = 'preview.json';
const MAX_FACT_FILE = 4 * 1024 * 1024;
const MAX_WARNINGS = 5;

/** What the commands of one unit printed. */
export interface Said {
  unit: Unit;
  stdout: string;
  stderr: string;
}

export interface Learned {
  facts: Record<string, unknown>;
  warnings: string[];
  next_actions: string[];
  labels: Record<string, string>;
  headline: string | null;
  backend: string | null;
}

/** Facts and warnings of all units; a report `NAME.preview.json` counts for the unit of that name, `preview.json` for all. */
export function learn(recipe: Recipe, out: string, said: readonly Said[]): Learned {
  const common = readReport(out, REPORT);
  const learned: Learned = { ...common, facts: {}, warnings: [...common.warnings] };
  for (const { unit, stdout, stderr } of said) {
    const own = readReport(out, `${unit.name}.${REPORT}`);
    const textOf = (from: string) =>
      from === 'stdout'
        ? stdout
        : from === 'stderr'
          ? stderr
          : textIn(out, from.replace('{name}', unit.name));
    const facts = { ...factsFrom(recipe.facts ?? [], textOf, learned.warnings), ...own.facts };
    for (const [name, value] of Object.entries(facts)) learned.facts[unit.prefix + name] = value;
    learned.warnings.push(...own.warnings, ...warningsFrom(recipe.warnings ?? [], textOf));
    learned.next_actions.push(...own.next_actions);
    Object.assign(learned.labels, own.labels);
    learned.headline ??= own.headline;
    learned.backend ??= own.backend;
  }
  Object.assign(learned.facts, common.facts);
  return learned;
}

const number = (text: string) =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text.trim();

/** How long the patterns of one rule may look at one text, in ms: some take years for a text that is meant for it. */
const PATTERN_MS = 2000;

/** All matches of a pattern, or null where finding them takes too long. V8 ends a regular expression when told to. */
function matches(pattern: string, flags: string, text: string): RegExpMatchArray[] | null {
  try {
    const find = () => [...text.matchAll(new RegExp(pattern, `g${flags}`))];
    return runInNewContext('find()', { find }, { timeout: PATTERN_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return null;
  }
}

const tooSlow = (match: string) =>
  `pattern_slow: ${JSON.stringify(match)} was not done with the output after ${PATTERN_MS / 1000} s and was given up`;

function factsFrom(
  rules: FactRule[],
  textOf: (from: string) => string,
  warnings: string[],
): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const { name, from, match } of rules) {
    const hits = matches(match, 'm', textOf(from));
    if (hits === null) warnings.push(tooSlow(match));
    else if (hits[0]) facts[name] = number(hits[0][1] ?? hits[0][0]);
  }
  return facts;
}

function warningsFrom(rules: WarningRule[], textOf: (from: string) => string): string[] {
  return rules.flatMap(({ from, match, text = 'renderer_warned: $&' }) => {
    const found = matches(match, 'm', textOf(from));
    if (found === null) return [tooSlow(match)];
    const hits = [...new Set(found.map((hit) => say(text, hit)))];
    const left = hits.length - MAX_WARNINGS;
    return left > 0 ? [...hits.slice(0, MAX_WARNINGS), `${codeOf(hits[0]!)}: ${left} more of these`] : hits;
  });
}

const say = (text: string, hit: RegExpMatchArray) =>
  cutText(
    text.replace(/\$(\d|&)/g, (_, group: string) => hit[group === '&' ? 0 : Number(group)]?.trim() ?? ''),
    LIMITS.note,
  );
const codeOf = (warning: string) => warning.split(':', 1)[0];

/** No path leaves its folder, by a link least of all (I9). */
export function isPlainFile(base: string, path: string): boolean {
  const whole = inside(base, path);
  return whole !== null && lstatSync(whole, { throwIfNoEntry: false })?.isFile() === true;
}

function textIn(out: string, stored: string): string {
  if (!isPlainFile(out, stored) || statSync(join(out, stored)).size > MAX_FACT_FILE) return '';
  return readFileSync(join(out, stored), 'utf8');
}

/** The renderer's own report, believed only as far as its types go; it is taken away. */
function readReport(out: string, name: string): Learned {
  const path = join(out, name);
  const value =
    isPlainFile(out, name) && statSync(path).size <= MAX_FACT_FILE
      ? (readJsonObject(path, name).value ?? {})
      : {};
  rmSync(path, { force: true });
  const strings = (key: string) =>
    Array.isArray(value[key]) ? value[key].filter((item): item is string => typeof item === 'string') : [];
  const text = (key: string) => (typeof value[key] === 'string' ? value[key] : null);
  const labels: Record<string, string> = {};
  for (const [path, label] of Object.entries(isObject(value['labels']) ? value['labels'] : {}))
    if (typeof label === 'string') labels[path] = label;
  return {
    headline: text('headline'),
    backend: text('backend'),
    facts: isObject(value['facts']) ? value['facts'] : {},
    warnings: strings('warnings'),
    next_actions: strings('next_actions'),
    labels,
  };
}
