// Writes asciicast v2 (docs.asciinema.org/manual/asciicast/v2): a header, then one event a line. What came through pipes
// becomes what a terminal would have been given.
import { TextDecoder } from 'node:util';
import type { Outcome } from './command.js';
import type { Kept, Piece, Stream } from './keeper.js';

/** So much of the start and of the end goes into a cast; a player needs no more, the raw bytes lie beside it (I10). */
export const CAST_BYTES = 1024 * 1024;

export interface Said {
  at_ms: number;
  stream: Stream;
  text: string;
}

/** Pieces as text; a character split over two pieces of a stream comes with the second. */
export function textsOf(pieces: Iterable<Piece>): Said[] {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const said: Said[] = [];
  for (const { at_ms, stream, bytes } of pieces) {
    const text = decoders[stream].decode(bytes, { stream: true });
    if (text !== '') said.push({ at_ms, stream, text });
  }
  const at_ms = said.at(-1)?.at_ms ?? 0;
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = decoders[stream].decode();
    if (text !== '') said.push({ at_ms, stream, text });
  }
  return said;
}

/** The first and the last pieces of what was kept, each of about `limit` bytes, and how many bytes lie between. */
export function ends(
  { head, tail, total }: Kept,
  limit: number,
): { first: Piece[]; last: Piece[]; between: number } {
  const all = [...head, ...tail];
  const all_bytes = total.stdout + total.stderr;
  const kept_bytes = all.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (kept_bytes === all_bytes && kept_bytes <= 2 * limit) return { first: all, last: [], between: 0 };
  const first: Piece[] = [];
  const last: Piece[] = [];
  let room = limit;
  for (const piece of all) {
    if (room <= 0) break;
    first.push({ ...piece, bytes: piece.bytes.subarray(0, room) });
    room -= piece.bytes.length;
  }
  room = limit;
  for (const piece of all.toReversed()) {
    if (room <= 0) break;
    last.unshift({ ...piece, bytes: wholeFrom(piece.bytes, piece.bytes.length - room) });
    room -= piece.bytes.length;
  }
  return { first, last, between: all_bytes - sum(first) - sum(last) };
}

const sum = (pieces: Piece[]) => pieces.reduce((bytes, piece) => bytes + piece.bytes.length, 0);

/** The end of some bytes from `from` on, or from the next character where that is in the middle of one. */
function wholeFrom(bytes: Buffer, from: number): Buffer {
  let at = Math.max(0, from);
  if (at > 0) while (((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return bytes.subarray(at);
}

/** The cast of a run. */
export function castOf(outcome: Outcome, command: string, term: string | undefined): string {
  const { size, sizes, pty, started_at } = outcome;
  const header = {
    version: 2,
    width: size.columns,
    height: size.rows,
    timestamp: Math.floor(Date.parse(started_at) / 1000),
    command,
    ...(term ? { env: { TERM: term } } : {}),
  };
  // A terminal's own line discipline turns each newline into two characters; pipes have none.
  const shown = (text: string) => (pty ? text : text.replace(/\r?\n/g, '\r\n'));
  const { first, last, between } = ends(outcome.output, CAST_BYTES);
  const out = ({ at_ms, text }: Said) => [at_ms, 'o', shown(text)] as const;
  const events: (readonly [number, string, string])[] = textsOf(first).map(out);
  if (between > 0) events.push([events.at(-1)?.[0] ?? 0, 'm', `${between} bytes left out`]);
  events.push(...textsOf(last).map(out));
  events.push(...sizes.map(({ at_ms, columns, rows }) => [at_ms, 'r', `${columns}x${rows}`] as const));
  // A stable sort: what came together stays in its order.
  events.sort((a, b) => a[0] - b[0]);
  const lines = events.map(([at_ms, code, text]) =>
    JSON.stringify([Math.round(at_ms * 1000) / 1e6, code, text]),
  );
  return `${[JSON.stringify(header), ...lines].join('\n')}\n`;
}
