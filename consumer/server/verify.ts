// Proving a step's bundle reads all its files, which may be large: a thread of its own does it, so that the server
// answers meanwhile. One at a time; the rest waits.
import { Worker } from 'node:worker_threads';
import { PreviewError } from '../../src/errors.js';
import type { ShownVerdict } from '../../src/stream.js';

export interface Verifier {
  /** @throws PreviewError where the step cannot be read, or too many wait. */
  verdict(dir: string, index: number): Promise<ShownVerdict>;
  close(): Promise<void>;
}

/** What the thread is sent, and what it answers. */
export interface VerifyTask {
  dir: string;
  index: number;
}
export type VerifyResult = { verdict: ShownVerdict } | { error: string };

interface Waiting {
  task: VerifyTask;
  done: (result: VerifyResult) => void;
}

/** `program` is the thread's built file; `most` may wait. The thread begins with the first task. */
export function openVerifier(program: string, most: number): Verifier {
  const queue: Waiting[] = [];
  let busy: Waiting | null = null;
  let worker: Worker | null = null;
  const fail = (error: string) => {
    worker = null;
    for (const waiting of [busy, ...queue.splice(0)]) waiting?.done({ error });
    busy = null;
  };
  const next = () => {
    if (busy !== null || queue.length === 0) return;
    busy = queue.shift()!;
    worker ??= begin();
    worker.postMessage(busy.task);
  };
  const begin = (): Worker => {
    const made = new Worker(program);
    made.unref();
    made.on('message', (result: VerifyResult) => {
      const waiting = busy;
      busy = null;
      waiting?.done(result);
      next();
    });
    made.on('error', (error) => fail(error instanceof Error ? error.message : String(error)));
    return made;
  };
  return {
    async verdict(dir, index) {
      if (queue.length >= most)
        throw new PreviewError('usage', `more than ${most} verifications wait`, 'ask again later');
      const result = await new Promise<VerifyResult>((done) => {
        queue.push({ task: { dir, index }, done });
        next();
      });
      if ('error' in result) throw new PreviewError('not_found', result.error);
      return result.verdict;
    },
    async close() {
      const ending = worker;
      fail('the server ends');
      await ending?.terminate();
    },
  };
}
