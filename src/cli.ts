// How both programs speak: one JSON document or people's text on stdout, errors and progress on stderr, an exit code.
// Nothing here ends the process; the two cli.ts files see to its end.

import { writeSync } from 'node:fs';
import { monotonicMs } from './clock.js';
import { asPreviewError, errnoOf, type PreviewError } from './errors.js';
import { neutralise } from './text.js';

/** Writes all of `text` to a file descriptor at once; a full pipe that does not block is tried again. */
export function writeText(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      // EPIPE: the reader has gone and wants no more. EAGAIN: it has not read yet.
      if (errnoOf(error) === 'EPIPE') return;
      if (errnoOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

export const printJson = (value: unknown): void => writeText(1, `${JSON.stringify(value)}\n`);
export const say = (line: string): void => writeText(1, `${line}\n`);
export const tell = (line: string): void => writeText(2, `${line}\n`);

/** Prints an error as the reader asked for and returns the exit code. */
export function fail(error: unknown, { json, program }: { json: boolean; program: string }): number {
  const known: PreviewError = asPreviewError(error);
  if (json) tell(JSON.stringify({ error: { code: known.code, message: known.message, hint: known.hint } }));
  else {
    tell(`${program}: ${neutralise(known.message)}`);
    if (known.hint) tell(`  ${neutralise(known.hint)}`);
    if (known.code === 'internal' && process.env['PREVIEW_DEBUG'])
      tell(String((known.cause as Error | undefined)?.stack));
  }
  return known.exitCode;
}

export const warnAll = (warnings: readonly string[]): void => {
  for (const warning of warnings) tell(`warning: ${neutralise(warning)}`);
};

/** True where `stream` is a terminal that may be coloured (NO_COLOR, FORCE_COLOR and TERM=dumb are heeded). */
export function mayColour(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof STYLES;

/** A painter for stdout: styles text where that may be, else leaves it as it is. */
export function painter(
  stream: { isTTY?: boolean } = process.stdout,
): (style: Style, text: string) => string {
  const on = mayColour(stream);
  return (style, text) => (on ? `\x1b[${STYLES[style][0]}m${text}\x1b[${STYLES[style][1]}m` : text);
}

/** A line on stderr, renewed in place, once something has taken longer than a second on a terminal. */
export function progress(what: () => string, stream: NodeJS.WriteStream = process.stderr): () => void {
  if (!stream.isTTY) return () => {};
  const began = monotonicMs();
  let shown = false;
  const timer = setInterval(() => {
    shown = true;
    stream.write(`\r\x1b[K${what()} … ${Math.round((monotonicMs() - began) / 1000)} s`);
  }, 1000);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (shown) stream.write('\r\x1b[K');
  };
}

const UNITS = ['B', 'kB', 'MB', 'GB'];
/** `1.4 MB`. */
export function humanBytes(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
