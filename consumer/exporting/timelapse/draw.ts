// The frames drawn, by a renderer of ours as a child: pictures are untrusted and never decoded here. One that brings the
// renderer down costs its frame the picture and nothing more.
import { PreviewError } from '../../../src/errors.js';
import { isObject } from '../../../src/object.js';
import type { Problem } from '../../../src/schema.js';
import { follow } from './child.js';
import { type Frame, RENDERER } from './plan.js';

export interface Drawing {
  dir: string;
  width: number;
  height: number;
  signal: AbortSignal;
  onFrame: (done: number) => void;
}

export interface Drawn {
  /** Frames that show the picture of their own step. */
  pictures: number;
  problems: Problem[];
}

/** Pictures that may bring the renderer down before it is given up. */
const RESTARTS = 20;
/** The longest that one frame may take. */
const SILENCE_MS = 60_000;

/** Draws each frame into `dir`. @throws PreviewError `renderer_failed`. */
export async function drawFrames(frames: readonly Frame[], drawing: Drawing): Promise<Drawn> {
  const { dir, width, height, signal, onFrame } = drawing;
  const problems: Problem[] = [];
  const left = [...frames];
  let last: string | null = null;
  let pictures = 0;
  for (let restarts = 0; left.length > 0; restarts++) {
    const ended = await follow([process.execPath, RENDERER], {
      cwd: dir,
      signal,
      silence_ms: SILENCE_MS,
      input: JSON.stringify({ out: dir, width, height, last, frames: left }),
      onLine(line) {
        const told: unknown = JSON.parse(line);
        const frame = left.shift();
        if (!frame || !isObject(told)) return;
        if (typeof told['shown'] === 'string') {
          last = told['shown'];
          pictures++;
        }
        if (typeof told['why'] === 'string')
          problems.push({ kind: 'picture_unread', where: frame.step, detail: told['why'] });
        onFrame(frames.length - left.length);
      },
    });
    const culprit = left[0];
    if (culprit === undefined) break;
    if (culprit.pictures.length === 0 || restarts >= RESTARTS || (ended.code !== null && !ended.silent))
      throw new PreviewError(
        'renderer_failed',
        `the frame of ${culprit.step} could not be drawn: ${lastLine(ended.stderr) || 'its renderer ended early'}`,
        'leave it out with --steps, or report it',
      );
    const detail = ended.silent
      ? `its picture took longer than ${SILENCE_MS / 1000} s`
      : `its picture ended the renderer: ${lastLine(ended.stderr)}`;
    problems.push({ kind: 'picture_unread', where: culprit.step, detail });
    left[0] = { ...culprit, pictures: [] };
  }
  return { pictures, problems };
}

export const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
