// Long recordings for the page: many steps over fewer pictures, as an agent leaves them that mostly does not draw.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { encodePng } from '../../producer/render/png.js';
import { sha256 } from '../../src/hash.js';
import { type BundleInput, openSession, publish } from '../../src/index.js';

type Json = Record<string, unknown>;

/** A picture of `width` × `height` with a disc that stands elsewhere for each `n`. */
export function discs(n: number, width = 640, height = 400): Buffer {
  const pixels = new Uint8Array(width * height * 4).fill(255);
  const words = new Uint32Array(pixels.buffer);
  words.fill(0xff2b2119);
  const [cx, cy, r] = [(n * 37) % width, (n * 23) % height, 20 + (n % 60)];
  const colour = 0xff000000 | (((n * 2654435761) >>> 8) & 0xffffff);
  for (let y = Math.max(0, cy - r); y < Math.min(height, cy + r); y++)
    for (let x = Math.max(0, cx - r); x < Math.min(width, cx + r); x++)
      if ((x - cx) ** 2 + (y - cy) ** 2 < r * r) words[y * width + x] = colour;
  return encodePng({ width, height, pixels });
}

const bundle = (n: number): BundleInput => ({
  headline: `Disc ${n}`,
  facts: { disc: n, radius: 20 + (n % 60), place: `${(n * 37) % 640},${(n * 23) % 400}` },
  software: 'bench',
  recipe: 'quick',
  source_fingerprint: `sha256:${String(n).padStart(64, '0')}`,
  artifacts: [
    { content: discs(n), role: 'hero', name: 'render.png', label: 'Discs' },
    { content: discs(n, 160, 100), role: 'thumb', name: 'thumb.png' },
    {
      content: `drew disc ${n}\n${deflateSync(Buffer.from(String(n))).toString('hex')}\n`,
      role: 'log',
      name: 'out.log',
    },
  ],
});

/**
 * Records a session of `steps` steps over `pictures` pictures in the preview root `root`: each picture is followed by
 * steps that show it again. The lines are what a publisher would have written, the chain holds.
 */
export async function recordLong(root: string, steps: number, pictures: number): Promise<string> {
  const session = await openSession({ env: {}, root, project_name: 'long' } as Parameters<
    typeof openSession
  >[0]);
  for (let n = 1; n <= pictures; n++)
    await publish(session, bundle(n), { command: `disc --number ${n} --colour auto` });
  const read = (name: string) => readFileSync(join(session.dir, name), 'utf8');
  const lines = read('trajectory.json')
    .trim()
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replace(/,$/, ''));
  const began = Date.parse(JSON.parse(lines[0]!)['published_at']) - steps * 3000;
  const out: string[] = [];
  let previous: string | null = null;
  let step: Json = {};
  for (let index = 1; index <= steps; index++) {
    const of = JSON.parse(lines[Math.floor(((index - 1) * pictures) / steps)]!) as Json;
    const cached = step['bundle_id'] === of['bundle_id'];
    step = {
      ...of,
      step_id: `step-${String(index).padStart(4, '0')}`,
      step_index: index,
      command: cached ? `look at disc ${index} again` : of['command'],
      published_at: new Date(began + index * 3000).toISOString(),
      prev_sha256: previous,
      cached,
    };
    const line = JSON.stringify(step);
    out.push(line);
    previous = sha256(line);
  }
  const content = `[\n${out.join(',\n')}\n]\n`;
  writeFileSync(join(session.dir, 'trajectory.json'), content);
  const head = {
    ...JSON.parse(read('session.json')),
    current_step_id: step['step_id'],
    current_cached: step['cached'],
    trajectory_step_count: steps,
    trajectory_bytes: Buffer.byteLength(content) - 3,
    trajectory_sha256: previous,
    latest_command: step['command'],
    latest_step: step,
    history: [{ step_id: step['step_id'], step_index: steps }],
  };
  writeFileSync(join(session.dir, 'session.json'), `${JSON.stringify(head, null, 1)}\n`);
  return session.dir;
}
