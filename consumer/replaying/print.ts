// The replay where nobody waits: all steps at once, as text or as a JSON document a line.
import { printJson, writeText } from '../../src/cli.js';
import { type Frame, lineOf } from './frame.js';
import type { Images } from './images.js';
import type { Range } from './play.js';
import { teller } from './tell.js';

export function printAll(frame: (index: number) => Frame, { from, to, count }: Range, images: Images): void {
  const tell = teller(count);
  const room = { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  for (let index = from; index <= to; index++) writeText(1, tell(frame(index), images, room, null));
}

export function printLines(frame: (index: number) => Frame, { from, to }: Range): void {
  for (let index = from; index <= to; index++) printJson(lineOf(frame(index)));
}
