// The pieces of asciicast v2 (docs.asciinema.org/manual/asciicast/v2) that both who draws and who plays one reads.

/** A screen larger than this is no terminal, and would only take memory. */
const MOST = { columns: 500, rows: 200 };

/** A screen's size as a cast tells it, within bounds; 80 × 24 where it tells none. */
export const screenSize = (width: unknown, height: unknown): { columns: number; rows: number } => ({
  columns: within(width, 80, MOST.columns),
  rows: within(height, 24, MOST.rows),
});

const within = (value: unknown, standard: number, most: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, most) : standard;

/** The size that a resize event tells, `100x30`; null for any other event. */
export function resizedTo(code: unknown, told: string): { columns: number; rows: number } | null {
  const size = code === 'r' && /^(\d{1,5})x(\d{1,5})$/.exec(told);
  return size ? screenSize(Number(size[1]), Number(size[2])) : null;
}

/** What a line holds; null where it is no JSON: an empty last line, or a recording that was cut off. */
export function castLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // SyntaxError, as said above.
    return null;
  }
}
