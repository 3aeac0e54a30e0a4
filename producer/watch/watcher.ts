// The watcher's program: a bundle of its own, begun by `live start --mode watch` and left alone. Its standard output and
// error are its log.
import { asPreviewError } from '../../src/errors.js';
import { note } from './log.js';
import type { WatchRequest, Word } from './request.js';
import { closeInherited } from './streams.js';
import { watch } from './watch.js';

/** Tells the one who began us, as long as he listens. */
function tell(word: Word): void {
  if (!process.connected) return;
  // EPIPE: he was ended meanwhile. The callback keeps that from being thrown.
  process.send?.(word, undefined, undefined, () => {});
}

async function main(): Promise<void> {
  // The channel to whoever began us must not keep us alive.
  process.channel?.unref();
  process.on('disconnect', () => {});
  const request = JSON.parse(process.argv[2] ?? '') as WatchRequest;
  closeInherited(request.streams);
  process.title = `preview watch ${request.session}`;
  try {
    await watch(request, tell);
  } catch (error) {
    const { code, message, hint } = asPreviewError(error);
    note(`ended by ${code}: ${message}`);
    tell({ word: 'failed', code, message, hint });
    process.exitCode = 1;
  }
}

void main();
