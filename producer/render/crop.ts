// Programs draw a model small in the middle and without smoothing. So they are asked for a large picture, and this
// takes the part of it that is drawn on, with a margin, and scales it down.
import { readFileSync, writeFileSync } from 'node:fs';
import { PNG } from 'pngjs';
import { encodePng } from './png.js';

export interface Size {
  width: number;
  height: number;
}

type Colour = readonly [number, number, number];

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Of the shorter side, left free around what is drawn. */
const MARGIN = 0.06;

export interface FrameOptions {
  /** Set the frame around what differs from the top left pixel; else the whole picture is scaled down. */
  fit?: boolean;
  /** What is behind a transparent picture; its own top left colour unless told. */
  ground?: Colour;
  /** How many times as much light, for programs that draw dark. */
  light?: number;
}

/** Makes `from`, a PNG, into an opaque one of `size` at `to`. A picture that shows nothing stays whole. */
export function frame(from: string, to: string, size: Size, options: FrameOptions = {}): void {
  const { fit = true, ground, light = 1 } = options;
  const { width, height, data } = PNG.sync.read(readFileSync(from));
  if (light !== 1) expose(data, light);
  const around = (fit && drawn(data, width, height)) || { left: 0, top: 0, right: width, bottom: height };
  const box = fit ? widened(around, size) : around;
  const back: Colour = ground ?? [data[0]!, data[1]!, data[2]!];
  const pixels = scaled({ data, width, height }, box, size, back);
  writeFileSync(to, encodePng({ ...size, pixels }));
}

/** Light adds up in linear values; a picture holds them by the curve of sRGB (IEC 61966-2-1). */
function expose(data: Uint8Array, light: number): void {
  const linear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const curved = (v: number) => (v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055);
  const table = Uint8Array.from({ length: 256 }, (_, value) =>
    Math.round(255 * curved(Math.min(1, light * linear(value / 255)))),
  );
  for (let at = 0; at < data.length; at++) if (at % 4 !== 3) data[at] = table[data[at]!]!;
}

/** What differs visibly from the corner; null where nothing does. */
function drawn(data: Uint8Array, width: number, height: number): Box | null {
  const differs = (at: number) =>
    data[at + 3] !== data[3] ||
    (data[at + 3] !== 0 &&
      Math.abs(data[at]! - data[0]!) +
        Math.abs(data[at + 1]! - data[1]!) +
        Math.abs(data[at + 2]! - data[2]!) >
        6);
  const box = { left: width, top: height, right: 0, bottom: 0 };
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += 4) {
      if (!differs(at)) continue;
      if (x < box.left) box.left = x;
      if (x >= box.right) box.right = x + 1;
      if (y < box.top) box.top = y;
      box.bottom = y + 1;
    }
  return box.right === 0 ? null : box;
}

/** The box with its margin, in the proportions of `size`, around the same middle. It may reach beyond the picture. */
function widened({ left, top, right, bottom }: Box, { width, height }: Size): Box {
  const share = 1 - 2 * MARGIN;
  const scale = Math.max((right - left) / (width * share), (bottom - top) / (height * share));
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  return {
    left: x - (width * scale) / 2,
    right: x + (width * scale) / 2,
    top: y - (height * scale) / 2,
    bottom: y + (height * scale) / 2,
  };
}

interface Span {
  first: number;
  weights: number[];
}

/** For each of `count` new pixels the old ones that it covers, by how much of it each fills; at least one pixel wide. */
function spans(start: number, end: number, count: number): Span[] {
  const step = (end - start) / count;
  const half = Math.max(step, 1) / 2;
  return Array.from({ length: count }, (_, n) => {
    const middle = start + (n + 0.5) * step;
    const [from, to] = [middle - half, middle + half];
    const first = Math.floor(from);
    const weights = Array.from(
      { length: Math.ceil(to) - first },
      (_, k) => (Math.min(to, first + k + 1) - Math.max(from, first + k)) / (2 * half),
    );
    return { first, weights };
  });
}

/** The box of the picture over the ground, each new pixel the mean of what it covers: first along rows, then down. */
function scaled(from: Size & { data: Uint8Array }, box: Box, to: Size, back: Colour): Buffer {
  const columns = spans(box.left, box.right, to.width);
  const rows = spans(box.top, box.bottom, to.height);
  const done = new Map<number, Float32Array>();
  const ground = Float32Array.from({ length: to.width * 3 }, (_, n) => back[n % 3]!);
  const rowOf = (y: number): Float32Array => {
    if (y < 0 || y >= from.height) return ground;
    const known = done.get(y);
    if (known) return known;
    // Rows are asked for from the top down: what lies far above is not needed again.
    if (done.size > 64) done.clear();
    const row = Float32Array.from(ground);
    for (const [column, { first, weights }] of columns.entries())
      for (const [k, weight] of weights.entries()) {
        const x = first + k;
        if (x < 0 || x >= from.width) continue;
        const at = (y * from.width + x) * 4;
        const share = (weight * from.data[at + 3]!) / 255;
        for (let part = 0; part < 3; part++)
          row[column * 3 + part]! += (from.data[at + part]! - back[part]!) * share;
      }
    done.set(y, row);
    return row;
  };
  const pixels = Buffer.alloc(to.width * to.height * 4, 255);
  const sum = new Float32Array(to.width * 3);
  for (const [y, { first, weights }] of rows.entries()) {
    sum.fill(0);
    for (const [k, weight] of weights.entries()) {
      const row = rowOf(first + k);
      for (let n = 0; n < sum.length; n++) sum[n]! += row[n]! * weight;
    }
    for (let n = 0; n < sum.length; n++)
      pixels[(y * to.width + Math.floor(n / 3)) * 4 + (n % 3)] = Math.round(sum[n]!);
  }
  return pixels;
}
