// `preview live status`: one small file read. Asked many times a minute, so it parses its few options itself and
// loads neither commander nor a schema.
import { fail, say } from '../../src/cli.js';
import { PreviewError } from '../../src/errors.js';
import { findRoot, findSession, type Place, workingDirectory } from '../../src/layout.js';
import { printStatus, readStatus } from '../../src/status.js';

const USAGE = `Usage: preview live status [options]

Say what is recorded and what is current, from one small file.

Options:
  --root <dir>          preview root (default: $PREVIEW_ROOT, or .preview of this project)
  --session <name|dir>  session (default: $PREVIEW_SESSION, or the current one)
  --json                one JSON document of at most 1,024 bytes
  --full                with --json: the whole head
  -h, --help            show this
`;

export function main(argv: string[]): number {
  const json = argv.includes('--json');
  try {
    const options = parse(argv.slice(1));
    if (options === null) {
      say(USAGE.trimEnd());
      return 0;
    }
    const place: Place = { cwd: workingDirectory(), env: process.env, ...options };
    const dir = findSession(place, findRoot(place));
    printStatus(readStatus(dir), dir, options);
    return 0;
  } catch (error) {
    return fail(error, { json, program: 'preview' });
  }
}

interface Options {
  root?: string;
  session?: string;
  json: boolean;
  full: boolean;
}

/** The options, or null where help was asked for. */
function parse(args: string[]): Options | null {
  const options: Options = { json: false, full: false };
  for (let n = 0; n < args.length; n++) {
    const [name, inline] = args[n]!.split(/=(.*)/s, 2) as [string, string | undefined];
    if (name === '--json' || name === '--full') options[name.slice(2) as 'json' | 'full'] = true;
    else if (name === '--root' || name === '--session') {
      const value = inline ?? args[++n];
      if (value === undefined || value === '--')
        throw new PreviewError('usage', `${name} needs a value`, 'see preview live status --help');
      options[name.slice(2) as 'root' | 'session'] = value;
    } else if (name === '--help' || name === '-h') return null;
    else
      throw new PreviewError(
        'usage',
        `unknown option ${JSON.stringify(args[n])}`,
        'see preview live status --help',
      );
  }
  return options;
}
