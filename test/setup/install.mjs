// Installs Debian packages that tests need where they are missing and may be installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { has } from '../../producer/demo/program.mjs';

/**
 * Installs what is missing of `wanted`: a list of `{ debian, program | file }`, the latter saying by what a package is
 * known to be there. Without the right to install it says so, and the tests that need them are skipped by name.
 */
export function install(wanted) {
  const missing = wanted.filter(({ program, file }) => !(program ? has(program) : existsSync(file)));
  const names = [...new Set(missing.map(({ debian }) => debian))];
  if (names.length === 0) return;
  if (!has('apt-get') || process.getuid?.() !== 0) {
    console.log(
      `Not installed, and not to be installed from here: ${names.join(', ')}. The tests that need them are skipped.`,
    );
    return;
  }
  console.log(`Installing ${names.join(', ')} …`);
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], options);
  const { status } = spawnSync(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', ...names],
    options,
  );
  if (status !== 0) console.log(`apt-get could not install them; the tests that need them are skipped.`);
}
