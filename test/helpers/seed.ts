// A valid session of any length, quickly: real bundles and real first and newest steps, made by the library;
// what lies between is streamed to disk by the same rules. `previews verify` accepts it.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from '../../src/disk.js';
import { sha256 } from '../../src/hash.js';
import { HEAD_NAME, stepId, TRAJECTORY_NAME } from '../../src/layout.js';
import { publish } from '../../src/publish.js';
import { readHead, readSteps } from '../../src/read.js';
import type { Head, Step } from '../../src/schema.js';
import { type OpenSession, openSession, record, startSession } from '../../src/session.js';
import { keepText, makeStep, type StepInput } from '../../src/step.js';
import { appendRecord } from '../../src/trajectory.js';
import { LIMITS } from '../../src/version.js';

export interface SeedOptions {
  /** Bundles to publish where the session has none; the steps after them name these as cached. */
  bundles?: number;
  /** Commands that the steps take in turn. */
  commands?: string[];
  /** The command of the newest step. */
  last?: string;
  /** `active` is what `preview live start` makes. */
  status?: 'open' | 'active';
}

export interface Seeded {
  dir: string;
  head: Head;
}

/**
 * Brings the current session of the preview root `root` (begun where there is none) to `steps` steps. Bundles that
 * it has already, such as those of a real capture, are the ones that the new steps name.
 */
export async function seedSession(root: string, steps: number, options: SeedOptions = {}): Promise<Seeded> {
  const {
    bundles = 2,
    status = 'open',
    commands = ['openscad -o part.png part.scad', 'git commit -am "wider"'],
  } = options;
  const session = status === 'active' ? await startSession({ root }) : await openSession({ root, env: {} });
  const input = (index: number): StepInput => ({
    command: (index === steps ? options.last : undefined) ?? commands[(index - 1) % commands.length]!,
    publish_reason: 'mutation',
    exit_code: 0,
    recipe: 'seed',
  });
  let head = headOf(session.dir);
  for (let count = head.trajectory_step_count; count < Math.min(bundles, steps); count++) {
    const content = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><circle cx="${count}" cy="9" r="9"/></svg>\n`;
    const artifacts = [{ content, role: 'hero', name: 'part.svg' }];
    ({ head } = await publish(session, { headline: `Part ${count + 1}`, artifacts }, input(count + 1)));
  }
  const known = namedBundles(session.dir, head);
  // The newest steps are the library's, so that history and current are what the program itself writes.
  head = extend(session.dir, head, known, steps - LIMITS.historySteps, input);
  for (let count = head.trajectory_step_count; count < steps; count++) {
    head = await recordCached(session, known[count % known.length]!, input(count + 1));
  }
  return { dir: session.dir, head };
}

function headOf(dir: string): Head {
  const { value, problems } = readHead(dir);
  if (value === null) throw new Error(`${dir}: ${problems[0]?.detail}`);
  return value;
}

/** One step for each bundle that the newest steps name. */
function namedBundles(dir: string, head: Head): Step[] {
  const { value } = readSteps(dir, head, head.trajectory_step_count - LIMITS.historySteps + 1);
  return [...new Map(value.map((step) => [step.bundle_id, step])).values()];
}

async function recordCached(session: OpenSession, { bundle_id, manifest_sha256 }: Step, input: StepInput) {
  const recorded = await record(session, { kind: 'reuse', reuse: { bundle_id, manifest_sha256 } }, input);
  return recorded.head;
}

/** Appends cached steps up to number `last` and makes the head name the last of them. */
function extend(
  dir: string,
  head: Head,
  known: Step[],
  last: number,
  input: (index: number) => StepInput,
): Head {
  const first = head.trajectory_step_count + 1;
  if (last < first) return head;
  let { trajectory_bytes: end, trajectory_sha256: previous, latest_step } = head;
  // Steps differ in four fields only, so that `makeStep` is asked for each bundle and command once.
  const models = new Map<string, Step>();
  const modelOf = (index: number): Step => {
    const bundle = known[(index - 1) % known.length]!;
    const given = input(index);
    const key = `${bundle.bundle_id} ${given.command}`;
    const model = models.get(key) ?? makeStep(given, placeOf(dir, bundle, given));
    models.set(key, model);
    return model;
  };
  let held: Buffer[] = [];
  let from = end;
  const fd = openSync(join(dir, TRAJECTORY_NAME), 'r+');
  try {
    for (let index = first; index <= last; index++) {
      const at = {
        step_id: stepId(index),
        step_index: index,
        published_at: head.updated_at,
        prev_sha256: previous,
      };
      latest_step = { ...modelOf(index), ...at };
      const line = JSON.stringify(latest_step);
      const appended = appendRecord(line, index - 1, end);
      // The next append is written over the closing bracket of this one.
      held.push(index === last ? appended.bytes : appended.bytes.subarray(0, appended.end - end));
      end = appended.end;
      previous = sha256(line);
      if (held.length < 1024 && index < last) continue;
      writeAll(fd, Buffer.concat(held), from);
      held = [];
      from = end;
    }
  } finally {
    closeSync(fd);
  }
  const next = {
    ...head,
    trajectory_step_count: last,
    trajectory_bytes: end,
    trajectory_sha256: previous,
    latest_step,
  };
  writeFileSync(join(dir, HEAD_NAME), `${JSON.stringify(next, null, 1)}\n`);
  return next;
}

/** What `makeStep` is told of a bundle that is used again; number and hash come later. */
function placeOf(
  dir: string,
  { bundle_id, manifest_sha256, render_path, status }: Step,
  { command }: StepInput,
) {
  return {
    step_id: '',
    step_index: 1,
    published_at: '',
    prev_sha256: null,
    bundle_id,
    manifest_sha256,
    render: render_path ? render_path.slice(bundle_id.length + 1) : null,
    status,
    cached: true,
    command_path: keepText(dir, command, LIMITS.command),
    note_path: null,
  };
}
