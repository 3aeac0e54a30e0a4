// What a run leaves in its bundle: the output as artifacts, the figures in the manifest, the headline and warnings.
import { isUtf8 } from 'node:buffer';
import { relative } from 'node:path';
import { addArtifact, type BundleFields, type Stage } from '../../src/bundle.js';
import { humanBytes } from '../../src/cli.js';
import type { StepInput } from '../../src/step.js';
import { cutText, shellQuote } from '../../src/text.js';
import { castOf, ends, textsOf } from './cast.js';
import type { Outcome } from './command.js';
import { type Kept, rawOf, type Stream } from './keeper.js';
import { masked } from './mask.js';
import { lastBytes, readable } from './view.js';

/** Of the start and of the end of the output, as text, so much stands in the manifest (I10). */
const EXCERPT_BYTES = 1024;
/** So much of the output is looked at for an excerpt. */
const EXCERPT_WINDOW = 64 * 1024;
/** More arguments than this, in bytes, are cut in the manifest. */
const ARGV_BYTES = 256 * 1024;

/** What was run, and how it ended. */
export interface Run {
  argv: readonly string[];
  /** Its working directory, absolute, and the project's. */
  cwd: string | null;
  project: string;
  /** What --env gave. */
  env: Record<string, string>;
  term: string | undefined;
  outcome: Outcome;
}

/** What a run adds to the step and the bundle that show its outcome. */
export interface Evidence {
  step: Pick<
    StepInput,
    'command' | 'command_started_at' | 'command_finished_at' | 'duration_ms' | 'exit_code' | 'signal'
  >;
  /** The recorded terminal, or null where nothing was printed. */
  cast: string | null;
  /** Adds the artifacts of the run to the stage and returns how the bundle's fields change. */
  gather(stage: Stage): (fields: BundleFields) => BundleFields;
}

/** Makes the evidence of a run; every text in it is masked once, here. */
export function evidenceOf(run: Run): Evidence {
  const { outcome, argv } = run;
  let secrets = 0;
  const mask = (text: string) => {
    const { text: clean, count } = masked(text);
    secrets += count;
    return clean;
  };
  const command = mask(shellQuote(argv));
  const manifestRun = {
    ...recordOf(run, mask),
    ...excerpts(outcome.output, mask),
  };
  const before = secrets;
  const cast = isEmpty(outcome.output) ? null : castOf(outcome, command, run.term, mask);
  const inOutput = secrets > before;
  const warnings = warningsOf(outcome);
  if (secrets > 0)
    warnings.push(
      `secrets: ${secrets} masked in the command and its output as text${inOutput ? '; the raw output is kept as it came' : ''}`,
    );
  return {
    step: {
      command,
      command_started_at: outcome.started_at,
      command_finished_at: outcome.finished_at,
      duration_ms: outcome.duration_ms,
      exit_code: outcome.exit_code,
      signal: outcome.signal,
    },
    cast,
    gather(stage) {
      const artifacts = addAll(stage, outcome, cast, inOutput);
      return (fields) => ({
        ...fields,
        headline: headlineOf(command, outcome),
        facts: { ...factsOf(outcome), ...fields.facts },
        warnings: [...warnings, ...(fields.warnings ?? [])],
        context: { ...fields.context, run: { ...manifestRun, artifacts } },
      });
    },
  };
}

/**
 * The artifacts of a run, by their ids: the one place where they are gathered. What the command changed in git, as a
 * `patch`, belongs here too.
 */
function addAll(stage: Stage, { output, size }: Outcome, cast: string | null, secret: boolean): string[] {
  const ids: string[] = [];
  if (cast !== null) {
    const { artifact_id } = addArtifact(stage, {
      content: cast,
      role: 'terminal',
      name: 'terminal.cast',
      label: `Terminal, ${size.columns} × ${size.rows}`,
      kind: 'capture',
      media_type: 'application/x-asciicast',
    });
    ids.push(artifact_id);
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    if (output.total[stream] === 0) continue;
    const { bytes } = rawOf(output, stream);
    const text = isText(bytes);
    const { artifact_id } = addArtifact(stage, {
      content: bytes,
      role: 'log',
      // Its own name, whatever its content looks like: it is shown as what was printed.
      name: `${stream}.log`,
      label: labelOf(output, stream, text, secret),
      kind: text ? 'text' : 'capture',
      media_type: text ? 'text/plain' : 'application/octet-stream',
    });
    ids.push(artifact_id);
  }
  return ids;
}

function labelOf({ total, left_out }: Kept, stream: Stream, text: boolean, secret: boolean): string {
  const about = [text ? null : 'binary', secret ? 'may hold secrets' : null].filter(Boolean);
  const cut =
    left_out[stream] > 0
      ? `, start and end of ${humanBytes(total[stream])}`
      : `, ${humanBytes(total[stream])}`;
  return `${stream}${cut}${about.length > 0 ? ` (${about.join(', ')})` : ''}`;
}

/** True for UTF-8 without a NUL. Bytes cut at either end may begin or end within a character. */
function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}

const isEmpty = ({ total }: Kept) => total.stdout + total.stderr === 0;

/** `context.run` of the manifest, but for the excerpts. */
function recordOf({ argv, cwd, project, env, outcome }: Run, mask: (text: string) => string) {
  const { output } = outcome;
  const [out, err] = [rawOf(output, 'stdout'), rawOf(output, 'stderr')];
  const gap = (stream: Stream, at: number | null) =>
    at === null ? {} : { [stream]: { at, bytes: output.left_out[stream] } };
  const left_out = { ...gap('stdout', out.gap_at), ...gap('stderr', err.gap_at) };
  return {
    ...argvOf(argv, mask),
    cwd: cwd === null ? null : cwdOf(cwd, project),
    exit_code: outcome.exit_code,
    signal: outcome.signal,
    timed_out: outcome.timed_out,
    not_started: outcome.not_started,
    duration_ms: Math.round(outcome.duration_ms),
    pty: outcome.pty,
    stdout_bytes: output.total.stdout,
    stderr_bytes: output.total.stderr,
    kept_bytes: output.kept_bytes,
    truncated: output.left_out.stdout + output.left_out.stderr > 0,
    ...(Object.keys(left_out).length > 0 ? { left_out } : {}),
    binary: !(isText(out.bytes) && isText(err.bytes)),
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, maskedValue(name, value, mask)]),
    ),
  };
}

/** A value alone looks harmless where its name tells what it is. */
function maskedValue(name: string, value: string, mask: (text: string) => string): string {
  const prefix = `${name}=`;
  const whole = mask(prefix + value);
  return whole.startsWith(prefix) ? whole.slice(prefix.length) : mask(value);
}

/** The exact arguments; of more than the manifest can hold, those that fit, and how many there were. */
function argvOf(argv: readonly string[], mask: (text: string) => string) {
  // As one command, for `--password x` is two arguments; then each for itself, where none was found so.
  const clean = argv.map((arg, at) => {
    const before = argv[at - 1];
    if (before === undefined || !before.startsWith('-')) return mask(arg);
    const pair = mask(`${before} ${arg}`);
    return pair.startsWith(`${before} `) ? pair.slice(before.length + 1) : mask(arg);
  });
  let room = ARGV_BYTES;
  const kept: string[] = [];
  for (const arg of clean) {
    room -= Buffer.byteLength(arg) + 4;
    if (room < 0) break;
    kept.push(arg);
  }
  return kept.length < clean.length ? { argv: kept, argv_count: argv.length } : { argv: kept };
}

const cwdOf = (cwd: string, project: string): string => {
  const inside = relative(project, cwd);
  return inside === '' ? '.' : inside.startsWith('..') ? cwd : inside;
};

/** The start and the end of what was printed, as it can be read: strict UTF-8 whatever it was. */
function excerpts(output: Kept, mask: (text: string) => string): { head: string; tail: string } {
  const { first, last, between } = ends(output, EXCERPT_WINDOW);
  const text = (pieces: typeof first) =>
    mask(
      readable(
        textsOf(pieces)
          .map((said) => said.text)
          .join(''),
      ),
    );
  const start = text(first);
  if (between === 0 && Buffer.byteLength(start) <= EXCERPT_BYTES) return { head: start, tail: '' };
  return {
    head: cutText(start, EXCERPT_BYTES),
    tail: lastBytes(between === 0 ? start : text(last), EXCERPT_BYTES),
  };
}

function factsOf({ exit_code, signal, timed_out, duration_ms, output }: Outcome): Record<string, unknown> {
  return {
    exit_code,
    ...(signal ? { signal } : {}),
    ...(timed_out ? { timed_out } : {}),
    duration_s: Math.round(duration_ms) / 1000,
    output_bytes: output.total.stdout + output.total.stderr,
  };
}

/** `npm test: exit 1 after 2.4 s`. */
function headlineOf(command: string, outcome: Outcome): string {
  const { exit_code, signal, timed_out, not_started, duration_ms } = outcome;
  const name = cutText(command.replaceAll('\n', ' '), 160);
  if (not_started) return `${name}: could not be started`;
  const took = `${(duration_ms / 1000).toFixed(duration_ms < 10_000 ? 1 : 0)} s`;
  if (timed_out) return `${name}: timed out after ${took}`;
  if (signal) return `${name}: ended by ${signal} after ${took}`;
  return exit_code === 0 ? `${name}: done in ${took}` : `${name}: exit ${exit_code} after ${took}`;
}

function warningsOf({
  timed_out,
  not_started,
  left_behind,
  not_shown,
  output,
  duration_ms,
}: Outcome): string[] {
  const warnings: string[] = [];
  if (not_started) warnings.push(`not_started: ${not_started}`);
  if (timed_out)
    warnings.push(
      `timed_out: the command and all that it had started were ended after ${(duration_ms / 1000).toFixed(1)} s`,
    );
  if (left_behind)
    warnings.push(
      'left_behind: something that the command started goes on and holds its output; what it prints from now on is not recorded',
    );
  if (not_shown) warnings.push(`not_shown: part of the output could not be handed on: ${not_shown}`);
  const left = output.left_out.stdout + output.left_out.stderr;
  if (left > 0)
    warnings.push(`output_truncated: ${humanBytes(left)} between start and end of the output are not kept`);
  return warnings;
}
