// Sound by ffmpeg: a waveform with its times and channels, and how loud it is (EBU R 128).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FONT_FOLDER, systemFonts } from './arguments.js';
import { drawOwn } from './draw.js';
import { CLIP_SECONDS, type Probed } from './film.js';
import { openFonts } from './fonts.js';
import type { Picture } from './picture.js';
import { must, start } from './programs.js';

const WIDTH = 1280;
const SIDE = 64;
const WAVE = WIDTH - 2 * SIDE;
const FOOT = 44;
/** Of what is measured and drawn: an hour of sound takes long to decode. */
export const MEASURED_SECONDS = 1200;
const CHANNELS = ['left', 'right'];

/** One line of a waveform for each channel (8 at most), with times below. */
export async function waveform(file: string, { duration, audio }: Probed, tmp: string): Promise<Picture> {
  const channels = Math.min(audio!.channels, 8);
  const tall = channels === 1 ? 260 : Math.max(90, Math.floor(400 / channels));
  const height = tall * channels;
  const png = join(tmp, 'wave.png');
  const colours = Array.from({ length: channels }, () => '0x1967d2').join('|');
  const pick = audio!.channels > 8 ? 'pan=8c|c0=c0|c1=c1|c2=c2|c3=c3|c4=c4|c5=c5|c6=c6|c7=c7,' : '';
  await must([
    ...['ffmpeg', '-v', 'error', '-nostdin', '-y', '-t', String(MEASURED_SECONDS), '-i', file],
    ...[
      '-filter_complex',
      `[0:a:0]${pick}showwavespic=s=${WAVE}x${height}:split_channels=1:scale=lin:draw=full:filter=peak:colors=${colours}`,
    ],
    ...['-frames:v', '1', png],
  ]);
  const shown = Math.min(duration, MEASURED_SECONDS);
  const top = 24;
  const size = { width: WIDTH, height: top + height + FOOT };
  const rows = Array.from({ length: channels }, (_, n) => {
    const middle = top + tall * (n + 0.5);
    const name = channels === 2 ? CHANNELS[n]! : channels === 1 ? 'mono' : `ch ${n + 1}`;
    const above = n > 0 ? line(SIDE, top + tall * n, WIDTH - SIDE, top + tall * n, '#dadce0') : '';
    return (
      above + line(SIDE, middle, WIDTH - SIDE, middle, '#e8eaed') + word(SIDE - 10, middle + 4, name, 'end')
    );
  });
  const ticks = tickTimes(shown).map((at) => {
    const x = SIDE + (at / shown) * WAVE;
    return (
      line(x, top, x, top + height + 6, '#e8eaed') + word(x, top + height + 24, clock(at, shown), 'middle')
    );
  });
  const image = `<image x="${SIDE}" y="${top}" width="${WAVE}" height="${height}" href="data:image/png;base64,${readFileSync(png).toString('base64')}"/>`;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}"><rect width="100%" height="100%" fill="#fff"/>${rows.join('')}${ticks.join('')}${image}<rect x="${SIDE}.5" y="${top - 0.5}" width="${WAVE}" height="${height + 1}" fill="none" stroke="#dadce0"/></svg>`;
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  const letters = new Set(
    [...'0123456789:. abcdefghijklmnopqrstuvwxyz'].map((letter) => letter.codePointAt(0)!),
  );
  return drawOwn(text, size, fonts.files(new Set(['DejaVu Sans Mono']), letters).files);
}

const line = (x1: number, y1: number, x2: number, y2: number, colour: string) =>
  `<path d="M${x1.toFixed(1)},${y1.toFixed(1)}L${x2.toFixed(1)},${y2.toFixed(1)}" stroke="${colour}"/>`;
const word = (x: number, y: number, text: string, anchor: string) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-family="'DejaVu Sans Mono'" font-size="12" fill="#5f6368">${text}</text>`;

/** Round times, six to twelve of them. */
function tickTimes(duration: number): number[] {
  const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300];
  const step = steps.find((each) => duration / each <= 12) ?? 600;
  return Array.from({ length: Math.floor(duration / step + 1e-6) + 1 }, (_, n) => n * step);
}

function clock(at: number, duration: number): string {
  if (duration < 12) return `${Number(at.toFixed(2))} s`;
  return `${Math.floor(at / 60)}:${String(Math.round(at % 60)).padStart(2, '0')}`;
}

export type Loudness = { lufs: number | null; peak: number | null };

/** Integrated loudness in LUFS and true peak in dBFS; null where it is silent or too short to say. */
export async function loudness(file: string): Promise<Loudness> {
  const { stderr } = await start([
    ...['ffmpeg', '-hide_banner', '-nostats', '-nostdin', '-t', String(MEASURED_SECONDS), '-i', file],
    ...['-map', '0:a:0', '-af', 'ebur128=peak=true:framelog=verbose', '-f', 'null', '-'],
  ]);
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
  const value = (pattern: RegExp) => {
    const found = Number(pattern.exec(summary)?.[1] ?? Number.NaN);
    return Number.isFinite(found) ? found : null;
  };
  const lufs = value(/I:\s+(-?[\d.]+) LUFS/);
  // Its gate: what is more silent has no loudness.
  return { lufs: lufs !== null && lufs > -70 ? lufs : null, peak: value(/Peak:\s+(-?[\d.]+) dBFS/) };
}

export function loudnessRemarks(path: string, { peak }: Loudness): string[] {
  if (peak === null || peak < -60) return [`silent: ${path} has no sound that can be heard`];
  return peak > 0 ? [`clipping: ${path} reaches ${peak} dBFS, over full scale`] : [];
}

/** The first seconds as MP3. */
export async function soundClip(file: string, out: string): Promise<void> {
  await must([
    ...['ffmpeg', '-v', 'error', '-nostdin', '-y', '-t', String(CLIP_SECONDS), '-i', file, '-map', '0:a:0'],
    ...['-map_metadata', '-1', '-c:a', 'libmp3lame', '-b:a', '96k', '-ac', '2', '-fflags', '+bitexact', out],
  ]);
}
