// Where a run will be recorded, found out before the command runs: it may remove the folder it stands in. Cheap where a
// session is open already, so that the command starts at once.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, PreviewError } from '../../src/errors.js';
import { findProject, findRoot, findSession, HEAD_NAME } from '../../src/layout.js';
import { HEAD_VERSION } from '../../src/version.js';

export interface Recording {
  cwd: string;
  project: string;
  root: string;
  /** The session's folder, or null where it could not be opened. */
  session: string | null;
  /** What was said when it was opened. */
  warnings: string[];
}

/** What is wrong with the command line itself, before anything is run. */
const MISTAKES = ['usage', 'session_name', 'not_found'];

/** Finds root, project and session, and begins a session where there is none. Throws for a mistake on the command line alone. */
export async function findRecording(options: {
  cwd: string;
  root: string | undefined;
  session: string | undefined;
  lock_timeout_ms: number | undefined;
}): Promise<Recording> {
  const place = { cwd: options.cwd, env: process.env, root: options.root, session: options.session };
  const stated = options.session !== undefined || options.root !== undefined;
  const project = findProject(options.cwd);
  let root = '';
  try {
    root = findRoot(place);
    const named = findSession(place, root);
    if (named !== null && isOpen(named))
      return { cwd: options.cwd, project, root: dirname(named), session: named, warnings: [] };
    const { openFor } = await import('./record.js');
    const session = await openFor(place, project, options.lock_timeout_ms);
    return {
      cwd: options.cwd,
      project,
      root: session.root,
      session: session.dir,
      warnings: session.warnings,
    };
  } catch (error) {
    if (stated && error instanceof PreviewError && MISTAKES.includes(error.code)) throw error;
    // Read-only, full, locked: the command runs all the same. Recording is tried again after it, and says what is wrong.
    return { cwd: options.cwd, project, root, session: null, warnings: [] };
  }
}

/** True for a session that can be published into, as far as its head says; the commit looks for itself. */
function isOpen(dir: string): boolean {
  try {
    if (!existsSync(join(dir, HEAD_NAME))) return false;
    const { status, version = 1 } = JSON.parse(readFileSync(join(dir, HEAD_NAME), 'utf8'));
    return ['open', 'active', 'waiting'].includes(status) && version <= HEAD_VERSION;
  } catch (error) {
    // Damaged: what is to be done then is decided where sessions are opened.
    if (error instanceof SyntaxError || errnoOf(error) !== undefined) return false;
    throw error;
  }
}
