// Typesets a LaTeX document with the engine it asks for, as often as its references need, and reads what the log says.
// TeX may run no programs of the document's.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { type Ended, failure, start } from './programs.js';

export type Typeset = { pdf: string; engine: string; passes: number; remarks: Remarks };
export type Remarks = {
  overfull: { where: string; points: number }[];
  references: string[];
  citations: string[];
  others: string[];
};

const PASSES = 4;
const FOLDERS = 500;

/** Whether a file is a document of its own, and no part of one. */
export const isDocument = (path: string): boolean =>
  /^[^%\n]*\\documentclass\b/m.test(readFileSync(path, 'latin1'));

/** Typesets `path` into `out`. Throws a `Failure` with TeX's own first errors, file and line. */
export async function typeset(path: string, out: string): Promise<Typeset> {
  const source = resolve(path);
  const cwd = dirname(source);
  const job = basename(source, extname(source));
  mirror(cwd, out);
  const engine = engineOf(readFileSync(source, 'latin1'));
  const argv = [engine, '-interaction=nonstopmode', '-halt-on-error', '-file-line-error', '-no-shell-escape'];
  // TeX breaks the lines of its log at 79 letters, in the middle of names and numbers, unless told.
  const env = { ...process.env, max_print_line: '2000' };
  let log = '';
  let passes = 0;
  do {
    const ended = await start([...argv, `-output-directory=${out}`, basename(source)], { cwd, env });
    log = readText(join(out, `${job}.log`));
    if (ended.code !== 0) throw brokenOff(path, ended);
    passes++;
    const helped = passes === 1 && (await helpers(job, cwd, out));
    if (!helped && !/Rerun to get|Rerun LaTeX|\(re\)run/i.test(log)) break;
  } while (passes < PASSES);
  const pdf = join(out, `${job}.pdf`);
  if (!existsSync(pdf)) throw failure(`${path}: ${engine} made no pages`);
  return { pdf, engine, passes, remarks: remarksIn(log) };
}

/** The first line may name it (`% !TEX program = lualatex`); a document that loads OpenType fonts needs one that can. */
function engineOf(text: string): string {
  const named = /^%\s*!TEX\s+(?:TS-)?program\s*=\s*(pdflatex|xelatex|lualatex)\b/im.exec(text)?.[1];
  return (
    named?.toLowerCase() ??
    (/^[^%\n]*\\usepackage(\[[^\]]*\])?\{[^}]*(fontspec|unicode-math)/m.test(text) ? 'lualatex' : 'pdflatex')
  );
}

/** `\include{part/one}` writes part/one.aux, so the folders of the document must be there. */
function mirror(from: string, to: string): void {
  const found = [from];
  for (let n = 0; n < found.length && n < FOLDERS; n++) {
    mkdirSync(join(to, relative(from, found[n]!)), { recursive: true });
    for (const entry of readdirSync(found[n]!, { withFileTypes: true }))
      if (entry.isDirectory() && !/^(\.|node_modules$)/.test(entry.name))
        found.push(join(found[n]!, entry.name));
  }
}

/** Bibliography and index, where the first pass asked for them. True where there is something new for the next pass. */
async function helpers(job: string, cwd: string, out: string): Promise<boolean> {
  const bibtex = /\\bibdata\{/.test(readText(join(out, `${job}.aux`)));
  const biber = existsSync(join(out, `${job}.bcf`));
  const index = existsSync(join(out, `${job}.idx`));
  const path = (name: string) => `${cwd}:${process.env[name] ?? ''}:`;
  const env = { ...process.env, BIBINPUTS: path('BIBINPUTS'), BSTINPUTS: path('BSTINPUTS') };
  // One that fails or is not there leaves undefined citations behind, which are reported.
  const tried = async (argv: string[]) => {
    try {
      const { stdout, stderr } = await start(argv, { cwd: out, env });
      process.stdout.write(stdout + stderr);
    } catch {
      process.stderr.write(`${argv[0]} is not installed\n`);
    }
  };
  if (bibtex) await tried(['bibtex', job]);
  if (biber) await tried(['biber', '--input-directory', cwd, job]);
  if (index) await tried(['makeindex', `${job}.idx`]);
  return bibtex || biber || index;
}

const readText = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function brokenOff(path: string, { code, stdout, stderr }: Ended) {
  // The whole of it goes into the log artifact.
  process.stdout.write(stdout + stderr);
  const lines = stdout.split('\n');
  const first = lines.findIndex((line) => /^(\.\/)?[^:()]+:\d+: /.test(line) || line.startsWith('! '));
  if (first < 0) return failure(`${path}: TeX ended with exit code ${code}`);
  const says = lines[first]!.replace(/^(\.\/|! )/, '');
  const at = lines.slice(first + 1, first + 8).find((line) => /^l\.\d+ /.test(line));
  return failure(at ? `${says} ${at.replace(/^l\.\d+ /, '').trim()}` : says);
}

function remarksIn(log: string): Remarks {
  const all = (pattern: RegExp) => [...log.matchAll(pattern)];
  const unique = (texts: string[]) => [...new Set(texts)];
  return {
    overfull: all(/^Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\)(.*)$/gm)
      .map(([, points, where]) => ({ points: Number(points), where: placeIn(where!) }))
      .sort((a, b) => b.points - a.points),
    references: unique(
      all(/Warning: (?:Hyper r|R)eference `([^']+)'[^\n]*undefined/g).map(([, name]) => name!),
    ),
    citations: unique(all(/Warning: Citation [`']([^']+)'[^\n]*undefined/g).map(([, name]) => name!)),
    others: unique(
      all(/^(?:LaTeX|Package \w+)(?: Font)? Warning: ([^\n]+)$/gm)
        .map(([, says]) => says!.trim())
        .filter((says) => /multiply.defined|Font shape .* undefined|Rerun|not found|No .*author/i.test(says)),
    ),
  };
}

/** ` in paragraph at lines 4--5` as `lines 4–5`. */
function placeIn(words: string): string {
  const [, from, to] = /at lines? (\d+)(?:--(\d+))?/.exec(words) ?? [];
  if (!from) return words.trim();
  return to && to !== from ? `lines ${from}–${to}` : `line ${from}`;
}
