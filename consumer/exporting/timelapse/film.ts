// `previews export --format timelapse`: a session as a film of its pictures with the commands beside them.
import { statSync } from 'node:fs';
import { PreviewError } from '../../../src/errors.js';
import type { Recording } from '../../../src/formats/seen.js';
import type { Problem } from '../../../src/schema.js';
import { neutralise } from '../../../src/text.js';
import { openOutputFile } from '../output.js';
import { drawFrames } from './draw.js';
import { encode, findEncoder } from './encode.js';
import { type Pace, planFrames } from './plan.js';
import { openScratch } from './scratch.js';

export interface FilmOptions {
  steps: { from: number; to: number } | undefined;
  pace: Pace;
  width: number;
  height: number;
  onProgress: (words: string) => void;
}

export interface Film {
  /** The file. */
  output: string;
  steps: number;
  /** Steps that are seen with a picture of their own. */
  pictures: number;
  duration_s: number;
  width: number;
  height: number;
  bytes: number;
  problems: Problem[];
}

/** Problems that are told. */
const FEW = 50;

/** What stands behind a film's last byte, in a box that players pass over (ISO/IEC 14496-12, 8.1.2): it is ours to replace. */
const MARK = freeBox('preview-recorder timelapse');

function freeBox(text: string): Buffer {
  const box = Buffer.from(`0000free${text}`, 'latin1');
  box.writeUInt32BE(box.length, 0);
  return box;
}

/**
 * Writes the film to `named`. An interrupt leaves nothing.
 * @throws PreviewError `renderer_missing`, `renderer_failed`, `interrupted`; what `planFrames` and `openOutputFile` throw.
 */
export async function exportFilm(recording: Recording, named: string, options: FilmOptions): Promise<Film> {
  const { steps, pace, width, height, onProgress } = options;
  const frames = planFrames(recording, steps, pace);
  const output = openOutputFile(named, recording.dir, (_, end) => end.includes(MARK));
  const scratch = openScratch();
  try {
    return await interruptible(async (signal) => {
      await findEncoder(signal);
      const { pictures, problems } = await drawFrames(frames, {
        dir: scratch.dir,
        width,
        height,
        signal,
        onFrame: (done) => onProgress(`drawing step ${done} of ${frames.length}`),
      });
      const duration_s = Math.round(frames.reduce((sum, frame) => sum + frame.duration_s, 0) * 100) / 100;
      await encode(frames, {
        scratch,
        file: output.staged,
        title: neutralise(frames[0]!.title),
        signal,
        onSecond: (at) => onProgress(`encoding second ${Math.floor(at)} of ${Math.ceil(duration_s)}`),
      });
      output.finish(MARK);
      const bytes = statSync(output.file).size;
      const told = problems.slice(0, FEW);
      return {
        output: output.file,
        steps: frames.length,
        pictures,
        duration_s,
        width,
        height,
        bytes,
        problems: told,
      };
    });
  } finally {
    scratch.close();
    output.close();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs `work` with a signal that Ctrl-C and its like abort. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () =>
    controller.abort(
      new PreviewError('interrupted', 'interrupted', 'nothing was written; run the command again'),
    );
  for (const name of SIGNALS) process.on(name, abort);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, abort);
  }
}
