// A small project and its recording of a given length, as the commands under test meet it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seedSession } from '../helpers/seed.js';
import { type Command, run } from './measure.js';

export interface Site {
  steps: number;
  project: string;
  root: string;
  session: string;
}

/** Over 4 KB of what takes most room in JSON: quotes, multi-byte characters, control characters. */
const LONGEST = `build --name "größe 🚀"\t'${'"é🚀\\\u0001'.repeat(600)}'`;

const config = {
  software: 'bench',
  default_recipe: 'copy',
  recipes: {
    copy: {
      description: 'A picture that costs nothing to render',
      sources: ['drawing.svg'],
      run: [['cp', 'drawing.svg', '{out}/render.svg']],
      artifacts: [{ path: 'render.svg', role: 'hero', label: 'Drawing' }],
    },
  },
};

/** The commands of the copy of dist/ in `dir`. */
export function programs(dir: string) {
  const node = (file: string, args: string[], { project, steps }: Site): Command => ({
    name: `${[file.replace('.cjs', ''), ...args].join(' ')} at ${steps}`,
    argv: [process.execPath, join(dir, 'dist', file), ...args],
    cwd: project,
  });
  return {
    status: (site: Site) => node('preview.cjs', ['live', 'status', '--json'], site),
    capture: (site: Site) => node('preview.cjs', ['capture', '--json'], site),
    render: (site: Site) => node('preview.cjs', ['capture', '--force', '--json'], site),
    inspect: (site: Site) => node('previews.cjs', ['inspect', '--json'], site),
  };
}

/** A project under `dir` whose session has `steps` steps: two real captures, then steps that name them. */
export async function makeSite(dir: string, steps: number): Promise<Site> {
  // One length for all, so that paths in what is written are of one length too.
  const project = join(dir, `project-${String(steps).padStart(7, '0')}`);
  const root = join(project, '.preview');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(project, 'preview.config.json'), JSON.stringify(config));
  const site = { steps, project, root, session: join(root, 'session_001') };
  for (const width of [20, 30]) {
    const shape = `<rect width="${width}" height="10" fill="teal"/>`;
    writeFileSync(
      join(project, 'drawing.svg'),
      `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48">${shape}</svg>\n`,
    );
    run(programs(dir).capture(site));
  }
  await seedSession(root, steps, { last: LONGEST });
  return site;
}
