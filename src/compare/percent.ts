// Shares and counts as people read them.

/** `1.4%`: two digits that say something, never 0% of a change, never 100% of less than all. */
export function percent(ratio: number): string {
  if (ratio === 0) return '0%';
  if (ratio < 0.0001) return '<0.01%';
  const value = ratio * 100;
  return `${value >= 10 ? Math.floor(value) : Number(value.toPrecision(2))}%`;
}

/** `1 pixel`, `13,733 pixels`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
