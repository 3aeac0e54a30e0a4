// When the watcher looks, by a clock that the test moves.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Beat, MAX_WAIT_MS, makePulse, type Pulse, TICK_MS } from '../../producer/watch/pulse.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }));
afterEach(() => void vi.useRealTimers());

/** Lets time pass in steps of 50 ms, `each` before every one; resolves to the beat and when it came, or to null. */
async function nextWithin(
  pulse: Pulse,
  ms: number,
  each: (at: number) => void = () => {},
): Promise<{ beat: Beat; at: number } | null> {
  const came: { beat?: Beat } = {};
  void pulse.next().then((beat) => {
    came.beat = beat;
  });
  for (let at = 0; at <= ms; at += 50) {
    each(at);
    await vi.advanceTimersByTimeAsync(at === 0 ? 0 : 50);
    if (came.beat) return { beat: came.beat, at };
  }
  return null;
}

test('the first look is due at once, the next ones with each tick', async () => {
  const pulse = makePulse(300);
  expect(await nextWithin(pulse, 0)).toEqual({ beat: 'tick', at: 0 });
  expect(await nextWithin(pulse, 20_000)).toEqual({ beat: 'tick', at: TICK_MS });
  pulse.tickEvery(1000);
  expect(await nextWithin(pulse, 20_000)).toEqual({ beat: 'tick', at: 1000 });
});

test('after a hint it waits for quiet, and no longer', async () => {
  const pulse = makePulse(300);
  await pulse.next();
  const came = await nextWithin(pulse, 20_000, (at) => {
    if (at >= 100 && at <= 1000) pulse.hint();
  });
  // The last hint came before the step that ends at 1000.
  expect(came).toEqual({ beat: 'quiet', at: 1250 });
});

test('I10 what never stops changing is looked at all the same', async () => {
  const pulse = makePulse(300);
  await pulse.next();
  for (let round = 0; round < 2; round++) {
    const came = await nextWithin(pulse, 20_000, () => pulse.hint());
    expect(came?.beat).toBe('quiet');
    expect(came?.at).toBeGreaterThan(MAX_WAIT_MS - 100);
    expect(came?.at).toBeLessThanOrEqual(MAX_WAIT_MS);
  }
});

test('the end comes at once and leaves no timer', async () => {
  const pulse = makePulse(300);
  await pulse.next();
  const came = await nextWithin(pulse, 20_000, (at) => {
    if (at === 100) pulse.end();
  });
  expect(came).toEqual({ beat: 'end', at: 100 });
  expect(vi.getTimerCount()).toBe(0);
  await pulse.pause(60_000);
  expect(await pulse.next()).toBe('end');
});
