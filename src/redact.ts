// Secrets in commands and captured text, found by a table of known forms and masked before anything is written.
// Hashes (`sha256:…`), git ids and references such as `$TOKEN` are no secrets. Every pattern is bounded and begins at
// a place that few characters are, so that hostile text costs time in proportion to its length.

/** The secret is group 1 where a pattern has one, else the whole match. */
const PATTERNS: readonly RegExp[] = [
  // Keys that say what they are, by their makers' documentation.
  /\bgh[pousr]_[A-Za-z0-9]{30,255}\b/,
  /\bgithub_pat_[A-Za-z0-9_]{22,255}/,
  /\bglpat-[\w-]{20,255}/,
  /\bsk-[A-Za-z0-9][\w-]{18,255}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{35}/,
  /\bya29\.[\w-]{20,2000}/,
  /\bxox[abeoprs]-[\w-]{10,255}/,
  /\bxapp-[\w-]{10,255}/,
  /\b[srp]k_(?:live|test)_[0-9A-Za-z]{10,255}/,
  /\bwhsec_[0-9A-Za-z+/=]{16,255}/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bpypi-[\w-]{50,2000}/,
  /\bhf_[A-Za-z0-9]{30,255}/,
  /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/,
  /\b(?:dckr_pat|dop_v1|shpat|shpss|glsa|r8)_[\w-]{20,255}/,
  /\beyJ[\w-]{8,4000}\.eyJ[\w-]{4,4000}\.[\w-]{4,4000}/,
  // An armoured private key, to its end or the next line of dashes.
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----((?:(?!-----)[\s\S]){1,16000})/,
  // https://user:password@host
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"]{0,100}:([^\s/@'"]{1,255})@/i,
  // curl -u user:password
  /(?<![\w-])(?:-u|--user)[ =]+['"]?[^\s:'"]{1,100}:([^\s'"]{1,255})/,
  // Authorization: Bearer …, and the other headers that carry secrets.
  /\b(?:proxy-)?authorization["']?[ \t]{0,5}[:=][ \t]{0,5}["']?(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,5})?([^\s"'\\,;]{1,4000})/i,
  /\bbearer[ \t]{1,5}([\w.~+/-]{12,4000})/i,
  /\b(?:x-[a-z-]{0,30}(?:key|token|secret)|(?:set-)?cookie)["']?[ \t]{0,5}:[ \t]{0,5}["']?([^\s"'][^"'\r\n]{2,4000})/i,
  // Programs whose option for a password is one letter.
  /\b(?:sshpass|(?:docker|podman) login)\b[^\n|;&]{0,200}?[ \t]-p[ \t]{0,5}['"]?([^\s'"-][^\s'"]{0,255})/,
  /\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]{1,5}['"]?([^\s'"-][^\s'"]{0,255})/,
  /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,200}?[ \t]-p([^\s'"][^\s'"]{0,255})/,
  // --password x, --api-key=x
  /(?<![\w-])--?(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|secret|token|api-?key|access-?key|secret-?key|private-?key|auth-?key)(?:[ \t]{1,5}|=)(?:"([^"\r\n]{1,4000})|'([^'\r\n]{1,4000})|([^\s"'-][^\s"']{0,4000}))/i,
  // API_KEY=x, "accessToken": "x", password: x, set -x API_KEY x. Of names in small letters `key` alone is none.
  /(?<![A-Za-z0-9])(?:[A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PWD|_PASS)|PASS|(?:[A-Za-z0-9]{1,30}[_.-]){0,6}(?:password|passwd|passphrase|secret|token|(?:api|access|secret|private|auth|signing|encryption)[_-]?key)|[a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){0,4}(?:Key|Token|Secret|Password))\\?["']?(?:[ \t]{0,5}=>?[ \t]{0,5}|[ \t]{0,5}:[ \t]{1,5}|:(?=\\?["']))(?:\\?"((?:[^"\\\r\n]|\\(?!"))(?:[^"\\\r\n]|\\(?!")){0,4000})|'([^'\r\n]{1,4000})|([^\s"';,&|)}\]\\>][^\s"';,&|)}\]]{0,4000}))/,
  /\bset[ \t]{1,5}-\w{1,5}[ \t]{1,5}[A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD)[ \t]{1,5}["']?([^\s"']{1,4000})/,
  /<(?:password|passwd|secret|token|api_?key)>([^<\r\n]{1,4000})</i,
];

/** What stands where a secret could and is none: references, hashes of ours and of git, numbers, words of a language. */
const HARMLESS =
  /^(?:\$.*|%\w+%|\{\{.*|<.*>|sha(?:1|256|512)[:-].*|[0-9a-f]{7,12}|[0-9a-f]{40}|[0-9a-f]{64}|\d{1,6}|bearer|basic|digest|true|false|null|none|undefined|string|number|boolean|\*+|\W*)$/i;
/** A name that promises a secret is believed also where the value looks like a hash. */
const PROMISES =
  /(?:secret|password|passwd|passphrase|token|(?:api|access|secret|private|auth|signing)[_-]?key)/i;

interface Range {
  start: number;
  end: number;
}

/** Where secrets are in a text, in order, none within another. */
export function findSecrets(text: string): Range[] {
  const found = secretsIn(text);
  if (/[\x1b\\]/.test(text)) found.push(...behindEscapes(text));
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let reached = 0;
  return found.filter(({ start, end }) => {
    if (start < reached) return false;
    reached = end;
    return true;
  });
}

function secretsIn(text: string): Range[] {
  const found: Range[] = [];
  for (const pattern of PATTERNS) {
    // To look for all hits another expression is made, which for nearly every text is in vain.
    if (!pattern.test(text)) continue;
    for (const hit of text.matchAll(new RegExp(pattern.source, `${pattern.flags}gd`))) {
      const at = hit.indices?.slice(1).find(Boolean) ?? hit.indices![0]!;
      const value = text.slice(at[0], at[1]);
      if (HARMLESS.test(value) && !(isHex(value) && PROMISES.test(text.slice(hit.index, at[0])))) continue;
      found.push({ start: at[0], end: at[1] });
    }
  }
  return found;
}

/** Colours and cursor moves as a terminal gets them, and the same (and line ends) as they stand in a command or in JSON. */
const ESCAPES =
  /(?:\x1b|\\(?:e|E|0?33|x1[bB]|u001[bB]))(?:\[[0-9;?]{0,40}[ -/]?[@-~]|\][^\x07\x1b\\]{0,200}(?:\x07|\x1b\\)?|[@-Z^_])?|\\[abfnrtv]/g;

/**
 * What escapes hide: the last letter of one stands before a name as if it were part of it, and one may lie between a
 * name and its value or within a token. Looked for with escapes as blanks, and again without them.
 */
function behindEscapes(text: string): Range[] {
  const blank = text.replace(ESCAPES, (code) => ' '.repeat(code.length));
  // Pieces of the text between escapes: where each begins in it, and in what is left without them.
  const pieces: { text: string; from: number; bare: number }[] = [];
  let from = 0;
  let length = 0;
  const keep = (end: number) => {
    if (end > from) pieces.push({ text: text.slice(from, end), from, bare: length });
    length += end - from;
  };
  for (const { 0: code, index } of text.matchAll(ESCAPES)) {
    keep(index);
    from = index + code.length;
  }
  keep(text.length);
  const back = (at: number): number => {
    const { from, bare } = pieces[lastBefore(pieces, at)]!;
    return from + at - bare;
  };
  const bare = pieces.map((piece) => piece.text).join('');
  return [
    ...secretsIn(blank),
    ...secretsIn(bare).map(({ start, end }) => ({ start: back(start), end: back(end - 1) + 1 })),
  ];
}

/** The last piece that begins at `at` or before it. */
function lastBefore(pieces: readonly { bare: number }[], at: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle]!.bare <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

const isHex = (value: string) => /^[0-9a-f]{32,}$/i.test(value);

const MASK = '***';

/** A text with its secrets replaced by `***`, and how many there were. */
export function redact(text: string): { text: string; count: number } {
  const secrets = findSecrets(text);
  if (secrets.length === 0) return { text, count: 0 };
  let from = 0;
  const pieces: string[] = [];
  for (const { start, end } of secrets) {
    pieces.push(text.slice(from, start), MASK);
    from = end;
  }
  return { text: pieces.join('') + text.slice(from), count: secrets.length };
}

/** Captured bytes with each byte of a secret replaced by `*`: as long as they were, and the very same where there is none. */
export function redactBytes(bytes: Buffer): { bytes: Buffer; count: number } {
  // Latin-1: a character a byte, whatever the encoding. The patterns are ASCII.
  const secrets = findSecrets(bytes.toString('latin1'));
  if (secrets.length === 0) return { bytes, count: 0 };
  const masked = Buffer.from(bytes);
  for (const { start, end } of secrets) masked.fill('*', start, end);
  return { bytes: masked, count: secrets.length };
}

/** An argv with its secrets masked, those too that are arguments of their own behind `--password`. */
export function redactArgv(argv: readonly string[]): { argv: string[]; count: number } {
  let count = 0;
  const masked = argv.map((arg, at) => {
    const before = argv[at - 1];
    // As the pair would stand on one line; what is masked in it lies in this argument.
    const offset = before !== undefined && /^-/.test(before) ? before.length + 1 : 0;
    const line = offset > 0 ? `${before} ${arg}` : arg;
    const secrets = new Map(
      [...findSecrets(line), ...(offset > 0 ? findSecrets(arg).map((range) => shifted(range, offset)) : [])]
        .filter(({ start }) => start >= offset)
        .map((range) => [range.start, range]),
    );
    // An option's argument is one secret, with all its spaces and quotes.
    if (offset > 0 && SECRET_OPTION.test(before!) && !HARMLESS.test(arg) && arg !== '') {
      count++;
      return MASK;
    }
    let from = offset;
    let text = '';
    for (const { start, end } of [...secrets.values()].sort((a, b) => a.start - b.start)) {
      if (start < from) continue;
      text += line.slice(from, start) + MASK;
      from = end;
      count++;
    }
    return text + line.slice(from);
  });
  return { argv: masked, count };
}

const SECRET_OPTION =
  /^--?(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase|pass|secret|token|api-?key|access-?key|secret-?key|private-?key|auth-?key)$/i;
const shifted = ({ start, end }: Range, by: number): Range => ({ start: start + by, end: end + by });

const namesSecret = (key: string): boolean => findSecrets(`${key}=x`).length > 0;

/** Any JSON value with the secrets in all its texts masked; keys stay. A text under a key that names a secret is one. */
export function redactDeep<T>(value: T): { value: T; count: number } {
  let count = 0;
  const mend = (item: unknown): unknown => {
    if (typeof item === 'string') {
      const done = redact(item);
      count += done.count;
      return done.text;
    }
    if (Array.isArray(item)) {
      if (!item.every((each) => typeof each === 'string')) return item.map(mend);
      const done = redactArgv(item);
      count += done.count;
      return done.argv;
    }
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(
      Object.entries(item).map(([key, inner]) => {
        if (typeof inner !== 'string' || !namesSecret(key) || HARMLESS.test(inner)) return [key, mend(inner)];
        count++;
        return [key, MASK];
      }),
    );
  };
  return { value: mend(value) as T, count };
}

/** The warning that counts what was masked, for `where`; none for none. */
export const maskedWarning = (count: number, where: string): string[] =>
  count === 0
    ? []
    : [`secrets_masked: ${count} ${count === 1 ? 'secret was' : 'secrets were'} masked in ${where}`];
