// Shows a film or a sound, a program of its own: a contact sheet with times, a poster, a short clip; of sound the waveform.
//   video.cjs --out DIR --name 01-film --source film.mp4 [--height 480]
// Exit 0 with NAME.sheet.png, NAME.*.png, NAME.clip.mp4 (or .mp3) and NAME.preview.json in DIR; 1 where it cannot be read.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writePicture } from '../render/album.js';
import * as film from '../render/film.js';
import { failure, renderer } from '../render/programs.js';
import { type Report, writeReport } from '../render/report.js';
import * as sound from '../render/sound.js';

type Place = { source: string; name: string; out: string; tmp: string };

renderer('video', async () => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { out: text, name: text, source: text, height: text },
  });
  const { out, name, source, height = '480' } = values;
  if (!out || !name || !source) throw failure('expected --out DIR, --name NAME and --source FILE');
  const tmp = mkdtempSync(join(tmpdir(), 'film-'));
  const place = { source, name, out, tmp };
  const probed = await film.probe(source);
  const shown = probed.video
    ? await showFilm(place, probed, Math.min(720, Number(height) || 480))
    : await showSound(place, probed);
  writeReport(out, shown, name);
  rmSync(tmp, { recursive: true });
});

async function showFilm(
  { source, name, out, tmp }: Place,
  probed: film.Probed,
  lines: number,
): Promise<Report> {
  const { duration, bytes } = probed;
  const video = probed.video!;
  const frames = await film.framesAt(source, film.moments(duration, video.fps), tmp);
  writePicture(join(out, `${name}.sheet.png`), await film.sheetOf(frames));
  const best = film.bestOf(frames);
  const labels: Report['labels'] = {
    [`${name}.sheet.png`]: `${frames.length} moments`,
    [`${name}.poster.png`]: `at ${film.timeText(best.at)}`,
    [`${name}.clip.mp4`]: `first ${Math.min(film.CLIP_SECONDS, film.rounded(duration))} s, smaller`,
  };
  await Promise.all([
    film.poster(source, best.at, join(out, `${name}.poster.png`)),
    film.clip(source, probed, lines, join(out, `${name}.clip.mp4`)),
  ]);
  if (probed.audio) {
    writePicture(join(out, `${name}.sound.png`), await sound.waveform(source, probed, tmp));
    labels[`${name}.sound.png`] = 'sound';
  }
  const size = `${video.width} × ${video.height}`;
  return {
    headline: `${source}: ${film.timeText(duration)}, ${size}, ${video.fps} fps, ${probed.audio ? 'with sound' : 'no sound'}`,
    facts: {
      duration_s: film.rounded(duration),
      size,
      fps: video.fps,
      video_codec: video.codec,
      ...(probed.audio
        ? { audio_codec: probed.audio.codec, channels: probed.audio.channels }
        : { audio_codec: 'none' }),
      bytes,
    },
    warnings: film.clipRemarks(source, duration),
    labels,
    next_actions: [],
  };
}

async function showSound({ source, name, out, tmp }: Place, probed: film.Probed): Promise<Report> {
  const { duration, bytes } = probed;
  const { codec, channels, sampleRate } = probed.audio!;
  writePicture(join(out, `${name}.sheet.png`), await sound.waveform(source, probed, tmp));
  const [loud] = await Promise.all([
    sound.loudness(source),
    sound.soundClip(source, join(out, `${name}.clip.mp3`)),
  ]);
  const kind = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`;
  const measured =
    duration > sound.MEASURED_SECONDS
      ? [
          `left_out: ${source} lasts ${film.timeText(duration)}; its first ${sound.MEASURED_SECONDS} s are drawn and measured`,
        ]
      : [];
  return {
    headline: `${source}: ${film.timeText(duration)}, ${kind}, ${sampleRate} Hz${loud.lufs === null ? '' : `, ${loud.lufs} LUFS`}`,
    facts: {
      duration_s: film.rounded(duration),
      channels,
      sample_rate: sampleRate,
      audio_codec: codec,
      ...(loud.lufs === null ? {} : { loudness_lufs: loud.lufs }),
      ...(loud.peak === null ? {} : { peak_dbfs: loud.peak }),
      bytes,
    },
    warnings: [...sound.loudnessRemarks(source, loud), ...measured, ...film.clipRemarks(source, duration)],
    labels: {
      [`${name}.sheet.png`]: 'waveform',
      [`${name}.clip.mp3`]: `first ${Math.min(film.CLIP_SECONDS, film.rounded(duration))} s`,
    },
    next_actions: [],
  };
}
