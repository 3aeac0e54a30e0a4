// Builds, runs vitest, and ends with the line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;

function run(argv) {
  const { status, error } = spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env });
  if (error) console.error(error.message);
  return status ?? 1;
}

/** Runs the tests that `args` name, all without; sets the exit code. */
export function buildAndTest(args) {
  const built = run(['esbuild.config.mjs']);
  const report = join(mkdtempSync(join(tmpdir(), 'preview-test-')), 'report.json');
  const status =
    built !== 0
      ? built
      : run([
          join(root, 'node_modules/vitest/vitest.mjs'),
          'run',
          '--reporter=default',
          '--reporter=json',
          `--outputFile.json=${report}`,
          ...args,
        ]);
  const { passed, failed, skipped } = count(report);
  rmSync(join(report, '..'), { recursive: true, force: true });
  const bad = status !== 0 && failed === 0 ? 1 : failed;
  console.log(`${passed} passed, ${bad} failed${skipped ? `, ${skipped} skipped` : ''}`);
  process.exitCode = bad === 0 ? 0 : 1;
}

function count(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A file that cannot even be loaded has no tests to count.
    const unloaded = testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    );
    return { passed: numPassedTests, failed: numFailedTests + unloaded.length, skipped: numPendingTests };
  } catch {
    // vitest ended before it could report.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
