// The one place where a session is opened for showing, whoever recorded it: ours, or CLI-Anything's.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readCliAnythingBundle } from './formats/clianything/bundle.js';
import {
  cliAnythingBundles,
  cliAnythingSessions,
  isCliAnythingBundle,
  sessionsBeside,
} from './formats/clianything/find.js';
import { bundlesOf, openCliAnything } from './formats/clianything/session.js';
import { isCliAnythingSession } from './formats/clianything/shape.js';
import { verifyCliAnything, verifyCliAnythingBundle } from './formats/clianything/verify.js';
import type { Recording, SeenBundle } from './formats/seen.js';
import { bundleName, HEAD_NAME, numberOf, WORK_NAME } from './layout.js';
import { currentOwner, judge, parseOwner } from './owner.js';
import { inside, readBundle, readHead, readSteps } from './read.js';
import type { Head, Problem, Reading } from './schema.js';
import { type Verdict, type VerifyOptions, verify, verifyBundle } from './verify.js';

/** Opens a session's folder. Never throws for what is in it; a failing disk throws. */
export const openRecording = (dir: string): Recording =>
  isCliAnythingSession(dir) ? openCliAnything(dir) : openOwn(dir);

function openOwn(dir: string): Recording {
  const { value: head, raw, problems } = readHead(dir);
  return {
    format: 'preview',
    dir,
    head,
    raw,
    problems,
    steps: (from, to) => (head === null ? { value: [], problems: [] } : readSteps(dir, head, from, to)),
    bundleDir: (step) => (step['lost'] || step.bundle_dir === null ? null : inside(dir, step.bundle_dir)),
    readBundle,
    strays: () => (head === null ? [] : strayBundles(dir, head)),
  };
}

/**
 * Bundles that a publication left which was cut off before its commit: whole as they may be, no step stands for them.
 * While the session is locked, one may be on its way, and nothing is said.
 */
function strayBundles(session: string, head: Head): Problem[] {
  if (isBusy(session)) return [];
  const strays = head.orphans.filter(
    (name) => numberOf(name, 'bundle') !== null && existsSync(join(session, name)),
  );
  for (let number = head.bundle_last + 1; existsSync(join(session, bundleName(number))); number++)
    strays.push(bundleName(number));
  return strays.map((where) => ({
    kind: 'orphan',
    where,
    detail: 'no step names it: its publication was cut off; the next one removes it',
  }));
}

/** True while somebody who may live holds the session's lock. */
function isBusy(session: string): boolean {
  const lock = join(session, WORK_NAME, 'lock');
  const self = currentOwner();
  return (
    existsSync(lock) &&
    readdirSync(lock).some((name) => {
      const owner = parseOwner(name);
      return owner === null || judge(owner, self) !== 'dead';
    })
  );
}

/** True for a bundle in CLI-Anything's form that lies in no session of ours. */
const isTheirs = (bundle: string): boolean => {
  const session = dirname(bundle);
  return (
    (existsSync(join(session, HEAD_NAME)) ? isCliAnythingSession(session) : true) &&
    isCliAnythingBundle(bundle)
  );
};

/** The session that a bundle belongs to: the folder it lies in, or for one of CLI-Anything's that which names it. */
export function sessionOfBundle(bundle: string): string | null {
  if (existsSync(join(dirname(bundle), HEAD_NAME))) return dirname(bundle);
  return sessionsBeside(bundle).find((session) => bundlesOf(session).includes(bundle)) ?? null;
}

/** Bundles in a root of CLI-Anything's that none of its sessions names, the newest at the end. */
export function looseBundles(root: string): string[] {
  const named = new Set(cliAnythingSessions(root).flatMap((name) => bundlesOf(join(root, name))));
  return cliAnythingBundles(root).filter((bundle) => !named.has(bundle));
}

/** A bundle by itself. */
export const readAnyBundle = (bundle: string): Reading<SeenBundle> =>
  isTheirs(bundle) ? readCliAnythingBundle(bundle) : readBundle(bundle);

/** Whether what was recorded is what is there; a neighbour's recording that has no hashes says so in `notes`. */
export const verifyAny = (session: string, options: VerifyOptions = {}): Verdict =>
  isCliAnythingSession(session) ? verifyCliAnything(session, options) : verify(session, options);

export const verifyAnyBundle = (bundle: string): Verdict =>
  isTheirs(bundle) ? verifyCliAnythingBundle(bundle) : verifyBundle(bundle);
