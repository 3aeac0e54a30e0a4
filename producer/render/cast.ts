// Reads asciicast v2 (docs.asciinema.org/manual/asciicast/v2) as far as a screen needs it: sizes and output.
import { unreadable } from './xml.js';

export interface Cast {
  columns: number;
  rows: number;
  events: ({ output: string } | { columns: number; rows: number })[];
}

/** A screen larger than this is no terminal, and would only take memory. */
const MOST = { columns: 500, rows: 200 };

/** Throws an `Unreadable` where there is no header; lines that are no events are passed over. */
export function readCast(text: string): Cast {
  const [first = '', ...lines] = text.split('\n');
  const header = parsed(first) as { version?: unknown; width?: unknown; height?: unknown } | null;
  if (header?.version !== 2) throw unreadable('it is no asciicast of version 2');
  const cast: Cast = { ...sized(header.width, header.height), events: [] };
  for (const line of lines) {
    const event = parsed(line);
    if (!Array.isArray(event) || typeof event[2] !== 'string') continue;
    if (event[1] === 'o') cast.events.push({ output: event[2] });
    const size = event[1] === 'r' && /^(\d{1,5})x(\d{1,5})$/.exec(event[2]);
    if (size) cast.events.push(sized(Number(size[1]), Number(size[2])));
  }
  return cast;
}

const sized = (width: unknown, height: unknown) => ({
  columns: within(width, 80, MOST.columns),
  rows: within(height, 24, MOST.rows),
});

const within = (value: unknown, standard: number, most: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, most) : standard;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // An empty last line, or a recording that was cut off.
    return null;
  }
}
