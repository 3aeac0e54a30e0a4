// The album: pictures of one thing (pages, frames, widths) side by side, each with a caption, as one picture.
// The grid depends on how many there are and on their shape, so an edit shows at the place it was before.
import { writeFileSync } from 'node:fs';
import { FONT_FOLDER, systemFonts } from './arguments.js';
import { drawOwn } from './draw.js';
import { openFonts } from './fonts.js';
import { onGround, type Picture, paste, shrink, WHITE } from './picture.js';
import { encodePng } from './png.js';
import { visible } from './prepare.js';
import { CAPTION, GAP, label } from './sheet.js';

export type Leaf = { picture: Picture; caption: string };

const LONGEST = 1280;

/** All leaves on one page, no side over `longest`, cells as large as they can be. */
export async function album(leaves: readonly Leaf[], longest: number = LONGEST): Promise<Picture> {
  const width = Math.max(...leaves.map(({ picture }) => picture.width));
  const height = Math.max(...leaves.map(({ picture }) => picture.height));
  const { columns, scale } = grid(leaves.length, width, height, longest);
  const sizes = leaves.map(({ picture }) => ({
    width: Math.max(1, Math.floor(picture.width * scale)),
    height: Math.max(1, Math.floor(picture.height * scale)),
  }));
  const cell = Math.floor(width * scale);
  const rows: number[] = [];
  for (const [index, { height }] of sizes.entries()) {
    const row = Math.floor(index / columns);
    rows[row] = Math.max(rows[row] ?? 0, height);
  }
  const bottom = (row: number) =>
    rows.slice(0, row + 1).reduce((sum, tall) => sum + tall, GAP + row * (CAPTION + GAP / 2));
  // Each stands on its caption, whatever its shape.
  const boxes = sizes.map((size, index) => ({
    left: GAP + (index % columns) * (cell + GAP),
    top: bottom(Math.floor(index / columns)) - size.height,
    ...size,
  }));
  const size = {
    width: GAP + columns * (cell + GAP),
    height: bottom(rows.length - 1) + CAPTION + Math.round((GAP * 3) / 4),
  };
  const captions = leaves.map(({ caption }, index) => {
    const box = boxes[index]!;
    return label(caption, { ...box, width: cell, top: box.top + box.height }, '#3c4043');
  });
  const letters = visible(
    new Set(leaves.flatMap(({ caption }) => [...caption].map((c) => c.codePointAt(0)!))),
  );
  const fonts = openFonts(FONT_FOLDER, { system: systemFonts() });
  const { files } = fonts.files(new Set(['DejaVu Sans Mono']), letters);
  const frames = boxes.map(
    (box) =>
      `<rect x="${box.left - 0.5}" y="${box.top - 0.5}" width="${box.width + 1}" height="${box.height + 1}" fill="#fff" stroke="#dadce0"/>`,
  );
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}"><rect width="100%" height="100%" fill="#f1f3f4"/>${frames.join('')}${captions.join('')}</svg>`;
  const page = await drawOwn(text, size, files);
  for (const [index, { picture }] of leaves.entries()) {
    const { left, top, width, height } = boxes[index]!;
    paste(page, onGround(shrink(picture, Math.max(width, height)), WHITE), left, top);
  }
  return page;
}

/** The columns that leave the most room for each cell; of those alike, the fewest rows. */
function grid(count: number, width: number, height: number, longest: number) {
  let best = { columns: count, scale: 0 };
  for (let columns = count; columns >= 1; columns--) {
    const rows = Math.ceil(count / columns);
    const across = (longest - GAP * (columns + 1)) / columns / width;
    const down = (longest - GAP * 1.25 - rows * (CAPTION + GAP / 2)) / rows / height;
    const scale = Math.min(1, across, down);
    if (scale > best.scale * 1.02) best = { columns, scale };
  }
  return best;
}

export const writePicture = (file: string, picture: Picture): void => writeFileSync(file, encodePng(picture));
