// `preview repair [SESSION]`: mends a damaged session and keeps its bytes.

import { painter, printJson, say } from '../../src/cli.js';
import { command, runCommand, seconds, text } from '../../src/command.js';
import { EXIT, PreviewError } from '../../src/errors.js';
import { workingDirectory } from '../../src/layout.js';
import { resolveRef } from '../../src/ref.js';
import { repairSession } from '../../src/repair.js';
import { neutralise } from '../../src/text.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('preview', argv, (done) =>
    command(
      'preview repair',
      'Mend a damaged session: its readable steps are put together again, the damaged files are kept.',
    )
      .argument('[session]', "session_003, or a session's folder (default: the current one)")
      .option('--root <dir>', 'preview root (default: $PREVIEW_ROOT, or .preview of this project)', text)
      .option('--lock-timeout <seconds>', 'how long to wait for the session (default: 10)', seconds)
      .option('--json', 'print one JSON document')
      .action(async (name: string | undefined, options) => {
        const found = resolveRef(name, { cwd: workingDirectory(), env: process.env, root: options.root });
        if (found.kind !== 'session')
          throw new PreviewError(
            'usage',
            `${JSON.stringify(name)} is no session`,
            'name a session, such as session_003',
          );
        const repair = await repairSession(found.session, {
          timeout_ms: options.lockTimeout === undefined ? undefined : options.lockTimeout * 1000,
        });
        const { repaired, actions, kept, verdict } = repair;
        if (options.json) printJson({ session_dir: found.session, repaired, actions, kept, verdict });
        else {
          const paint = painter();
          say(repaired ? paint('green', 'mended') : 'Nothing to mend in the head and the trajectory.');
          for (const action of actions) say(`  ${neutralise(action)}`);
          for (const { kind, where, detail } of verdict.problems)
            say(paint('red', `  left: ${kind} ${neutralise(where)}: ${neutralise(detail)}`));
        }
        done(verdict.ok ? EXIT.done : EXIT.corrupt);
      }),
  );
}
