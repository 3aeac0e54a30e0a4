// Which font files text is drawn with: the shipped ones, and the system's where a family or a character
// asks for them. The system's are looked at only then, so most pictures come out alike on every machine.
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { coverageOf, familiesOf } from './sfnt.js';

const SANS = 'DejaVu Sans';
const SERIF = 'DejaVu Serif';
const MONO = 'DejaVu Sans Mono';

/** What text without a family is drawn with: a serif, as in browsers. */
export const DEFAULT_FAMILY = SERIF;

const SHIPPED: Record<string, string[]> = {
  [SANS]: ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'],
  [SERIF]: ['DejaVuSerif.ttf'],
  [MONO]: ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'],
};

/** Families that CSS leaves to the machine: whatever is drawn is right, so nothing was replaced. */
const GENERIC: Record<string, string> = {
  'sans-serif': SANS,
  'system-ui': SANS,
  'ui-sans-serif': SANS,
  'ui-rounded': SANS,
  '-apple-system': SANS,
  blinkmacsystemfont: SANS,
  cursive: SANS,
  fantasy: SANS,
  serif: SERIF,
  'ui-serif': SERIF,
  math: SERIF,
  monospace: MONO,
  'ui-monospace': MONO,
};

/** Free families of the same widths, so that a replaced text at least keeps its length. */
const SAME_WIDTHS: Record<string, string> = {
  arial: 'Liberation Sans',
  helvetica: 'Liberation Sans',
  'times new roman': 'Liberation Serif',
  times: 'Liberation Serif',
  'courier new': 'Liberation Mono',
  courier: 'Liberation Mono',
};

const FONT_FILES = 5000;

/** A family that is drawn, and the named ones before it that are not on this machine. */
export type Pick = { family: string; missing: string[] };

export type Fonts = {
  /** The first family of a CSS list (unquoted names) that can be drawn. */
  pick(names: readonly string[]): Pick;
  /** The files to draw `families` and `characters` with, and the characters that no font has. */
  files(
    families: ReadonlySet<string>,
    characters: ReadonlySet<number>,
  ): { files: string[]; missing: number[] };
};

/** The fonts shipped in `folder` and, unless `system` is false, this machine's. */
export function openFonts(folder: string, { system = true } = {}): Fonts {
  const shipped = new Map(Object.keys(SHIPPED).map((family) => [family.toLowerCase(), family]));
  const covers = new Map<string, (code: number) => boolean>();
  let index: Map<string, { family: string; files: string[] }> | undefined;
  const systemFonts = () => {
    index ??= system ? indexFonts(systemFolders()) : new Map();
    return index;
  };
  const covered = (file: string, code: number): boolean => {
    const test = covers.get(file) ?? coverageOf(file);
    covers.set(file, test);
    return test(code);
  };
  const find = (name: string): string | undefined => shipped.get(name) ?? systemFonts().get(name)?.family;

  return {
    pick(names) {
      const missing: string[] = [];
      let alike: string | undefined;
      for (const name of names) {
        const lower = name.toLowerCase();
        const generic = GENERIC[lower];
        if (generic) return { family: alike ?? generic, missing };
        const family = find(lower);
        if (family) return { family, missing };
        missing.push(name);
        const same = SAME_WIDTHS[lower];
        alike ??= same && find(same.toLowerCase());
      }
      return { family: alike ?? (missing[0] ? likely(missing[0]) : DEFAULT_FAMILY), missing };
    },

    files(families, characters) {
      // DejaVu Sans has the most characters: resvg falls back to it.
      const files = [...new Set([...families, SANS])].flatMap(
        (family) =>
          SHIPPED[family]?.map((name) => join(folder, name)) ??
          systemFonts().get(family.toLowerCase())?.files ??
          [],
      );
      let missing = [...characters].filter((code) => !files.some((file) => covered(file, code)));
      if (missing.length === 0) return { files, missing };
      for (const file of [...systemFonts().values()].flatMap((entry) => entry.files)) {
        const left = missing.filter((code) => !covered(file, code));
        if (left.length < missing.length) files.push(file);
        missing = left;
        if (missing.length === 0) break;
      }
      return { files, missing };
    },
  };
}

/** The shipped family nearest to what a missing one's name says. */
function likely(name: string): string {
  if (/mono|courier|consol|menlo|code|terminal/i.test(name)) return MONO;
  return /times|georgia|garamond|palatino|cambria|baskerville|(?<!sans[ -]?)serif/i.test(name) ? SERIF : SANS;
}

/** Where fonts are on this system, as resvg's font database has it without fontconfig. */
function systemFolders(): string[] {
  const home = homedir();
  if (process.platform === 'win32') {
    const { WINDIR = 'C:\\Windows', LOCALAPPDATA } = process.env;
    return [
      join(WINDIR, 'Fonts'),
      ...(LOCALAPPDATA ? [join(LOCALAPPDATA, 'Microsoft', 'Windows', 'Fonts')] : []),
    ];
  }
  if (process.platform === 'darwin') {
    return ['/Library/Fonts', '/System/Library/Fonts', join(home, 'Library', 'Fonts')];
  }
  const own = process.env.XDG_DATA_HOME || join(home, '.local', 'share');
  return ['/usr/share/fonts', '/usr/local/share/fonts', join(home, '.fonts'), join(own, 'fonts')];
}

/** Lower-case family name to its files, over every font file below `folders`. */
function indexFonts(folders: readonly string[]): Map<string, { family: string; files: string[] }> {
  const index = new Map<string, { family: string; files: string[] }>();
  for (const file of folders.flatMap(fontsBelow).slice(0, FONT_FILES)) {
    for (const family of familiesOf(file)) {
      const entry = index.get(family.toLowerCase());
      if (entry) entry.files.push(file);
      else index.set(family.toLowerCase(), { family, files: [file] });
    }
  }
  return index;
}

function fontsBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ttf|otf|ttc|otc)$/i.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    // ENOENT or EACCES: most machines have only some of these folders.
    return [];
  }
}
