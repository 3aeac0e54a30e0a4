// The forms that a session can be exported in.
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

export interface ExportFormat {
  description: string;
  /** The recording's own format, where exporting it would only copy it. */
  same: Recording['format'];
  write(recording: Recording, head: SeenHead, output: Output): Exported;
}

export const FORMATS: Record<string, ExportFormat> = {
  'cli-anything': {
    description: "a folder in CLI-Anything's layout, for `cli-hub previews`",
    same: 'cli-anything',
    write: exportCliAnything,
  },
};
