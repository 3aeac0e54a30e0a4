// What is searched, what was found, and which found step comes next.
import { signal } from '@preact/signals';
import { isEmpty } from '../../src/search.js';
import type { Hits, Query } from '../../src/stream.js';
import type { Source } from './source.js';

export const NO_QUERY: Query = { words: '' };
/** Between a key and the search for what was typed. */
const TYPING_MS = 150;

export function createFinder(source: Source) {
  const query = signal<Query>(NO_QUERY);
  /** Null: nothing is searched. */
  const hits = signal<Hits | null>(null);

  let typed = 0;
  const search = (wanted: Query) => {
    query.value = wanted;
    clearTimeout(typed);
    if (isEmpty(wanted)) {
      hits.value = null;
      return;
    }
    typed = window.setTimeout(() => {
      source.search(wanted).then(
        (found) => {
          if (query.value === wanted) hits.value = found;
        },
        () => {},
      );
    }, TYPING_MS);
  };

  /** The step beside one among the hits; it itself where there is none. Without a search, whichever is beside it. */
  const neighbourOf = (from: number, direction: 1 | -1): number => {
    const found = hits.value;
    if (!found) return from + direction;
    const ranges = direction === 1 ? found.ranges : found.ranges.toReversed();
    for (const [low, high] of ranges) {
      if (direction === 1 && high > from) return Math.max(low, from + 1);
      if (direction === -1 && low < from) return Math.min(high, from - 1);
    }
    return from;
  };

  return { query, hits, search, neighbourOf };
}
