// What npm would publish: packed, installed into an empty directory, run and imported. Skipped aloud where the registry
// does not answer.
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { DIST, documentOf, done, plainEnv, previews, REPOSITORY, run } from '../helpers/cli.js';
import { png, svg, temporary, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const bench = temporary();
const app = join(bench, 'app');
const bin = (name: string) => join(app, 'node_modules/.bin', name);
let files: string[] = [];
/** `npm test` builds with types; a build made with --no-types can be tested for all else. */
const typed = existsSync(join(DIST, 'types'));

/** npm with the registry, cache and certificates that this machine is set up with. */
const npm = (cwd: string, ...args: string[]) => {
  const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
  const settings = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        /^(npm_config_|https?_proxy$|no_proxy$)/i.test(name) &&
        !/^npm_config_(prefix|global|user_agent|noproxy)$/i.test(name),
    ),
  );
  return run(['npm', ...args, '--no-audit', '--no-fund'], {
    cwd,
    env: { ...settings, HOME, NODE_EXTRA_CA_CERTS },
    limit_ms: 170_000,
  });
};

beforeAll(async () => {
  // The package as it lies, with the build that is tested and its types; `prepare` would build and swap dist under the
  // other tests.
  const copy = join(bench, 'package');
  mkdirSync(copy);
  for (const name of ['package.json', 'README.md', 'LICENSE', '.npmrc', 'tsconfig.json', 'guides', 'src'])
    if (existsSync(join(REPOSITORY, name)))
      cpSync(join(REPOSITORY, name), join(copy, name), { recursive: true });
  cpSync(DIST, join(copy, 'dist'), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(copy, 'node_modules'));
  const packed = await npm(copy, 'pack', '--ignore-scripts', '--json', '--pack-destination', bench);
  expect(packed.code, packed.stderr).toBe(0);
  const [tarball] = JSON.parse(packed.stdout);
  files = tarball.files.map((file: { path: string }) => file.path);
  mkdirSync(app);
  write(app, { 'package.json': '{"name":"app","private":true,"type":"module"}' });
  copyFileSync(join(bench, tarball.filename), join(app, 'preview-recorder.tgz'));
  const installed = await npm(
    app,
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    './preview-recorder.tgz',
  );
  expect(installed.code, installed.stderr).toBe(0);
}, 360_000);

describe('what is packed', () => {
  test('the programs, the library with types, recipes, schema, licences; no sources, tests or maps', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'dist/preview.cjs',
        'dist/previews.cjs',
        'dist/index.js',
        'dist/index.cjs',
        ...(typed ? ['dist/types/src/index.d.ts'] : []),
        'dist/preview.config.schema.json',
        'dist/THIRD-PARTY-NOTICES.txt',
        'dist/recipes/svg.json',
        'dist/recipes/files.json',
      ]),
    );
    expect(
      files.filter((path) =>
        /\.map$|^(src|test|producer|consumer)\/|node_modules|\.preview|tsbuildinfo/.test(path),
      ),
    ).toEqual([]);
    expect(files.filter((path) => /^dist\/types\/(test|vitest)/.test(path))).toEqual([]);
  });
  test('nothing in it names this machine', () => {
    const at = join(app, 'node_modules/preview-recorder');
    for (const path of files)
      expect(readFileSync(join(at, path), 'latin1').includes(REPOSITORY.replace(/\/$/, '')), path).toBe(
        false,
      );
  });
  test('the installed tree is small: the package and what it depends on', () => {
    expect(
      readdirSync(join(app, 'node_modules'))
        .filter((name) => !name.startsWith('.'))
        .sort(),
    ).toEqual(['@lydell', '@resvg', 'playwright-core', 'preview-recorder']);
  });
});

describe('the programs', () => {
  test.each(['preview', 'previews'])('%s --version and --help', async (name) => {
    const version = await run([bin(name), '--version'], { cwd: app });
    expect(version).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `${readJson(join(REPOSITORY, 'package.json'))['version']}\n`,
    });
    expect(await run([bin(name), '--help'], { cwd: app })).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Usage: /),
    });
  });

  test('init and capture in a folder of SVG files, then look at it', async () => {
    const project = temporary();
    write(project, { 'a.svg': svg('teal'), 'b.svg': svg('tomato', 64, 64) });
    await done(run([bin('preview'), 'init', '--json'], { cwd: project }));
    const result = documentOf(await run([bin('preview'), 'capture', '--json'], { cwd: project }));
    expect(result).toMatchObject({
      status: 'ok',
      render: expect.stringMatching(/render\.png$/),
      warnings: [],
    });
    expect(readFileSync(result['render']).subarray(1, 4).toString()).toBe('PNG');
    expect(await done(run([bin('previews'), 'verify', '--json'], { cwd: project }))).toMatchObject({
      ok: true,
      steps: 1,
    });
    expect(await done(run([bin('preview'), 'live', 'status', '--json'], { cwd: project }))).toMatchObject({
      step: 'step-0001',
    });
  });
});

describe('the library', () => {
  const use = (open: string) => `${open}
    const session = await openSession({ root: process.argv[2], env: {}, title: 'from a library' });
    const recorded = await publish(session, {
      headline: 'From a library', software: 'mine', facts: { wheels: 4 },
      artifacts: [{ file: 'picture.png', role: 'hero', label: 'Picture' }, { file: 'notes.txt', role: 'render-output' }],
    }, { command: 'mine draw', exit_code: 0 });
    const { value, problems } = readSession(session.dir);
    console.log(JSON.stringify({ dir: session.dir, step: recorded.step, warnings: recorded.warnings, steps: value.steps.length, problems, verdict: verify(session.dir) }));`;

  test.each([
    ['import', 'use.mjs', "import { openSession, publish, readSession, verify } from 'preview-recorder';"],
    [
      'require',
      'use.cjs',
      "const { openSession, publish, readSession, verify } = require('preview-recorder');",
    ],
  ])('%s: publishes a step with real files', async (kind, name, open) => {
    write(app, {
      'picture.png': png(),
      'notes.txt': 'x\n',
      [name]: kind === 'import' ? use(open) : `(async () => { ${use(open)} })();`,
    });
    const root = join(temporary(), '.preview');
    const outcome = await run([process.execPath, name, root], { cwd: app });
    expect([outcome.code, outcome.stderr]).toEqual([0, '']);
    const result = JSON.parse(outcome.stdout);
    expect(result).toMatchObject({
      dir: join(root, 'session_001'),
      warnings: [],
      steps: 1,
      problems: [],
      step: {
        step_id: 'step-0001',
        command: 'mine draw',
        exit_code: 0,
        publish_reason: 'mutation',
        render_path: 'bundle_001/render.png',
      },
      verdict: { ok: true },
    });
    expect(readFileSync(join(result.dir, 'bundle_001/render.png')).equals(png())).toBe(true);
    expect(readFileSync(join(app, 'notes.txt'), 'utf8')).toBe('x\n');
    expect(await done(previews(app, ['inspect', join(result.dir, 'step-0001'), '--json']))).toMatchObject({
      problems: [],
      summary: { headline: 'From a library' },
    });
  });

  test('its errors are caught by code', async () => {
    write(app, {
      'fail.mjs':
        "import { openSession, PreviewError } from 'preview-recorder';\ntry { await openSession({ root: process.argv[2], session: '../x', env: {} }); } catch (error) { console.log(error instanceof PreviewError, error.code, error.exitCode); }",
    });
    expect((await run([process.execPath, 'fail.mjs', temporary()], { cwd: app })).stdout).toBe(
      'true session_name 2\n',
    );
  });

  test.skipIf(!typed)(
    'types resolve and say what comes back (NodeNext, strict; not for a build made with --no-types)',
    async () => {
      write(app, {
        'use.ts': `import { openSession, publish, readSession, type Step } from 'preview-recorder';
const session = await openSession({ root: 'x' });
const { step }: { step: Step } = await publish(session, { headline: 'h', artifacts: [{ content: 'x', role: 'log', name: 'a.txt' }] }, { command: 'c' });
const { value, problems } = readSession(session.dir, { limit: 3 });
export const all: string[] = [step.step_id, ...value.steps.map((each) => each.bundle_id), ...problems.map((problem) => problem.detail)];
`,
        'use.cts':
          "import recorder = require('preview-recorder');\nexport const limit: number = recorder.LIMITS.stepLine;\n",
        'wrong.ts': "import { publish } from 'preview-recorder';\nexport const wrong: number = publish;\n",
      });
      const tsc = (...names: string[]) =>
        run(
          [
            process.execPath,
            join(REPOSITORY, 'node_modules/typescript/bin/tsc'),
            '--noEmit',
            '--strict',
            '--target',
            'es2022',
            '--module',
            'nodenext',
            '--moduleResolution',
            'nodenext',
            '--skipLibCheck',
            '--typeRoots',
            join(REPOSITORY, 'node_modules/@types'),
            '--types',
            'node',
            ...names,
          ],
          { cwd: app },
        );
      expect(await tsc('use.ts', 'use.cts')).toMatchObject({ stdout: '', code: 0 });
      expect((await tsc('wrong.ts')).stdout).toMatch(/wrong\.ts.*TS2322/);
    },
    170_000,
  );

  test('the schema is exported, and is JSON', async () => {
    write(app, {
      'schema.cjs':
        "console.log(require('preview-recorder/preview.config.schema.json').title, require('preview-recorder/package.json').name)",
    });
    expect((await run([process.execPath, 'schema.cjs'], { cwd: app })).stdout).toBe(
      'preview.config.json preview-recorder\n',
    );
  });
});

test('the environment of the programs under test has no certificates to parse', () => {
  expect(plainEnv()).not.toHaveProperty('NODE_EXTRA_CA_CERTS');
});
