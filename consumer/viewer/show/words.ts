// Numbers in words.

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

export const count = (n: number, one: string, many = `${one}s`): string =>
  `${whole.format(n)} ${n === 1 ? one : many}`;

/** `1.2 MB`; decimal units, as the command line has them. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, of] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
  return `${short.format(bytes / (of as number))} ${unit}`;
}

/** A length of a model: three digits that matter. */
export const length = (value: number): string => short.format(value);

/** `1:05` */
export function clock(seconds: number): string {
  const all = Math.floor(seconds);
  return `${Math.floor(all / 60)}:${String(all % 60).padStart(2, '0')}`;
}
