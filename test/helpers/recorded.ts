// A session with a step of each kind that the page has to show: well, failed, killed, partial, lost, without a picture,
// hostile, a page, a sound, and files of all sorts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundleInput, openSession, publish } from '../../src/index.js';
import { discs } from './long.js';
import { editJson, headFile, overwrite, trajectoryFile } from './tamper.js';

/** Text that would do harm if it were anything but text. */
export const HOSTILE = {
  command: `echo '</script><img src=x onerror="document.title=1">' \u202egpj.exe\u202c \u001b[31mred\u001b[0m ${'long'.repeat(60)} 🎈`,
  label: '<b>label</b> "quoted" &amp;',
  note: 'a note\nof two lines <!--<script>',
  fact: '"><svg onload=alert(1)>',
};

/** By name, where a step of that kind is. */
export const STEPS = {
  first: 1,
  changed: 2,
  hostile: 3,
  failed: 4,
  killed: 5,
  partial: 6,
  page: 7,
  none: 8,
  lost: 9,
  patch: 10,
  sound: 11,
  newest: 12,
} as const;

const picture = (n: number) => ({ content: discs(n), role: 'hero', name: 'render.png', label: 'Discs' });
const thumb = (n: number) => ({ content: discs(n, 160, 100), role: 'thumb', name: 'thumb.png' });
const sources = (n: number) => ({
  files: [
    { path: 'scene.txt', bytes: 100 + n, sha256: `sha256:${String(n).padStart(64, '0')}` },
    { path: 'same.txt', bytes: 7, sha256: `sha256:${'a'.repeat(64)}` },
  ],
});

const PATCH = `diff --git a/scene.txt b/scene.txt
--- a/scene.txt
+++ b/scene.txt
@@ -1,2 +1,2 @@
 radius 20
-colour red
+colour green
`;

/** Two seconds of a low tone, as WAV: every browser plays it. */
function tone(seconds = 2): Buffer {
  const rate = 8000;
  const bytes = Buffer.alloc(44 + rate * seconds, 128);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(rate * seconds, 40);
  for (let at = 44; at < bytes.length; at++) bytes[at] = 128 + Math.round(20 * Math.sin(at / 6));
  return bytes;
}

const PAGE = `<!doctype html><html><head><title>a page</title></head><body><h1>Recorded page</h1>
<script>parent.document.title = 'taken'; document.body.dataset.ran = 'yes'</script></body></html>`;

type Session = Awaited<ReturnType<typeof openSession>>;
type Step = Parameters<typeof publish>[2];

/** Opens the session of the preview root `root`; a new one where there is none. */
export const newSession = (root: string): Promise<Session> =>
  openSession({ env: {}, root, project_name: 'rover' });

/** Ends that session, and begins one more. */
export async function anotherSession(root: string): Promise<Session> {
  const { dir } = await newSession(root);
  editJson(headFile(dir), (head) => {
    head['status'] = 'stopped';
  });
  return newSession(root);
}

/** Publishes a step with picture `n`. */
export const addStep = (session: Session, n: number, command = `disc --number ${n}`) =>
  publish(
    session,
    {
      headline: `Disc ${n}`,
      facts: { disc: n, radius: 20, colour: n % 2 ? 'red' : 'green' },
      software: 'discs',
      recipe: 'quick',
      source: sources(n),
      artifacts: [picture(n), thumb(n)],
    },
    { command, duration_ms: 100 + n, exit_code: 0 },
  );

/** Records all kinds of steps (`STEPS`) and returns the session's folder. */
export async function recordKinds(root: string): Promise<string> {
  const session = await newSession(root);
  const add = (bundle: Partial<BundleInput>, step: Step) =>
    publish(session, { headline: '', software: 'discs', recipe: 'quick', artifacts: [], ...bundle }, step);
  await addStep(session, 1, 'scene new');
  await addStep(session, 2);
  await add(
    {
      headline: HOSTILE.fact,
      facts: { [HOSTILE.fact]: HOSTILE.fact, disc: 3 },
      warnings: [HOSTILE.fact],
      next_actions: [HOSTILE.fact],
      artifacts: [picture(3), { ...thumb(3), label: HOSTILE.label }],
    },
    { command: HOSTILE.command, stage_label: HOSTILE.label, note: HOSTILE.note, exit_code: 0 },
  );
  await add(
    {
      status: 'error',
      headline: 'disc: no such colour',
      warnings: ['render_failed: there was nothing to draw'],
      artifacts: [{ content: 'disc: no such colour: plaid\n', role: 'log', name: 'stderr.log' }],
    },
    { command: 'disc --colour plaid', exit_code: 3, duration_ms: 40 },
  );
  await add({ status: 'error', headline: 'killed' }, { command: 'disc --forever', signal: 'SIGKILL' });
  await add(
    {
      status: 'partial',
      headline: 'Drawn without its font',
      warnings: ['font_replaced: Futura is not installed'],
      next_actions: ['Install Futura and draw again'],
      facts: { disc: 6 },
      artifacts: [
        picture(6),
        { content: discs(61), role: 'gallery', name: 'left.png', label: 'From the left' },
        { content: discs(62), role: 'gallery', name: 'right.png', label: 'From the right' },
        thumb(6),
        {
          content: JSON.stringify({ radius: 20, nested: { colour: 'red' } }),
          role: 'diff-json',
          name: 'facts.json',
        },
      ],
    },
    { command: 'disc --number 6 --font Futura', exit_code: 0 },
  );
  await add(
    { headline: 'A page', artifacts: [{ content: PAGE, role: 'hero', name: 'index.html' }] },
    { command: 'site build', exit_code: 0 },
  );
  await add(
    { headline: 'Nothing to see' },
    { command: 'scene check', publish_reason: 'capture', exit_code: 0 },
  );
  await addStep(session, 9);
  await add(
    {
      headline: 'Disc 10',
      facts: { disc: 10 },
      artifacts: [
        picture(10),
        thumb(10),
        { content: PATCH, role: 'patch', name: 'changes.diff', media_type: 'text/x-diff' },
        { content: 'drew \u001b[32mdisc 10\u001b[0m\n', role: 'log', name: 'stdout.log' },
      ],
    },
    { command: 'disc --number 10', exit_code: 0 },
  );
  await add(
    { headline: 'A sound', artifacts: [{ content: tone(), role: 'hero', name: 'tone.wav' }] },
    { command: 'tone --low', exit_code: 0 },
  );
  await addStep(session, 12);
  loseStep(session.dir, STEPS.lost);
  return session.dir;
}

/** Damages a line of the trajectory, in place, and what its bundle says of it: nothing of the step is left. */
function loseStep(session: string, index: number): void {
  const file = trajectoryFile(session);
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const { bundle_dir } = JSON.parse(lines[index]!.replace(/,$/, ''));
  lines[index] = `${'#'.repeat(lines[index]!.length - 1)},`;
  overwrite(file, lines.join('\n'));
  overwrite(join(session, bundle_dir, 'manifest.json'), '{');
}
