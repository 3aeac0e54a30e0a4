// What a run leaves in its bundle: the output as artifacts, the figures in the manifest, the headline and warnings.
import { isUtf8 } from 'node:buffer';
import { relative } from 'node:path';
import { addArtifact } from '../../src/artifact.js';
import type { BundleFields } from '../../src/bundle.js';
import { humanBytes } from '../../src/cli.js';
import { redact, redactBytes } from '../../src/redact.js';
import type { Stage } from '../../src/stage.js';
import type { StepInput } from '../../src/step.js';
import { cutText, shellQuote } from '../../src/text.js';
import { castOf, ends, textsOf } from './cast.js';
import type { Outcome } from './command.js';
import { type Kept, type Piece, rawOf, type Stream } from './keeper.js';
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
  /** Whether secrets are masked. */
  redact: boolean;
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

/**
 * Makes the evidence of a run. What was printed is masked here, once, so that raw bytes, cast and excerpts agree; every
 * other text is masked where bundles are sealed and steps recorded.
 */
export function evidenceOf(run: Run): Evidence {
  const { argv } = run;
  const { output, secrets } = run.redact
    ? maskedOutput(run.outcome.output)
    : { output: run.outcome.output, secrets: NONE };
  const outcome = { ...run.outcome, output };
  const command = shellQuote(argv);
  const shown = run.redact ? redact(command).text : command;
  const cast = isEmpty(output) ? null : castOf(outcome, shown, run.term);
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
      const artifacts = addAll(stage, outcome, cast, secrets);
      return (fields) => ({
        ...fields,
        headline: headlineOf(shown, outcome),
        facts: { ...factsOf(outcome), ...fields.facts },
        warnings: [...warningsOf(outcome), ...(fields.warnings ?? [])],
        context: { ...fields.context, run: { ...recordOf(run), ...excerpts(output), artifacts } },
      });
    },
  };
}

type Secrets = Record<Stream, number>;
const NONE: Secrets = { stdout: 0, stderr: 0 };

/** The output with each byte of a secret replaced, as long as it was. A secret may lie across several pieces. */
function maskedOutput(output: Kept): { output: Kept; secrets: Secrets } {
  const secrets = { ...NONE };
  const masked = (pieces: Piece[]): Piece[] => {
    const streams = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    for (const { stream, bytes } of pieces) streams[stream].push(bytes);
    const clean: Record<Stream, Buffer> = {
      stdout: Buffer.concat(streams.stdout),
      stderr: Buffer.concat(streams.stderr),
    };
    for (const stream of ['stdout', 'stderr'] as const) {
      const { bytes, count } = redactBytes(clean[stream]);
      clean[stream] = bytes;
      secrets[stream] += count;
    }
    const at = { stdout: 0, stderr: 0 };
    return pieces.map((piece) => {
      const from = at[piece.stream];
      at[piece.stream] += piece.bytes.length;
      return { ...piece, bytes: clean[piece.stream].subarray(from, at[piece.stream]) };
    });
  };
  return { output: { ...output, head: masked(output.head), tail: masked(output.tail) }, secrets };
}

/**
 * The artifacts of a run, by their ids: the one place where they are gathered. What the command changed in git, as a
 * `patch`, belongs here too.
 */
function addAll(stage: Stage, { output, size }: Outcome, cast: string | null, secrets: Secrets): string[] {
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
    const artifact = addArtifact(stage, {
      content: bytes,
      role: 'log',
      // Its own name, whatever its content looks like: it is shown as what was printed.
      name: `${stream}.log`,
      label: labelOf(output, stream, text, secrets[stream]),
      kind: text ? 'text' : 'capture',
      media_type: text ? 'text/plain' : 'application/octet-stream',
    });
    if (secrets[stream] > 0) artifact.secrets_masked = secrets[stream];
    ids.push(artifact.artifact_id);
  }
  return ids;
}

function labelOf({ total, left_out }: Kept, stream: Stream, text: boolean, secrets: number): string {
  const about = [text ? null : 'binary', secrets > 0 ? 'secrets masked' : null].filter(Boolean);
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
function recordOf({ argv, cwd, project, env, outcome }: Run) {
  const { output } = outcome;
  const [out, err] = [rawOf(output, 'stdout'), rawOf(output, 'stderr')];
  const gap = (stream: Stream, at: number | null) =>
    at === null ? {} : { [stream]: { at, bytes: output.left_out[stream] } };
  const left_out = { ...gap('stdout', out.gap_at), ...gap('stderr', err.gap_at) };
  return {
    ...argvOf(argv),
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
    env,
  };
}

/** The exact arguments; of more than the manifest can hold, those that fit, and how many there were. */
function argvOf(argv: readonly string[]) {
  let room = ARGV_BYTES;
  const kept: string[] = [];
  for (const arg of argv) {
    room -= Buffer.byteLength(arg) + 4;
    if (room < 0) break;
    kept.push(arg);
  }
  return kept.length < argv.length ? { argv: kept, argv_count: argv.length } : { argv: kept };
}

const cwdOf = (cwd: string, project: string): string => {
  const inside = relative(project, cwd);
  return inside === '' ? '.' : inside.startsWith('..') ? cwd : inside;
};

/** The start and the end of what was printed, as it can be read: strict UTF-8 whatever it was. */
function excerpts(output: Kept): { head: string; tail: string } {
  const { first, last, between } = ends(output, EXCERPT_WINDOW);
  const text = (pieces: Piece[]) =>
    readable(
      textsOf(pieces)
        .map((said) => said.text)
        .join(''),
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
