// Byte ranges (RFC 9110, section 14): the one range that players ask for. Of several the whole file is a right answer.

export interface ByteRange {
  first: number;
  /** Inclusive. */
  last: number;
}

/**
 * The range that a `Range` header asks of `size` bytes; null where the whole is to be sent (none was asked for, or not
 * in a form that this server knows), `none` where it lies beyond the end.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'none' | null {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  if (!match) return null;
  const [from, to] = [match[1]!, match[2]!];
  if (from === '' && to === '') return null;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'none' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= size) return 'none';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
