// Starts Blender on a screen that nobody sees, with blender.py, which draws. Nothing of the user's settings is read, and
// no script in the file is run.
//   blender.cjs --source=FILE [--show=frame,solid,wireframe,turntable] [--size=960] [--samples=32] [--seconds=30]
//               [--frame=N]       files go into $PREVIEW_OUT
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '../render/child.js';
import { openDisplay } from '../render/display.js';
import { placesFrom } from '../render/viewreport.js';

const HOUR_MS = 3_600_000;
const SHOWN = ['frame', 'solid', 'wireframe', 'turntable'];

function options() {
  const { values } = parseArgs({
    options: {
      source: { type: 'string', default: '' },
      show: { type: 'string', default: '' },
      size: { type: 'string', default: '960' },
      samples: { type: 'string', default: '32' },
      seconds: { type: 'string', default: '30' },
      frame: { type: 'string', default: '' },
    },
  });
  const { out, source } = placesFrom(values.source, '.blend');
  const whole = (name: 'size' | 'samples' | 'seconds' | 'frame', most: number) => {
    const number = Number(values[name]);
    if (Number.isInteger(number) && number >= 0 && number <= most) return number;
    throw new Error(`--${name} must be a whole number up to ${most}, not ${values[name]}`);
  };
  const show = values.show.split(',').filter(Boolean);
  const unknown = show.find((view) => !SHOWN.includes(view));
  if (unknown) throw new Error(`show takes ${SHOWN.join(', ')}, not ${JSON.stringify(unknown)}`);
  return {
    source: resolve(source),
    out,
    tmp: tmpdir(),
    show,
    size: Math.max(64, whole('size', 1280)),
    samples: Math.max(1, whole('samples', 4096)),
    seconds: whole('seconds', 3600),
    frame: values.frame === '' ? '' : whole('frame', 1_048_574),
  };
}

async function main(): Promise<void> {
  const ask = options();
  mkdirSync(join(ask.out, 'views'), { recursive: true });
  const argv = ['blender', '--background', '--factory-startup', '--disable-autoexec', ask.source];
  const script = [
    '--python-exit-code',
    '1',
    '--python',
    join(__dirname, 'blender.py'),
    '--',
    JSON.stringify(ask),
  ];
  const display = await openDisplay();
  try {
    const { code, stdout, stderr } = await runProgram([...argv, ...script], {
      env: display.env,
      timeout_ms: HOUR_MS,
    });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    process.exitCode = code ?? 1;
  } finally {
    display.close();
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
