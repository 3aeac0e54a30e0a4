// summary.json: what an agent reads of a bundle, kept to 4 KB.
import type { Summary } from './schema.js';
import { cutText, jsonBytes, utf8Bytes } from './text.js';
import { LIMITS } from './version.js';

/** How many warnings are kept, from generous to none; facts twice that. */
const STEPS = [64, 16, 8, 4, 2, 1, 0];

/** Keeps fewer and shorter parts until the summary fits its 4 KB; what is left out stays in the manifest. */
export function fitSummary(summary: Summary): Summary {
  for (const keep of STEPS) {
    const cut = shortened(summary, keep);
    if (utf8Bytes(JSON.stringify(cut, null, 2)) + 1 <= LIMITS.summary || keep === 0) return cut;
  }
  return summary;
}

function shortened(summary: Summary, keep: number): Summary {
  const short = ([name, fact]: [string, unknown]) =>
    jsonBytes(name) + jsonBytes(JSON.stringify(fact ?? null)) < 200;
  const left = summary.warnings.length - keep;
  const more = left > 0 ? [`more_warnings: ${left} more are in the manifest`] : [];
  return {
    command:
      summary.command == null ? null : cutText(summary.command, Math.min(1024, 64 + keep * 64), jsonBytes),
    headline: cutText(summary.headline, 300, jsonBytes),
    facts: Object.fromEntries(
      Object.entries(summary.facts)
        .filter(short)
        .slice(0, keep * 2),
    ),
    warnings: [
      ...summary.warnings.slice(0, keep).map((warning) => cutText(warning, 400, jsonBytes)),
      ...more,
    ],
    next_actions: summary.next_actions
      .slice(0, Math.min(keep, 8))
      .map((action) => cutText(action, 200, jsonBytes)),
  };
}
