// Pictures made as large as a place allows: smaller ones smoothly larger, a few pixels as squares that can be told apart.
import { type Picture, shrink } from './picture.js';

/** From here on smoothing would only blur: what is enlarged so far is pixels. */
const SQUARES = 6;

/** `picture` as large as fits into `width` × `height`. */
export function fitInto(picture: Picture, width: number, height: number): Picture {
  const scale = Math.min(width / picture.width, height / picture.height);
  const size = {
    width: Math.max(1, Math.round(picture.width * scale)),
    height: Math.max(1, Math.round(picture.height * scale)),
  };
  if (scale === 1) return picture;
  return scale < 1
    ? shrink(picture, Math.max(size.width, size.height))
    : enlarged(picture, size, scale >= SQUARES);
}

function enlarged(picture: Picture, size: { width: number; height: number }, squares: boolean): Picture {
  const across = placesOf(picture.width, size.width, squares);
  const down = placesOf(picture.height, size.height, squares);
  const out = new Uint8Array(size.width * size.height * 4);
  const { pixels } = picture;
  let to = 0;
  for (const row of down) {
    const [above, below] = [row.from * picture.width, row.next * picture.width];
    for (const { from, next, share } of across) {
      const corners = [above + from, above + next, below + from, below + next];
      for (let part = 0; part < 4; part++) {
        const [a, b, c, d] = corners.map((at) => pixels[at * 4 + part]!) as [number, number, number, number];
        const top = a + (b - a) * share;
        out[to++] = Math.round(top + (c + (d - c) * share - top) * row.share);
      }
    }
  }
  return { ...size, pixels: out };
}

interface Place {
  from: number;
  next: number;
  /** How much of `next` there is in it. */
  share: number;
}

/** For each of `to` pixels the two of `of` between which its centre lies. */
function placesOf(of: number, to: number, squares: boolean): Place[] {
  return Array.from({ length: to }, (_, index) => {
    const at = Math.min(of - 1, Math.max(0, ((index + 0.5) * of) / to - 0.5));
    const from = squares ? Math.round(at) : Math.floor(at);
    return { from, next: Math.min(of - 1, from + 1), share: squares ? 0 : at - from };
  });
}
