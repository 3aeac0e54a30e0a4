// Films by ffprobe and ffmpeg: what they are, single frames, a contact sheet with the time under each frame, and a
// short clip that every browser plays.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { album } from './album.js';
import { forEachParallel } from './child.js';
import { loadPicture } from './load.js';
import { numbered } from './names.js';
import type { Picture } from './picture.js';
import { failure, must } from './programs.js';

export type Probed = {
  duration: number;
  bytes: number;
  format: string;
  video: { codec: string; width: number; height: number; fps: number } | null;
  audio: { codec: string; channels: number; sampleRate: number } | null;
};

export const CLIP_SECONDS = 8;
/** A contact sheet has three rows of three. */
const FRAMES = 9;
const FRAME_SIDE = 640;
const POSTER_SIDE = 1280;

/** What of ffprobe's answer is used. */
type Stream = {
  codec_type: string;
  codec_name: string;
  disposition?: { attached_pic?: number };
  side_data_list?: { rotation?: number }[];
  duration?: string;
  width: number;
  height: number;
  avg_frame_rate: string;
  channels: number;
  sample_rate: string;
};
type Probe = { streams?: Stream[]; format?: { duration?: string; format_name?: string } };

/** Throws a `Failure` with ffprobe's reason. */
export async function probe(file: string): Promise<Probed> {
  const { stdout } = await must([
    ...['ffprobe', '-v', 'error', '-show_format', '-show_streams', '-of', 'json', '-i', file],
  ]);
  const { streams = [], format = {} } = JSON.parse(stdout) as Probe;
  // The picture on the cover of a sound is no film.
  const isFilm = (stream: Stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1;
  const video = streams.find(isFilm);
  const audio = streams.find((stream) => stream.codec_type === 'audio');
  if (!video && !audio) throw failure(`${file} holds neither pictures nor sound`);
  const turned = Math.abs(Number(video?.side_data_list?.[0]?.rotation ?? 0)) % 180 === 90;
  const [width, height] = turned ? (['height', 'width'] as const) : (['width', 'height'] as const);
  return {
    duration: Number(format.duration ?? video?.duration ?? audio?.duration ?? 0),
    bytes: statSync(file).size,
    format: String(format.format_name ?? '').split(',')[0]!,
    video: video
      ? {
          codec: video.codec_name,
          width: video[width],
          height: video[height],
          fps: fraction(video.avg_frame_rate),
        }
      : null,
    audio: audio
      ? { codec: audio.codec_name, channels: audio.channels, sampleRate: Number(audio.sample_rate) }
      : null,
  };
}

/** `30000/1001` as 29.97. */
function fraction(text: string): number {
  const [above, below = 1] = text.split('/').map(Number);
  return below ? Math.round((above! / below) * 100) / 100 : 0;
}

/** The moments a contact sheet shows: the frames in the middle of equal parts, in seconds. */
export function moments(duration: number, fps: number): number[] {
  const rate = fps || 25;
  const count = Math.max(1, Math.min(FRAMES, Math.floor(duration * rate)));
  // When a frame begins, and rather a little before: after the last one begins there is nothing to be found.
  const begin = (moment: number) => Math.floor((Math.floor(moment * rate) / rate) * 1000) / 1000;
  return Array.from({ length: count }, (_, n) => begin(((n + 0.5) * duration) / count));
}

/** Square pixels, no side over `side`, both even. */
const within = (side: number, height = side) =>
  `scale=iw*sar:ih,setsar=1,scale='min(iw,${side})':'min(ih,${height})':force_original_aspect_ratio=decrease:force_divisible_by=2`;

/** One frame as PNG at `out`. */
async function frame(file: string, at: number, side: number, out: string): Promise<void> {
  await must([
    ...['ffmpeg', '-v', 'error', '-nostdin', '-y', '-ss', at.toFixed(3), '-i', file],
    ...['-frames:v', '1', '-vf', within(side), out],
  ]);
}

export type Frame = { at: number; file: string; picture: Picture };

/** Frames at those moments below `tmp`. */
export async function framesAt(file: string, at: readonly number[], tmp: string): Promise<Frame[]> {
  const found = await forEachParallel(at, async (moment, index) => {
    const out = join(tmp, `frame-${numbered(index)}.png`);
    await frame(file, moment, FRAME_SIDE, out);
    // A film may be shorter than it says.
    return existsSync(out) ? readFrame(moment, out) : null;
  });
  const frames = found.filter((each) => each !== null);
  if (frames.length === 0) throw failure(`${file} has no picture that ffmpeg can read`);
  return frames;
}

export const readFrame = async (at: number, file: string): Promise<Frame> => ({
  at,
  file,
  picture: (await loadPicture(file, FRAME_SIDE)).picture,
});

export const sheetOf = (frames: readonly Frame[]): Promise<Picture> =>
  album(frames.map(({ at, picture }) => ({ picture, caption: timeText(at) })));

/** The frame that says most: the one whose PNG is the largest has the most in it. */
export const bestOf = (frames: readonly Frame[]): Frame =>
  frames.reduce((best, each) => (statSync(each.file).size > statSync(best.file).size ? each : best));

export const poster = (file: string, at: number, out: string): Promise<void> =>
  frame(file, at, POSTER_SIDE, out);

/** The first seconds in H.264 and AAC, no larger than `height` lines; the same input gives the same bytes. */
export async function clip(file: string, probed: Probed, height: number, out: string): Promise<void> {
  const rate = probed.video && probed.video.fps > 30 ? ['-r', '30'] : [];
  await must([
    ...['ffmpeg', '-v', 'error', '-nostdin', '-y', '-t', String(CLIP_SECONDS), '-i', file],
    ...['-map', '0:v:0', '-map', '0:a:0?', '-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1'],
    ...['-vf', within(Math.round((height * 16) / 9), height), ...rate],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '28', '-pix_fmt', 'yuv420p', '-threads', '1'],
    ...['-c:a', 'aac', '-b:a', '96k', '-ac', '2', '-fflags', '+bitexact', '-flags', '+bitexact'],
    ...['-movflags', '+faststart', out],
  ]);
}

/** 83.25 s as `1:23.2`, an hour as `1:00:00.0`. */
export function timeText(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** At most two decimals. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

export function clipRemarks(path: string, duration: number): string[] {
  if (duration <= CLIP_SECONDS + 0.5) return [];
  return [`clip_cut: ${path} lasts ${timeText(duration)}; the clip has its first ${CLIP_SECONDS} s`];
}
