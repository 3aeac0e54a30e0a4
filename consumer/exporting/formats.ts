// The forms that a session can be exported in: as a folder in another program's layout, or as one file.
import type { Recording, SeenHead } from '../../src/formats/seen.js';
import type { Problem } from '../../src/schema.js';
import { exportCliAnything } from './clianything.js';
import type { Output } from './output.js';

export interface Exported {
  /** The session in the export. */
  session_dir: string;
  steps: number;
  bundles: number;
  /** What of the session could not be read, and so is not in the export. */
  problems: Problem[];
}

export type ExportFormat = { description: string } & (
  | {
      kind: 'folder';
      /** The recording's own format, where exporting it would only copy it. */
      same: Recording['format'];
      write(recording: Recording, head: SeenHead, output: Output): Exported;
    }
  /** Made by ffmpeg: see timelapse/, which is loaded only for it. */
  | { kind: 'film' }
);

export const FORMATS: Record<string, ExportFormat> = {
  'cli-anything': {
    description: "a folder in CLI-Anything's layout, for `cli-hub previews`",
    kind: 'folder',
    same: 'cli-anything',
    write: exportCliAnything,
  },
  timelapse: { description: 'an MP4 of the pictures with the commands beside them', kind: 'film' },
};
