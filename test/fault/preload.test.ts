// The fault library itself: it sees what Node's fs functions really do (held against strace), and its faults
// arrive in Node as they should. A harness that misses calls would prove nothing about the rest.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  buildPreload,
  type Call,
  type Fault,
  plainEnv,
  processState,
  readLog,
  runWithFault,
  scratch,
  skipReason,
  start,
} from '../helpers/fault.js';

const reason = skipReason();
const place = scratch();
afterAll(place.remove);

/** Each fs function once, synchronous and from the thread pool. Before each, a failing `access` marks the log. */
const everything = `
const fs = require('node:fs'), { join } = require('node:path');
const root = process.argv[2];
const mark = (label) => { try { fs.accessSync(join(root, 'mark ' + label)); } catch {} };
const at = (name) => join(root, name);
(async () => {
  for (const [kind, f] of [['sync', fs], ['promise', fs.promises]]) {
    const sync = kind === 'sync';
    const call = async (name, ...rest) => { mark(name); return sync ? f[name + 'Sync'](...rest) : f[name](...rest); };
    await call('mkdir', at('d'));
    await call('writeFile', at('d/f'), 'hello world');
    await call('appendFile', at('d/f'), 'more');
    await call('readFile', at('d/f'));
    mark('open'); const file = sync ? fs.openSync(at('d/f'), 'r+') : await f.open(at('d/f'), 'r+');
    const on = async (name, other, ...rest) => { mark('handle ' + name); return sync ? fs[name + 'Sync'](file, ...rest) : file[other](...rest); };
    await on('write', 'write', Buffer.from('xy'), 0, 2, 3);
    await on('writev', 'writev', [Buffer.from('a'), Buffer.from('b')]);
    await on('read', 'read', Buffer.alloc(4), 0, 4, 0);
    await on('readv', 'readv', [Buffer.alloc(2), Buffer.alloc(2)], 1);
    await on('fsync', 'sync');
    await on('fdatasync', 'datasync');
    await on('ftruncate', 'truncate', 5);
    await on('fstat', 'stat');
    await on('fchmod', 'chmod', 0o600);
    await on('futimes', 'utimes', 1, 1);
    await on('close', 'close');
    await call('truncate', at('d/f'), 4);
    await call('rename', at('d/f'), at('d/g'));
    await call('symlink', 'g', at('d/l'));
    await call('readlink', at('d/l'));
    await call('link', at('d/g'), at('d/h'));
    await call('chmod', at('d/g'), 0o644);
    await call('utimes', at('d/g'), 1, 1);
    await call('lutimes', at('d/l'), 1, 1);
    await call('stat', at('d/g'));
    await call('lstat', at('d/l'));
    await call('realpath', at('d/l'));
    await call('readdir', at('d'));
    mark('opendir'); const dir = sync ? fs.opendirSync(at('d')) : await f.opendir(at('d'));
    while (sync ? dir.readSync() : await dir.read()) {}
    sync ? dir.closeSync() : await dir.close();
    await call('copyFile', at('d/g'), at('d/c'));
    await call('mkdtemp', at('d/t-'));
    await call('unlink', at('d/h'));
    await call('rm', at('d'), { recursive: true });
    mark('end');
  }
})();
`;

/** What each function must be seen to do, whatever libuv does besides. */
const expected: Record<string, RegExp[]> = {
  mkdir: [/^mkdir$/],
  writeFile: [/^open$/, /^write$/, /^close$/],
  appendFile: [/^open$/, /^write$/, /^close$/],
  readFile: [/^open$/, /^read$/, /^close$/],
  open: [/^open$/],
  'handle write': [/^pwrite/],
  'handle writev': [/^writev$/],
  'handle read': [/^pread/],
  'handle readv': [/^preadv/],
  'handle fsync': [/^fsync$/],
  'handle fdatasync': [/^fdatasync$/],
  'handle ftruncate': [/^ftruncate/],
  'handle fstat': [/stat/],
  'handle fchmod': [/^fchmod$/],
  'handle futimes': [/^(futimens|futimes|utimensat)$/],
  'handle close': [/^close$/],
  truncate: [/^open$/, /^ftruncate/],
  rename: [/^rename/],
  symlink: [/^symlink/],
  readlink: [/^readlink/],
  link: [/^link/],
  chmod: [/^f?chmod/],
  utimes: [/^utimensat$/],
  lutimes: [/^utimensat$/],
  stat: [/stat/],
  lstat: [/stat/],
  realpath: [/^(l?statx?|realpath|readlink)/],
  readdir: [/^scandir/],
  opendir: [/^opendir$/, /^readdir/, /^closedir$/],
  copyFile: [/^open$/, /^(copy_file_range|sendfile|ficlone)$/, /^close$/],
  mkdtemp: [/^mkdtemp$/],
  unlink: [/^unlink/],
  rm: [/^(unlink|remove)/, /^(rmdir|unlinkat|remove)/],
};

function prepare(
  name: string,
  script: string,
): { root: string; log: string; command: { argv: string[]; cwd: string } } {
  const folder = join(place.path, name);
  const root = join(folder, 'root');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(folder, 'script.cjs'), script);
  return {
    root,
    log: join(folder, 'calls'),
    command: { argv: [process.execPath, join(folder, 'script.cjs'), root], cwd: folder },
  };
}

const faulted = (name: string, script: string, fault: Fault) => {
  const { command, ...options } = prepare(name, script);
  return runWithFault(command, { ...options, fault });
};

/** How often strace saw each system call on a path or descriptor under the root. */
function straced(root: string, text: string): Map<string, number> {
  const seen = new Map<string, number>();
  // A call that another thread interrupts is printed in two parts; the first has name and arguments.
  for (const line of text.split('\n')) {
    const name = /^\d+\s+(\w+)\(/.exec(line)?.[1];
    if (!name || !line.includes(root) || /"\/proc\/self\/fd\/|^\d+\s+execve/.test(line)) continue;
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  return seen;
}

/** System calls whose number must agree, and the counted names that make them. */
const agreeing: [syscalls: RegExp, counted: RegExp][] = [
  [/^open(at)?$/, /^(open|opendir|scandir(64)?|fopen|mkstemp)$/],
  [/^close$/, /^(close|closedir|scandir(64)?)$/],
  [/^mkdir(at)?$/, /^(mkdir|mkdirat|mkdtemp)$/],
  [/^rename/, /^rename/],
  [/^(unlink|rmdir|unlinkat)$/, /^(unlink|rmdir|unlinkat|remove)$/],
  [/^(sym)?link(at)?$/, /^(sym)?link(at)?$/],
  [/^p?writev?(64)?$/, /^p?writev?(64)?$/],
  [/^p?readv?(64)?$/, /^p?readv?(64)?$/],
  [/^f(data)?sync$/, /^f(data)?sync$/],
  [/^ftruncate/, /^ftruncate/],
  [/^f?chmod(at)?$/, /^f?chmod(at)?$/],
  [/^(utimensat|futimesat)$/, /^(utimensat|futimens|futimes)$/],
  [/^statx$/, /^statx$/],
  [/^(copy_file_range|sendfile|ioctl)$/, /^(copy_file_range|sendfile|ficlone)$/],
];

const count = (names: Iterable<[string, number]>, pattern: RegExp): number =>
  [...names].reduce((sum, [name, times]) => sum + (pattern.test(name) ? times : 0), 0);

const tally = (calls: Call[]): Map<string, number> => {
  const names = new Map<string, number>();
  for (const { name } of calls) names.set(name, (names.get(name) ?? 0) + 1);
  return names;
};

const strace = (() => {
  try {
    execFileSync('strace', ['-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    // ENOENT: not installed; or a sandbox that forbids ptrace.
    return false;
  }
})();

const writing = `
const fs = require('node:fs'), file = process.argv[2] + '/x';
const fd = fs.openSync(file, 'w');
const tell = (work) => { try { console.log(work()); } catch (error) { console.log(error.code); } };
tell(() => fs.writeSync(fd, Buffer.alloc(100, 1), 0, 100, 0));
tell(() => fs.writeSync(fd, Buffer.alloc(10, 2), 0, 10, 100));
tell(() => fs.fstatSync(fd).size);
`;

describe.skipIf(reason)(`the fault library${reason ? ` (skipped: ${reason})` : ''}`, () => {
  it('sees every fs function of Node, synchronous or not', async () => {
    const { command, root, log } = prepare('functions', everything);
    const outcome = await start(command, { root, log }).done;
    expect(outcome.code, outcome.stderr).toBe(0);
    const missed: string[] = [];
    let label = '';
    let names: string[] = [];
    let checked = 0;
    for (const call of outcome.calls) {
      if (call.name !== 'access') {
        names.push(call.name);
        continue;
      }
      for (const pattern of expected[label] ?? []) {
        checked++;
        if (!names.some((name) => pattern.test(name)))
          missed.push(`${label}: no ${pattern} among ${names.join(' ')}`);
      }
      label = call.path.replace(/^mark /, '');
      names = [];
    }
    expect(missed).toEqual([]);
    expect(checked).toBe(2 * Object.values(expected).flat().length);
    expect(outcome.calls.every((call) => call.result !== null)).toBe(true);
  }, 60_000);

  it.skipIf(!strace)(
    `counts exactly what strace sees${strace ? '' : ' (skipped: strace is missing or may not trace)'}`,
    () => {
      const { command, root, log } = prepare('straced', everything);
      const trace = join(root, '..', 'trace');
      const set = Object.entries({ LD_PRELOAD: buildPreload(), FAULT_ROOT: root, FAULT_LOG: log }).flatMap(
        ([name, value]) => ['-E', `${name}=${value}`],
      );
      execFileSync(
        'strace',
        ['-f', '-y', '-s', '4096', ...set, '-e', 'trace=%file,%desc', '-o', trace, ...command.argv],
        { env: plainEnv() },
      );
      const seen = straced(root, readFileSync(trace, 'utf8'));
      const counted = tally(readLog(log).calls);
      for (const [syscalls, names] of agreeing) {
        expect
          .soft(count(counted, names), `${names} counted, ${syscalls} traced`)
          .toBe(count(seen, syscalls));
      }
    },
    60_000,
  );

  it('lets Node see a short write, a failed call and a full disk', async () => {
    const at = 2;
    const said = async (action: Fault['action']): Promise<string> =>
      (await faulted(action.replace(/\W/g, '-'), writing, { at, action })).stdout;
    expect(await said('short')).toBe('100\n10\n110\n');
    expect(await said('short-seen')).toBe('50\n10\n110\n');
    expect(await said('short-then-ENOSPC')).toBe('50\nENOSPC\n50\n');
    expect(await said('errno:EIO')).toBe('EIO\n10\n110\n');
    expect(await said('errno+:EIO')).toBe('EIO\nEIO\nEIO\n');
    expect(await said('full:ENOSPC')).toBe('ENOSPC\nENOSPC\n0\n');
  }, 60_000);

  it('lets Node see a short read', async () => {
    const script = `const fs = require('node:fs'), file = process.argv[2] + '/x'; fs.writeFileSync(file, 'x'.repeat(100));
      console.log(fs.readSync(fs.openSync(file, 'r'), Buffer.alloc(100), 0, 100, 0));`;
    expect((await faulted('short-read', script, { at: 5, action: 'short-read' })).stdout).toBe('50\n');
  }, 60_000);

  it('kills before, after and in the middle of a call, and spares children', async () => {
    const left = async (action: Fault['action'], bytes?: number): Promise<string> => {
      const name = `${action}-${bytes}`;
      const outcome = await faulted(name, writing, { at: 2, action, bytes });
      expect(outcome.signal).toBe('SIGKILL');
      expect(outcome.fired?.name).toBe('pwrite64');
      return readFileSync(join(place.path, name, 'root', 'x'), 'latin1');
    };
    expect(await left('kill-before')).toHaveLength(0);
    expect(await left('kill-after')).toHaveLength(100);
    expect(await left('kill-short')).toHaveLength(50);
    expect(await left('kill-short', 99)).toHaveLength(99);
    const parent = `require('node:child_process').execFileSync('sh', ['-c', 'echo 1 > "$0/y"; echo 2 > "$0/z"', process.argv[2]], { env: { PATH: process.env.PATH, FAULT_ROOT: process.env.FAULT_ROOT } });`;
    const outcome = await faulted('children', parent, { at: 1, action: 'kill-before' });
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(readdirSync(join(place.path, 'children', 'root'))).toEqual(['y', 'z']);
  }, 60_000);

  it('stops a program until SIGCONT', async () => {
    const { command, root, log } = prepare('stop', writing);
    const running = start(command, { root, log, fault: { at: 2, action: 'stop-before' } });
    expect(await running.stopped()).toBe(true);
    expect(processState(running.pid)).toBe('T');
    expect(readFileSync(join(root, 'x'))).toHaveLength(0);
    running.resume();
    const outcome = await running.done;
    expect([outcome.code, outcome.stdout]).toEqual([0, '100\n10\n110\n']);
  }, 60_000);
});
