// What a recipe can ask of the engine: a command for every file, commands side by side, several recipes at once,
// warnings from output, limits, a folder for temporary files, no network.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { done, errorOf, plainEnv, preview, previewArgv, until } from '../helpers/cli.js';
import { makeProject, png, temporary, write } from '../helpers/project.js';
import { readJson } from '../helpers/tamper.js';

const hero = [{ path: 'render.png', role: 'hero' }];
const sh = (script: string, ...args: string[]) => ['sh', '-c', script, 'sh', ...args];
const COPY = sh('cp a.png "$PREVIEW_OUT/render.png"');

const projectWith = (recipes: Record<string, object>, files: Record<string, string | Buffer> = {}) => {
  const project = makeProject(temporary(), recipes);
  write(project, files);
  return project;
};

async function captured(project: string, args: string[] = [], code = 0) {
  const result = await done(preview(project, ['capture', '--json', ...args]), code);
  const manifest = readJson(result['manifest_path']);
  return { result, manifest, summary: readJson(result['summary_path']) };
}
const roles = (manifest: Record<string, any>) =>
  manifest['artifacts']
    .map(({ role, label }: any) => [role, label])
    .filter(([role]: any) => role !== 'thumb');

describe('each', () => {
  const RECIPE = {
    sources: ['parts/*.png'],
    each: true,
    run: [sh('cp "$1" "$2" && echo "width $(wc -c < "$1")"', '{source}', '{out}/{name}.png')],
    artifacts: [{ path: '{name}.png', role: 'hero' }],
    facts: [{ name: 'bytes', from: 'stdout', match: 'width +(\\d+)' }],
  };
  const PARTS = { 'parts/hub.png': png(8, 8), 'parts/wheel.png': png(9, 9), 'parts/axle.png': png(7, 7) };

  test('draws every file, the one that changed first', async () => {
    const project = projectWith({ quick: RECIPE }, PARTS);
    const first = await captured(project);
    expect(roles(first.manifest)).toEqual([
      ['hero', 'parts/axle.png'],
      ['gallery', 'parts/hub.png'],
      ['gallery', 'parts/wheel.png'],
    ]);
    expect(Object.keys(first.summary['facts']).sort()).toEqual(['axle.bytes', 'hub.bytes', 'wheel.bytes']);
    write(project, { 'parts/wheel.png': png(20, 10) });
    const second = await captured(project);
    expect(roles(second.manifest)[0]).toEqual(['hero', 'parts/wheel.png']);
    expect((await captured(project)).result['cached']).toBe(true);
  });

  test('one file that fails does not take the others with it, and is not reused', async () => {
    const project = projectWith(
      { quick: { ...RECIPE, run: [sh('grep -q PNG "$1" && cp "$1" "$2"', '{source}', '{out}/{name}.png')] } },
      { ...PARTS, 'parts/hub.png': 'no picture' },
    );
    const { result, manifest } = await captured(project);
    expect(result['status']).toBe('partial');
    expect(result['warnings'].join()).toContain('renderer_failed: parts/hub.png: sh ended with exit code 1');
    expect(roles(manifest).map(([role]: any) => role)).toEqual(['hero', 'gallery', 'log']);
    expect((await captured(project)).result['cached']).toBe(false);
  });

  test('of more than eight files the rest is counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`parts/${n + 10}.png`, png(4, 4)]));
    const { result, manifest } = await captured(projectWith({ quick: RECIPE }, many));
    expect(roles(manifest)).toHaveLength(8);
    expect(result['warnings']).toContain(
      'left_out: 3 more files are not drawn; name those you want in sources',
    );
  });

  test('a run that leaves no picture is an error', async () => {
    const { result } = await captured(projectWith({ quick: { ...RECIPE, run: [['true']] } }, PARTS), [], 4);
    expect(result['warnings'][0]).toBe('output_missing: the commands ended well but left no {name}.png');
  });
});

test('{source} is the main one of the sources, unless with names another', async () => {
  const files = { 'lib/main.txt': 'l', 'zoo.txt': 'z', 'index.txt': 'i', 'about.txt': 'a' };
  const recipe = {
    sources: ['**/*.txt', 'a.png'],
    exclude: ['a.png'],
    run: [sh('echo "main $1"; cp a.png "$PREVIEW_OUT/render.png"', '{source}')],
    facts: [{ name: 'main', from: 'stdout', match: 'main (.*)' }],
  };
  const project = projectWith({ quick: recipe, named: { ...recipe, with: { source: 'zoo.txt' } } }, files);
  expect((await captured(project)).summary['facts']).toEqual({ main: 'index.txt' });
  expect((await captured(project, ['--recipe', 'named'])).summary['facts']).toEqual({ main: 'zoo.txt' });
});

test('{source} and each take only what the recipe draws; a change of the rest renders again', async () => {
  const files = { 'a.tex': '', 'plan.drawn': 'p', 'deep/hall.drawn': 'h' };
  const recipe = {
    sources: ['**/*.drawn', '*.tex', 'a.png'],
    draws: ['**/*.drawn'],
    run: [sh('echo "saw $1"; cp a.png "$2"', '{source}', '{out}/{name}.png')],
    artifacts: [{ path: '*.png', role: 'hero' }],
    facts: [{ name: 'saw', from: 'stdout', match: 'saw (.*)' }],
  };
  const project = projectWith({ quick: recipe, each: { ...recipe, each: true } }, files);
  expect((await captured(project)).summary['facts']).toEqual({ saw: 'plan.drawn' });
  expect((await captured(project, ['--recipe', 'each'])).summary['facts']).toEqual({
    'plan.saw': 'plan.drawn',
    'hall.saw': 'deep/hall.drawn',
  });
  expect((await captured(project)).result['cached']).toBe(true);
  write(project, { 'a.tex': 'changed' });
  expect((await captured(project)).result['cached']).toBe(false);
});

test('parallel commands run side by side: each waits for what the other writes', async () => {
  const wait = (own: string, other: string) =>
    sh(
      'touch "$3/$1"; n=0; while [ ! -e "$3/$2" ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done; [ -e "$3/$2" ] && cp a.png "$3/$1.png"',
      own,
      other,
      '{out}',
    );
  const recipe = {
    sources: ['a.png'],
    run: [wait('x', 'y'), wait('y', 'x')],
    artifacts: [
      { path: 'x.png', role: 'hero' },
      { path: 'y.png', role: 'gallery' },
    ],
  };
  const project = projectWith({ quick: { ...recipe, parallel: true }, slow: { ...recipe, timeout_s: 1 } });
  expect(roles((await captured(project)).manifest).map(([role]: any) => role)).toEqual(['hero', 'gallery']);
  const { result } = await captured(project, ['--recipe', 'slow'], 4);
  expect(result['warnings'][0]).toMatch(/^renderer_timeout/);
});

describe('several recipes', () => {
  const TEXT = {
    sources: ['notes.txt'],
    run: [
      sh(
        'wc -l < notes.txt > "$PREVIEW_OUT/count.txt"; cp a.png "$PREVIEW_OUT/render.png"; wc -l < notes.txt; echo "saw $*"',
        '{sources}',
      ),
    ],
    artifacts: [
      { path: 'render.png', role: 'hero', label: 'Notes' },
      { path: 'count.txt', role: 'render-output' },
    ],
    facts: [
      { name: 'lines', from: 'stdout', match: '^ *(\\d+)$' },
      { name: 'saw', from: 'stdout', match: 'saw (.*)' },
    ],
  };
  const QUICK = { sources: ['a.png'], run: [COPY], artifacts: hero };
  const files = { 'notes.txt': 'one\ntwo\n' };

  test('one step, one bundle: the first has the hero, each reads its own sources', async () => {
    const project = projectWith({ quick: QUICK, text: TEXT }, files);
    const { result, manifest, summary } = await captured(project, ['--recipe', 'quick,text']);
    expect(result['status']).toBe('ok');
    expect(manifest['recipe']).toBe('quick,text');
    expect(roles(manifest).map(([role]: any) => role)).toEqual(['hero', 'gallery', 'render-output']);
    expect(summary['facts']).toEqual({ 'text.lines': 2, 'text.saw': 'notes.txt' });
    expect((await captured(project, ['--recipe', 'quick,text'])).result['cached']).toBe(true);
    write(project, { 'notes.txt': 'one\n' });
    expect((await captured(project, ['--recipe', 'quick,text'])).summary['facts']['text.lines']).toBe(1);
  });

  test('one that fails leaves the other its picture; the bundle is partial and not reused', async () => {
    const project = projectWith(
      { quick: QUICK, bad: { ...TEXT, run: [['no-such-renderer-anywhere']] } },
      files,
    );
    for (const _ of [1, 2]) {
      const { result } = await captured(project, ['--recipe', 'quick,bad']);
      expect([result['status'], result['cached']]).toEqual(['partial', false]);
      expect(result['warnings'].join()).toContain('renderer_missing: no-such-renderer-anywhere');
    }
  });

  test('the headline is the first one’s own, else it names them all', async () => {
    const says = (headline: string) => ({
      sources: ['a.png'],
      run: [
        sh(
          `cp a.png "$PREVIEW_OUT/render.png"; echo '{"headline":"${headline}"}' > "$PREVIEW_OUT/preview.json"`,
        ),
      ],
      artifacts: hero,
    });
    const project = projectWith({ quick: QUICK, one: says('a lamp'), two: says('its light') });
    const headline = async (recipe: string) =>
      (await captured(project, ['--recipe', recipe])).summary['headline'];
    expect(await headline('one,two')).toBe('a lamp');
    expect(await headline('one,quick')).toBe('a lamp');
    expect(await headline('quick,two')).toBe('quick,two: 2 files rendered');
  });

  test('an unknown one among them is told, and nothing is recorded', async () => {
    const outcome = await preview(projectWith({ quick: QUICK }), [
      'capture',
      '--json',
      '--recipe',
      'quick,nope',
    ]);
    expect([outcome.code, errorOf(outcome).code]).toEqual([2, 'recipe_unknown']);
  });
});

test('all programs that are missing are named, with their packages', async () => {
  const needs = [
    { program: 'no-lathe', debian: 'lathe' },
    { program: 'sh', debian: 'dash' },
    { program: 'no-mill', debian: 'mill-tools' },
    { program: 'no-saw' },
  ];
  const project = projectWith({ quick: { sources: ['a.png'], needs, run: [COPY], artifacts: hero } });
  const { result, summary } = await captured(project, [], 4);
  expect(result['warnings']).toEqual([
    'renderer_missing: no-lathe, no-mill and no-saw are not there; Debian has them in the packages lathe mill-tools',
  ]);
  expect(summary['headline']).toBe('no-lathe, no-mill and no-saw are not installed');
  const { recipes } = await done(preview(project, ['recipes', '--json']));
  const row = (name: string) => recipes.find((recipe: any) => recipe.name === name);
  expect(row('quick')).toMatchObject({ available: false, missing: ['lathe', 'mill-tools', 'no-saw'] });
  expect(row('svg')).toMatchObject({ available: true, missing: [] });
  const { stdout } = await preview(project, ['recipes']);
  expect(stdout).toMatch(/^quick .* needs lathe, mill-tools, no-saw$/m);
  expect(stdout).toMatch(/^svg .* {2}ready$/m);
});

describe('a renderer that removes the project’s folder', () => {
  test.each([
    ['and leaves it so', 'rm -rf "$1"'],
    ['and makes it anew', 'rm -rf "$1"; mkdir -p "$2"; echo x > "$2/render.png"'],
    ['moves it away', 'mv "$1" "$1-moved"'],
  ])('%s: an error that says so, and nothing is made anew', async (name, script) => {
    const recipe = { sources: ['a.png'], run: [sh(script, '{project}', '{out}')], artifacts: hero };
    const again = name.includes('anew');
    const project = projectWith({ quick: recipe });
    const outcome = await preview(project, ['capture', '--json']);
    expect([outcome.code, outcome.stdout]).toEqual([1, '']);
    expect(errorOf(outcome)).toMatchObject({
      code: 'io',
      message: /quick removed or replaced the project's folder/,
    });
    expect(existsSync(join(project, '.preview/session_001/session.json'))).toBe(false);
    expect(existsSync(project)).toBe(again);
    if (again) return;
    const other = projectWith({ quick: recipe });
    const run = await preview(other, ['run', '--', 'sh', '-c', 'exit 7']);
    expect([run.code, existsSync(other)]).toEqual([7, false]);
    expect(run.stderr).toMatch(
      /warning: nothing was recorded: the recipe quick removed or replaced the project's folder/,
    );
  });
});

test('warnings are read from the output; added_ makes the bundle partial', async () => {
  const loud = (words: string) => ({
    sources: ['a.png'],
    run: [
      sh(
        `for n in 1 2 3 4 5 6 7; do echo "WARNING: ${words} $n" >&2; done; cp a.png "$PREVIEW_OUT/render.png"`,
      ),
    ],
    artifacts: hero,
  });
  const project = projectWith({
    quick: {
      ...loud('loose bolt'),
      warnings: [{ from: 'stderr', match: 'WARNING: (.*)', text: 'model: $1' }],
    },
    honest: { ...loud('lamp'), warnings: [{ from: 'stderr', match: '(lamp 1)$', text: 'added_light: $1' }] },
  });
  const { result } = await captured(project);
  expect(result['status']).toBe('ok');
  expect(result['warnings']).toEqual([
    ...[1, 2, 3, 4, 5].map((n) => `model: loose bolt ${n}`),
    'model: 2 more of these',
  ]);
  expect((await captured(project, ['--recipe', 'honest'])).result).toMatchObject({
    status: 'partial',
    warnings: ['added_light: lamp 1'],
  });
});

describe('limits', () => {
  test.skipIf(process.platform !== 'linux')('too much memory ends it', async () => {
    const recipe = {
      sources: ['a.png'],
      memory_mb: 150,
      timeout_s: 40,
      run: [['{node}', '-e', 'const all = []; setInterval(() => all.push(Buffer.alloc(2e7, 1)), 20)']],
      artifacts: hero,
    };
    const { result } = await captured(projectWith({ quick: recipe }), [], 4);
    expect(result['warnings'][0]).toMatch(
      /^renderer_limit: quick was ended: it used \d+ MB of memory, over its limit of 150 MB/,
    );
  });

  test('too many files end it, and none of them is kept', async () => {
    const recipe = {
      sources: ['a.png'],
      output_mb: 5,
      timeout_s: 40,
      run: [sh('cat /dev/zero | head -c 20000000 > "$PREVIEW_OUT/big"; sleep 30')],
      artifacts: hero,
    };
    const { result, manifest } = await captured(projectWith({ quick: recipe }), [], 4);
    expect(result['warnings'][0]).toMatch(
      /^renderer_limit: sh was ended: it left \d+ MB of files, over its limit of 5 MB/,
    );
    expect(manifest['artifacts'].every(({ role }: any) => role === 'log')).toBe(true);
  });
});

test('env and a private folder for temporary files, gone afterwards', async () => {
  const recipe = {
    sources: ['a.png'],
    env: { COLOUR: 'te al', PLACE: '{out}/x' },
    run: [
      sh(
        '[ "$TMPDIR" = "$1" ] && echo t > "$TMPDIR/t" && stat -c "mode %a" "$TMPDIR" && echo "at $TMPDIR" && echo "env $COLOUR $(basename "$PLACE")"; cp a.png "$PREVIEW_OUT/render.png"',
        '{tmp}',
      ),
    ],
    artifacts: hero,
    facts: ['mode', 'at', 'env'].map((name) => ({ name, from: 'stdout', match: `^${name} (.*)$` })),
  };
  const facts = (await captured(projectWith({ quick: recipe }))).summary['facts'];
  expect(facts).toMatchObject({ mode: 700, env: 'te al x' });
  expect(() => readdirSync(facts.at)).toThrow(/ENOENT/);
  expect(facts.at.startsWith(tmpdir()) || facts.at.includes('.work')).toBe(true);
  expect(Buffer.byteLength(facts.at)).toBeLessThanOrEqual(64);
});

test.skipIf(process.platform !== 'linux')('a killed capture leaves no renderer running', async () => {
  const recipe = {
    sources: ['a.png'],
    run: [sh('echo $$ > renderer.pid; exec sleep 300')],
    artifacts: hero,
    timeout_s: 400,
  };
  const project = projectWith({ quick: recipe });
  const capture = spawn(process.execPath, previewArgv('capture').slice(1), { cwd: project, env: plainEnv() });
  const pid = Number(
    await until(() => {
      const file = join(project, 'renderer.pid');
      return existsSync(file) && readFileSync(file, 'utf8').trim();
    }, 'the renderer runs'),
  );
  capture.kill('SIGKILL');
  await until(() => !existsSync(`/proc/${pid}/stat`) || zombie(pid), 'the renderer is gone');
});
const zombie = (pid: number) => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

test('no network unless the recipe says so', async () => {
  const server = createServer((_, answer) => answer.end('hello'));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    const { port } = server.address() as AddressInfo;
    const asks = `require('http').get({ port: ${port}, host: '127.0.0.1' }, (answer) => { console.log('answer', answer.statusCode); require('fs').copyFileSync('a.png', process.env.PREVIEW_OUT + '/render.png'); }).on('error', (error) => { console.error(String(error)); process.exitCode = 1; })`;
    const recipe = {
      sources: ['a.png'],
      run: [['node', '-e', asks]],
      artifacts: hero,
      facts: [{ name: 'answer', from: 'stdout', match: 'answer (\\d+)' }],
    };
    const project = projectWith({ quick: recipe, open: { ...recipe, network: true } });
    const open = await captured(project, ['--recipe', 'open']);
    expect(open.summary['facts']).toEqual({ answer: 200 });
    const kept = await preview(project, ['capture', '--json']);
    const manifest = readJson(JSON.parse(kept.stdout).manifest_path);
    // Where the system gives no fence, the manifest says that there was none.
    if (manifest['generator'].network === 'not kept off') return;
    expect(kept.code).toBe(4);
    const log = manifest['artifacts'].find(({ role }: any) => role === 'log');
    expect(readFileSync(join(JSON.parse(kept.stdout).bundle_dir, log.path), 'utf8')).toMatch(
      /ENETUNREACH|EADDRNOTAVAIL|ECONNREFUSED/,
    );
    expect(readJson(JSON.parse(kept.stdout).summary_path)['next_actions'].join()).toContain(
      '"network": true',
    );
  } finally {
    server.close();
  }
});

describe.skipIf(process.platform !== 'linux')('where a way to keep commands off the network fails', () => {
  const likely = process.geteuid?.() === 0 ? '--net' : '--user';
  /** An `unshare` that refuses one way or all, and starts what it is given otherwise. */
  const FAKE = `#!/bin/sh
case "$REFUSED" in "$1"|all) echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1;; esac
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`;
  async function captureWith(refused: string, script = 'cp a.png "$PREVIEW_OUT/render.png"') {
    const project = projectWith({
      quick: { sources: ['a.png'], run: [sh(`echo run >> runs; ${script}`)], artifacts: hero },
    });
    const bin = temporary();
    writeFileSync(join(bin, 'unshare'), FAKE, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH']}`, REFUSED: refused };
    const { code, stdout } = await preview(project, ['capture', '--json'], env);
    const { generator } = readJson(JSON.parse(stdout).manifest_path);
    const runs = readFileSync(join(project, 'runs'), 'utf8');
    return { code, network: generator.network, runs };
  }

  test.each([
    ['none: the first is taken', 'none of them', { code: 0, network: 'none', runs: 'run\n' }],
    ['the likelier one: the other is taken', likely, { code: 0, network: 'none', runs: 'run\n' }],
    ['all: they run as they are', 'all', { code: 0, network: 'not kept off', runs: 'run\n' }],
  ])('%s', async (_, refused, expected) => {
    expect(await captureWith(refused)).toEqual(expected);
  });

  test('a command that says the same is not run again without one', async () => {
    const { code, runs } = await captureWith('none of them', 'echo unshare: no >&2; exit 1');
    expect({ code, runs }).toEqual({ code: 4, runs: 'run\n' });
  });
});
