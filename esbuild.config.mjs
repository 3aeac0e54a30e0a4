// Builds dist/: two tiny CommonJS dispatchers, one bundle a command (nothing is loaded before it is
// needed: ESM alone costs a fifth of a bare start), the renderers, the library with its types, the
// recipes, the shipped fonts and the JSON Schema of preview.config.json.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Every file of `folder` becomes one entry point, named with `prefix`. */
const entries = (folder, prefix = '') =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [prefix + basename(name, '.ts'), join(folder, name)]),
  );

/**
 * Our own `import()` is where a bundle ends: what it names becomes a bundle beside it, loaded when it is needed. What is
 * named in `within` stays in the bundle and is run when it is needed: it shares so much with the rest that a bundle of
 * its own would take three times as long to load.
 */
const parts = new Map();
const splitAtImports = (...within) => ({
  name: 'split-at-imports',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import' || within.includes(path)) return undefined;
      const name = `part-${basename(path, '.js')}`;
      parts.set(name, join(resolveDir, path.replace(/\.js$/, '.ts')));
      return { path: `./${name}.cjs`, external: true };
    });
  },
});

/** commander needs node:child_process for commands that are programs of their own. We have none, and it is slow to load. */
const leanCommander = {
  name: 'lean-commander',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /node_modules\/commander\//.test(importer) ? { path: 'none', namespace: 'none' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // Function names stay readable in stack traces and cost a few bytes.
  keepNames: false,
  legalComments: 'none',
  define: { PREVIEW_VERSION: JSON.stringify(version) },
  external: ['@resvg/resvg-js', '@lydell/node-pty/requireBinary.js', 'playwright-core'],
  // proper-lockfile is given a file system of ours; its default one would replace the global fs.close and load much.
  alias: { 'graceful-fs': 'node:fs' },
  logLevel: 'warning',
  metafile: true,
};

// Built aside and put in place at the end, so that what is running meets a whole build.
const OUT = `.dist-new-${process.pid}`;
const cjs = {
  ...common,
  format: 'cjs',
  outdir: OUT,
  outExtension: { '.js': '.cjs' },
  // require() is loaded already, the loader of import() is not.
  supported: { 'dynamic-import': false },
};
const programs = {
  preview: 'producer/cli.ts',
  previews: 'consumer/cli.ts',
  ...entries('producer/commands', 'commands/preview-'),
  ...entries('consumer/commands', 'commands/previews-'),
  ...entries('producer/renderers', 'renderers/'),
  'commands/verifier': 'consumer/server/verifier.ts',
};
/** These hold libraries that ask where their file lies; the watcher is begun as a process of its own. */
const located = {
  'commands/watcher': 'producer/watch/watcher.ts',
  'commands/previews-watch': 'consumer/commands/watch.ts',
  'commands/previews-open': 'consumer/commands/open.ts',
};
for (const name of Object.keys(located)) delete programs[name];
const results = [
  await build({ ...cjs, plugins: [splitAtImports('./fresh.js'), leanCommander], entryPoints: programs }),
  await build({
    ...cjs,
    plugins: [splitAtImports('./fresh.js'), leanCommander],
    entryPoints: located,
    define: { ...common.define, 'import.meta.url': '__bundle_url' },
    banner: { js: "const __bundle_url = require('node:url').pathToFileURL(__filename).href;" },
  }),
  await build({ ...cjs, entryPoints: { index: 'src/index.ts' } }),
  // The page: classic scripts, for modules do not load from file://.
  await build({
    ...common,
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    format: 'iife',
    tsconfig: 'consumer/viewer/tsconfig.json',
    external: [],
    outdir: `${OUT}/viewer`,
    entryPoints: {
      viewer: 'consumer/viewer/main.tsx',
      'viewer-style': 'consumer/viewer/viewer.css',
      part: 'consumer/viewer/viewer-parts.css',
      ...entries('consumer/viewer/parts', 'part-'),
    },
  }),
  await build({
    ...common,
    format: 'esm',
    outfile: `${OUT}/index.js`,
    entryPoints: ['src/index.ts'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  }),
];
// A part may have parts of its own: until no new one turns up.
for (const built = new Set(); parts.size > built.size; ) {
  const fresh = [...parts].filter(([name]) => !built.has(name));
  for (const [name] of fresh) built.add(name);
  const entryPoints = Object.fromEntries(fresh.map(([name, file]) => [`commands/${name}`, file]));
  results.push(await build({ ...cjs, plugins: [splitAtImports(), leanCommander], entryPoints }));
}
for (const name of ['preview', 'previews']) chmodSync(`${OUT}/${name}.cjs`, 0o755);

renameSync(`${OUT}/viewer/viewer-style.css`, `${OUT}/viewer/viewer.css`);
cpSync('consumer/viewer/index.html', `${OUT}/viewer/index.html`);
cpSync('producer/recipes', `${OUT}/recipes`, { recursive: true });
// What runs inside other programs, in their language.
for (const name of readdirSync('producer/renderers').filter((entry) => entry.endsWith('.py')))
  cpSync(join('producer/renderers', name), `${OUT}/renderers/${name}`);

const fonts = require.resolve('dejavu-fonts-ttf/package.json').replace(/package\.json$/, '');
mkdirSync(`${OUT}/fonts`);
for (const name of [
  'DejaVuSans.ttf',
  'DejaVuSans-Bold.ttf',
  'DejaVuSansMono.ttf',
  'DejaVuSansMono-Bold.ttf',
  'DejaVuSerif.ttf',
]) {
  cpSync(join(fonts, 'ttf', name), join(OUT, 'fonts', name));
}
const fontLicence = ['LICENSE', 'LICENSE.txt', 'license'].map((name) => join(fonts, name)).find(existsSync);
if (fontLicence) cpSync(fontLicence, `${OUT}/fonts/LICENSE`);

// The licences of what was bundled travel with the bundles.
const bundled = new Set();
for (const { metafile } of results) {
  for (const input of Object.keys(metafile.inputs)) {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) bundled.add(match[1]);
  }
}
const notices = [...bundled].sort().map((name) => {
  const folder = join('node_modules', name);
  const { version: v, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${v} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
});
writeFileSync(`${OUT}/THIRD-PARTY-NOTICES.txt`, notices.join(`\n${'-'.repeat(80)}\n\n`));

// The schema is made from the zod schema by the built library, so the two cannot drift apart.
const { configJsonSchema } = await import(`./${OUT}/index.js`);
writeFileSync(`${OUT}/preview.config.schema.json`, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);

if (!process.argv.includes('--no-types')) {
  const { default: ts } = await import('typescript');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
    ts.sys,
    '.',
  );
  const program = ts.createProgram(['src/index.ts'], {
    ...options,
    noEmit: false,
    emitDeclarationOnly: true,
    outDir: `${OUT}/types`,
  });
  const { diagnostics } = program.emit();
  if (diagnostics.length > 0)
    throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
}

const OLD = `.dist-old-${process.pid}`;
if (existsSync('dist')) renameSync('dist', OLD);
renameSync(OUT, 'dist');
rmSync(OLD, { recursive: true, force: true });
