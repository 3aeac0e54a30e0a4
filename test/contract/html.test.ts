// `previews html`: what the page holds, what is left out, and what it never holds. How it looks is tested in a browser.
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/hash.js';
import { check } from '../../src/schema.js';
import { type Exported, type ExportedPiece, exportedPieceSchema, exportedSchema } from '../../src/stream.js';
import { done, errorOf, previews, REPOSITORY } from '../helpers/cli.js';
import { png, recordSession, snapshot, temporary } from '../helpers/project.js';
import { seedSteps } from '../helpers/publish.js';
import { samplesOf } from '../helpers/samples.js';
import { changeByte, copySession } from '../helpers/tamper.js';

interface Page {
  text: string;
  head: Exported;
  pieces: ExportedPiece[];
  /** By `bundle/path`, as far as it is in the page. */
  file(name: string): Buffer | null;
}

/** Reads a page as a browser divides it: by its script elements. */
function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8');
  const scripts = [...text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  const of = (name: string) =>
    new Map(
      scripts.flatMap(([, attributes, content]) => {
        const match = new RegExp(`data-${name}="(\\d+)"`).exec(attributes!);
        return match ? [[Number(match[1]), content!] as const] : [];
      }),
    );
  const head = JSON.parse(scripts.find(([, attributes]) => attributes!.includes('id="recording"'))![2]!);
  expect(check(exportedSchema, head, 'head').problems).toEqual([]);
  const pieces = [...of('piece').values()].map((piece) =>
    JSON.parse(gunzipSync(Buffer.from(piece, 'base64')).toString('utf8')),
  );
  for (const piece of pieces) expect(check(exportedPieceSchema, piece, 'piece').problems).toEqual([]);
  const files = of('file');
  const file = (name: string) => {
    const content = files.get(head.files[name]);
    return content === undefined ? null : Buffer.from(content, 'base64');
  };
  return { text, head, pieces, file };
}

const html = (ref: string, out: string, ...more: string[]) =>
  previews('/', ['html', ref, '-o', out, '--json', ...more]);
const refusal = async (ref: string, out: string, ...more: string[]) => {
  const outcome = await html(ref, out, ...more);
  expect(outcome.code, outcome.stderr).toBe(2);
  return errorOf(outcome).message;
};

describe('one file', () => {
  test('holds every step, bundle and file, as they were recorded', async () => {
    const { dir } = await recordSession(5);
    const before = snapshot(dir);
    const out = join(temporary(), 'page.html');
    const said = await done(html(dir, out));
    expect(said).toMatchObject({ path: out, bytes: statSync(out).size, steps: 5, files: 10, left_out: [] });
    const { head, pieces, file, text } = readPage(out);
    expect(head.left_out).toEqual([]);
    expect(pieces.flatMap(({ steps }) => steps.map(({ command }) => command))).toEqual(
      [1, 2, 3, 4, 5].map((n) => `draw ${n}`),
    );
    expect(pieces[0]!.recorded[2]).toMatchObject({ step_id: 'step-0003', bundle_id: 'bundle_003' });
    expect(pieces[0]!.bundles['bundle_003']).toMatchObject({
      summary: { facts: { number: 3 } },
      verdict: { ok: true, problems: [] },
    });
    for (const name of ['bundle_001/render.png', 'bundle_005/artifacts/report.txt'])
      expect(file(name)).toEqual(readFileSync(join(dir, name)));
    // Nothing is asked for from anywhere.
    const markup = text.replace(/(<script[^>]*>)[\s\S]*?(?=<\/script>)/g, '$1');
    expect(markup).not.toMatch(/<(img|iframe)\b|\bsrc=|<link rel="stylesheet/);
    expect(text).toMatch(
      /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/,
    );
    expect(snapshot(dir)).toEqual(before);
  });

  test('equal files are in it once', async () => {
    const { dir } = await recordSession(4, {
      each: () => [{ artifacts: [{ content: png(), role: 'hero', name: 'picture.png' }] }, {}],
    });
    const out = join(temporary(), 'page.html');
    await done(html(dir, out));
    const { head, text } = readPage(out);
    expect(Object.keys(head.files)).toHaveLength(4);
    expect(head.places).toHaveLength(1);
    expect(text.match(/data-file=/g)).toHaveLength(1);
  });

  test('an altered file is told, and the page has what lies there', async () => {
    const { dir } = await recordSession(2);
    const copy = copySession(dir);
    changeByte(join(copy, 'bundle_002/artifacts/report.txt'), 0, (byte) => byte ^ 1);
    const out = join(temporary(), 'page.html');
    await done(html(copy, out));
    const { pieces, file } = readPage(out);
    expect(pieces[0]!.bundles['bundle_001']!.verdict.ok).toBe(true);
    expect(pieces[0]!.bundles['bundle_002']!.verdict).toMatchObject({
      ok: false,
      problems: [{ kind: 'artifact_altered' }],
    });
    expect(file('bundle_002/artifacts/report.txt')!.toString()).toBe('seport 2\n');
  });

  test('a bundle that is gone leaves its step, and the loss is said', async () => {
    const { dir } = await recordSession(3);
    const copy = copySession(dir);
    rmSync(join(copy, 'bundle_002'), { recursive: true });
    const out = join(temporary(), 'page.html');
    await done(html(copy, out));
    const { pieces } = readPage(out);
    expect(pieces[0]!.steps.map(({ hero }) => hero !== null)).toEqual([true, false, true]);
    expect(pieces[0]!.bundles['bundle_002']!.verdict.ok).toBe(false);
  });

  test('a recording of CLI-Anything', async (context) => {
    const samples = samplesOf('cli-anything');
    if (samples === null) context.skip('the samples are not on this machine');
    const roots = readdirSync(samples!, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('/.cli-anything'))
      .map((name) => dirname(join(samples!, name)));
    expect(roots.length).toBeGreaterThan(3);
    for (const root of roots) {
      const list = await done(previews('/', ['list', root, '--json']));
      for (const { session_dir } of list['sessions']) {
        const out = join(temporary(), 'page.html');
        const said = await done(html(session_dir, out));
        const { head, pieces } = readPage(out);
        expect(head.session.format).toBe('cli-anything');
        expect(pieces.flatMap(({ steps }) => steps)).toHaveLength(said['steps']);
      }
    }
  });
});

describe('what is left out', () => {
  test('a limit is kept, the order is the stated one, and both say what is missing', async () => {
    const noise = (n: number) =>
      Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919 * n) % 251));
    const { dir } = await recordSession(6, {
      each: (n) => [
        {
          artifacts: [
            { content: png(40, 40, n), role: 'hero', name: 'picture.png' },
            { content: noise(n), role: 'render-output', name: 'scene.bin' },
            {
              content: Buffer.concat([Buffer.from('glTF'), noise(n)]),
              role: 'render-output',
              name: 'scene.glb',
            },
          ],
        },
        {},
      ],
    });
    const [whole, part] = [join(temporary(), 'whole.html'), join(temporary(), 'part.html')];
    await done(html(dir, whole));
    const limit = statSync(whole).size - 1_700_000;
    const said = await done(html(dir, part, '--max-bytes', String(limit)));
    expect(statSync(part).size).toBeLessThanOrEqual(limit);
    expect(said['left_out']).toEqual([
      expect.stringMatching(/^1 models/),
      '6 files that are only offered for download (1.2 MB)',
    ]);
    const { head } = readPage(part);
    expect(head.left_out).toEqual(said['left_out']);
    const kept = Object.keys(head.files);
    expect(kept.filter((name) => name.endsWith('.png'))).toHaveLength(6);
    // The oldest goes first.
    expect(kept).not.toContain('bundle_001/artifacts/scene.glb');
    expect(kept).toContain('bundle_002/artifacts/scene.glb');
  });

  test('of too many steps the newest are there', async () => {
    const { dir } = await recordSession(1);
    seedSteps(dir, 5000);
    const out = join(temporary(), 'page.html');
    const all = await done(html(dir, out));
    expect(all['steps']).toBe(5000);
    const size = statSync(out).size;
    const { text } = readPage(out);
    const packed = [...text.matchAll(/data-piece="\d+">([^<]*)/g)].reduce(
      (sum, [, piece]) => sum + piece!.length,
      0,
    );
    const some = await done(
      html(
        dir,
        out,
        '--max-bytes',
        String(Math.max(size - packed, size / 2) + packed / 2).replace(/\..*/, ''),
      ),
    );
    expect(some['steps']).toBeLessThan(5000);
    const { head, pieces } = readPage(out);
    expect(head.last).toBe(5000);
    expect(pieces[0]!.steps[0]!.index).toBe(head.first);
    expect(head.left_out[0]).toBe(`the oldest ${head.first - 1} steps (1 to ${head.first - 1})`);
  });

  test('--steps takes a range, a REF one step; what is not there is refused', async () => {
    const { dir } = await recordSession(4);
    const out = join(temporary(), 'page.html');
    await done(html(dir, out, '--steps', '2..3'));
    expect(readPage(out).pieces[0]!.steps.map(({ index }) => index)).toEqual([2, 3]);
    await done(html(`${dir}/step-0004`, out));
    expect(readPage(out).pieces[0]!.steps.map(({ index }) => index)).toEqual([4]);
    expect(await refusal(dir, out, '--steps', '5..9')).toMatch(/has steps 1 to 4, not 5 to 9/);
    expect(await refusal(dir, out, '--steps', '3..2')).toMatch(/has steps 1 to 4, not 3 to 2/);
    expect(await refusal(dir, out, '--steps', 'all')).toMatch(/expected steps such as 10..20/);
    expect(await refusal(dir, out, '--max-bytes', '1000')).toMatch(/too small/);
  });
});

describe('where it is written', () => {
  test('--dir: the pictures lie beside the page, the rest is in it', async () => {
    const { dir } = await recordSession(2);
    const out = join(temporary(), 'site');
    const said = await done(html(dir, out, '--dir'));
    expect(said['path']).toBe(join(out, 'index.html'));
    const { head, file } = readPage(said['path']);
    expect(file('bundle_001/artifacts/report.txt')!.toString()).toBe('report 1\n');
    const place = head.places[head.files['bundle_002/render.png']!]!;
    expect(place).toMatch(/^files\/\d+-[0-9a-f]{8}\.png$/);
    expect(readFileSync(join(out, place))).toEqual(readFileSync(join(dir, 'bundle_002/render.png')));
    expect(await refusal(dir, out, '--dir')).toMatch(/is not empty/);
  });

  test('an earlier export is replaced, anything else is not', async () => {
    const { dir, root } = await recordSession(1);
    const folder = temporary();
    const out = join(folder, 'page.html');
    await done(html(dir, out));
    await done(html(dir, out));
    const own = join(folder, 'report.html');
    writeFileSync(own, '<!doctype html><title>mine</title>');
    expect(await refusal(dir, own)).toMatch(/holds something else/);
    expect(readFileSync(own, 'utf8')).toContain('mine');
    expect(await refusal(dir, join(dir, 'page.html'))).toMatch(/lies in the session/);
    expect(await refusal(dir, join(root, 'page.html'))).toMatch(/lies in a preview root/);
    expect(await refusal(dir, folder)).toMatch(/is no file/);
    expect(readdirSync(folder).sort()).toEqual(['page.html', 'report.html']);
  });

  test('a session without steps is refused', async () => {
    const { dir } = await recordSession(0);
    const outcome = await html(dir, join(temporary(), 'page.html'));
    expect(outcome.code).not.toBe(0);
    expect(errorOf(outcome).message).toMatch(/has no steps/);
  });
});

describe('untrusted content', () => {
  test('G08 nothing that was recorded ends a script element', async () => {
    const evil = '</script><img src=x onerror=alert(1)><!--<script>"\'\u2028';
    const { dir } = await recordSession(2, {
      title: evil,
      each: () => [
        {
          headline: evil,
          facts: { [evil]: evil },
          warnings: [evil],
          artifacts: [
            { content: evil, role: 'hero', name: `x${evil.replaceAll('/', '')}.html`, label: evil },
          ],
        },
        { command: evil, stage_label: evil, note: evil } as never,
      ],
    });
    const out = join(temporary(), 'page.html');
    await done(html(dir, out));
    const { text, pieces } = readPage(out);
    expect(pieces[0]!.steps[0]!.command).toContain('</script>');
    expect(text).not.toContain('<img');
    // As many elements as we wrote: the recording's, one piece, one file, and the page's own scripts.
    const opened = text.match(/<script/g)!.length;
    expect(text.match(/<\/script>/g)).toHaveLength(opened);
    expect(text.slice(0, text.indexOf('<script')).match(/<!--/)).toBeNull();
    const hashes = /script-src ([^;]*);/.exec(text)![1]!.split(' ');
    const run = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
      ([, code]) => `'sha256-${Buffer.from(sha256(code!).slice(7), 'hex').toString('base64')}'`,
    );
    expect(run).toEqual(hashes);
  });

  test('G06 a link that leads out of the session is not embedded', async () => {
    const { dir } = await recordSession(2);
    const copy = copySession(dir);
    const secret = join(temporary(), 'secret.txt');
    writeFileSync(secret, 'the secret words');
    rmSync(join(copy, 'bundle_001/artifacts/report.txt'));
    symlinkSync(secret, join(copy, 'bundle_001/artifacts/report.txt'));
    const moved = join(temporary(), 'bundle_002');
    renameSync(join(copy, 'bundle_002'), moved);
    writeFileSync(join(moved, 'artifacts/report.txt'), 'the secret words');
    symlinkSync(moved, join(copy, 'bundle_002'));
    const out = join(temporary(), 'page.html');
    await done(html(copy, out));
    const { head, text } = readPage(out);
    expect(head.files['bundle_001/artifacts/report.txt']).toBeUndefined();
    expect(head.files['bundle_002/artifacts/report.txt']).toBeUndefined();
    expect(text).not.toContain(Buffer.from('the secret words').toString('base64').slice(0, 16));
    expect(head.left_out.join()).toMatch(/not there any more/);
  });
});

test('the golden sessions, damaged ones too, become pages', async () => {
  for (const name of ['minimal', 'full', 'future']) {
    const out = join(temporary(), `${name}.html`);
    await done(html(join(REPOSITORY, 'test/fixtures/golden', name), out));
    expect(existsSync(out)).toBe(true);
    readPage(out);
  }
});
