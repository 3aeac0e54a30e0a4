// A text as what changed in another of the same length: a picture's tiles are mostly those of the picture before. Pure.

/** Equal characters between two pieces that are written along: to begin a new piece costs about as much. */
const GAP = 8;
/** What a text, and what a change of one, begins with. */
const [WHOLE, CHANGE] = ['=', '~'];

/** `text` as a change of `before`, or whole where that is no shorter. */
export function changeOf(text: string, before: string): string {
  if (text.length !== before.length) return WHOLE + text;
  const pieces: [at: number, piece: string][] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === before[at]) continue;
    let end = at + 1;
    for (let next = end; next < text.length && next - end < GAP; next++)
      if (text[next] !== before[next]) end = next + 1;
    pieces.push([at, text.slice(at, end)]);
    at = end;
  }
  const change = CHANGE + JSON.stringify(pieces.flat());
  return change.length < text.length ? change : WHOLE + text;
}

/** What `changeOf` was given; '' where that is damaged. */
export function withChange(written: string, before: string): string {
  if (written[0] === WHOLE) return written.slice(1);
  let pieces: unknown;
  try {
    pieces = JSON.parse(written.slice(1));
  } catch {
    // SyntaxError: damaged.
    return '';
  }
  if (!Array.isArray(pieces)) return '';
  let [text, done] = ['', 0];
  for (let n = 0; n + 1 < pieces.length; n += 2) {
    const [at, piece] = [Number(pieces[n]), String(pieces[n + 1])];
    text += before.slice(done, at) + piece;
    done = at + piece.length;
  }
  return text + before.slice(done);
}
