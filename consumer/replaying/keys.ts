// What is typed, and what a terminal answers, as keys and sequences. Holds what has come of a sequence until its end.

export type Key = 'pause' | 'next' | 'previous' | 'quit' | 'faster' | 'slower' | 'help';

/** `reply` is a sequence that is no key: the answer of a terminal. */
export type Typed = { key: Key | 'interrupt' | 'suspend' } | { reply: string };

const KEYS: Record<string, Key | 'interrupt' | 'suspend'> = {
  ' ': 'pause',
  '\r': 'next',
  '\n': 'next',
  '\x1b[C': 'next',
  '\x1bOC': 'next',
  '\x1b[D': 'previous',
  '\x1bOD': 'previous',
  q: 'quit',
  Q: 'quit',
  '\x04': 'quit',
  '+': 'faster',
  '=': 'faster',
  '-': 'slower',
  '?': 'help',
  h: 'help',
  '\x03': 'interrupt',
  '\x1a': 'suspend',
};

/** A whole control sequence, SS3, or string (APC, OSC, DCS, PM) at the start of what came; ECMA-48, section 5.4 and 5.6. */
const SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[_\]P^][^\x07\x1b]*(?:\x07|\x1b\\))/;
/** The beginning of one, of which more has to come. */
const BEGUN = /^\x1b(?:\[[0-?]*[ -/]*|O|[_\]P^][^\x07\x1b]*\x1b?)?$/;
/** What has no end by then is none. */
const LONGEST = 4096;

/** Returns what takes the bytes as they come and gives what they mean; what means nothing is left out. */
export function keyReader(): (bytes: string) => Typed[] {
  let held = '';
  return (bytes) => {
    const typed: Typed[] = [];
    held += bytes;
    while (held !== '') {
      const sequence = SEQUENCE.exec(held)?.[0];
      if (sequence === undefined && BEGUN.test(held) && held.length < LONGEST) break;
      // An escape that begins nothing is dropped, and what follows it is a key of its own.
      const piece = sequence ?? held[0]!;
      held = held.slice(piece.length);
      const key = Object.hasOwn(KEYS, piece) ? KEYS[piece] : undefined;
      if (key) typed.push({ key });
      else if (sequence) typed.push({ reply: sequence });
    }
    return typed;
  };
}
