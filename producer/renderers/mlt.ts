// Shows an MLT project as melt renders it, a program of its own: a contact sheet with times, a poster, a short clip.
//   mlt.cjs --out DIR --source film.mlt [--height 360]
// Exit 0 with render.png, poster.png, clip.mp4 and preview.json in DIR; 1 where melt cannot play it.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writePicture } from '../render/album.js';
import { bestOf, clipRemarks, moments, rounded, sheetOf, timeText } from '../render/film.js';
import { counted, named } from '../render/names.js';
import { failure, renderer } from '../render/programs.js';
import { writeReport } from '../render/report.js';
import { readTimeline, renderClip, renderFrames } from '../render/timeline.js';

renderer('mlt', async () => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { out: text, source: text, height: text } });
  const { out, source } = values;
  if (!out || !source) throw failure('expected --out DIR and --source PROJECT');
  const tmp = mkdtempSync(join(tmpdir(), 'mlt-'));
  const lines = Math.min(720, Number(values.height) || 360);
  const timeline = await readTimeline(source);
  const duration = timeline.frames / timeline.fps;
  const [frames] = await Promise.all([
    renderFrames(source, timeline, moments(duration, timeline.fps), lines, tmp),
    renderClip(source, timeline, lines, join(out, 'clip.mp4')),
  ]);
  writePicture(join(out, 'render.png'), await sheetOf(frames));
  const best = bestOf(frames);
  copyFileSync(best.file, join(out, 'poster.png'));
  rmSync(tmp, { recursive: true });
  const { width, height, fps, tracks, entries, media, missing } = timeline;
  writeReport(out, {
    headline: `${source}: ${timeText(duration)}, ${width} × ${height}, ${fps} fps, ${counted(media.length, 'media file')}`,
    facts: {
      duration_s: rounded(duration),
      size: `${width} × ${height}`,
      fps,
      tracks,
      clips: entries,
      media_files: media.length,
      media_missing: missing.length,
    },
    warnings: [
      ...(missing.length > 0
        ? [`added_placeholder: melt shows something else in place of ${named(missing)}, which is not there`]
        : []),
      ...clipRemarks(source, duration),
    ],
    labels: {
      'render.png': `${source}, ${frames.length} moments`,
      'poster.png': `at ${timeText(best.at)}`,
      'clip.mp4': `first ${Math.min(8, rounded(duration))} s, ${Math.min(height, lines)} lines`,
    },
    next_actions: missing.length > 0 ? ['put the missing media where the project looks for them'] : [],
  });
});
