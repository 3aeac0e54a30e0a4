// How many elements an SVG has once every <use> is followed. A few lines of nested <use> make a
// billion, and each costs resvg some kilobytes.

/** The most elements that are drawn, about 1 GB in resvg. */
export const ELEMENTS = 250_000;

export type Weight = {
  open(name: string, id: string | undefined, uses: string | undefined): void;
  close(): void;
  /** Notes a shape that markers are drawn on; `path` is its `d` or `points`. */
  shape(path: string): void;
  /** Counts elements that an embedded document adds to the open one. */
  more(elements: number): void;
  /**
   * The number of elements drawn, or Infinity where it is more than `ELEMENTS`. `marked` is whether
   * markers may stand at every corner of a shape, not at its two ends alone.
   */
  total(marked: boolean): number;
};

/** Counts as a document is walked. `uses` is the id that a <use> names. */
export function weigh(): Weight {
  let count = 0;
  const stack: { name: string; id: string | undefined; count: number; uses: number }[] = [];
  const uses: string[] = [];
  let marker = 0;
  let shapes = 0;
  let letters = 0;
  const ranges = new Map<string, { own: number; from: number; to: number }>();
  return {
    open(name, id, used) {
      stack.push({ name, id, count, uses: uses.length });
      count++;
      if (used !== undefined) uses.push(used);
    },
    close() {
      const top = stack.pop();
      if (top?.name === 'marker') marker = Math.max(marker, count - top.count);
      if (top?.id === undefined || ranges.has(top.id)) return;
      ranges.set(top.id, { own: count - top.count, from: top.uses, to: uses.length });
    },
    more(elements) {
      count += elements;
    },
    shape(path) {
      shapes++;
      letters += path.length;
    },
    total(marked) {
      const known = new Map<string, number>();
      let work = 0;
      const sum = (own: number, from: number, to: number, depth: number): number => {
        let total = own;
        for (let at = from; at < to && total <= ELEMENTS; at++) {
          if (depth > 200 || ++work > 20 * ELEMENTS) return Number.POSITIVE_INFINITY;
          total += weightOf(uses[at]!, depth + 1);
        }
        return total > ELEMENTS ? Number.POSITIVE_INFINITY : total;
      };
      const weightOf = (id: string, depth: number): number => {
        const seen = known.get(id);
        if (seen !== undefined) return seen;
        const range = ranges.get(id);
        // Nothing while it is being counted: resvg does not draw a <use> of itself.
        known.set(id, 0);
        const total = range ? sum(range.own, range.from, range.to, depth) : 0;
        known.set(id, total);
        return total;
      };
      // A corner takes some 4 letters of a path.
      const markers = marker * (marked ? 2 * shapes + letters / 4 : 2 * shapes);
      return sum(count + Math.round(markers), 0, uses.length, 0);
    },
  };
}
