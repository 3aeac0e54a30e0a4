// The page as one text: the built viewer, its parts that are needed, and the recording, all inline under a policy that
// lets nothing else run and nothing be asked for.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_VERSION } from '../../../src/version.js';
import { type PartName, type ScriptName, scriptsFor } from '../../viewer/shownas.js';

/** What begins every exported page, by which one is known again. */
export const MARK = '<!doctype html><meta name="generator" content="preview-recorder';

/** The folder of the built page, beside the commands. */
const VIEWER = join(__dirname, '../viewer');

/** The page without its recording. */
export interface Frame {
  /** The link element of the page's icon, which is in itself. */
  icon: string;
  styles: string[];
  scripts: string[];
}

export function frameFor(parts: readonly ScriptName[]): Frame {
  const read = (name: string) => readFileSync(join(VIEWER, name), 'utf8');
  return {
    icon: /<link rel="icon" [^>]*>/.exec(read('index.html'))?.[0] ?? '',
    styles: [read('viewer.css'), ...(parts.length > 0 ? [read('part.css')] : [])],
    scripts: [...parts.map((name) => read(`part-${name}.js`)), read('viewer.js')],
  };
}

/** What a part adds to a page, with what compares such files; the style sheet of all parts is counted with each. */
export const partSize = (part: PartName): number =>
  ['part.css', ...scriptsFor([part]).map((name) => `part-${name}.js`)].reduce(
    (sum, name) => sum + statSync(join(VIEWER, name)).size,
    200,
  );

/** Text that may stand in a script element of any type: no `</script`, no `<!--`. It stays JSON. */
export const inScript = (json: string): string =>
  json.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

/** JavaScript and CSS of ours, in which such a sequence can only be in a string. */
const safe = (code: string): string => code.replace(/<(?=\/(script|style)|!--|script)/gi, '\\x3c');

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export interface Content {
  title: string;
  /** JSON of what the page says of itself. */
  head: string;
  pieces: readonly string[];
  /** By number, base64; null for one that lies beside the page. */
  files: readonly (string | null)[];
}

/** Composes the page. Everything that comes from a recording is JSON or base64, or escaped. */
export function compose(frame: Frame, { title, head, pieces, files }: Content): string {
  const styles = frame.styles.map(safe);
  const scripts = frame.scripts.map(safe);
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.map(hashOf).join(' ')}`,
    `style-src ${styles.map(hashOf).join(' ')}`,
    "img-src 'self' file: blob: data:",
    "media-src 'self' file: blob: data:",
    'frame-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    `${MARK} ${PACKAGE_VERSION}">`,
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    frame.icon,
    ...styles.map((style) => `<style>${style}</style>`),
    '</head><body><div id="page"></div>',
    `<script type="application/json" id="recording">${inScript(head)}</script>`,
    ...pieces.map((piece, at) => `<script type="text/plain" data-piece="${at}">${piece}</script>`),
    ...files.flatMap((file, at) =>
      file === null ? [] : [`<script type="text/plain" data-file="${at}">${file}</script>`],
    ),
    ...scripts.map((script) => `<script>${script}</script>`),
    '</body></html>\n',
  ].join('\n');
}
