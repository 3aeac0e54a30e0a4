// How far a page has come, as a text that it hands back after a broken connection. It is made of what is on disk alone,
// so a server that was started again understands it.

export interface Cursor {
  /** Names the recording: its id, or what stands for one. */
  id: string;
  /** Steps that the page has. */
  count: number;
  /** When the newest of these was published: a history that was made anew under the same id is not the same. */
  at: string | null;
}

export const cursorText = ({ id, count, at }: Cursor): string =>
  Buffer.from(JSON.stringify([id, count, at])).toString('base64url');

/** What a page handed back, or null where it is no cursor. */
export function readCursor(text: string | null): Cursor | null {
  if (text === null || text.length > 2048) return null;
  try {
    const [id, count, at]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof id !== 'string' || !Number.isSafeInteger(count) || Number(count) < 0) return null;
    return { id, count: Number(count), at: typeof at === 'string' ? at : null };
  } catch {
    // SyntaxError, or TypeError where it is no list: anybody may send anything.
    return null;
  }
}
