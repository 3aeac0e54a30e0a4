// `npm run demo`: draws a small scene command by command, records each step with the built `preview`, and shows what
// an agent and a person get from it. Everything is in .demo/, made anew each time.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, '../../dist');
const folder = join(process.cwd(), '.demo');
const { NODE_EXTRA_CA_CERTS: _slow, PREVIEW_ROOT: _root, PREVIEW_SESSION: _session, ...env } = process.env;

const node = (script, args) =>
  execFileSync(process.execPath, [script, ...args], { cwd: folder, env, encoding: 'utf8' });
const preview = (...args) => node(join(dist, 'preview.cjs'), args);
const previews = (...args) => node(join(dist, 'previews.cjs'), args);

/** What is drawn: one command each, as an agent would give them. The last two undo a mistake. */
const COMMANDS = [
  'new 960 600',
  'add rect sky width=960 height=600 fill=#1d2b53',
  'add circle moon cx=770 cy=120 r=52 fill=#fdf3d0',
  'add path hill d=M0,430Q200,330,460,430T960,410V600H0Z fill=#24384f',
  'add path tower d=M250,200h60l22,210h-104z fill=#f4efe6',
  'add rect lamp x=252 y=158 width=56 height=42 fill=#ffd866',
  'add path beam d=M308,170L960,60V320L308,190Z fill=#ffd866 fill-opacity=0.28',
  'add rect sea y=470 width=960 height=130 fill=#0f5e78',
  'add text name x=700 y=560 font-family=sans-serif font-size=30 fill=#f4efe6 -- Cape Preview',
  'set moon r=150',
  'set moon r=52',
];

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
console.log('A lighthouse, one command at a time. After each one, `preview capture` records what it did:\n');
for (const [n, command] of COMMANDS.entries()) {
  node(join(here, 'scene.mjs'), ['scene.svg', ...command.split(' ')]);
  if (n === 0) preview('init');
  const step = JSON.parse(preview('capture', '--command', `scene scene.svg ${command}`, '--json'));
  console.log(
    `  ${step.step_id}  ${step.bundle_id}${step.cached ? ' (seen before, reused)' : ''}  scene ${command.slice(0, 60)}`,
  );
}

console.log('\nWhat an agent asks, many times a minute (preview live status --json):\n');
console.log(`  ${preview('live', 'status', '--json').trim()}`);
console.log('\nIs everything as it was recorded? (previews verify)\n');
console.log(`  ${previews('verify').trim()}`);

const session = join(folder, '.preview/session_001');
const at = (path) => relative(process.cwd(), join(session, path));
console.log(`
Where to look:
  ${at('current/render.png')}    the picture of the newest step
  ${at('bundle_004/render.png')}    and of an earlier one
  ${at('trajectory.json')}    every step, one a line
and with the program itself, from .demo/:
  node ../dist/previews.cjs inspect              the steps
  node ../dist/previews.cjs inspect step-0005    one of them`);
