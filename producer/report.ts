// How the producer's commands say what was recorded, and with which exit code they end.
import { painter, printJson, say, warnAll } from '../src/cli.js';
import { EXIT } from '../src/errors.js';
import { neutralise } from '../src/text.js';
import type { CaptureResult } from './result.js';

const MARKS = { ok: ['green', 'ok'], partial: ['yellow', 'partial'], error: ['red', 'error'] } as const;

/** Prints the result as text or JSON; returns 4 where the renderer failed, for the step is recorded all the same. */
export function reportCapture(result: CaptureResult, json: boolean): number {
  if (json) printJson(result);
  else {
    const paint = painter();
    const [style, word] = MARKS[(result.status ?? 'ok') as keyof typeof MARKS] ?? MARKS.ok;
    say(
      result.step_id === null
        ? paint('bold', 'no step yet')
        : `${paint('bold', result.step_id)}  ${paint(style, word)}  ${result.bundle_id ?? ''}${result.cached ? paint('dim', ' (unchanged, reused)') : ''}`,
    );
    if (result.render) say(`  picture  ${neutralise(result.render)}`);
    say(`  session  ${neutralise(result.session_dir)}`);
    warnAll(result.warnings);
  }
  return result.status === 'error' ? EXIT.render : EXIT.done;
}
