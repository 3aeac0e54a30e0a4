// Who is alive: dead only where that is sure.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { currentOwner, judge, type Owner, ownerName, parseOwner } from '../../src/owner.js';
import { bootId } from '../../src/processes.js';
import { until } from '../helpers/cli.js';

const self = currentOwner();
const linux = process.platform === 'linux';
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

const started = (pid: number) => {
  const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
};
const ownerOf = (pid: number): Owner => ({ ...self, pid, started: started(pid)[19]! });
const sleeper = async (argv = ['sleep', '60']) => {
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  await once(child, 'spawn');
  return child;
};

describe('names', () => {
  test('a name made is read back, and each is its own', () => {
    expect(parseOwner(ownerName(self))).toEqual(self);
    expect(ownerName(currentOwner())).not.toBe(ownerName(self));
    expect(ownerName(self)).toMatch(/^[0-9a-f.]+$/);
  });
  test.each([
    '',
    'x',
    'lock',
    '.',
    `${ownerName(self)}x`,
    `x${ownerName(self)}`,
    ownerName(self).slice(0, -1),
    ownerName(self).toUpperCase().replace(/\d/g, 'A'),
    `../${ownerName(self)}`,
  ])('a stray %j is none', (name) => {
    expect(parseOwner(name)).toBeNull();
  });
});

describe.runIf(linux)('judging, where /proc tells', () => {
  test('this process and a stopped one live', async () => {
    expect(judge(self, self)).toBe('alive');
    const { pid } = await sleeper();
    process.kill(pid!, 'SIGSTOP');
    await until(() => started(pid!)[0] === 'T', 'the stop');
    expect(judge(ownerOf(pid!), self)).toBe('alive');
  });

  test('a pid that is gone is dead', async () => {
    const child = await sleeper();
    const owner = ownerOf(child.pid!);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(judge(owner, self)).toBe('dead');
  });

  test('a pid in use again, by its start time, is dead', () => {
    expect(judge({ ...self, started: String(Number(self.started) - 1) }, self)).toBe('dead');
    expect(judge({ ...self, pid: 1 }, self)).toBe('dead');
  });

  test('a zombie is dead', async () => {
    // The shell starts a child and becomes a program that never waits for it.
    const parent = await sleeper(['sh', '-c', 'sleep 0 & echo $!; exec sleep 60']);
    const [text] = (await once(parent.stdout!, 'data')) as [Buffer];
    const pid = Number(text.toString());
    const owner = await until(() => (started(pid)[0] === 'Z' ? ownerOf(pid) : null), 'the zombie');
    expect(judge(owner, self)).toBe('dead');
  });

  test('a zombie whose other threads run is alive', async ({ skip }) => {
    const code =
      'import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); print("x", flush=True); ctypes.CDLL(None).pthread_exit(None)';
    const child = await sleeper(['python3', '-c', code]).catch(() => null);
    if (child === null) return skip('python3 is missing');
    await once(child.stdout!, 'data');
    const owner = await until(
      () => (started(child.pid!)[0] === 'Z' ? ownerOf(child.pid!) : null),
      'the end of the main thread',
    );
    expect(judge(owner, self)).toBe('alive');
  });

  test.each([
    ['another machine', { host: 'ffffffff', boot: 'ffffffff' }, 'unknown'],
    ['another pid namespace of this machine', { namespace: '1' }, 'unknown'],
    [
      'another container: host and namespace differ, boot is the same',
      { host: 'ffffffff', namespace: '1' },
      'unknown',
    ],
    ['an older boot of this machine', { boot: 'ffffffff' }, 'dead'],
    ['an older boot in another namespace', { boot: 'ffffffff', namespace: '1' }, 'dead'],
  ] as const)('%s', (_name, change, life) => expect(judge({ ...self, ...change }, self)).toBe(life));

  test('bootId is that of the system', () =>
    expect(bootId()).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()));
});

describe('judging where there is no /proc', () => {
  // The hash of an empty boot id.
  const bare = { ...self, boot: 'e3b0c442' };
  test('a pid that answers is never called dead', async () => {
    expect(judge({ ...bare, started: '1' }, bare)).toBe('alive');
    expect(judge({ ...bare, pid: 1 }, bare)).toBe('alive');
    expect(judge({ ...bare, host: 'ffffffff' }, bare)).toBe('unknown');
    const child = await sleeper();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(judge({ ...bare, pid: child.pid! }, bare)).toBe('dead');
  });
});
