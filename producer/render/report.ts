// preview.json: what a renderer tells the publisher and an agent about what it drew. Small, whatever
// was drawn.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutText, neutralise } from '../../src/text.js';
import type { Remark } from './remarks.js';

/** The form of preview.json. */
export type Report = {
  headline: string;
  facts: Record<string, number | string | boolean>;
  /** Each begins with a snake_case code and a colon. */
  warnings: string[];
  /** A picture's path in the output to the file it shows. */
  labels: Record<string, string>;
  next_actions: string[];
  backend?: string;
};

const WARNINGS = 20;
const WARNING_BYTES = 300;

const ACTIONS: Record<string, string> = {
  svg_unreadable: 'mend the files that cannot be drawn and capture again',
  external_reference: 'embed what the SVG refers to as data: URIs, or accept that it is missing here',
  font_replaced: 'install the missing fonts, add a generic family, or turn the text into paths',
  glyphs_missing: 'install a font that has the missing characters, or turn the text into paths',
  nothing_drawn: 'check viewBox, fill, stroke and opacity: the picture is empty',
  namespace_added: 'add xmlns="http://www.w3.org/2000/svg" to the root element',
  not_drawn: 'look at it in a browser too, or use <text> in place of <foreignObject>',
};

/** Remarks as warnings: the same one about several files is said once and names them. */
export function warningsOf(remarks: readonly { path: string; remark: Remark }[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const { path, remark } of remarks) {
    const said = `${remark.code}: ${remark.text}`;
    files.set(said, (files.get(said) ?? new Set()).add(path));
  }
  const all = [...files].map(([said, paths]) => {
    const named = [...paths].slice(0, 3).join(', ');
    const where = said.startsWith('svg_unreadable')
      ? ''
      : ` (${paths.size > 3 ? `${named} and ${paths.size - 3} more` : named})`;
    return neutralise(cutText(said, WARNING_BYTES) + cutText(where, WARNING_BYTES));
  });
  if (all.length <= WARNINGS) return all;
  return [...all.slice(0, WARNINGS - 1), `more_warnings: ${all.length - WARNINGS + 1} more are not listed`];
}

/** What to do about the warnings, in their order. */
export function actionsFor(warnings: readonly string[]): string[] {
  const codes = new Set(warnings.map((warning) => warning.slice(0, warning.indexOf(':'))));
  return [...codes].flatMap((code) => ACTIONS[code] ?? []).slice(0, 5);
}

/** Leaves the report, that of one file by its `name`; texts of other programs in it are made harmless. */
export function writeReport(out: string, report: Report, name = ''): void {
  const warnings = report.warnings.map((warning) => neutralise(cutText(warning, 2 * WARNING_BYTES)));
  const shown = warnings.slice(0, WARNINGS - 1);
  if (warnings.length > WARNINGS - 1)
    shown.push(`more_warnings: ${warnings.length - shown.length} more are not listed`);
  const whole = { ...report, headline: neutralise(cutText(report.headline, WARNING_BYTES)), warnings: shown };
  writeFileSync(join(out, `${name ? `${name}.` : ''}preview.json`), `${JSON.stringify(whole, null, 2)}\n`);
}
