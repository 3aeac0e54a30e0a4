// `npm run demo [-- NAME]`: builds something command by command, records each step with the built `preview`, and shows
// what an agent and a person get from it. Everything is in .demo/NAME/, made anew each time.
//
// A demo is a module beside this file. It exports
//   title   what is built
//   needs   (optional) the programs it needs: { program, debian }
//   recipe  (optional) the recipe to record with, built in or of the preview.config.json that the first step writes;
//           else what `preview init` finds
//   steps   a function that gets { here, folder, env, node, run } and returns [{ command, act, label?, recipe? }]: what
//           is recorded as the command, and the function that does it in the folder (it may return a promise)
//   close   (optional) ends what the steps have started
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { has } from './program.mjs';

/** Each imported when it is asked for. */
const DEMOS = {
  lighthouse: './lighthouse.mjs',
  openscad: './openscad.mjs',
  blender: './blender.mjs',
  web: './web.mjs',
  clip: './clip.mjs',
};

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, '../../dist');
const { NODE_EXTRA_CA_CERTS: _slow, PREVIEW_ROOT: _root, PREVIEW_SESSION: _session, ...env } = process.env;

async function record(name) {
  const { title, needs = [], recipe, steps, close } = await import(DEMOS[name]);
  const missing = needs.filter(({ program }) => !has(program));
  if (missing.length > 0) {
    const packages = missing.map(({ debian }) => debian).join(' ');
    console.error(`The demo ${name} needs ${packages}. On Debian: apt-get install ${packages}`);
    process.exitCode = 4;
    return;
  }
  const folder = join(process.cwd(), '.demo', name);
  // Some programs, Blender for one, believe PWD.
  const settings = { cwd: folder, env: Object.assign(env, { PWD: folder }), encoding: 'utf8' };
  const run = (program, args) => execFileSync(program, args, settings);
  const node = (script, args) => run(process.execPath, [script, ...args]);
  const preview = (...args) => node(join(dist, 'preview.cjs'), args);
  const previews = (...args) => node(join(dist, 'previews.cjs'), args);

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  console.log(`${title}. After each command, \`preview capture\` records what it did:\n`);
  // A root of its own: whatever lies in the folders above is not recorded into.
  env.PREVIEW_ROOT = join(folder, '.preview');
  const recorded = [];
  try {
    for (const [n, step] of steps({ here, folder, env, node, run }).entries()) {
      await step.act();
      if (n === 0 && !existsSync(join(folder, 'preview.config.json'))) preview('init');
      const chosen = step.recipe ?? recipe;
      const how = [...(chosen ? ['--recipe', chosen] : []), ...(step.label ? ['--label', step.label] : [])];
      const result = JSON.parse(preview('capture', '--command', step.command, ...how, '--json'));
      const seen = result.cached ? ' (seen before, reused)' : '';
      console.log(
        `  ${result.step_id}  ${result.bundle_id}${seen}  ${(step.label ?? step.command).slice(0, 76)}`,
      );
      recorded.push(result);
    }
  } finally {
    await close?.();
  }
  console.log('\nWhat an agent asks, many times a minute (preview live status --json):\n');
  console.log(`  ${preview('live', 'status', '--json').trim()}`);
  console.log('\nIs everything as it was recorded? (previews verify)\n');
  console.log(`  ${previews('verify').trim()}`);

  const at = (path) => relative(process.cwd(), join(folder, '.preview/session_001', path));
  const earlier = recorded[Math.min(3, recorded.length - 1)];
  const back = relative(folder, join(dist, 'previews.cjs'));
  console.log(`
Where to look:
  ${at('current/render.png')}    the picture of the newest step
  ${at(`${earlier.bundle_id}/render.png`)}    and of an earlier one
  ${at('trajectory.json')}    every step, one a line
and with the program itself, from ${relative(process.cwd(), folder)}/:
  node ${back} inspect              the steps
  node ${back} inspect ${earlier.step_id}    one of them
  node ${back} watch --open         all of it in the browser
  node ${back} html -o page.html    the same as one file, to send`);
}

/** A program that failed has said why. */
function fail({ message, stdout = '', stderr = '' }) {
  console.error([message.split('\n', 1)[0], stdout.trim(), stderr.trim()].filter(Boolean).join('\n'));
  process.exitCode = 1;
}

const name = process.argv[2] ?? 'lighthouse';
if (Object.hasOwn(DEMOS, name)) await record(name).catch(fail);
else {
  console.error(
    `There is no demo ${name}. There are: ${Object.keys(DEMOS).join(', ')} (npm run demo -- NAME).`,
  );
  process.exitCode = 2;
}
