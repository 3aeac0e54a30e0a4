// The recipes `video`, `audio` and `mlt` on films and sounds that ffmpeg makes.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

function projectWith(name: string, ...args: string[]): string {
  const project = join(temporary(), 'project');
  mkdirSync(project, { recursive: true });
  execFileSync('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args, join(project, name)]);
  return project;
}

/** What ffprobe says of a clip that was made. */
function probed(file: string) {
  const entries = 'stream=codec_name,width,height,channels:format=duration';
  const text = execFileSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', file], {
    encoding: 'utf8',
  });
  return JSON.parse(text) as { streams: Record<string, any>[]; format: { duration: string } };
}

withPrograms('video', { ffmpeg: 'ffmpeg' }, () => {
  test('nine moments with their times, a poster, the sound, and eight seconds of a longer film', async () => {
    const project = projectWith(
      'film.mp4',
      ...['-f', 'lavfi', '-i', 'testsrc2=s=1280x720:d=12:r=25', '-f', 'lavfi', '-i', 'sine=d=12'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-shortest'],
    );
    const { result, manifest, summary, facts, of, file } = await captureWith(project, 'video');
    expect(result).toMatchObject({
      status: 'ok',
      warnings: ['clip_cut: film.mp4 lasts 0:12.0; the clip has its first 8 s'],
    });
    expect(manifest['generator'].backend).toMatch(/^ffmpeg version/);
    expect(summary['headline']).toBe('film.mp4: 0:12.0, 1280 × 720, 25 fps, with sound');
    expect(facts).toMatchObject({
      duration_s: 12,
      size: '1280 × 720',
      fps: 25,
      video_codec: 'h264',
      audio_codec: 'aac',
    });
    const sheet = look(file(of('hero')[0]!));
    expect(sheet.width).toBeGreaterThan(1200);
    expect(sheet.width).toBeLessThanOrEqual(1280);
    expect(sheet.reach.x).toBeGreaterThan(0.9);
    expect(sheet.colours).toBeGreaterThan(40);
    expect(of('gallery').map(({ label }) => label)).toEqual([
      expect.stringMatching(/^film\.mp4: at 0:\d\d\.\d$/),
      'film.mp4: sound',
    ]);
    const clip = probed(file(of('preview-clip')[0]!));
    expect(Number(clip.format.duration)).toBeLessThanOrEqual(8.1);
    expect(clip.streams).toMatchObject([{ codec_name: 'h264', height: 480 }, { codec_name: 'aac' }]);
  });

  test('a film of one frame, without sound, standing upright', async () => {
    const project = projectWith(
      'one.webm',
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=180x320:d=0.04:r=25',
      '-c:v',
      'libvpx',
    );
    const { result, facts, of, file } = await captureWith(project, 'video');
    expect(result['status']).toBe('ok');
    expect(facts).toMatchObject({ size: '180 × 320', audio_codec: 'none', video_codec: 'vp8' });
    const { width, height } = look(file(of('hero')[0]!));
    expect(height).toBeGreaterThan(width);
  });

  test('what is no film is an error with the words of ffprobe', async () => {
    const project = join(temporary(), 'project');
    write(project, { 'a.mp4': 'junk' });
    const { result } = await captureWith(project, 'video', { code: 4 });
    expect(result['warnings'][0]).toMatch(
      /^renderer_failed: a\.mp4: video ended with exit code 1: .*Invalid data/,
    );
  });
});

withPrograms('audio', { ffmpeg: 'ffmpeg' }, () => {
  test('a waveform for each channel, loudness and peak, and the first seconds as MP3', async () => {
    // Silence on the left, a tone of amplitude 1/2 on the right: its peak is −6 dBFS.
    const project = projectWith(
      'tone.wav',
      '-f',
      'lavfi',
      '-i',
      "aevalsrc='0|0.5*sin(2*PI*997*t)':d=10:s=48000",
    );
    const { result, facts, of, file } = await captureWith(project, 'audio');
    expect(result['warnings']).toEqual(['clip_cut: tone.wav lasts 0:10.0; the clip has its first 8 s']);
    expect(facts).toMatchObject({ duration_s: 10, channels: 2, sample_rate: 48000, peak_dbfs: -6 });
    // ITU-R BS.1770: a sine of 997 Hz at 0 dBFS in one channel is −3.01 LUFS.
    expect(facts['loudness_lufs']).toBeCloseTo(-3.01 - 6.02, 0);
    const { width, height, pixels } = look(file(of('hero')[0]!));
    expect(width).toBe(1280);
    // Blue in the lower half only.
    const blue = (from: number, to: number) => {
      let count = 0;
      for (let at = from * width * 4; at < to * width * 4; at += 4)
        if (pixels[at]! < 60 && pixels[at + 2]! > 180) count++;
      return count;
    };
    const half = Math.floor((height - 44 + 24) / 2);
    expect(blue(half, height)).toBeGreaterThan(50_000);
    expect(blue(0, half)).toBeLessThan(5_000);
    expect(probed(file(of('preview-clip')[0]!)).streams).toMatchObject([{ codec_name: 'mp3' }]);
  });

  test('silence and clipping are said', async () => {
    const silent = projectWith('a.wav', '-f', 'lavfi', '-i', 'anullsrc=d=1');
    expect((await captureWith(silent, 'audio')).result['warnings']).toEqual([
      'silent: a.wav has no sound that can be heard',
    ]);
    const loud = projectWith('a.wav', '-f', 'lavfi', '-i', "aevalsrc='2*sin(2*PI*11025.5*t)':d=1:s=44100");
    expect((await captureWith(loud, 'audio')).result['warnings'][0]).toMatch(/^clipping: a\.wav reaches \d/);
  });
});

withPrograms('mlt', { melt: 'melt', ffmpeg: 'ffmpeg' }, () => {
  test('a project as melt renders it; media that are missing make it partial', async () => {
    const project = projectWith(
      'bars.mp4',
      '-f',
      'lavfi',
      '-i',
      'smptebars=s=320x180:d=3:r=25',
      '-pix_fmt',
      'yuv420p',
    );
    write(project, {
      'film.mlt': `<mlt><profile width="320" height="180" frame_rate_num="25" frame_rate_den="1" progressive="1" sample_aspect_num="1" sample_aspect_den="1" display_aspect_num="16" display_aspect_den="9"/>
<producer id="bars" in="0" out="49"><property name="resource">bars.mp4</property></producer>
<producer id="red" in="0" out="49"><property name="mlt_service">color</property><property name="resource">#ff0000</property></producer>
<playlist id="main"><entry producer="bars" in="0" out="49"/><entry producer="red" in="0" out="49"/></playlist>
<tractor id="t"><track producer="main"/></tractor></mlt>`,
    });
    const { result, facts, of, file } = await captureWith(project, 'mlt');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(facts).toEqual({
      ...{ duration_s: 4, size: '320 × 180', fps: 25, tracks: 1, clips: 2 },
      ...{ media_files: 1, media_missing: 0 },
    });
    // Bars first, red last.
    const { width, height, pixels } = look(file(of('hero')[0]!));
    const at = (x: number, y: number) => [
      ...pixels.subarray((Math.floor(y * height) * width + Math.floor(x * width)) * 4).subarray(0, 3),
    ];
    const [red, green, blue] = at(0.85, 0.8);
    expect([red! > 200, green! < 60, blue! < 60]).toEqual([true, true, true]);
    expect(at(0.05, 0.1).every((channel) => channel > 150)).toBe(true);
    expect(Number(probed(file(of('preview-clip')[0]!)).format.duration)).toBeCloseTo(4, 0);
    write(project, {
      'film.mlt':
        '<mlt><producer id="gone"><property name="resource">gone.mp4</property></producer><playlist id="p"><entry producer="gone" in="0" out="9"/></playlist></mlt>',
    });
    const broken = await captureWith(project, 'mlt');
    expect(broken.result).toMatchObject({
      status: 'partial',
      warnings: ['added_placeholder: melt shows something else in place of gone.mp4, which is not there'],
    });
  });
});
