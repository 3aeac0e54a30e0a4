// Lists that must fit into a message.

/** As many of `items` as fit into `bytes` when joined by commas, from the start, or from the end where `newest`. */
export function fitting(items: readonly string[], bytes: number, newest = false): string[] {
  const kept: string[] = [];
  let left = bytes;
  for (let n = 0; n < items.length; n++) {
    const item = items[newest ? items.length - 1 - n : n]!;
    left -= Buffer.byteLength(item) + 1;
    if (left < 0) break;
    kept.push(item);
  }
  return newest ? kept.reverse() : kept;
}

/** Items in order, in pieces that each fit; one that is larger than a piece is a piece of its own. */
export function* pieces(items: readonly string[], bytes: number): Generator<string[]> {
  for (let at = 0; at < items.length; ) {
    const piece = fitting(items.slice(at), bytes);
    const taken = piece.length > 0 ? piece : [items[at]!];
    yield taken;
    at += taken.length;
  }
}
