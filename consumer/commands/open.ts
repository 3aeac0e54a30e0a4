// `previews open [REF]`: the recording in the browser. One that is being made is followed, any other is a page of its own.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { printJson, say, tell } from '../../src/cli.js';
import { runCommand } from '../../src/command.js';
import { openRecording } from '../../src/recording.js';
import { neutralise } from '../../src/text.js';
import { exportHtml } from '../exporting/html/export.js';
import { openOutput } from '../exporting/output.js';
import { refCommand, refOf, sessionOfRef } from '../place.js';
import { openBrowser } from '../server/browser.js';
import { fragmentOf, watch } from '../server/watch.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, () =>
    refCommand('open', 'Open a recording in the browser.')
      .addHelpText(
        'after',
        `
A session that is being recorded is shown as \`previews watch --open\` does, until Ctrl-C. Any other is
written as a page into a new folder for temporary files, as \`previews html\` does, and that is opened.`,
      )
      .action(async (ref: string | undefined, options: { root?: string; json?: boolean }) => {
        const found = refOf(ref, options);
        const session = sessionOfRef(found);
        const recording = openRecording(session);
        const isLive = ['active', 'waiting'].includes(recording.head?.status ?? '');
        if (isLive) {
          await watch(ref ?? session, { ...options, open: true });
          return;
        }
        const { html, left_out } = exportHtml(recording);
        // What is recorded is for its owner, also in a folder that everybody can look into.
        process.umask(0o077);
        const output = openOutput(join(tmpdir(), `previews-${randomUUID()}`), session);
        try {
          output.write('index.html', html);
          output.finish();
        } finally {
          output.close();
        }
        const path = join(output.dir, 'index.html');
        const url = pathToFileURL(path).href + fragmentOf(session, found);
        if (options.json) printJson({ url, path, left_out });
        else {
          say(neutralise(url));
          for (const words of left_out) say(`  left out: ${neutralise(words)}`);
        }
        const why = await openBrowser(url);
        if (why !== null) tell(`no browser was opened: ${neutralise(why)}`);
      }),
  );
}
