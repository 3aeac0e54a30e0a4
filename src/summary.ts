// summary.json: what an agent reads of a bundle, kept to 4 KB.
import type { Summary } from './schema.js';
import { cutText, jsonBytes, utf8Bytes } from './text.js';
import { LIMITS } from './version.js';

/** Cuts what is longest until the summary fits its 4 KB. */
export function fitSummary(summary: Summary): Summary {
  const size = (value: Summary) => utf8Bytes(JSON.stringify(value, null, 2)) + 1;
  let cut: Summary = {
    ...summary,
    command: summary.command == null ? null : cutText(summary.command, 1024, jsonBytes),
    headline: cutText(summary.headline, 300, jsonBytes),
    warnings: summary.warnings.map((warning) => cutText(warning, 400, jsonBytes)),
    next_actions: summary.next_actions.map((action) => cutText(action, 200, jsonBytes)).slice(0, 8),
  };
  for (let keep = 16; size(cut) > LIMITS.summary && keep > 0; keep >>= 1) {
    const left = cut.warnings.length - keep;
    cut = {
      ...cut,
      command: cut.command == null ? null : cutText(cut.command, keep * 16, jsonBytes),
      facts: Object.fromEntries(
        Object.entries(cut.facts)
          .filter(([, fact]) => JSON.stringify(fact ?? null).length < 200)
          .slice(0, keep * 2),
      ),
      warnings:
        left > 0
          ? [...cut.warnings.slice(0, keep), `more_warnings: ${left} more are in the manifest`]
          : cut.warnings,
      next_actions: cut.next_actions.slice(0, keep),
    };
  }
  return cut;
}
