// Staging a bundle: names that every system can hold, nothing but regular files, bounded summaries.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addArtifact, portableName } from '../../src/artifact.js';
import { sealStage } from '../../src/bundle.js';
import { sha256 } from '../../src/hash.js';
import { closeStage, openStage, resetStage, type Stage } from '../../src/stage.js';
import { fitSummary } from '../../src/summary.js';
import { LIMITS } from '../../src/version.js';
import { png, temporary, write } from '../helpers/project.js';

const stageHere = (): Stage => openStage(temporary());
const add = (stage: Stage, name: string, content: string | Uint8Array = name, role = 'render-output') =>
  addArtifact(stage, { content, role, name });

describe('D07 portable names', () => {
  const portable = /^(?!(con|prn|aux|nul|com\d|lpt\d)(\.|$))[a-z0-9_][\w-]*$/i;

  test.each([
    ['aux.txt', 'aux_'],
    ['AUX', 'AUX_'],
    ['con', 'con_'],
    ['nul.tar.gz', 'nul_tar'],
    ['com1.log', 'com1_'],
    ['a:b', 'a_b'],
    ['a/b:c.png', 'b_c'],
    ['..', 'file'],
    ['.', 'file'],
    ['', 'file'],
    ['.hidden', 'hidden'],
    ['trailing. ', 'trailing'],
    ['汉字.png', 'file'],
    ['é.png', 'e'],
    ['a b\tc\n.txt', 'a_b_c'],
    ['-rf', 'rf'],
    ['con_', 'con_'],
  ])('%j', (name, expected) => {
    const made = portableName(name);
    expect(made).toMatch(portable);
    if (!['nul.tar.gz', '-rf', 'con_'].includes(name)) expect(made).toBe(expected);
  });

  test('any name at all becomes a portable one of at most 61 characters', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.constantFrom('x'.repeat(300), 'Com9', 'lpt0.a', 'conout$'),
        ),
        (name) => {
          const made = portableName(name);
          expect(made).toMatch(portable);
          expect(made.length).toBeLessThanOrEqual(61);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('paths are unique without regard to case, and the true name is kept as the label', () => {
    const stage = stageHere();
    const names = [
      'aux.txt',
      'a:b',
      'Foo.txt',
      'foo.txt',
      'FOO.txt',
      `${'x'.repeat(300)}.txt`,
      'a?b',
      'foo-2.txt',
      '../../etc/passwd',
      '/etc/passwd',
    ];
    const made = names.map((name) => add(stage, name));
    const paths = made.map((artifact) => artifact.path);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(names.length);
    for (const [n, { path, label }] of made.entries()) {
      expect(path).toMatch(/^artifacts\/[\w-]+\.\w+$/);
      expect(path.length).toBeLessThan(90);
      expect(label).toBe(names[n]);
      expect(readFileSync(join(stage.bundle, path), 'utf8')).toBe(names[n]);
    }
    closeStage(stage);
    expect(existsSync(stage.dir)).toBe(false);
  });

  test('a label is cut at a character, and never ends in half of one', () => {
    const { label } = add(stageHere(), `${'x'.repeat(LIMITS.label - 1)}😀.txt`, 'x');
    expect(label!.isWellFormed()).toBe(true);
  });
});

describe('artifacts', () => {
  test('the first hero is render.<ext> by content, the first thumb thumb.<ext>; others lie under artifacts/', () => {
    const stage = stageHere();
    expect(add(stage, 'picture.jpg', png(), 'hero')).toMatchObject({
      path: 'render.png',
      artifact_id: 'hero',
      media_type: 'image/png',
      width: 32,
      height: 24,
    });
    expect(add(stage, 'again.png', png(4, 4), 'hero')).toMatchObject({
      path: 'artifacts/again.png',
      artifact_id: 'hero-2',
    });
    expect(add(stage, 't.png', png(), 'thumb').path).toBe('thumb.png');
    expect(add(stage, 'a.json', '{}', 'pipeline-json')).toMatchObject({
      path: 'artifacts/a.json',
      kind: 'json',
    });
    expect(new Set(stage.artifacts.map((artifact) => artifact.artifact_id)).size).toBe(4);
  });

  test('a hero that is no picture does not call itself one', () => {
    expect(add(stageHere(), 'render.png', 'an error page', 'hero')).toMatchObject({
      path: 'render.txt',
      kind: 'text',
    });
  });

  test('bytes and hash are those of the file, whose write bits are gone; a copied source stays', () => {
    const stage = stageHere();
    const source = join(temporary(), 'a.txt');
    write(join(source, '..'), { 'a.txt': 'content' });
    const artifact = addArtifact(stage, { file: source, role: 'render-output' });
    const path = join(stage.bundle, artifact.path);
    expect(artifact).toMatchObject({ bytes: 7, sha256: sha256('content'), label: 'a.txt' });
    expect(statSync(path).mode & 0o777).toBe(0o400);
    expect(readFileSync(source, 'utf8')).toBe('content');
    addArtifact(stage, { file: source, move: true, role: 'render-output' });
    expect(existsSync(source)).toBe(false);
  });

  test.each(['link', 'dangling', 'folder', 'pipe'])('I9 a %s is refused', (name) => {
    const stage = stageHere();
    const dir = temporary();
    write(dir, { secret: 'x' });
    symlinkSync('secret', join(dir, 'link'));
    symlinkSync('nothing', join(dir, 'dangling'));
    mkdirSync(join(dir, 'folder'));
    spawnSync('mkfifo', [join(dir, 'pipe')]);
    for (const move of [false, true])
      expect(() => addArtifact(stage, { file: join(dir, name), move, role: 'log' })).toThrow(
        /no regular file/,
      );
    expect(stage.artifacts).toEqual([]);
  });

  test('a stage is emptied for another try', () => {
    const stage = stageHere();
    add(stage, 'a.txt');
    resetStage(stage);
    expect(stage.artifacts).toEqual([]);
    expect(add(stage, 'a.txt').path).toBe('artifacts/a.txt');
  });
});

describe('the manifest', () => {
  test('beyond 200 source files the list lies in a file of its own', () => {
    const files = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ path: `${n}.svg`, sha256: sha256(String(n)), bytes: n }));
    const seal = (count: number): { manifest: Record<string, any>; stage: Stage } =>
      sealStage(stageHere(), { command: 'x', status: 'ok', headline: 'h', source: { files: files(count) } });
    expect(seal(200).manifest['source'].files).toHaveLength(200);
    const { manifest, stage } = seal(201);
    expect(manifest['source']).toMatchObject({ files_path: 'artifacts/source-files.json', files_count: 201 });
    expect(manifest['source'].files).toBeUndefined();
    expect(JSON.parse(readFileSync(join(stage.bundle, manifest['source'].files_path), 'utf8'))).toEqual(
      files(201),
    );
    expect(manifest['artifacts'].map((artifact: { path: string }) => artifact.path)).toContain(
      'artifacts/source-files.json',
    );
  });

  test('I10 a bundle over 25 MB is sealed with a warning', () => {
    const stage = stageHere();
    add(stage, 'large.bin', Buffer.alloc(LIMITS.bundle + 1, 'x'));
    expect(sealStage(stage, { command: null, status: 'ok', headline: 'h' }).warnings).toEqual([
      expect.stringMatching(/^bundle_large: /),
    ]);
  });
});

describe('I10 the summary is at most 4 KB', () => {
  const size = (value: unknown) => Buffer.byteLength(`${JSON.stringify(value, null, 2)}\n`);
  test.each([
    ['a long command', { command: '汉'.repeat(9000) }],
    ['a command of control characters', { command: '\u0001'.repeat(9000) }],
    ['a long headline', { headline: '"'.repeat(9000) }],
    ['many facts', { facts: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`fact ${n}`, n])) }],
    [
      'facts with long names',
      { facts: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}${'x'.repeat(3000)}`, n])) },
    ],
    ['long facts', { facts: { a: 'x'.repeat(9000), b: { deep: ['y'.repeat(9000)] } } }],
    [
      'many warnings',
      { warnings: Array.from({ length: 500 }, (_, n) => `warning ${n} ${'x'.repeat(1000)}`) },
    ],
    [
      'many next actions',
      { next_actions: Array.from({ length: 500 }, (_, n) => `do ${n} ${'x'.repeat(1000)}`) },
    ],
  ])('%s', (_name, change) => {
    const summary = fitSummary({
      command: 'c',
      headline: 'h',
      facts: {},
      warnings: [],
      next_actions: [],
      ...change,
    });
    expect(size(summary)).toBeLessThanOrEqual(LIMITS.summary);
    expect(Object.keys(summary)).toEqual(['command', 'headline', 'facts', 'warnings', 'next_actions']);
  });

  test('all of it at once, whatever it is', () => {
    const text = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(100))
      .map(([part, times]) => part.repeat(times));
    const texts = fc.array(text, { maxLength: 40 });
    fc.assert(
      fc.property(
        text,
        text,
        fc.dictionary(text, fc.jsonValue(), { maxKeys: 60 }),
        texts,
        texts,
        (command, headline, facts, warnings, next_actions) => {
          expect(size(fitSummary({ command, headline, facts, warnings, next_actions }))).toBeLessThanOrEqual(
            LIMITS.summary,
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test('a small one stays as it is', () => {
    const summary = {
      command: null,
      headline: 'h',
      facts: { a: 1, b: 'x' },
      warnings: ['w'],
      next_actions: ['n'],
    };
    expect(fitSummary(summary)).toEqual(summary);
  });
});
