// Builds dist/: two tiny CommonJS dispatchers, one bundle a command (nothing is loaded before it is
// needed: ESM alone costs a fifth of a bare start), the renderers, the library with its types, the
// recipes, the shipped fonts and the JSON Schema of preview.config.json.
import { execFileSync } from 'node:child_process';
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

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // Function names stay readable in stack traces and cost a few bytes.
  keepNames: false,
  legalComments: 'none',
  define: { PREVIEW_VERSION: JSON.stringify(version) },
  external: ['@resvg/resvg-js'],
  logLevel: 'warning',
  metafile: true,
};

// Built aside and put in place at the end, so that what is running meets a whole build.
const OUT = '.dist-new';
rmSync(OUT, { recursive: true, force: true });
const results = [
  await build({
    ...common,
    format: 'cjs',
    outdir: OUT,
    outExtension: { '.js': '.cjs' },
    entryPoints: {
      preview: 'producer/cli.ts',
      previews: 'consumer/cli.ts',
      ...entries('producer/commands', 'commands/preview-'),
      ...entries('consumer/commands', 'commands/previews-'),
      ...entries('producer/renderers', 'renderers/'),
      index: 'src/index.ts',
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
for (const name of ['preview', 'previews']) chmodSync(`${OUT}/${name}.cjs`, 0o755);

cpSync('producer/recipes', `${OUT}/recipes`, { recursive: true });

const fonts = require.resolve('dejavu-fonts-ttf/package.json').replace(/package\.json$/, '');
mkdirSync(`${OUT}/fonts`);
for (const name of ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf', 'DejaVuSansMono.ttf', 'DejaVuSerif.ttf']) {
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
  execFileSync(
    process.execPath,
    [
      require.resolve('typescript/bin/tsc'),
      '-p',
      'tsconfig.json',
      '--noEmit',
      'false',
      '--emitDeclarationOnly',
      '--outDir',
      `${OUT}/types`,
    ],
    { stdio: 'inherit' },
  );
}

rmSync('dist', { recursive: true, force: true });
renameSync(OUT, 'dist');
