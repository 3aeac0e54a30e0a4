// `previews html [REF] -o FILE`: a session as a page that needs nothing but a browser.
import { join, resolve } from 'node:path';
import { humanBytes, painter, printJson, progress, say } from '../../src/cli.js';
import { runCommand, text, whole } from '../../src/command.js';
import { workingDirectory } from '../../src/layout.js';
import { openRecording } from '../../src/recording.js';
import { neutralise } from '../../src/text.js';
import { MARK } from '../exporting/html/compose.js';
import { exportHtml, type HtmlExport, MAX_BYTES } from '../exporting/html/export.js';
import { openOutput, writeOutput } from '../exporting/output.js';
import { refCommand, refOf, sessionOfRef, stepRange } from '../place.js';

interface Options {
  root?: string;
  json?: boolean;
  output: string;
  dir?: boolean;
  steps?: { from: number; to: number };
  maxBytes: number;
}

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('html', 'Write a session, or some of its steps, as one page that opens in any browser.')
      .requiredOption('-o, --output <path>', 'the file, or with --dir the folder, to write', text)
      .option('--steps <a..b>', 'only these steps, such as 10..20', stepRange)
      .option('--max-bytes <n>', 'leave out what does not fit, and say so', whole, MAX_BYTES)
      .option('--dir', 'a folder: the pictures lie beside the page instead of in it')
      .addHelpText('after', ORDER)
      .action((ref: string | undefined, options: Options) => {
        const found = refOf(ref, options);
        const recording = openRecording(sessionOfRef(found));
        const steps =
          options.steps ?? (found.kind === 'step' ? { from: found.index, to: found.index } : undefined);
        let done = [0, 0];
        const end = progress(() => `packing step ${done[0]} of ${done[1]}`);
        const made = exportHtml(recording, {
          steps,
          maxBytes: options.maxBytes,
          beside: options.dir === true,
          onProgress: (at, total) => {
            done = [at, total];
          },
        });
        end();
        const named = resolve(workingDirectory(), options.output);
        const path = options.dir
          ? writeFolder(named, recording.dir, made)
          : writeOutput(named, recording.dir, made.html, (start) => start.startsWith(MARK));
        report(path, made, options.json === true);
      }),
  );
}

/** Behind the options. */
const ORDER = `
What does not fit is left out in this order, the oldest first, and named here and in the page: files that are only
offered for download, models, clips, other pictures, texts, main pictures, thumbnails. Steps may take half of the room;
where they need more, the oldest are left out.`;

function writeFolder(named: string, session: string, { html, beside }: HtmlExport): string {
  const output = openOutput(named, session);
  try {
    output.write('index.html', html);
    for (const { path, bytes } of beside) output.write(path, bytes);
    output.finish();
  } finally {
    output.close();
  }
  return join(output.dir, 'index.html');
}

function report(path: string, { html, beside, steps, files, left_out }: HtmlExport, json: boolean): void {
  const bytes = Buffer.byteLength(html) + beside.reduce((sum, file) => sum + file.bytes.length, 0);
  const result = { path, bytes, steps: steps.last - steps.first + 1, files, left_out };
  if (json) {
    printJson(result);
    return;
  }
  const paint = painter();
  say(`${paint('green', 'written')}  ${neutralise(path)}`);
  say(`  ${result.steps} ${result.steps === 1 ? 'step' : 'steps'}, ${files} files, ${humanBytes(bytes)}`);
  for (const words of left_out) say(paint('yellow', `  left out: ${neutralise(words)}`));
}
