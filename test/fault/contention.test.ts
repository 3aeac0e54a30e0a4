// Many processes publishing into one session at once, while others read it. The watcher proves that they were
// in each other's way: a capture that prepared its lock while another held it.
import { existsSync, mkdirSync, readdirSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  dist,
  isRaw,
  previewArgv,
  type Result,
  resultOf,
  run,
  scratch,
  script,
  until,
  verifyClean,
} from '../helpers/children.js';
import { headOf, leftInWork, makeProject, type Site, stepsOf } from '../helpers/publish.js';

const place = scratch();
afterAll(place.remove);
const folderOf = (name: string): string => {
  const folder = join(place.path, name);
  mkdirSync(folder);
  return folder;
};

/** Reads a session over and over by the reader's rule and by `readSession` until the file `stop` is there. */
const READER = `
const { createHash } = require('node:crypto');
const { existsSync, readFileSync, readlinkSync, statSync } = require('node:fs');
const { join } = require('node:path');
const [dir, stop, index] = process.argv.slice(2);
const sha256 = (bytes) => 'sha256:' + createHash('sha256').update(bytes).digest('hex');
const bad = [];
let rounds = 0, most = 0, states = 0;
function byRule() {
  const head = JSON.parse(readFileSync(join(dir, 'session.json'), 'utf8'));
  const count = head.trajectory_step_count;
  if (count < most) bad.push('the head counts ' + count + ' after ' + most);
  if (count > most) states++;
  most = Math.max(most, count);
  if (count === 0) return;
  const last = JSON.stringify(head.latest_step);
  if (sha256(last) !== head.trajectory_sha256) bad.push(count + ': latest_step has another hash');
  const end = head.trajectory_bytes - Buffer.byteLength(last) - (count === 1 ? 1 : 2);
  const before = readFileSync(join(dir, 'trajectory.json')).subarray(0, end);
  if (before.length !== end) bad.push(count + ': the trajectory ends at ' + before.length + ' before ' + end);
  const lines = [...(count === 1 ? [] : before.toString('utf8').slice(2).split(',\\n')), last];
  if (lines.length !== count) bad.push(count + ': ' + lines.length + ' lines');
  let previous = null;
  lines.forEach((line, at) => {
    const step = JSON.parse(line);
    if (step.step_index !== at + 1 || step.prev_sha256 !== previous) bad.push(count + ': step ' + (at + 1) + ' does not follow');
    previous = sha256(line);
  });
  const manifest = readFileSync(join(dir, head.latest_step.manifest_path));
  if (sha256(manifest) !== head.latest_step.manifest_sha256) bad.push(count + ': the manifest is another');
  if (count > 1 && !statSync(join(dir, 'current')).isDirectory()) bad.push(count + ': current leads nowhere');
}
import(index).then(({ readSession }) => {
  // One more round after the word to stop: the last state was reached before it.
  for (let last = false; !last; rounds++) {
    last = existsSync(stop);
    try {
      byRule();
      const { value, problems } = readSession(dir);
      if (problems.length) bad.push('readSession: ' + JSON.stringify(problems));
      if (value.head && value.steps.length !== value.head.trajectory_step_count) bad.push('readSession is short: ' + value.steps.length);
    } catch (error) {
      bad.push(String(error));
    }
    // The captures shall have the processors.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3);
  }
  console.log('read ' + JSON.stringify({ rounds, states, most, bad: bad.slice(0, 10) }));
});
`;

type Read = { rounds: number; states: number; most: number; bad: string[] };

/** Starts the reader of a session and returns how to end it. */
function reading(folder: string, session: string): () => Promise<Read> {
  const stop = join(folder, 'stop');
  const reader = script(folder, 'reader', READER, [session, stop, join(dist, 'index.js')], {
    limit_ms: 240_000,
  });
  return async () => {
    writeFileSync(stop, '');
    return JSON.parse(await reader.said('read')) as Read;
  };
}

/** Counts those who had prepared their lock (`new-A`) when another gave it back (`done-B`) and took it afterwards. */
function watchingWaits(session: string): () => number {
  const waiting = new Set<string>();
  const waited = new Set<string>();
  const watcher = watch(join(session, '.work'), (_event, name) => {
    const [, kind, owner] = /^(new|done)-([^-]+)$/.exec(name ?? '') ?? [];
    if (owner === undefined) return;
    if (kind === 'new') {
      // The second word of it is that it moved into the lock.
      if (!waiting.delete(owner)) waiting.add(owner);
    } else for (const other of waiting) if (other !== owner) waited.add(other);
  });
  return () => {
    watcher.close();
    return waited.size;
  };
}

function expectWhole(session: string, count: number): void {
  const steps = stepsOf(session);
  expect(steps).toHaveLength(count);
  expect(steps.map((step) => step.step_index)).toEqual(steps.map((_, at) => at + 1));
  const own = steps.filter((step) => !step.cached).map((step) => step.bundle_id);
  expect(new Set(own).size).toBe(own.length);
  const bundles = readdirSync(session).filter((name) => name.startsWith('bundle_'));
  expect(new Set(bundles)).toEqual(new Set(own));
  expect(headOf(session)).toMatchObject({ bundle_count: own.length, bundle_last: own.length, orphans: [] });
  expect(leftInWork(session)).toEqual([]);
}

/** Twenty-five captures by the built command, one after another, in one process; prints each result. */
const CAPTURER = `
const { existsSync } = require('node:fs');
const { main } = require(process.argv[2]);
const [go, at, ...where] = process.argv.slice(3);
console.log('ready');
const wait = () => existsSync(go) ? all() : setTimeout(wait, 2);
async function all() {
  // Half of the captures render, half reuse.
  for (let n = 0; n < 25; n++) console.log('code ' + await main(['--json', ...((n + Number(at)) % 2 ? [] : ['--force']), ...where]));
  console.log('finished');
}
wait();
`;

let site: Site;
beforeAll(() => {
  site = makeProject(folderOf('many'));
});

it('I2 I3 I4 A01 eight processes capture 25 times each, half through a symlink, and no reader meets a torn, short or invalid state', async () => {
  const { project, session } = site;
  resultOf(await run(previewArgv('capture', '--json'), { cwd: project }));
  const other = join(place.path, 'other spelling');
  symlinkSync(project, other);
  const folder = join(place.path, 'many');
  const go = join(folder, 'go');
  const capturers = Array.from({ length: 8 }, (_, at) => {
    // Half come through the symlink, by the name of the root as by that of the session.
    const where =
      at % 2 === 0
        ? ['--root', join(other, '.preview'), '--session', join(other, '.preview', 'session_001')]
        : [];
    return script(
      folder,
      'capturer',
      CAPTURER,
      [join(dist, 'commands/preview-capture.cjs'), go, String(at), ...where],
      { cwd: project, limit_ms: 200_000 },
    );
  });
  await Promise.all(capturers.map((capturer) => capturer.said('ready')));
  const stop = reading(folder, session);
  const waits = watchingWaits(session);
  writeFileSync(go, '');
  await Promise.all(capturers.map((capturer) => capturer.said('finished', 200_000)));
  const waited = waits();
  const read = await stop();
  expect(read).toMatchObject({ bad: [], most: 201 });
  expect(read.states).toBeGreaterThan(50);
  expectWhole(session, 201);
  const lines = capturers.flatMap((capturer) => capturer.lines());
  expect(lines.filter((line) => line === 'code 0')).toHaveLength(200);
  const seen = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Result);
  expect(
    (await Promise.all(capturers.map((capturer) => capturer.done))).map((ended) => ended.stderr),
  ).toEqual(Array(8).fill(''));
  expect(new Set(seen.map((result) => result.step_id)).size).toBe(200);
  expect(seen.filter((result) => !result.cached).length).toBe(100);
  // What was printed is what was recorded.
  const steps = stepsOf(session);
  for (const result of seen) {
    const step = steps[Number(/\d+$/.exec(result.step_id)?.[0]) - 1]!;
    expect([step.step_id, step.bundle_id, step.cached]).toEqual([
      result.step_id,
      result.bundle_id,
      result.cached,
    ]);
  }
  expect(await verifyClean(session)).toMatchObject({ steps: 201, bundles: 101, pending: 0 });
  expect(waited, 'captures that waited for another').toBeGreaterThan(3);
}, 240_000);

it('I2 A01 A07 twenty first captures at once, into nested folders that do not exist, begin one session with twenty steps', async () => {
  const { project } = makeProject(folderOf('first'));
  const root = join(place.path, 'first', 'not', 'there', 'yet');
  const ended = await Promise.all(
    Array.from({ length: 20 }, () =>
      run(previewArgv('capture', '--json', '--root', root, '--force'), { cwd: project }),
    ),
  );
  for (const each of ended) expect(isRaw(each.stderr), each.stderr).toBe(false);
  const results = ended.map((each) => resultOf(each));
  expect(new Set(results.map((result) => result.session_dir))).toEqual(new Set([join(root, 'session_001')]));
  expect(new Set(results.map((result) => result.bundle_id)).size).toBe(20);
  expect(readdirSync(root).filter((name) => name.startsWith('session_'))).toEqual(['session_001']);
  expectWhole(join(root, 'session_001'), 20);
  expect(existsSync(join(root, 'current', 'session.json'))).toBe(true);
  expect(leftInWork(root)).toEqual([]);
  await verifyClean(join(root, 'session_001'));
}, 120_000);

const PUBLISHER = `
const { openSession, publish } = require(process.argv[2]);
const root = process.argv[3];
const { existsSync } = require('node:fs');
console.log('ready');
const wait = () => existsSync(process.argv[4]) ? go() : setTimeout(wait, 2);
async function go() {
  const told = [];
  const session = await openSession({ root, cwd: '/', env: {}, onWait: (owner) => told.push(owner) });
  const one = async (n) => (await publish(session, { headline: 'n', artifacts: [{ content: 'x'.repeat(n), role: 'log', name: 'x.txt' }] }, { command: 'publish ' + process.pid + '/' + n })).step.step_id;
  const all = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => one(n)));
  console.log('published ' + JSON.stringify(all.map((each) => each.value ?? String(each.reason && each.reason.code) + ' ' + String(each.reason))));
}
wait();
`;

it('I2 of fifty publishers at once none waits out its timeout', async () => {
  const folder = folderOf('fifty');
  const root = join(folder, 'root');
  const go = join(folder, 'go');
  const publishers = Array.from({ length: 5 }, () =>
    script(folder, 'publisher', PUBLISHER, [join(dist, 'index.cjs'), root, go]),
  );
  await Promise.all(publishers.map((publisher) => publisher.said('ready')));
  writeFileSync(go, '');
  const said = await Promise.all(
    publishers.map(async (publisher) => JSON.parse(await publisher.said('published')) as string[]),
  );
  const ids = said.flat();
  expect(ids.filter((id) => !/^step-\d+$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(50);
  const session = join(root, 'session_001');
  expectWhole(session, 50);
  // Each process's ten were under way together with the others': their steps lie between each other.
  const owners = stepsOf(session).map((step) => String(step.command).split('/')[0]);
  const changes = owners.filter((owner, at) => at > 0 && owner !== owners[at - 1]).length;
  expect(changes, 'changes of the publisher from step to step').toBeGreaterThan(4);
  await verifyClean(session);
  expect(basename(session)).toBe('session_001');
  await until(() => publishers.every((publisher) => publisher.ended()), {
    deadline_ms: 10_000,
    what: 'the publishers end',
  });
}, 60_000);
