// MLT projects (melt's XML, also Kdenlive's and Shotcut's): what the file says of profile, tracks and media, and melt
// rendering of it a clip and single frames.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CLIP_SECONDS, type Frame, readFrame } from './film.js';
import { failure, must } from './programs.js';
import { unescapeXml } from './xml.js';

export type Timeline = {
  width: number;
  height: number;
  fps: number;
  /** Of the whole project. */
  frames: number;
  tracks: number;
  entries: number;
  media: string[];
  missing: string[];
};

/** What melt itself takes the project for. Throws a `Failure` where it can play none. */
export async function readTimeline(file: string): Promise<Timeline> {
  const { stdout } = await must(['melt', '-silent', file, '-consumer', 'xml']);
  const [, profile = ''] = /<profile ([^>]*)>/.exec(stdout) ?? [];
  const value = (name: string) => Number(new RegExp(` ?${name}="(\\d+)"`).exec(profile)?.[1] ?? 0);
  const last = Number(/<producer [^>]*\bout="(\d+)"/.exec(stdout)?.[1] ?? -1);
  if (last < 0 || value('width') === 0) throw failure(`${file}: melt finds nothing to play in it`);
  const text = readFileSync(file, 'utf8');
  const media = mediaIn(text);
  const folder = resolve(dirname(file), /<mlt [^>]*\broot="([^"]*)"/.exec(text)?.[1] || '.');
  return {
    width: value('width'),
    height: value('height'),
    fps: Math.round((value('frame_rate_num') / (value('frame_rate_den') || 1)) * 100) / 100,
    frames: last + 1,
    tracks: text.match(/<track\b/g)?.length ?? 0,
    entries: text.match(/<entry\b/g)?.length ?? 0,
    media,
    missing: media.filter((path) => !existsSync(isAbsolute(path) ? path : join(folder, path))),
  };
}

/** Files that producers refer to; colours, counters and the like are none. */
function mediaIn(text: string): string[] {
  const producers = text.match(/<(producer|chain)\b[\s\S]*?<\/\1>/g) ?? [];
  const found = producers.flatMap((producer) => {
    const property = (name: string) =>
      new RegExp(`<property name="${name}">([^<]*)</property>`).exec(producer)?.[1];
    const service = property('mlt_service') ?? 'avformat';
    const resource = unescapeXml(property('resource') ?? '').replace(/^[\d.]+:/, '');
    return /^(avformat|qimage|pixbuf|timewarp|xml|vorbis|image)/.test(service) && resource ? [resource] : [];
  });
  return [...new Set(found)];
}

/** How melt is told to make pictures of at most `lines`; a width and height of ours would get it black borders. */
const sized = ({ height }: Timeline, lines: number): string[] => [
  `scale=${Math.min(1, lines / height)}`,
  'progressive=1',
];

/** The first seconds as H.264 and AAC. */
export async function renderClip(
  file: string,
  timeline: Timeline,
  lines: number,
  out: string,
): Promise<void> {
  const last = Math.min(timeline.frames, Math.round(CLIP_SECONDS * timeline.fps)) - 1;
  await must([
    ...[
      'melt',
      '-silent',
      file,
      'in=0',
      `out=${last}`,
      '-consumer',
      `avformat:${out}`,
      ...sized(timeline, lines),
    ],
    ...[
      'vcodec=libx264',
      'preset=veryfast',
      'crf=28',
      'pix_fmt=yuv420p',
      'acodec=aac',
      'ab=96k',
      'movflags=+faststart',
    ],
  ]);
}

/** Single frames at those moments, all by one start of melt: each is a cut of one frame in its playlist. */
export async function renderFrames(
  file: string,
  timeline: Timeline,
  at: readonly number[],
  lines: number,
  tmp: string,
): Promise<Frame[]> {
  const cuts = at.flatMap((moment) => {
    const frame = Math.min(timeline.frames - 1, Math.floor(moment * timeline.fps));
    return [file, `in=${frame}`, `out=${frame}`];
  });
  await must([
    ...['melt', '-silent', ...cuts, '-consumer', `avformat:${join(tmp, 'cut-%03d.png')}`],
    ...[...sized(timeline, lines), 'vcodec=png', 'an=1'],
  ]);
  const made = readdirSync(tmp).filter((name) => name.startsWith('cut-'));
  return Promise.all(made.sort().map((name, index) => readFrame(at[index]!, join(tmp, name))));
}
