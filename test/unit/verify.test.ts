// Whatever is changed behind the program's back is found, and nothing else is complained about.
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/hash.js';
import { publish } from '../../src/index.js';
import { record } from '../../src/session.js';
import { verify, verifyBundle } from '../../src/verify.js';
import { DIST, run } from '../helpers/cli.js';
import { bundleOf, recordSession, snapshot, temporary } from '../helpers/project.js';
import {
  changeByte,
  copySession,
  cutTail,
  editJson,
  editLines,
  editStep,
  editText,
  forgeChain,
  headFile,
  linesOf,
  overwrite,
  readJson,
  trajectoryFile,
  undoAppend,
  writeLines,
} from '../helpers/tamper.js';

const LONG = `long ${'汉字 '.repeat(2000)}`;
let dir = '';
beforeAll(async () => {
  const recording = await recordSession(5, {
    each: (n) => [{}, n === 2 ? { command: LONG, note: 'n'.repeat(3000) } : {}],
  });
  dir = recording.dir;
  // Step 6 uses the bundle of step 5 again.
  const { bundle_id, manifest_sha256 } = recording.steps[4]!.step;
  await record(
    recording.session,
    { kind: 'reuse', reuse: { bundle_id, manifest_sha256 } },
    { command: 'again', publish_reason: 'mutation' },
  );
});

const kindsOf = (session: string) => verify(session).problems.map((problem) => problem.kind);
/** A copy with this change is found wanting, with a problem of that kind, and nothing is written by looking. */
function check(change: (copy: string) => void, kind: string | RegExp): void {
  const copy = copySession(dir);
  change(copy);
  const before = snapshot(copy);
  const { ok, problems } = verify(copy);
  expect(ok).toBe(false);
  expect(problems.map((problem) => problem.kind).join(' ')).toMatch(kind);
  for (const problem of problems)
    expect(problem).toEqual({
      kind: expect.any(String),
      where: expect.any(String),
      detail: expect.any(String),
    });
  expect(snapshot(copy)).toEqual(before);
}

describe('clean', () => {
  test('an untouched session, whatever its modes and empty folders', () => {
    const clean = { ok: true, steps: 6, bundles: 5, pending: 0, problems: [] };
    expect(verify(dir)).toEqual(clean);
    const copy = copySession(dir);
    rmSync(join(copy, '.work'), { recursive: true });
    rmSync(join(copy, 'current'));
    expect(verify(copy)).toEqual(clean);
  });

  test('a session without steps, and one of one step', async () => {
    expect(verify((await recordSession(0)).dir)).toEqual({
      ok: true,
      steps: 0,
      bundles: 0,
      pending: 0,
      problems: [],
    });
    expect(verify((await recordSession(1)).dir)).toEqual({
      ok: true,
      steps: 1,
      bundles: 1,
      pending: 0,
      problems: [],
    });
  });

  test('I3 a pending append, however much of it was written', () => {
    for (const written of [0, 1, 2, 3, 50]) {
      const copy = copySession(dir);
      undoAppend(copy, written);
      expect(verify(copy)).toEqual({ ok: true, steps: 6, bundles: 5, pending: 1, problems: [] });
    }
  });

  test('a head hash kept elsewhere, of any step', () => {
    for (const line of linesOf(dir)) expect(verify(dir, { head: sha256(line) }).ok).toBe(true);
    expect(verify(dir, { head: sha256('other') })).toMatchObject({
      ok: false,
      problems: [{ kind: 'head_hash' }],
    });
  });

  test('while a writer publishes', async () => {
    const root = join(temporary(), '.preview');
    const { dir: at } = await recordSession(1, { root });
    // In another process, so that looks fall between any two of its file operations.
    const code = `const { openSession, publish } = require(process.argv[1]);
      (async () => {
        const session = await openSession({ root: process.argv[2], env: {} });
        for (let n = 2; n <= 60; n++) await publish(session, { headline: 'h', artifacts: [{ content: 'x' + n, role: 'render-output', name: 'a.txt' }] }, { command: 'draw ' + n });
      })();`;
    let writing = true;
    const writer = run([process.execPath, '-e', code, join(DIST, 'index.cjs'), root], { cwd: root }).finally(
      () => {
        writing = false;
      },
    );
    let looks = 0;
    let most = 0;
    while (writing) {
      const verdict = verify(at);
      expect(verdict.problems).toEqual([]);
      expect(verdict.steps).toBeGreaterThanOrEqual(most);
      if (verdict.steps > most) looks++;
      most = verdict.steps;
      await new Promise((resume) => setImmediate(resume));
    }
    expect(await writer).toMatchObject({ code: 0, stderr: '' });
    expect(looks).toBeGreaterThan(5);
    expect(verify(at)).toMatchObject({ ok: true, steps: 60, pending: 0 });
  });

  test('each bundle by itself, wherever it lies', () => {
    const copy = join(temporary(), 'kept');
    cpSync(join(dir, 'bundle_001'), copy, { recursive: true });
    expect(verifyBundle(copy)).toEqual({ ok: true, steps: 0, bundles: 1, pending: 0, problems: [] });
  });
});

describe('a bundle', () => {
  test.each<[string, (copy: string) => void, RegExp]>([
    [
      'a flipped bit in a picture',
      (copy) => changeByte(join(copy, 'bundle_002/render.png'), 40, (byte) => byte ^ 1),
      /^artifact_altered$/,
    ],
    [
      'an edited manifest',
      (copy) =>
        editJson(join(copy, 'bundle_002/manifest.json'), (manifest) => {
          manifest.command = 'other';
        }),
      /^manifest_altered$/,
    ],
    [
      'a manifest edited together with its artifact',
      (copy) => {
        overwrite(join(copy, 'bundle_002/artifacts/report.txt'), 'better\n');
        editJson(join(copy, 'bundle_002/manifest.json'), (manifest) =>
          Object.assign(manifest.artifacts[1], { sha256: sha256('better\n'), bytes: 7 }),
        );
      },
      /^manifest_altered$/,
    ],
    [
      'an edited summary',
      (copy) =>
        editJson(join(copy, 'bundle_003/summary.json'), (summary) => {
          summary.headline = 'all fine';
        }),
      /^summary_altered$/,
    ],
    ['a missing summary', (copy) => rmSync(join(copy, 'bundle_003/summary.json')), /summary_missing/],
    [
      'a missing artifact',
      (copy) => rmSync(join(copy, 'bundle_003/artifacts/report.txt')),
      /^artifact_missing$/,
    ],
    [
      'an emptied artifact',
      (copy) => overwrite(join(copy, 'bundle_003/artifacts/report.txt'), ''),
      /^artifact_altered$/,
    ],
    ['a missing bundle', (copy) => rmSync(join(copy, 'bundle_002'), { recursive: true }), /^bundle_missing$/],
    ['a missing manifest', (copy) => rmSync(join(copy, 'bundle_002/manifest.json')), /bundle_missing/],
    [
      'a manifest that is no JSON',
      (copy) => overwrite(join(copy, 'bundle_002/manifest.json'), '{'),
      /manifest_altered/,
    ],
    [
      'an added file',
      (copy) => overwrite(join(copy, 'bundle_002/artifacts/extra.txt'), 'x'),
      /^file_unlisted$/,
    ],
    [
      'an added file beside the manifest',
      (copy) => overwrite(join(copy, 'bundle_002/.hidden'), 'x'),
      /^file_unlisted$/,
    ],
    [
      'an added bundle',
      (copy) => cpSync(join(copy, 'bundle_002'), join(copy, 'bundle_004'), { recursive: true }),
      /./,
    ],
    [
      'a symlink in place of an artifact, to the same content',
      (copy) => {
        const path = join(copy, 'bundle_002/artifacts/report.txt');
        const away = join(temporary(), 'report.txt');
        renameSync(path, away);
        symlinkSync(away, path);
      },
      /path_leaves|artifact_missing/,
    ],
    [
      'a symlink in place of an artifact, inside the bundle',
      (copy) => {
        const path = join(copy, 'bundle_002/artifacts/report.txt');
        renameSync(path, join(copy, 'bundle_002/artifacts/away.txt'));
        symlinkSync('away.txt', path);
      },
      /artifact_missing/,
    ],
    [
      'a symlink in place of a folder of artifacts',
      (copy) => {
        const away = join(temporary(), 'artifacts');
        cpSync(join(copy, 'bundle_002/artifacts'), away, { recursive: true });
        rmSync(join(copy, 'bundle_002/artifacts'), { recursive: true });
        symlinkSync(away, join(copy, 'bundle_002/artifacts'));
      },
      /path_leaves|artifact_missing/,
    ],
    [
      'a symlink in place of a manifest, to the same content',
      (copy) => {
        const away = join(temporary(), 'manifest.json');
        renameSync(join(copy, 'bundle_002/manifest.json'), away);
        symlinkSync(away, join(copy, 'bundle_002/manifest.json'));
      },
      /./,
    ],
    [
      'a symlink in place of a summary, to the same content',
      (copy) => {
        const away = join(temporary(), 'summary.json');
        renameSync(join(copy, 'bundle_002/summary.json'), away);
        symlinkSync(away, join(copy, 'bundle_002/summary.json'));
      },
      /path_leaves|summary_missing/,
    ],
    [
      'a symlink in place of a bundle',
      (copy) => {
        const away = join(temporary(), 'bundle_002');
        cpSync(join(copy, 'bundle_002'), away, { recursive: true });
        rmSync(join(copy, 'bundle_002'), { recursive: true });
        symlinkSync(away, join(copy, 'bundle_002'));
      },
      /bundle_missing/,
    ],
    [
      'two bundles exchanged',
      (copy) => {
        renameSync(join(copy, 'bundle_001'), join(copy, 'x'));
        renameSync(join(copy, 'bundle_002'), join(copy, 'bundle_001'));
        renameSync(join(copy, 'x'), join(copy, 'bundle_002'));
      },
      /manifest_altered/,
    ],
  ])('%s', (_name, change, kind) => check(change, kind));

  test('an added bundle under a number of its own is found as unnamed', () => {
    const copy = copySession(dir);
    // Its step is gone from the history, the bundle is left.
    forgeChain(
      copy,
      linesOf(copy)
        .slice(0, 3)
        .map((line) => JSON.parse(line)),
    );
    expect(kindsOf(copy)).toContain('bundle_unnamed');
  });
});

describe('the trajectory', () => {
  test.each<[string, (copy: string) => void, RegExp]>([
    [
      'an edited step',
      (copy) =>
        editStep(copy, 3, (step) => {
          step.command = 'innocent';
        }),
      /chain_broken/,
    ],
    [
      'an edited first step',
      (copy) =>
        editStep(copy, 1, (step) => {
          step.exit_code = 0;
        }),
      /chain_broken/,
    ],
    [
      'an edited last step',
      (copy) =>
        editStep(copy, 6, (step) => {
          step.command = 'innocent';
        }),
      /trajectory_cut/,
    ],
    [
      'an edited last step, in the head too',
      (copy) =>
        editStep(
          copy,
          6,
          (step) => {
            step.command = 'innocent';
          },
          { follow: true },
        ),
      /head_disagrees/,
    ],
    [
      'a dropped step',
      (copy) => editLines(copy, (lines) => lines.filter((_, n) => n !== 2)),
      /trajectory_cut|chain_broken/,
    ],
    [
      'a dropped step, the head following',
      (copy) => editLines(copy, (lines) => lines.filter((_, n) => n !== 2), { follow: true }),
      /chain_broken/,
    ],
    [
      'a dropped last step, the head following',
      (copy) => editLines(copy, (lines) => lines.slice(0, -1), { follow: true }),
      /head_disagrees/,
    ],
    [
      'a dropped step, the chain forged, the head following',
      (copy) =>
        forgeChain(
          copy,
          linesOf(copy)
            .map((line) => JSON.parse(line))
            .filter((_, n) => n !== 2),
        ),
      /step_order|head_disagrees|bundle_unnamed/,
    ],
    [
      'swapped steps',
      (copy) => editLines(copy, (lines) => [lines[1]!, lines[0]!, ...lines.slice(2)]),
      /step_order.*chain_broken|chain_broken.*step_order/,
    ],
    [
      'swapped steps in the middle, of equal length',
      (copy) =>
        editLines(copy, (lines) => [...lines.slice(0, 2), lines[3]!, lines[2]!, ...lines.slice(4)], {
          follow: true,
        }),
      /chain_broken/,
    ],
    [
      'an added step',
      (copy) => editLines(copy, (lines) => [...lines.slice(0, 3), lines[2]!, ...lines.slice(3)]),
      /trajectory_cut|chain_broken/,
    ],
    [
      'an added step at the end',
      (copy) => editLines(copy, (lines) => [...lines, lines[5]!], { follow: true }),
      /chain_broken|step_order/,
    ],
    [
      'null for a step',
      (copy) => editLines(copy, (lines) => lines.map((line, n) => (n === 2 ? 'null' : line))),
      /invalid/,
    ],
    [
      'a wrong-typed step',
      (copy) =>
        editLines(copy, (lines) => lines.map((line, n) => (n === 2 ? '{"step_id":3}' : line)), {
          follow: true,
        }),
      /invalid/,
    ],
    ['a cut tail', (copy) => cutTail(trajectoryFile(copy), 2000), /trajectory_cut/],
    [
      'a file cut to half',
      (copy) => cutTail(trajectoryFile(copy), lstatSync(trajectoryFile(copy)).size >> 1),
      /step_missing/,
    ],
    ['an emptied file', (copy) => overwrite(trajectoryFile(copy), ''), /trajectory_cut/],
    ['a missing file', (copy) => rmSync(trajectoryFile(copy)), /missing/],
    ['an empty array', (copy) => writeLines(copy, []), /trajectory_cut/],
    [
      'a step that names another manifest',
      (copy) =>
        editStep(copy, 3, (step) => {
          step.manifest_sha256 = sha256('x');
        }),
      /manifest_altered/,
    ],
    [
      'a step that names a path outside',
      (copy) =>
        editStep(copy, 3, (step) => Object.assign(step, { bundle_id: '../../x', bundle_dir: '../../x' })),
      /step_altered/,
    ],
  ])('%s', (_name, change, kind) => check(change, kind));

  test('an edited text of a long command, and of a note', () => {
    const texts = readdirSync(join(dir, 'texts'));
    expect(texts).toHaveLength(2);
    for (const name of texts) {
      check(
        (copy) => editText(join(copy, 'texts', name), (text) => text.replace(/[nl]/, 'x')),
        /^text_altered$/,
      );
      check((copy) => rmSync(join(copy, 'texts', name)), /^text_missing$/);
    }
  });
});

describe('the head', () => {
  test.each<[string, (head: Record<string, any>) => void]>([
    ['trajectory_step_count', (head) => head.trajectory_step_count--],
    ['trajectory_bytes', (head) => head.trajectory_bytes--],
    [
      'trajectory_sha256',
      (head) => {
        head.trajectory_sha256 = sha256('x');
      },
    ],
    [
      'latest_step',
      (head) => {
        head.latest_step.command = 'innocent';
      },
    ],
    [
      'latest_command',
      (head) => {
        head.latest_command = 'innocent';
      },
    ],
    [
      'latest_publish_reason',
      (head) => {
        head.latest_publish_reason = 'capture';
      },
    ],
    ['bundle_count', (head) => head.bundle_count++],
    [
      'bundle_last',
      (head) => {
        head.bundle_last = 1;
      },
    ],
    [
      'current_step_id',
      (head) => {
        head.current_step_id = 'step-0001';
      },
    ],
    [
      'current_step_id, of no step',
      (head) => {
        head.current_step_id = 'step-0099';
      },
    ],
    [
      'current_bundle_id',
      (head) => {
        head.current_bundle_id = 'bundle_001';
      },
    ],
    [
      'current_bundle_dir',
      (head) => {
        head.current_bundle_dir = '../..';
      },
    ],
    [
      'current_manifest_path',
      (head) => {
        head.current_manifest_path = 'bundle_001/manifest.json';
      },
    ],
    [
      'current_summary_path',
      (head) => {
        head.current_summary_path = 'bundle_001/summary.json';
      },
    ],
    [
      'current_render_path',
      (head) => {
        head.current_render_path = 'bundle_001/render.png';
      },
    ],
    [
      'current_cached',
      (head) => {
        head.current_cached = !head.current_cached;
      },
    ],
    ['history, its first', (head) => head.history.shift()],
    [
      'history, what its first says',
      (head) => {
        head.history[0].command = 'innocent';
      },
    ],
    [
      'trajectory_path',
      (head) => {
        head.trajectory_path = '../other/trajectory.json';
      },
    ],
  ])('%s', (_name, edit) => check((copy) => editJson(headFile(copy), edit), /./));

  test.each(['', '{', '[]', 'null', '{}'])('damaged beyond use: %j', (content) => {
    const copy = copySession(dir);
    overwrite(headFile(copy), content);
    expect(verify(copy)).toMatchObject({ ok: false, problems: [{ where: 'session.json' }] });
  });

  test('missing', () => {
    const copy = copySession(dir);
    rmSync(headFile(copy));
    expect(verify(copy)).toMatchObject({ ok: false, problems: [{ kind: 'missing', where: 'session.json' }] });
    expect(existsSync(headFile(copy))).toBe(false);
  });

  test('an older head beside a longer trajectory is found', async () => {
    const { session, dir: at } = await recordSession(2);
    const old = readFileSync(headFile(at));
    await publish(session, bundleOf(3), { command: 'third' });
    const copy = copySession(at);
    overwrite(headFile(copy), old);
    expect(verify(copy).ok).toBe(false);
  });
});

describe('any single byte', () => {
  /** Changes and restores the byte in one copy; true where verify found it. */
  const finder = (copy: string) => (file: string, offset: number, value: number) => {
    const path = join(copy, file);
    const before = readFileSync(path);
    changeByte(path, offset, () => value);
    const { ok } = verify(copy);
    overwrite(path, before);
    return !ok;
  };
  let small = '';
  beforeAll(async () => {
    small = (await recordSession(3)).dir;
  });

  test('I4 of trajectory.json before the closing bracket, in any manifest, summary or artifact', () => {
    const copy = copySession(small);
    const found = finder(copy);
    const files = [
      'trajectory.json',
      ...Object.keys(snapshot(copy)).filter((name) => /^bundle_\d+\/.*[^/]$/.test(name)),
    ];
    expect(files.length).toBeGreaterThan(12);
    const lengths = Object.fromEntries(files.map((name) => [name, lstatSync(join(copy, name)).size]));
    lengths['trajectory.json'] = readJson(headFile(copy)).trajectory_bytes;
    fc.assert(
      fc.property(
        fc.constantFrom(...files),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (file, seed, mask) => {
          const offset = seed % lengths[file]!;
          const value = readFileSync(join(copy, file))[offset]! ^ mask;
          expect(found(file, offset, value), `${file} byte ${offset} to ${value}`).toBe(true);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('I4 of what stands between the entries, to what may mean something', () => {
    const copy = copySession(small);
    const found = finder(copy);
    const bytes = readFileSync(trajectoryFile(copy));
    const end = readJson(headFile(copy)).trajectory_bytes;
    const between = [0, 1];
    for (let at = bytes.indexOf(',\n'); at !== -1 && at < end; at = bytes.indexOf(',\n', at + 1))
      between.push(at - 1, at, at + 1);
    expect(between.length).toBe(8);
    const missed = between.flatMap((at) =>
      [...Array(48).keys(), 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xc3, 0xef, 0xff]
        .filter((value) => value !== bytes[at] && !found('trajectory.json', at, value))
        .map(
          (value) =>
            `byte ${at} from ${JSON.stringify(String.fromCharCode(bytes[at]!))} to ${JSON.stringify(String.fromCharCode(value))}`,
        ),
    );
    expect(missed).toEqual([]);
  });
});

test('an added folder between the bundles is no business of verify, but a bundle that no step names is', () => {
  const copy = copySession(dir);
  mkdirSync(join(copy, 'notes'));
  appendFileSync(join(copy, 'notes/x.txt'), 'mine');
  expect(verify(copy).ok).toBe(true);
});
