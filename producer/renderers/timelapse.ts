// Draws the frames of a time-lapse, a program of its own: pictures are untrusted, and are decoded here alone.
//   timelapse.cjs < PLAN   {"out": DIR, "width", "height", "last": PICTURE | null, "frames": [...]}
// For each frame a PNG in DIR and a line of JSON: its name, the picture that it shows, and why not its own. Exit 2 for a
// plan that cannot be read.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FilmFrame as Frame } from '../../src/filmframe.js';
import { FONT_FOLDER, systemFonts } from '../render/arguments.js';
import { openFonts } from '../render/fonts.js';
import { drawFrame, layoutOf, type Size, staged } from '../render/frames.js';
import { loadPicture } from '../render/load.js';
import { onGround, type Picture } from '../render/picture.js';
import { encodePng } from '../render/png.js';
import { isUnreadable } from '../render/xml.js';

interface Plan extends Size {
  out: string;
  /** What the frame before the first showed. */
  last: string | null;
  frames: Frame[];
}

/** A picture that is shown, ready to be laid on a frame. */
interface Shown {
  path: string;
  picture: Picture;
}

async function main(): Promise<number> {
  let plan: Plan;
  try {
    let text = '';
    for await (const piece of process.stdin.setEncoding('utf8')) text += piece;
    plan = JSON.parse(text);
  } catch (error) {
    process.stderr.write(`timelapse: ${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
  // Who asked for the frames is gone: nobody would take them away.
  process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  let last = plan.last === null ? null : (await show([plan.last], plan, null)).shown;
  for (const frame of plan.frames) {
    const { shown, why } = await show(frame.pictures, plan, last);
    last = shown ?? last;
    const kept = shown ? null : (why ?? 'no picture');
    const page = await drawFrame(frame, { picture: last?.picture ?? null, kept }, plan, fonts);
    writeFileSync(join(plan.out, frame.name), encodePng(page), { flag: 'wx' });
    process.stdout.write(`${JSON.stringify({ name: frame.name, shown: shown?.path ?? null, why })}\n`);
  }
  return 0;
}

/** The first that can be read. */
async function show(
  paths: readonly string[],
  size: Size,
  last: Shown | null,
): Promise<{ shown: Shown | null; why: string | null }> {
  let why: string | null = null;
  for (const path of paths) {
    if (last?.path === path) return { shown: last, why: null };
    try {
      const { stage } = layoutOf(size);
      const { picture, ground } = await loadPicture(path, Math.max(stage.width, stage.height));
      return { shown: { path, picture: staged(onGround(picture, ground), size) }, why: null };
    } catch (error) {
      if (!isUnreadable(error) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      why ??= `its picture cannot be shown: ${isUnreadable(error) ? error.unreadable : (error as NodeJS.ErrnoException).code}`;
    }
  }
  return { shown: null, why };
}

main().then((code) => {
  process.exitCode = code;
});
