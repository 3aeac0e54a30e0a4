// The command lines of the two renderers.
import { join } from 'node:path';
import { colourOf } from './draw.js';
import type { Ground } from './picture.js';

/** The shipped fonts, beside the folder of the built renderers. */
export const FONT_FOLDER = join(__dirname, '..', 'fonts');

/** Whether this machine's fonts may be used; PREVIEW_SYSTEM_FONTS=0 leaves the shipped ones alone. */
export const systemFonts = (): boolean => process.env.PREVIEW_SYSTEM_FONTS !== '0';

/** A number of pixels given as an option. Throws an Error that says what was expected. */
export function pixels(option: string, value: string | undefined, standard: number): number {
  if (value === undefined) return standard;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 16 && number <= 4096) return number;
  throw new Error(
    `--${option} must be a whole number of pixels from 16 to 4096, not ${JSON.stringify(value)}`,
  );
}

/** A CSS colour, or `checker`, given as the ground. Throws an Error that says what was expected. */
export function groundFrom(value: string): Ground {
  if (value === 'checker') return 'checker';
  const colour = colourOf(value);
  if (colour) return colour;
  throw new Error(`--background must be "checker" or an opaque CSS colour, not ${JSON.stringify(value)}`);
}
