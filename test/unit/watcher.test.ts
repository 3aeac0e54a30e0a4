// What a head says of its watcher, and whether that lives.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { processStat } from '../../src/processes.js';
import { readStatus } from '../../src/status.js';
import { LIMITS } from '../../src/version.js';
import {
  AGED_MS,
  isProved,
  isSameWatcher,
  ownWatcher,
  type Watcher,
  watcherLife,
  watcherOf,
} from '../../src/watcher.js';
import { temporary, write } from '../helpers/project.js';

const linux = process.platform === 'linux';
const OTHER_BOOT = '00000000-0000-4000-8000-000000000000';
const later = (watcher: Watcher, ms: number) => Date.parse(watcher.heartbeat_at) + ms;

describe.runIf(linux)('whether it lives', () => {
  test('F03 this very process does, however old its heartbeat; the same pid with another start time does not', () => {
    const own = ownWatcher();
    expect(watcherLife(own, later(own, 10 * AGED_MS))).toBe('alive');
    expect(isProved(own)).toBe(true);
    const other = { ...own, process_started: '1' };
    expect([watcherLife(other), isProved(other)]).toEqual(['dead', false]);
  });

  test('a process that has ended does not', async () => {
    const child = spawn('sleep', ['600']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const watcher = { ...ownWatcher(), pid: child.pid!, process_started: processStat(child.pid!)!.started };
    expect(watcherLife(watcher)).toBe('alive');
    child.kill('SIGSTOP');
    expect(watcherLife(watcher)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(watcherLife(watcher)).toBe('dead');
  });

  test.each<[string, Partial<Watcher>, 'alive' | 'dead']>([
    ['of an earlier boot', { boot_id: OTHER_BOOT }, 'dead'],
    ['of another machine', { boot_id: OTHER_BOOT, host: 'ffffffff' }, 'alive'],
    ['of another pid namespace', { pid_namespace: '1' }, 'alive'],
    ['of a system that tells nothing', { boot_id: null, process_started: null }, 'alive'],
  ])('F03 one %s with a fresh heartbeat', (_what, change, life) => {
    const watcher = { ...ownWatcher(), ...change };
    expect(watcherLife(watcher, later(watcher, AGED_MS - 1))).toBe(life);
    expect(watcherLife(watcher, later(watcher, AGED_MS + 1))).toBe('dead');
    // Its clock runs ahead of ours.
    expect(watcherLife(watcher, later(watcher, -AGED_MS - 1))).toBe('dead');
    // And no signal is ever sent to it from here.
    expect(isProved(watcher)).toBe(false);
  });
});

describe('what a head says', () => {
  test.each([
    undefined,
    null,
    [],
    {},
    'x',
    { pid: 0 },
    { pid: -1 },
    { pid: '1' },
    { pid: 1.5 },
    { pid: 1e300 },
  ])('%j is no watcher', (watcher) => {
    expect(watcherOf({ watcher })).toBeNull();
  });

  test('fields of other types are as if they were not there', () => {
    const watcher = watcherOf({
      watcher: { pid: 7, heartbeat_at: 5, last_error: {}, watching: 'x', boot_id: 1 },
    });
    expect(watcher).toMatchObject({ pid: 7, heartbeat_at: '', last_error: null, watching: 'events' });
    expect(watcherLife(watcher!)).toBe('dead');
    expect(isProved(watcher!)).toBe(false);
  });

  test('two records are one watcher by pid, start and boot', () => {
    const own = ownWatcher();
    expect(isSameWatcher(own, { ...own, heartbeat_at: 'x', last_error: 'x' })).toBe(true);
    expect(isSameWatcher(own, { ...own, started_at: 'x' })).toBe(false);
    expect(isSameWatcher(own, { ...own, boot_id: OTHER_BOOT })).toBe(false);
    expect(isSameWatcher(null, null)).toBe(false);
  });
});

describe('the status document', () => {
  const dir = temporary();
  const status = (head: Record<string, unknown>) => {
    write(dir, { 'session.json': JSON.stringify(head) });
    return readStatus(dir).document;
  };

  test('says of a session in watch mode whether its watcher lives, of no other one', () => {
    const watcher = { ...ownWatcher(), process_started: '1' };
    expect(status({ status: 'active', live_mode: 'watch', watcher })).toHaveProperty('watcher', 'dead');
    expect(status({ status: 'waiting', live_mode: 'watch', watcher: null })).toHaveProperty(
      'watcher',
      'dead',
    );
    expect(status({ status: 'stopped', live_mode: 'watch', watcher })).not.toHaveProperty('watcher');
    expect(status({ status: 'active', live_mode: 'manual', watcher })).not.toHaveProperty('watcher');
    expect(status({ status: 'active' })).not.toHaveProperty('watcher');
  });

  test('I10 keeps to its bytes', () => {
    const long = 'é"\\'.repeat(2000);
    const document = status({
      status: 'active',
      live_mode: 'watch',
      watcher: { ...ownWatcher(), last_error: long },
      trajectory_step_count: 1_000_000,
      current_render_path: long,
      latest_step: {
        step_id: long,
        command: long,
        bundle_id: long,
        published_at: long,
        publish_reason: long,
      },
    });
    expect(document).toHaveProperty('watcher');
    expect(Buffer.byteLength(`${JSON.stringify(document)}\n`)).toBeLessThanOrEqual(LIMITS.status);
  });
});
