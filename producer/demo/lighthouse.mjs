// A lighthouse as SVG, one command at a time, with the small editor beside this file.
import { join } from 'node:path';

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

export const title = 'A lighthouse, one command at a time';

export const steps = ({ here, node }) =>
  COMMANDS.map((command) => ({
    command: `scene scene.svg ${command}`,
    act: () => node(join(here, 'scene.mjs'), ['scene.svg', ...command.split(' ')]),
  }));
