// `npm test`: installs what the tests need from Debian where it is missing and may be installed, builds, runs all
// tests but the benchmark, and ends with the line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;

const has = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder of PATH.
      return false;
    }
  });

/** Installs missing Debian packages; without the right to, tests that need them say that they are skipped. */
function install() {
  const wanted = JSON.parse(readFileSync(join(here, 'packages.json'), 'utf8'));
  const missing = wanted.filter(
    ({ program, file }) => !(program ? has(program) : spawnSync('test', ['-e', file]).status === 0),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ debian }) => debian);
  const may = has('apt-get') && process.getuid?.() === 0;
  if (!may) {
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

function run(argv) {
  const { status, error } = spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env });
  if (error) console.error(error.message);
  return status ?? 1;
}

install();
const built = run(['esbuild.config.mjs']);
const report = join(mkdtempSync(join(tmpdir(), 'preview-test-')), 'report.json');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const status =
  built !== 0
    ? built
    : run([
        vitest,
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...process.argv.slice(2),
      ]);

let passed = 0;
let failed = 0;
let skipped = 0;
try {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  passed = numPassedTests;
  skipped = numPendingTests;
  // A file that cannot even be loaded has no tests to count.
  failed =
    numFailedTests +
    testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
} catch {
  // vitest ended before it could report.
  failed = 1;
}
rmSync(join(report, '..'), { recursive: true, force: true });
if (status !== 0 && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exitCode = status === 0 && failed === 0 ? 0 : 1;
