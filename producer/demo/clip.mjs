// A short film, one edit at a time, with the small editor beside this file; ffmpeg paints its shots.
import { join } from 'node:path';

/** One edit each, as an editor would make them. */
const EDITS = [
  [
    'shot',
    'sea',
    '3',
    'gradients=c0=0x0f5e78:c1=0x1d2b53:x0=0:y0=0:x1=0:y1=360:nb_colors=2:seed=7:speed=0.01',
  ],
  ['shot', 'coast', '3', 'mandelbrot=start_scale=0.6:end_scale=0.05:end_pts=90'],
  ['words', '0', '2.4', '(w-tw)/2', '(h-th)/2', '54', 'Cape Preview'],
  [
    'shot',
    'lights',
    '3',
    'life=seed=5:ratio=0.12:mold=12:life_color=0xffd866:death_color=0x24384f:mold_color=0x101a30',
  ],
  ['join', '0.8'],
  ['look', 'coast', 'hue=h=150:s=0.7,eq=brightness=0.08'],
  ['words', '2.6', '5', '24', 'h-120', '26', 'The coast, from far to near'],
  ['inset', 'testsrc2'],
  ['tone', '220'],
  ['fade', '1.4'],
];

export const title = 'A short film, one edit at a time';
export const needs = [{ program: 'ffmpeg', debian: 'ffmpeg' }];
export const recipe = 'video';

export const steps = ({ here, node }) =>
  EDITS.map((args) => ({ command: `cut ${args.join(' ')}`, act: () => node(join(here, 'cut.mjs'), args) }));
