// The frames as an MP4, by the real ffmpeg: each is given to it once, with the time that it is seen.
import { errnoOf, PreviewError } from '../../../src/errors.js';
import { follow } from './child.js';
import { lastLine } from './draw.js';
import { type Frame, TICK_S } from './plan.js';
import type { Scratch } from './scratch.js';

const FFMPEG = 'ffmpeg';
/** What this version of it can do is told in far less; a film's end may be long in coming. */
const SILENCE_MS = 300_000;
const TO_DEBIAN = 'install it: apt-get install ffmpeg';

/** @throws PreviewError `renderer_missing` where ffmpeg is not there, or cannot write H.264. */
export async function findEncoder(signal: AbortSignal): Promise<void> {
  let found = false;
  try {
    await follow([FFMPEG, '-hide_banner', '-v', 'error', '-encoders'], {
      cwd: '/',
      signal,
      silence_ms: SILENCE_MS,
      onLine: (line) => {
        found ||= /\blibx264\b/.test(line);
      },
    });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw new PreviewError('renderer_missing', `${FFMPEG} is not there (${errnoOf(error)})`, TO_DEBIAN);
  }
  if (!found)
    throw new PreviewError('renderer_missing', `this ${FFMPEG} has no libx264 for H.264`, TO_DEBIAN);
}

export interface Encoding {
  /** Where the frames lie. */
  scratch: Scratch;
  /** The file to fill. */
  file: string;
  title: string;
  signal: AbortSignal;
  onSecond: (seconds: number) => void;
}

/** Frames between two that can be jumped to. */
const GROUP = 10;

/** @throws PreviewError `renderer_failed` with ffmpeg's own words, `disk_full`. */
export async function encode(frames: readonly Frame[], encoding: Encoding): Promise<void> {
  const { scratch, file, title, signal, onSecond } = encoding;
  scratch.write('frames.txt', concatList(frames));
  const { code, stderr } = await follow(
    [
      ...[FFMPEG, '-nostdin', '-hide_banner', '-v', 'error', '-progress', 'pipe:1', '-stats_period', '1'],
      ...['-f', 'concat', '-i', 'frames.txt', '-an'],
      // Colours as a film of this size is taken to have them.
      ...['-vf', 'scale=out_color_matrix=bt709:out_range=tv,format=yuv420p'],
      ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
      ...['-c:v', 'libx264', '-profile:v', 'high', '-preset', 'medium', '-crf', '18', '-tune', 'stillimage'],
      ...['-g', String(GROUP), '-bf', '0', '-fps_mode', 'vfr', '-video_track_timescale', '1000'],
      ...[
        '-map_metadata',
        '-1',
        '-metadata',
        `title=${title}`,
        '-movflags',
        '+faststart',
        '-f',
        'mp4',
        '-y',
        file,
      ],
    ],
    {
      cwd: scratch.dir,
      signal,
      silence_ms: SILENCE_MS,
      onLine: (line) => {
        const at = /^out_time_us=(\d+)/.exec(line);
        if (at) onSecond(Number(at[1]) / 1e6);
      },
    },
  );
  if (code === 0) return;
  const words = lastLine(stderr) || 'it was ended';
  if (/No space left on device/.test(stderr))
    throw new PreviewError(
      'disk_full',
      `the disk is full (${words})`,
      'free some space and run the command again',
    );
  throw new PreviewError('renderer_failed', `${FFMPEG} failed: ${words}`, 'see whether it works by itself');
}

/** What ffmpeg's concat demuxer reads. It holds the last frame only until another comes: so that one is named twice. */
function concatList(frames: readonly Frame[]): string {
  const entries = frames.map(
    ({ name, duration_s }, at) =>
      `file ${name}\nduration ${(duration_s - (at === frames.length - 1 ? TICK_S : 0)).toFixed(2)}\n`,
  );
  const last = frames.at(-1)!;
  return `ffconcat version 1.0\n${entries.join('')}file ${last.name}\nduration ${TICK_S}\n`;
}
