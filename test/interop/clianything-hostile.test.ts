// Recordings in CLI-Anything's form that somebody made to do harm, or that are damaged: each is shown as far as it
// goes, nothing outside what belongs to the session is read, and no command throws.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentOf, done, previews } from '../helpers/cli.js';
import { png, temporary, write } from '../helpers/project.js';

type Json = Record<string, any>;
const SECRET = 'the-secret-of-another-folder';

interface Made {
  /** A folder above the root, which holds what must not be read. */
  outside: string;
  root: string;
  session: string;
  bundle: string;
  change(name: 'session.json' | 'trajectory.json', change: (value: Json) => unknown): void;
  changeBundle(name: 'manifest.json' | 'summary.json', change: (value: Json) => unknown): void;
}

/** A small session of two steps that share one bundle, as their programs write it, and a bundle outside that it must not reach. */
function make(): Made {
  const outside = temporary();
  const root = join(outside, 'previews/sketch');
  const id = '20261130T120000Z_01234567_quick';
  const session = join(root, 'live/page-01234567-quick');
  const bundle = join(root, 'quick', id);
  const far = '/home/user/project/.cli-anything/previews/sketch';
  const step = (n: number) => ({
    step_id: `step-000${n}`,
    step_index: n,
    bundle_id: id,
    bundle_dir: `${far}/quick/${id}`,
    manifest_path: `${far}/quick/${id}/manifest.json`,
    summary_path: `${far}/quick/${id}/summary.json`,
    created_at: '2026-11-30T12:00:00.123456Z',
    status: 'ok',
    cached: n > 1,
    publish_reason: n > 1 ? 'manual-push' : 'live-start',
    command: `sketch draw ${n}`,
    command_started_at: '2026-11-30T12:00:00.123456Z',
    command_finished_at: `2026-11-30T12:00:0${n}.123456Z`,
  });
  const bundleFiles = (headline: string) => ({
    'manifest.json': JSON.stringify({
      protocol_version: 'preview-bundle/v1',
      bundle_id: id,
      bundle_kind: 'capture',
      software: 'sketch',
      recipe: 'quick',
      status: 'ok',
      created_at: '2026-11-30T12:00:00.123456Z',
      generator: { entry_point: 'sketch', command: 'sketch draw 1' },
      source: { project_path: '/home/user/project/page' },
      summary_path: 'summary.json',
      artifacts: [
        {
          artifact_id: 'hero',
          role: 'hero',
          kind: 'image',
          label: 'Page',
          media_type: 'image/png',
          path: 'artifacts/hero.png',
        },
      ],
    }),
    'summary.json': JSON.stringify({ headline, facts: { shapes: 2 }, warnings: [], next_actions: [] }),
    'artifacts/hero.png': png(),
  });
  write(bundle, bundleFiles('A page'));
  write(join(outside, 'private', id), bundleFiles(SECRET));
  write(session, {
    'session.json': JSON.stringify({
      protocol_version: 'preview-live/v1',
      software: 'sketch',
      recipe: 'quick',
      status: 'active',
      session_name: basename(session),
      project_path: '/home/user/project/page',
      created_at: '2026-11-30T12:00:00.123456Z',
      updated_at: '2026-11-30T12:00:02.123456Z',
      current_link: 'current',
      current_bundle_id: id,
      current_bundle_dir: `${far}/quick/${id}`,
      current_step_id: 'step-0002',
      trajectory_path: 'trajectory.json',
      trajectory_step_count: 2,
      history: [step(2)],
      source_state: {},
      poller: { running: false },
    }),
    'trajectory.json': JSON.stringify({
      protocol_version: 'preview-trajectory/v1',
      step_count: 2,
      current_step_id: 'step-0002',
      steps: [step(1), step(2)],
    }),
  });
  symlinkSync(`../../quick/${id}`, join(session, 'current'));
  const edit = (path: string, change: (value: Json) => unknown) => {
    const value = JSON.parse(readFileSync(path, 'utf8'));
    change(value);
    writeFileSync(path, JSON.stringify(value));
  };
  return {
    outside,
    root,
    session,
    bundle,
    change: (name, change) => edit(join(session, name), change),
    changeBundle: (name, change) => edit(join(bundle, name), change),
  };
}

/** Looks at a session and its bundle in every way; each command must end by itself, with a document, and tell nothing of what lies outside. */
async function lookAtAll(made: Made): Promise<{ shown: Json; verdict: Json; code: number | null }> {
  const each = async (...args: string[]) => {
    const outcome = await previews('/', [...args, '--json']);
    expect([0, 3, 6], `${args[0]}: ${outcome.stderr}`).toContain(outcome.code);
    expect(outcome.stderr).not.toContain('"internal"');
    expect(outcome.stdout + outcome.stderr).not.toContain(SECRET);
    return outcome;
  };
  const [shown, verdict] = await Promise.all([
    each('inspect', made.session, '--all'),
    each('verify', made.session),
    each('status', made.session),
    each('inspect', made.bundle),
  ]);
  return { shown: documentOf(shown), verdict: documentOf(verdict), code: verdict.code };
}

const kinds = (list: Json[]) => list.map(({ kind }) => kind);
/** Lists nested so deeply that printing them would overflow the stack. */
const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;

test('as it is made, nothing is wrong with it', async () => {
  const made = make();
  const { shown, verdict, code } = await lookAtAll(made);
  expect(shown['problems']).toEqual([]);
  expect(shown['session']['bundle_count']).toBe(1);
  expect(shown['steps'].map((step: Json) => step['publish_reason'])).toEqual(['start', 'capture']);
  expect([code, verdict['ok'], verdict['bundles']]).toEqual([0, true, 1]);
});

describe('I9 no stored path leaves what belongs to the session', () => {
  const id = '20261130T120000Z_01234567_quick';
  test.each<[what: string, kind: string, path: (made: Made) => string]>([
    ['up by ..', 'path_leaves', () => `../../../../private/${id}`],
    ['by .. in the middle of an absolute path', 'path_leaves', () => `/home/user/../../private/${id}`],
    ['absolute, where it really is', 'bundle_missing', (made) => join(made.outside, 'private', id)],
    [
      'through a link',
      'path_leaves',
      (made) => {
        symlinkSync(join(made.outside, 'private'), join(made.root, 'linked'));
        return `/home/user/project/linked/${id}`;
      },
    ],
    [
      'through a link in place of the bundle',
      'path_leaves',
      (made) => {
        symlinkSync(join(made.outside, 'private', id), join(made.root, 'quick/alias'));
        return '/home/user/project/quick/alias';
      },
    ],
    ['by a home directory', 'bundle_missing', () => `~/private/${id}`],
    ['as a device of another system', 'path_leaves', () => `C:\\private\\..\\..\\${id}`],
    [
      'by a name that no file can have',
      'bundle_missing',
      () => `/${'x'.repeat(3000)}/${id}/${'y'.repeat(300)}`,
    ],
    ['by a NUL', 'bundle_missing', () => `/home/${id}\0/../x`],
  ])('a bundle %s', async (_what, kind, path) => {
    const made = make();
    const stored = path(made);
    rmSync(made.bundle, { recursive: true });
    rmSync(join(made.session, 'current'));
    made.change('trajectory.json', (t) => {
      for (const step of t['steps'])
        Object.assign(step, { bundle_dir: stored, manifest_path: `${stored}/manifest.json`, bundle_id: 'x' });
    });
    made.change('session.json', (head) => Object.assign(head, { current_bundle_dir: stored, history: [] }));
    const { shown, code } = await lookAtAll(made);
    expect(shown['steps'].map((step: Json) => step['bundle_dir'])).toEqual([null, null]);
    expect(shown['session']['current_bundle_dir']).toBe(null);
    expect(new Set(kinds(shown['problems']))).toEqual(new Set([kind]));
    expect(code).toBe(6);
  });

  test.each<[what: string, place: (made: Made) => void]>([
    [
      '`current`',
      ({ session }) => {
        rmSync(join(session, 'current'));
        symlinkSync(`../../../../private/${id}`, join(session, 'current'));
      },
    ],
    [
      'trajectory.json',
      ({ session, outside }) => {
        write(outside, { 'steps.json': JSON.stringify({ steps: [{ step_id: SECRET, command: SECRET }] }) });
        rmSync(join(session, 'trajectory.json'));
        symlinkSync(join(outside, 'steps.json'), join(session, 'trajectory.json'));
      },
    ],
    [
      'summary.json',
      ({ bundle, outside }) => {
        rmSync(join(bundle, 'summary.json'));
        symlinkSync(join(outside, 'private', id, 'summary.json'), join(bundle, 'summary.json'));
      },
    ],
    [
      'an artifact',
      ({ bundle, outside }) => {
        rmSync(join(bundle, 'artifacts/hero.png'));
        symlinkSync(join(outside, 'private', id, 'artifacts/hero.png'), join(bundle, 'artifacts/hero.png'));
      },
    ],
    [
      'a folder of artifacts',
      ({ bundle, outside }) => {
        rmSync(join(bundle, 'artifacts'), { recursive: true });
        symlinkSync(join(outside, 'private', id, 'artifacts'), join(bundle, 'artifacts'));
      },
    ],
  ])('%s is a link that leads out', async (_what, place) => {
    const made = make();
    place(made);
    const { verdict, code } = await lookAtAll(made);
    expect(code).toBe(6);
    expect(kinds(verdict['problems']).length).toBeGreaterThan(0);
  });

  test.each([
    ['an absolute path', '/etc/hostname'],
    ['..', '../../../../private/20261130T120000Z_01234567_quick/summary.json'],
    ['the bundle itself', '.'],
  ])('an artifact that is %s is left out', async (_what, path) => {
    const made = make();
    made.changeBundle('manifest.json', (manifest) => {
      manifest['artifacts'].push({ artifact_id: 'a', role: 'log', kind: 'text', label: 'x', path });
    });
    const { manifest, problems } = await done(previews('/', ['inspect', made.bundle, '--json']));
    expect(manifest['artifacts'].map((artifact: Json) => artifact['artifact_id'])).toEqual(['hero']);
    expect(kinds(problems)).toEqual([path === '.' ? 'artifact_missing' : 'path_leaves']);
  });

  test('a summary that the manifest puts elsewhere is not read', async () => {
    const made = make();
    made.changeBundle('manifest.json', (manifest) => {
      manifest['summary_path'] = '../../../../private/20261130T120000Z_01234567_quick/summary.json';
    });
    const { shown, code } = await lookAtAll(made);
    expect(code).toBe(6);
    expect(shown['steps']).toHaveLength(2);
  });
});

describe('I9 folders are looked for only where they belong', () => {
  test.each([['../../private'], ['/../../private'], ['..']])(
    'strays of a recipe named %s',
    async (recipe) => {
      const made = make();
      made.change('session.json', (head) => Object.assign(head, { recipe, project_path: null }));
      const { shown } = await lookAtAll(made);
      expect(shown['problems']).toEqual([]);
    },
  );

  test('a `live` folder, a recipe and a `.cli-anything` that are links leading out', async () => {
    const made = make();
    const empty = join(made.outside, 'empty');
    mkdirSync(join(empty, 'sketch'), { recursive: true });
    symlinkSync(join(made.root, 'live'), join(empty, 'sketch/live'));
    symlinkSync(join(made.root, 'quick'), join(empty, 'sketch/quick'));
    symlinkSync(made.outside, join(empty, '.cli-anything'));
    for (const ref of [empty, join(empty, 'sketch')]) {
      const outcome = await previews('/', ['list', ref, '--json']);
      expect([outcome.code, outcome.stdout], ref).toEqual([3, '']);
    }
  });
});

test('I10 a listing of bundles has a cap, keeps the newest, and says how many it left out', async () => {
  const made = make();
  rmSync(join(made.root, 'live'), { recursive: true });
  for (let n = 0; n < 1001; n++)
    cpSync(made.bundle, join(made.root, 'quick', `20261130T1300${String(n).padStart(4, '0')}Z_x`), {
      recursive: true,
    });
  const { bundles, bundles_left_out } = await done(
    previews('/', ['list', join(made.root, 'quick'), '--json']),
  );
  expect([bundles.length, bundles_left_out]).toEqual([1000, 2]);
  expect(bundles.at(-1)['bundle']).toBe('20261130T13001000Z_x');
});

test('I10 strays have a cap, and what is beyond it is counted', async () => {
  const made = make();
  for (let n = 0; n < 203; n++)
    mkdirSync(join(made.root, 'quick', `20261130T130000Z_${String(n).padStart(8, '0')}_quick`));
  const { problems } = await done(previews('/', ['inspect', made.session, '--json']));
  expect(problems).toHaveLength(201);
  expect(problems.at(-1)).toEqual({ kind: 'orphan', where: '…', detail: '3 more' });
});

describe('counts and types that are not what they should be', () => {
  test.each<[what: string, change: (made: Made) => void, kind: string]>([
    [
      'a huge count',
      (made) => made.change('session.json', (head) => (head['trajectory_step_count'] = 1e300)),
      'head_disagrees',
    ],
    [
      'a negative count',
      (made) => made.change('trajectory.json', (t) => (t['step_count'] = -1)),
      'head_disagrees',
    ],
    [
      'a count that is text',
      (made) => made.change('session.json', (head) => (head['trajectory_step_count'] = '2'.repeat(10_000))),
      'head_disagrees',
    ],
    [
      'a huge step index',
      (made) =>
        made.change('trajectory.json', (t) => (t['steps'][1]['step_index'] = Number.MAX_SAFE_INTEGER)),
      'step_order',
    ],
    [
      'steps that are none',
      (made) => made.change('trajectory.json', (t) => t['steps'].push(null, 7, 'x', [])),
      'invalid',
    ],
    [
      'a status that nobody knows',
      (made) => made.change('trajectory.json', (t) => (t['steps'][0]['status'] = 'fine')),
      'invalid',
    ],
    [
      'a step without a time',
      (made) =>
        made.change('trajectory.json', (t) =>
          Object.assign(t['steps'][0], { command_finished_at: 'noon', created_at: 12 }),
        ),
      'invalid',
    ],
    [
      'no list of steps',
      (made) => made.change('trajectory.json', (t) => (t['steps'] = { length: 1e9 })),
      'invalid',
    ],
    [
      'an array in place of the trajectory',
      (made) => writeFileSync(join(made.session, 'trajectory.json'), '[]'),
      'invalid',
    ],
    [
      'a trajectory that is cut',
      (made) => writeFileSync(join(made.session, 'trajectory.json'), '{"steps":[{"step_id":'),
      'invalid',
    ],
    [
      'an empty trajectory.json',
      (made) => writeFileSync(join(made.session, 'trajectory.json'), ''),
      'invalid',
    ],
    ['no trajectory', (made) => rmSync(join(made.session, 'trajectory.json')), 'missing'],
    [
      'a cut head',
      (made) => writeFileSync(join(made.session, 'session.json'), '{"protocol_version"'),
      'invalid',
    ],
    [
      'artifacts that are no list',
      (made) => made.changeBundle('manifest.json', (m) => (m['artifacts'] = 'all')),
      'invalid',
    ],
    [
      'an artifact that is none',
      (made) => made.changeBundle('manifest.json', (m) => (m['artifacts'] = [null, {}, []])),
      'invalid',
    ],
    [
      'facts that are no object',
      (made) => made.changeBundle('summary.json', (s) => (s['facts'] = [])),
      'invalid',
    ],
    [
      'a manifest that is an array',
      (made) => writeFileSync(join(made.bundle, 'manifest.json'), '[]'),
      'invalid',
    ],
  ])('%s', async (_what, change, kind) => {
    const made = make();
    change(made);
    const { verdict, code } = await lookAtAll(made);
    expect(kinds(verdict['problems'])).toContain(kind);
    expect(code).toBe(6);
  });

  test('every value of every file of another type', async () => {
    for (const odd of [null, 7, 'text', [], {}, [{}], true]) {
      const made = make();
      const spoil = (value: Json) => {
        for (const key of Object.keys(value))
          if (key !== 'protocol_version' && key !== 'steps') value[key] = odd;
        for (const step of Array.isArray(value['steps']) ? value['steps'] : []) spoil(step);
      };
      for (const name of ['session.json', 'trajectory.json'] as const) made.change(name, spoil);
      for (const name of ['manifest.json', 'summary.json'] as const) made.changeBundle(name, spoil);
      const { shown, code } = await lookAtAll(made);
      expect(shown['steps'], JSON.stringify(odd)).toHaveLength(2);
      expect(code).toBe(6);
    }
  }, 120_000);

  test('values nested without end are cut, not printed', async () => {
    const made = make();
    for (const [path, key] of [
      [join(made.session, 'session.json'), 'poller'],
      [join(made.session, 'trajectory.json'), 'note'],
      [join(made.bundle, 'manifest.json'), 'context'],
      [join(made.bundle, 'summary.json'), 'extra'],
    ] as const) {
      const value = { ...JSON.parse(readFileSync(path, 'utf8')), [key]: 'DEEP' };
      writeFileSync(path, JSON.stringify(value).replace('"DEEP"', `{"a":${deep}}`));
    }
    const { shown, code } = await lookAtAll(made);
    expect(shown['steps']).toHaveLength(2);
    expect(code).toBe(0);
  });

  test('I10 a file beyond the cap is not read', async () => {
    const made = make();
    truncateSync(join(made.session, 'trajectory.json'), 64 * 1024 * 1024 + 1);
    const { shown, verdict } = await lookAtAll(made);
    expect(kinds(verdict['problems'])).toContain('too_large');
    // What the head's history still holds: each bundle once.
    expect(shown['steps']).toHaveLength(1);
  });
});

describe('other shapes that its own viewer takes', () => {
  test.each(['preview_events', 'events', 'publishes', 'entries', 'history', 'timeline', 'commands'])(
    '%s in place of steps',
    async (key) => {
      const made = make();
      made.change('trajectory.json', (t) => {
        t[key] = t['steps'].map(({ bundle_id, bundle_dir, manifest_path, command, ...rest }: Json) => ({
          ...rest,
          display_cmd: command,
          copied_bundle: { bundle_id, bundle_dir, manifest_path },
        }));
        delete t['steps'];
      });
      const { shown, code } = await lookAtAll(made);
      expect(shown['steps'].map((step: Json) => [step['command'], step['bundle_dir']])).toEqual([
        ['sketch draw 1', made.bundle],
        ['sketch draw 2', made.bundle],
      ]);
      expect(code).toBe(0);
    },
  );

  test("a recipe's folder with a trajectory among its bundles, and no session", async () => {
    const made = make();
    const recipe = dirname(made.bundle);
    cpSync(join(made.session, 'trajectory.json'), join(recipe, 'trajectory.json'));
    rmSync(join(made.root, 'live'), { recursive: true });
    const { sessions, bundles } = await done(previews('/', ['list', made.root, '--json']));
    expect(sessions).toMatchObject([{ session: 'quick', session_dir: recipe, steps: 2, problems: [] }]);
    expect(bundles).toEqual([]);
    const { step } = await done(previews('/', ['inspect', made.bundle, '--json']));
    expect(step['step_id']).toBe('step-0002');
    const verdict = await done(previews('/', ['verify', recipe, '--json']));
    expect(verdict).toMatchObject({ ok: true, steps: 2, bundles: 1 });
  });

  test('commands as lists, a session without a head, a trajectory without a session', async () => {
    const made = make();
    made.change('trajectory.json', (t) => {
      t['steps'][0]['command'] = ['sketch', 'draw', '1'];
      t['steps'][1]['command'] = { argv: ['sketch', 'draw', '2'] };
    });
    rmSync(join(made.session, 'session.json'));
    const { shown } = await lookAtAll(made);
    expect(shown['steps'].map((step: Json) => step['command'])).toEqual(['sketch draw 1', 'sketch draw 2']);
    expect(shown['session']['status']).toBe('unknown');
    expect(kinds(shown['problems'])).toEqual(['missing']);
  });
});

test('I9 recorded text acts on no terminal', async () => {
  const made = make();
  const evil = '\u001b]0;x\u0007\u202e\r\n';
  made.change('session.json', (head) =>
    Object.assign(head, { software: evil, status: evil, session_name: evil }),
  );
  made.change('trajectory.json', (t) =>
    Object.assign(t['steps'][1], { command: evil, step_id: evil, publish_reason: evil }),
  );
  made.changeBundle('summary.json', (s) =>
    Object.assign(s, { headline: evil, facts: { [evil]: evil }, warnings: [evil] }),
  );
  mkdirSync(join(dirname(made.bundle), '20261130T130000Z_\u001b[31m'));
  for (const args of [
    ['list', made.root],
    ['status', made.session],
    ['inspect', made.session],
    ['inspect', made.bundle],
    ['verify', made.session],
  ]) {
    const { stdout } = await previews('/', args);
    expect(stdout, args.join(' ')).not.toMatch(/[\u001b\u0007\u202e\r]/);
  }
});
