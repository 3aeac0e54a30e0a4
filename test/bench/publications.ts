// How many steps a second one process can publish through the built library, and what part of that is the disk's.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { round, spread } from './measure.js';

/** Publishes `count` one-picture bundles into a new session under `dir`; each in turn with one bare write and fsync. */
export async function benchPublish(dir: string, count: number) {
  const library: typeof import('../../src/index.js') = createRequire(join(dir, 'dist', 'index.cjs'))(
    './index.cjs',
  );
  const session = await library.openSession({ root: join(dir, 'loop', '.preview'), env: {} });
  const probe = openSync(join(dir, 'probe'), 'w');
  const times = { publish: [] as number[], fsync: [] as number[] };
  const clock = async (into: number[], act: () => unknown) => {
    const began = performance.now();
    await act();
    into.push(performance.now() - began);
  };
  for (let step = 1; step <= count; step++) {
    const content = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><circle r="${step}"/></svg>\n`;
    const bundle = { headline: `Part ${step}`, artifacts: [{ content, role: 'hero', name: 'part.svg' }] };
    await clock(times.publish, () => library.publish(session, bundle, { command: `build part ${step}` }));
    await clock(times.fsync, () => {
      writeSync(probe, content);
      fsyncSync(probe);
    });
  }
  closeSync(probe);
  const [publish_ms, fsync_ms] = [spread(times.publish), spread(times.fsync)];
  const total = times.publish.reduce((sum, ms) => sum + ms, 0);
  const late =
    spread(times.publish.slice(-count / 4)).median / spread(times.publish.slice(0, count / 4)).median;
  return {
    steps: count,
    per_second: round((count / total) * 1000, 1),
    publish_ms,
    fsync_ms,
    in_fsyncs: round(publish_ms.median / fsync_ms.median, 1),
    last_quarter_against_first: round(late),
  };
}
