// How a step came out, by shape and by word, so that no colour is needed to tell: `●` all well, `◐` rendered in part,
// `✗` the command failed, or nothing could be rendered. The words say which.

const SHAPES = {
  ok: ['green', '●', 'ok'],
  partial: ['yellow', '◐', 'partial'],
  failed: ['red', '✗', 'failed'],
} as const;

/** What the marks mean, for `--help`. */
export const MARKS_HELP = `Marks: ● all well; ◐ rendered in part; ✗ the command failed (its exit code or signal is said), nothing could be
rendered, or the step is lost. Where the locale has no such characters, words: ok, partial, failed.`;

export interface Outcome {
  style: (typeof SHAPES)[keyof typeof SHAPES][0];
  /** A shape, or the word for it where the locale has no such characters. */
  mark: string;
  /** What went wrong, of the command first: `exit 3`, `SIGINT`, `not rendered`, `partial`; empty where all is well. */
  words: string[];
  /** Mark and words in one, `● ok` where all is well. */
  text: string;
}

/** Parts of a step that tell how it came out. They are as untrusted as all of it. */
export interface Ended {
  status: 'ok' | 'partial' | 'error';
  exit_code?: unknown;
  signal?: unknown;
  lost?: unknown;
}

export function outcomeOf({ status, exit_code, signal, lost }: Ended): Outcome {
  const command = signal ? String(signal) : exit_code ? `exit ${exit_code}` : null;
  const failed = lost || command !== null || status === 'error';
  const [style, shape, word] = SHAPES[failed ? 'failed' : status === 'partial' ? 'partial' : 'ok'];
  const render = lost
    ? 'lost'
    : status === 'error'
      ? 'not rendered'
      : status === 'partial'
        ? 'partial'
        : null;
  const mark = hasShapes(process.env) ? shape : word;
  const words = [command, render].filter((each) => each !== null);
  const said = words.length > 0 ? words.join(', ') : word;
  return { style, mark, words, text: said === mark ? mark : `${mark} ${said}` };
}

const hasShapes = (env: NodeJS.ProcessEnv): boolean =>
  /UTF-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8');
