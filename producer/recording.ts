// What `capture` and `live` both do: one capture with progress on a terminal, and its report.
import { progress } from '../src/cli.js';
import type { CaptureOptions } from './attempt.js';
import { capture } from './capture.js';
import { reportCapture } from './report.js';

/** Captures with progress on a terminal, prints the result, and returns the exit code. */
export async function captureAndReport(options: CaptureOptions, json: boolean): Promise<number> {
  let phase = 'starting';
  const finish = progress(() => phase);
  try {
    const result = await capture({
      ...options,
      onPhase: (now) => {
        phase = now;
      },
    });
    finish();
    return reportCapture(result, json);
  } finally {
    finish();
  }
}
