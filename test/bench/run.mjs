// `npm run bench [-- --quick]`: bundles the suite and runs it against a copy of dist/, so that a build made
// meanwhile does not change what is measured. One JSON document on stdout, progress and a table on stderr.
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const project = fileURLToPath(new URL('../..', import.meta.url));
const unknown = process.argv.slice(2).filter((arg) => arg !== '--quick');
if (unknown.length > 0) {
  console.error(
    `bench: unknown option ${unknown[0]}; there is --quick (10 and 100,000 steps, under a minute)`,
  );
  process.exit(2);
}
if (!existsSync(join(project, 'dist', 'preview.cjs'))) {
  console.error('bench: there is no dist/; run `npm run build` first');
  process.exit(2);
}

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'preview-bench-')));
const remove = () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    remove();
    process.exit(130);
  });
}
try {
  cpSync(join(project, 'dist'), join(dir, 'dist'), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(dir, 'node_modules'));
  const bundle = join(dir, 'suite.cjs');
  const entry = fileURLToPath(new URL('suite.ts', import.meta.url));
  const common = { bundle: true, platform: 'node', target: 'node20.19', format: 'cjs', logLevel: 'warning' };
  await build({ ...common, entryPoints: [entry], outfile: bundle, external: ['playwright-core'] });
  const { runSuite } = createRequire(import.meta.url)(bundle);
  const result = await runSuite({
    dir,
    picture: join(project, 'guides/images/demo.png'),
    quick: process.argv.includes('--quick'),
  });
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
} finally {
  remove();
}
