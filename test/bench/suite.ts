// The benchmark: every line a ratio within this run, against its budget. run.mjs bundles and starts it.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { addedLines } from './added.js';
import { blameLines } from './blaming.js';
import { benchFingerprint } from './fingerprint.js';
import { bareNode, compare, type Line, plainEnv, round, run, timed, withEarlier } from './measure.js';
import { CHROMIUM, pageLines } from './page.js';
import { benchPublish } from './publications.js';
import { makeSite, programs, type Site } from './site.js';
import { hasStrace, logIn, peakKb, traceCost, traceOpens } from './trace.js';

const STATUS_BYTES = 1024;
const FSYNCS = { cached: 3, rendered: 4 };

interface Options {
  /** Holds the copy of dist/ and takes all that is made; the caller removes it. */
  dir: string;
  quick: boolean;
  /** A picture of ordinary size, as a program under test leaves it. */
  picture: string;
}

const tell = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs everything; what it returns is printed as JSON. */
export async function runSuite({ dir, quick, picture }: Options) {
  // Children get their environment from `plainEnv`; the library and git run in or from this process.
  for (const name of Object.keys(process.env)) if (!(name in plainEnv())) delete process.env[name];
  const load_before = round(loadavg()[0]!);
  const [pairs, tries] = quick ? [15, 1] : [21, 3];
  // First, while this process is small: it starts git, and a large one takes longer to.
  tell('fingerprinting 10,000 files');
  const fingerprints = await fingerprintLines(dir, tries);
  const sites: Site[] = [];
  for (const steps of quick ? [10, 100_000] : [10, 1000, 100_000, 1_000_000]) {
    const began = performance.now();
    sites.push(await makeSite(dir, steps));
    tell(
      `made a session of ${steps.toLocaleString('en')} steps in ${round((performance.now() - began) / 1000, 1)} s`,
    );
  }
  const lines = [
    ...statusLines(dir, sites, pairs, tries),
    ...publicationLines(dir, sites, pairs, tries),
    ...addedLines(dir, sites[0]!, picture, pairs, tries),
    ...(await blamed(dir, pairs, tries)),
    ...fingerprints,
    ...(await browserLines(dir, quick)),
  ];
  tell('publishing in a loop, and the rest');
  const information = await inform(dir, sites, pairs, quick);
  tell(table(lines));
  const missed = lines.filter((line) => line.pass === false).map((line) => line.name);
  const machine = {
    node: process.version,
    cpus: cpus().length,
    load_before,
    load_after: round(loadavg()[0]!),
  };
  return { quick, machine, pass: missed.length === 0, missed, lines, information };
}

function blamed(dir: string, pairs: number, tries: number): Promise<Line[]> {
  tell('asking over 1,000 steps which one changed a place');
  return blameLines(dir, pairs, tries);
}

/** 1. What agents ask all the time: as fast as a bare start, at any length, and small. */
function statusLines(dir: string, sites: Site[], pairs: number, tries: number): Line[] {
  const { status } = programs(dir);
  tell('timing live status');
  const lines = timed(sites.map(status), bareNode(dir), pairs, {
    each: 1.25,
    flat: 1.1,
    tries,
    flatName: 'live status: longest session against shortest',
  });
  for (const site of sites) {
    const { stdout } = run(status(site));
    const bytes = Buffer.byteLength(stdout);
    const { command } = JSON.parse(stdout).trajectory_summary.latest;
    const cut = command.endsWith('…') && command.isWellFormed();
    const ratio = round(bytes / STATUS_BYTES, 3);
    lines.push({
      name: `live status bytes at ${site.steps}, longest command`,
      ratio,
      budget: 1,
      pass: ratio <= 1 && cut,
      bytes,
    });
  }
  if (!hasStrace()) return lines;
  const { files, trajectory } = traceOpens(status(sites.at(-1)!), sites.at(-1)!.root, logIn(dir));
  lines.push({
    name: 'files of the recording that live status opens',
    ratio: files,
    budget: 1,
    pass: files <= 1 && !trajectory,
  });
  return lines;
}

/** 2 and 3. A publication costs the same at any length: its time, and what it asks of the disk. */
function publicationLines(dir: string, sites: Site[], pairs: number, tries: number): Line[] {
  const { capture, render } = programs(dir);
  const ends = [sites[0]!, sites.at(-1)!];
  for (const site of ends) {
    const first = JSON.parse(run(capture(site)).stdout);
    if (first.cached !== true || first.warnings.length > 0)
      throw new Error(`the capture is not cached or warns: ${JSON.stringify(first)}`);
  }
  tell('timing cached captures');
  const lines = timed(ends.map(capture), bareNode(dir), pairs, {
    each: 2.5,
    flat: 1.1,
    tries,
    flatName: 'cached capture: longest session against shortest',
  });
  if (!hasStrace()) {
    tell('SKIPPED: bytes and fsyncs of a publication, for strace is not installed');
    return lines;
  }
  tell('tracing publications');
  for (const [kind, command] of [
    ['cached', capture],
    ['rendered', render],
  ] as const) {
    const costs = ends.map((site) => traceCost(command(site), site.root, logIn(dir)));
    const [short, long] = [costs[0]!, costs[1]!];
    const same =
      long.bytes_but_digits === short.bytes_but_digits &&
      long.fsyncs === short.fsyncs &&
      long.writes === short.writes;
    const at = { [`at_${ends[0]!.steps}`]: short, [`at_${ends[1]!.steps}`]: long };
    lines.push({
      name: `bytes written by a ${kind} step, but digits: longest session against shortest`,
      ratio: round(long.bytes_but_digits / short.bytes_but_digits, 4),
      budget: 1,
      pass: same,
      ...at,
    });
    const most = Math.max(short.fsyncs_under_lock, long.fsyncs_under_lock);
    lines.push({
      name: `fsyncs under the lock, ${kind} step`,
      ratio: most,
      budget: FSYNCS[kind],
      pass: most <= FSYNCS[kind],
    });
  }
  return lines;
}

/** 5. The page, where there is a browser. */
async function browserLines(dir: string, quick: boolean): Promise<Line[]> {
  if (!existsSync(CHROMIUM)) {
    tell('SKIPPED: the page, for chromium is not installed');
    return [];
  }
  tell('opening, watching and walking the page');
  return pageLines(dir, quick);
}

/** 4. Seeing that nothing changed, against what git needs for the same. A miss is measured again, as `timed` does. */
async function fingerprintLines(dir: string, tries: number): Promise<Line[]> {
  const earlier: number[][] = [];
  for (let again = 0; ; again++) {
    const folder = join(dir, `fingerprint-${again}`);
    mkdirSync(folder);
    const figures = await benchFingerprint(folder);
    const { git_ratio, walk_ratio } = figures;
    const lines: Line[] = [
      {
        name: 'fingerprint of 10,000 files (git index) against git status',
        ratio: git_ratio,
        budget: 1.5,
        pass: git_ratio <= 1.5,
        ...figures,
      },
      {
        name: 'fingerprint of 10,000 files (walk) against git status',
        ratio: walk_ratio,
        budget: 4,
        pass: walk_ratio <= 4,
      },
    ];
    if (again + 1 >= tries || lines.every((line) => line.pass)) return withEarlier(lines, earlier);
    earlier.push(lines.map((line) => line.ratio));
  }
}

/** 5. Without a budget. */
async function inform(dir: string, sites: Site[], pairs: number, quick: boolean) {
  const { status, render, inspect } = programs(dir);
  const ends = [sites[0]!, sites.at(-1)!];
  const base = bareNode(dir);
  const against = Object.fromEntries(compare([render(ends[0]!), ...ends.map(inspect)], base, pairs));
  const preload = join(dir, 'peak.cjs');
  writeFileSync(
    preload,
    `process.on('exit', () => require('fs').writeSync(2, 'peak_kb=' + process.resourceUsage().maxRSS + '\\n'));\n`,
  );
  const [bare_kb, status_kb] = [peakKb(base, preload), peakKb(status(ends[1]!), preload)];
  const publications = await benchPublish(dir, quick ? 100 : 400);
  return {
    against_bare_node: against,
    status_peak: { status_kb, bare_kb, ratio: round(status_kb / bare_kb, 3) },
    publications,
  };
}

function table(lines: Line[]): string {
  const width = Math.max(...lines.map((line) => line.name.length));
  const verdict = (line: Line) => (line.pass === null ? 'told' : line.pass ? 'pass' : 'MISS');
  return lines
    .map(
      (line) =>
        `${verdict(line)}  ${line.name.padEnd(width)}  ${String(line.ratio).padStart(7)}${line.budget === null ? '' : `  of ${line.budget}`}`,
    )
    .join('\n');
}
