// Works around an abort of resvg-js 2.6.2: a part with opacity, a clip, a mask, a filter or a blend mode
// that lies more than two pictures away from the picture ends the whole process. Such a part cannot be
// seen, so it is drawn without them.
import { rewriteXml, type Tag } from './xml.js';

type Matrix = readonly [number, number, number, number, number, number];
type Box = { left: number; top: number; right: number; bottom: number };

const LAYERED =
  /opacity|clip-path|mask|filter|blend|isolation|<\w*:?symbol|<\w*:?marker|<\w*:?svg[\s\S]+<\w*:?svg/;
const LAYER = new Set(['opacity', 'clip-path', 'mask', 'filter', 'style']);

/** Whether a document could have such a part at all: most do not, and are drawn from their own text. */
export const hasLayers = (text: string): boolean => LAYERED.test(text);

/**
 * `normal` (resvg's own normal form: absolute paths in groups with matrices, the rest in one <defs>)
 * made safe, or undefined where nothing in it is far away.
 */
export function tame(normal: string, size: { width: number; height: number }): string | undefined {
  const boxes = groupBoxes(normal);
  // Half a picture and more beyond the edges: near enough to be safe, too far to be seen.
  const { width, height } = size;
  const away = boxes.map(
    (box) => box.left > 1.5 * width || box.top > 1.5 * height || box.right < -width || box.bottom < -height,
  );
  if (!away.includes(true)) return undefined;
  let group = 0;
  return rewriteXml(normal, {
    open(tag) {
      if (tag.name !== 'g' || !away[group++]) return undefined;
      return new Map(tag.attributes.flatMap(({ name }, index) => (LAYER.has(name) ? [[index, null]] : [])));
    },
    close() {},
    text: () => undefined,
    instruction() {},
  });
}

/** The box of every <g> on the picture, in the order they open; one that is empty is nowhere far. */
function groupBoxes(normal: string): Box[] {
  const boxes: Box[] = [];
  const stack: { matrix: Matrix; box: Box; drawn: boolean }[] = [];
  rewriteXml(normal, {
    open(tag) {
      const of = (name: string) => tag.attributes.find((each) => each.name === name)?.value;
      const parent = stack.at(-1);
      const own: Matrix = parent
        ? numbers(of('transform')).length === 6
          ? (numbers(of('transform')) as unknown as Matrix)
          : IDENTITY
        : rootMatrix(of);
      const matrix = parent ? product(parent.matrix, own) : own;
      const box: Box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
      const drawn = (parent?.drawn ?? true) && tag.name !== 'defs';
      if (tag.name === 'g') boxes.push(box);
      if (drawn) extend(box, matrix, tag, of);
      if (tag.closed) include(parent?.box, box);
      else stack.push({ matrix, box, drawn });
      return undefined;
    },
    close() {
      const top = stack.pop();
      if (top) include(stack.at(-1)?.box, top.box);
    },
    text: () => undefined,
    instruction() {},
  });
  // An empty box has its left at Infinity, which would read as far away.
  return boxes.map((box) => (box.left > box.right ? { left: 0, top: 0, right: 0, bottom: 0 } : box));
}

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
const numbers = (text = ''): number[] =>
  (text.match(/-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);

/** From the root's viewBox to its size. */
function rootMatrix(of: (name: string) => string | undefined): Matrix {
  const [x = 0, y = 0, width = 1, height = 1] = numbers(of('viewBox'));
  const [w, h] = [Number(of('width')), Number(of('height'))];
  const scale = Math.min(w / width, h / height);
  return [scale, 0, 0, scale, (w - width * scale) / 2 - x * scale, (h - height * scale) / 2 - y * scale];
}

function product([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

function include(box: Box | undefined, other: Box): void {
  if (!box) return;
  box.left = Math.min(box.left, other.left);
  box.top = Math.min(box.top, other.top);
  box.right = Math.max(box.right, other.right);
  box.bottom = Math.max(box.bottom, other.bottom);
}

/** Takes a path's or an image's points into `box`, and its line's width. */
function extend(
  box: Box,
  [a, b, c, d, e, f]: Matrix,
  tag: Tag,
  of: (name: string) => string | undefined,
): void {
  let points: number[] = [];
  if (tag.name === 'path') points = numbers(of('d'));
  if (tag.name === 'image') {
    const [x, y, width, height] = [of('x'), of('y'), of('width'), of('height')].map((value) =>
      Number(value ?? 0),
    );
    points = [x!, y!, x! + width!, y! + height!, x! + width!, y!, x!, y! + height!];
  }
  const margin = Number(of('stroke-width') ?? 0) * Math.hypot(a, b, c, d);
  for (let at = 0; at + 1 < points.length; at += 2) {
    const [x, y] = [points[at]!, points[at + 1]!];
    const [left, top] = [a * x + c * y + e, b * x + d * y + f];
    include(box, { left: left - margin, top: top - margin, right: left + margin, bottom: top + margin });
  }
}
