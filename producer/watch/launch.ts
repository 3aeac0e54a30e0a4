// Begins the watcher as a process of its own, which holds none of our streams, our terminal or our folder, and waits
// for its first words only.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type ErrorCode, PreviewError } from '../../src/errors.js';
import { watcherLog } from '../../src/watcher.js';
import { DIST } from '../config.js';
import { closeLog, openLog } from './log.js';
import type { WatchRequest, Word } from './request.js';
import { openStreams } from './streams.js';

const PROGRAM = join(DIST, 'commands/watcher.cjs');
/** The watcher has so long to take its seat. */
const SEAT_MS = 10_000;
/** The first step is waited for until our process has run for this long, so that `live start` returns within three seconds. */
const FIRST_MS = 2_200;

export interface Launched {
  outcome: 'watching' | 'elsewhere' | 'closed';
  /** What the first capture met, where it failed. */
  failure: Extract<Word, { word: 'failed' }> | null;
  /** False where the first look at the sources is still under way. */
  looked: boolean;
}

/**
 * Begins a watcher for the session. With `first` it waits a little for the first step.
 * @throws PreviewError what kept the watcher from beginning.
 */
export function launchWatcher(wish: Omit<WatchRequest, 'streams'>, first: boolean): Promise<Launched> {
  const request: WatchRequest = { ...wish, streams: openStreams() };
  const log = openLog(watcherLog(request.session));
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(request)], {
    // A folder that can always be left and removed.
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, PREVIEW_SESSION: request.session, PREVIEW_ROOT: request.root },
  });
  closeLog(log);
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('io', `the watcher did not begin within ${SEAT_MS / 1000} s`);
    }, SEAT_MS);
    const letGo = () => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => {});
      if (child.connected) child.disconnect();
      child.unref();
    };
    const fail = (code: ErrorCode, message: string, hint = `see ${watcherLog(request.session)}`) => {
      letGo();
      reject(new PreviewError(code, message, hint));
    };
    const done = (launched: Launched) => {
      letGo();
      resolve(launched);
    };
    let seated = false;
    child.on('message', (said: Word) => {
      if (said.word === 'failed') {
        if (seated) done({ outcome: 'watching', failure: said, looked: true });
        else fail(said.code as ErrorCode, said.message, said.hint);
      } else if (said.word === 'looked') done({ outcome: 'watching', failure: null, looked: true });
      else if (said.word !== 'watching' || !first)
        done({ outcome: said.word, failure: null, looked: !first });
      else {
        seated = true;
        clearTimeout(timer);
        timer = setTimeout(
          () => done({ outcome: 'watching', failure: null, looked: false }),
          Math.max(0, FIRST_MS - process.uptime() * 1000),
        );
      }
    });
    child.on('error', (error) => fail('io', `the watcher could not be begun: ${error.message}`));
    child.on('exit', (code, signal) =>
      fail('io', `the watcher ended before it was ready (${signal ?? `exit ${code}`})`),
    );
  });
}
