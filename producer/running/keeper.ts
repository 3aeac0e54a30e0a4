// Keeps what a command printed: the bytes of both streams in the order they came, whole up to a cap, beyond it the
// start and the end with what is between counted (I10). Memory is bounded whatever comes, and however small the pieces.

export type Stream = 'stdout' | 'stderr';

export interface Piece {
  at_ms: number;
  stream: Stream;
  bytes: Buffer;
}

export interface Kept {
  /** How much came, whatever was kept of it. */
  total: Record<Stream, number>;
  left_out: Record<Stream, number>;
  kept_bytes: number;
  /** In the order received. What was left out lies between the two. */
  head: Piece[];
  tail: Piece[];
}

/** 12 MiB of the start and 4 MiB of the end: 16 MiB whole. */
export const KEEP = { head: 12 * 1024 * 1024, tail: 4 * 1024 * 1024 };
const SEGMENT = 256 * 1024;
/** Pieces of one stream that follow each other within this time count as one. */
const JOIN_MS = 2;
/** A segment of tiny pieces is closed early: their bookkeeping takes memory too. */
const SEGMENT_PIECES = 4096;

interface Span {
  at_ms: number;
  stream: Stream;
  from: number;
  to: number;
}
interface Segment {
  bytes: Buffer;
  used: number;
  spans: Span[];
}

export interface Keeper {
  /** Copies the chunk, whose memory is the reader's. */
  take(stream: Stream, chunk: Buffer, at_ms: number): void;
  kept(): Kept;
}

/** A keeper of `head` bytes of the start and `tail` bytes of the end, in whole segments. */
export function keeper({ head, tail } = KEEP): Keeper {
  const first: Segment[] = [];
  const last: Segment[] = [];
  const total = { stdout: 0, stderr: 0 };
  const left_out = { stdout: 0, stderr: 0 };
  const [headSegments, tailSegments] = [Math.ceil(head / SEGMENT), Math.ceil(tail / SEGMENT)];

  const open = (): Segment => {
    const made = { bytes: Buffer.allocUnsafe(SEGMENT), used: 0, spans: [] };
    if (first.length < headSegments) first.push(made);
    else {
      last.push(made);
      if (last.length > tailSegments)
        for (const span of last.shift()!.spans) left_out[span.stream] += span.to - span.from;
    }
    return made;
  };
  let here: Segment | undefined;

  return {
    take(stream, chunk, at_ms) {
      total[stream] += chunk.length;
      for (let done = 0; done < chunk.length; ) {
        if (!here || here.used === SEGMENT || here.spans.length === SEGMENT_PIECES) here = open();
        const length = chunk.copy(here.bytes, here.used, done);
        const span = here.spans.at(-1);
        if (span?.stream === stream && at_ms - span.at_ms < JOIN_MS) span.to += length;
        else here.spans.push({ at_ms, stream, from: here.used, to: here.used + length });
        here.used += length;
        done += length;
      }
    },
    kept() {
      const pieces = (segments: Segment[]) =>
        segments.flatMap(({ bytes, spans }) =>
          spans.map(({ at_ms, stream, from, to }) => ({ at_ms, stream, bytes: bytes.subarray(from, to) })),
        );
      const kept_bytes = total.stdout + total.stderr - left_out.stdout - left_out.stderr;
      const cut = left_out.stdout + left_out.stderr > 0;
      return cut
        ? { total, left_out, kept_bytes, head: pieces(first), tail: pieces(last) }
        : { total, left_out, kept_bytes, head: pieces([...first, ...last]), tail: [] };
    },
  };
}

/** The kept bytes of one stream, and where in them bytes were left out (null where none were). */
export function rawOf(kept: Kept, stream: Stream): { bytes: Buffer; gap_at: number | null } {
  const of = (pieces: Piece[]) =>
    Buffer.concat(pieces.flatMap((piece) => (piece.stream === stream ? [piece.bytes] : [])));
  const start = of(kept.head);
  return {
    bytes: kept.tail.length === 0 ? start : Buffer.concat([start, of(kept.tail)]),
    gap_at: kept.left_out[stream] > 0 ? start.length : null,
  };
}
