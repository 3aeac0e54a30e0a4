// What `capture` and `live` both do: one capture with progress on a terminal, and its report.
import { progress } from '../src/cli.js';
import type { CaptureOptions } from './attempt.js';
import { capture } from './capture.js';
import { reportCapture } from './report.js';

type OnPhase = (phase: string) => void;

/** Does `work` with progress on a terminal: a line that says the phase it is in. */
export async function withProgress<T>(work: (onPhase: OnPhase) => Promise<T>): Promise<T> {
  let phase = 'starting';
  const finish = progress(() => phase);
  try {
    return await work((now) => {
      phase = now;
    });
  } finally {
    finish();
  }
}

/** For a lock's `onWait`: the phase that says whom is waited for. */
export const waiting = (onPhase: OnPhase) => (owner: string) => onPhase(`waiting for the session: ${owner}`);

/** Captures with progress on a terminal, prints the result, and returns the exit code. `from`: a folder with what is rendered already. */
export async function captureAndReport(
  options: CaptureOptions & { from?: string | undefined },
  json: boolean,
): Promise<number> {
  const { from, ...rest } = options;
  const work = async (onPhase: OnPhase) => {
    if (from === undefined) return capture({ ...rest, onPhase });
    const { captureFrom } = await import('./from.js');
    return captureFrom(from, { ...rest, onPhase });
  };
  return reportCapture(await withProgress(work), json);
}
