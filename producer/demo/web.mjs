// A page about tides, one edit at a time, with the small editor beside this file. One edit breaks the script, and the
// next mends it: the picture shows both, and the record says why.
import { join } from 'node:path';

const curve = (points) =>
  `const at = (hour) => 60 - 44 * Math.cos((hour - 3) * Math.PI / 6.2); const line = Array.from({ length: 97 }, (_, n) => \`\${n * 10},\${at(n / 4).toFixed(1)}\`).join(' '); document.getElementById('curve').innerHTML = \`<svg viewBox="0 0 960 120" role="img" aria-label="Height of the tide over the day"><polyline points="\${${points}} 960,120 0,120" /></svg>\`;`;

const page = (ground, ink) =>
  `margin: 0 auto; max-width: 960px; padding: 40px; background: ${ground}; color: ${ink}; font: 18px/1.5 sans-serif`;
const card = (ground, shade) =>
  `padding: 18px 24px; border-radius: 12px; background: ${ground}; box-shadow: 0 2px 10px ${shade}`;
const figure = (ink) => `display: block; color: ${ink}; font-size: 34px`;

/** One step each, as an agent would take them: an edit, or several that belong together. */
const STEPS = [
  [['new', 'Tidewatch']],
  [['part', 'lead', '--', '<p>High and low water at Cape Preview, today and tomorrow.</p>']],
  [['style', 'body', '--', page('#f4efe6', '#1d2b53')]],
  [
    [
      ...['style', 'h1', '--'],
      'margin: 0 0 8px; padding: 44px 36px; border-radius: 16px; background: linear-gradient(120deg, #1d2b53, #0f5e78); color: #fdf3d0; font-size: 52px',
    ],
  ],
  [
    [
      ...['part', 'facts', '--'],
      '<div><b>3.9 m</b> <span>next high water, 15:12</span></div><div><b>0.8 m</b> <span>next low water, 21:24</span></div><div><b>14 °C</b> <span>water</span></div>',
    ],
  ],
  [['style', '#facts', '--', 'display: grid; grid-template-columns: repeat(3, 1fr); gap: 20px']],
  [
    ['style', '#facts > div', '--', card('#fff', '#1d2b5322')],
    ['style', '#facts b', '--', figure('#0f5e78')],
  ],
  [
    ['part', 'curve', '--', ''],
    ['script', '--', curve('line')],
  ],
  [['style', '#curve polyline', '--', 'fill: #0f5e7855; stroke: #0f5e78; stroke-width: 3']],
  [['script', '--', curve('lines')]],
  [['script', '--', curve('line')]],
  [
    ['style', 'body', '--', page('#10182e', '#d8e2f0')],
    ['style', '#facts > div', '--', card('#1d2b53', '#0006')],
    ['style', '#facts b', '--', figure('#ffd866')],
  ],
];

export const title = 'A page about tides, one edit at a time';
export const needs = [{ program: 'chromium', debian: 'chromium' }];
export const recipe = 'web';

export const steps = ({ here, node }) =>
  STEPS.map((edits) => ({
    command: edits.map((args) => `site ${args.join(' ')}`).join(' && '),
    act: () => {
      for (const args of edits) node(join(here, 'site.mjs'), args);
    },
  }));
