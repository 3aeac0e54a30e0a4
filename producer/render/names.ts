// Words for files: names that every system can hold, and counts.
import { basename, extname } from 'node:path';

/** A file's name without its extension, in letters that every system takes. */
export function portable(path: string, otherwise = 'file'): string {
  const plain = basename(path, extname(path))
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '-');
  return (
    plain
      .toLowerCase()
      .slice(0, 40)
      .replace(/^[-.]+|[-.]+$/g, '') || otherwise
  );
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
export const numbered = (index: number): string => String(index + 1).padStart(2, '0');

/** The first names, and how many more there are. */
export const named = (names: readonly string[], most = 3): string =>
  names.length > most
    ? `${names.slice(0, most).join(', ')} and ${names.length - most} more`
    : names.join(', ');
