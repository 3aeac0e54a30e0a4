// What `live` says on a terminal while somebody else has the session.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWork } from '../../src/lock.js';
import { currentOwner, ownerName } from '../../src/owner.js';
import { done, preview, previewArgv, run } from '../helpers/cli.js';
import { makeProject } from '../helpers/project.js';

test.each(['start', 'push', 'stop'])('live %s tells whom it waits for', async (name) => {
  const project = makeProject();
  const { session_dir } = await done(preview(project, ['live', 'start', '--json']));
  // A lock that this process, which lives, holds until the test is over.
  for (const dir of [session_dir, join(project, '.preview')])
    mkdirSync(join(makeWork(dir), 'lock', ownerName(currentOwner())), { recursive: true });
  const argv = previewArgv('live', name, '--lock-timeout', '2.5').map((arg) => `'${arg}'`);
  const { stdout, code } = await run(['script', '-qec', argv.join(' '), '/dev/null'], { cwd: project });
  expect(stdout).toContain(`waiting for the session: process ${process.pid} has held it`);
  expect(code).toBe(5);
});
