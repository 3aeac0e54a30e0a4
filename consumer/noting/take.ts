// A note from what somebody said: checked against the step that it is about, signed, its secrets masked, and kept.
import { userInfo } from 'node:os';
import { relative } from 'node:path';
import { PreviewError } from '../../src/errors.js';
import type { Recording, SeenStep } from '../../src/formats/seen.js';
import { stepId } from '../../src/layout.js';
import { readNotes, rootOfSession } from '../../src/notefiles.js';
import { foldNotes, NOTE_LIMITS, type Note, type NoteBox, type NoteInput } from '../../src/notes.js';
import { maskedWarning, redact } from '../../src/redact.js';
import type { Artifact } from '../../src/schema.js';
import { cutText, utf8Bytes } from '../../src/text.js';
import { type Appended, appendNote } from './append.js';

/**
 * Keeps what `author` says of a step of `recording`.
 * @throws PreviewError `not_found` where it names a step, file or note that is not there; `usage` where it says nothing,
 * too much, or a box that lies outside the picture; what `appendNote` throws.
 */
export function takeNote(recording: Recording, input: NoteInput, author: string): Appended {
  const root = rootOfSession(recording.dir);
  const step = stepOf(recording, input.step_index);
  const said = utf8Bytes(input.text);
  if (said > NOTE_LIMITS.text)
    throw new PreviewError(
      'usage',
      `the note has ${said} bytes; at most ${NOTE_LIMITS.text} are kept`,
      'say it shorter, or in several notes',
    );
  if (input.text.trim() === '' && input.verdict === null && input.box === null && !input.deleted)
    throw new PreviewError('usage', 'the note says nothing', 'give it a text, a box or a verdict');
  if (input.replies_to !== null) answered(root, input.replies_to);
  const artifact = artifactOf(recording, step, input);
  const masked = redact(input.text.toWellFormed());
  const note: Omit<Note, 'id'> = {
    at: new Date().toISOString(),
    author: cutText(redact(author).text, NOTE_LIMITS.author),
    session: relative(root, recording.dir),
    session_id: textOr(recording.head?.['session_id']),
    step_id: step.step_id,
    step_index: step.step_index,
    bundle_id: step.bundle_id,
    manifest_sha256: step.manifest_sha256,
    artifact: artifact?.path ?? null,
    box: input.box && withinPicture(input.box, artifact),
    text: cutText(masked.text, NOTE_LIMITS.text),
    verdict: input.verdict,
    replies_to: input.replies_to,
    deleted: input.deleted,
  };
  const appended = appendNote(root, note);
  return { ...appended, warnings: [...appended.warnings, ...maskedWarning(masked.count, 'the note')] };
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function stepOf(recording: Recording, index: number): SeenStep {
  const step = recording.steps(index, index).value[0];
  if (step) return step;
  throw new PreviewError(
    'not_found',
    `${recording.dir} has no ${stepId(index)}; it has ${recording.head?.trajectory_step_count ?? 0} steps`,
    'see `previews inspect --all`',
  );
}

/** The note of a root that has this id. @throws PreviewError `not_found`, also where it was taken back. */
export function answered(root: string, id: string): Note {
  const note = foldNotes(readNotes(root).value).notes.find((each) => each.id === id);
  if (note) return note;
  throw new PreviewError('not_found', `there is no note ${JSON.stringify(id)}`, 'see `previews notes`');
}

/** The file that is spoken of: the one that is named, or for a box the main picture. */
function artifactOf(recording: Recording, step: SeenStep, input: NoteInput): Artifact | null {
  if (input.artifact === null && input.box === null) return null;
  const dir = recording.bundleDir(step);
  const artifacts = dir === null ? [] : (recording.readBundle(dir).value.manifest?.artifacts ?? []);
  const found =
    input.artifact === null
      ? artifacts.find(({ role, kind }) => role === 'hero' && kind === 'image')
      : artifacts.find(({ path }) => path === input.artifact);
  if (found) return found;
  if (input.artifact === null)
    throw new PreviewError(
      'usage',
      `${step.step_id} has no picture to draw a box on`,
      'name one with --artifact',
    );
  throw new PreviewError(
    'not_found',
    `${step.step_id} has no file ${JSON.stringify(input.artifact)}`,
    `its files: ${
      artifacts
        .map(({ path }) => path)
        .slice(0, 8)
        .join(', ') || 'none'
    }`,
  );
}

function withinPicture(box: NoteBox, artifact: Artifact | null): NoteBox {
  const { width, height } = artifact ?? {};
  if (!width || !height || (box.x + box.width <= width && box.y + box.height <= height)) return box;
  throw new PreviewError(
    'usage',
    `the box ${box.x},${box.y},${box.width},${box.height} reaches beyond the picture`,
    `${artifact?.path} has ${width} × ${height} pixels`,
  );
}

/** Who says it, where nobody else is named. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // ENOENT: the system has no name for this user.
    return process.env['USER'] || 'somebody';
  }
}
