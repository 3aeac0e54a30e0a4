// What a recorded command printed, as far as its bundle's manifest tells: a few lines of the start and of the end.
import { isObject } from '../src/json.js';

const LINES = 10;

/** Lines to show of `context.run`; none where a bundle shows no run. They are as untrusted as all of it. */
export function printedLines(context: unknown): string[] {
  const run = isObject(context) ? context['run'] : undefined;
  if (!isObject(run)) return [];
  const linesOf = (text: unknown) =>
    typeof text === 'string' && text !== '' ? text.trimEnd().split('\n') : [];
  const [head, tail] = [linesOf(run['head']), linesOf(run['tail'])];
  if (tail.length === 0 && head.length <= 2 * LINES) return head;
  return [...head.slice(0, LINES), '…', ...(tail.length > 0 ? tail : head).slice(-LINES)];
}
