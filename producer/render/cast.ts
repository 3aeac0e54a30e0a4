// Reads asciicast v2 (docs.asciinema.org/manual/asciicast/v2) as far as a screen needs it: sizes and output.
import { castLine, resizedTo, screenSize } from '../../src/asciicast.js';
import { unreadable } from './xml.js';

export interface Cast {
  columns: number;
  rows: number;
  events: ({ output: string } | { columns: number; rows: number })[];
}

/** Throws an `Unreadable` where there is no header; lines that are no events are passed over. */
export function readCast(text: string): Cast {
  const [first = '', ...lines] = text.split('\n');
  const header = castLine(first) as { version?: unknown; width?: unknown; height?: unknown } | null;
  if (header?.version !== 2) throw unreadable('it is no asciicast of version 2');
  const cast: Cast = { ...screenSize(header.width, header.height), events: [] };
  for (const line of lines) {
    const event = castLine(line);
    if (!Array.isArray(event) || typeof event[2] !== 'string') continue;
    if (event[1] === 'o') cast.events.push({ output: event[2] });
    const size = resizedTo(event[1], event[2]);
    if (size) cast.events.push(size);
  }
  return cast;
}
