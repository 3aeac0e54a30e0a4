// Reads asciicast v2 (docs.asciinema.org/manual/asciicast/v2) for playing. Pure.
import { castLine, resizedTo, screenSize } from '../../../src/asciicast.js';

/** Nothing happens for longer than this, in seconds: longer silences are told as this long. */
export const IDLE_S = 2;
/** So much of a file is played; what lies behind is left out, in words. */
export const CAST_BYTES = 20e6;
export interface CastEvent {
  /** Seconds from the start, silences shortened. */
  at: number;
  output?: string;
  size?: { columns: number; rows: number };
}

export interface Cast {
  columns: number;
  rows: number;
  events: CastEvent[];
  /** Length in seconds, silences shortened. */
  length: number;
  /** How many seconds of silence are not played. */
  skipped: number;
  /** What the recording says of itself at some moment, such as what it left out. */
  markers: { at: number; text: string }[];
  /** Lines that are no events. */
  damaged: number;
}

/** Throws where there is no header, in words. */
export function readCast(text: string): Cast {
  const first = text.slice(0, text.indexOf('\n') === -1 ? text.length : text.indexOf('\n'));
  const header = castLine(first) as { version?: unknown; width?: unknown; height?: unknown } | null;
  if (header === null || typeof header !== 'object' || header.version !== 2)
    throw new Error('It is no asciicast of version 2.');
  const cast: Cast = {
    ...screenSize(header.width, header.height),
    events: [],
    length: 0,
    skipped: 0,
    markers: [],
    damaged: 0,
  };
  let before = 0;
  for (const line of text.slice(first.length + 1).split('\n')) {
    if (line.trim() === '') continue;
    const event = castLine(line);
    if (!Array.isArray(event) || typeof event[0] !== 'number' || typeof event[2] !== 'string') {
      cast.damaged++;
      continue;
    }
    const [time, code, data] = event as [number, string, string];
    // Clocks that go back, or on for ever, make no silence.
    const passed = Number.isFinite(time) ? Math.max(0, time - before) : 0;
    before += passed;
    cast.skipped += Math.max(0, passed - IDLE_S);
    cast.length += Math.min(passed, IDLE_S);
    const at = cast.length;
    const size = resizedTo(code, data);
    if (code === 'o') cast.events.push({ at, output: data });
    else if (size) cast.events.push({ at, size });
    else if (code === 'm' && data !== '') cast.markers.push({ at, text: data });
  }
  return cast;
}
