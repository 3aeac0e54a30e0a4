// The producer's program that compares pictures, started as a child: what it decodes is untrusted.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Box, Rect } from '../../src/compare/boxes.js';
import { PreviewError } from '../../src/errors.js';
import { isObject, type JsonObject } from '../../src/json.js';

const PROGRAM = join(__dirname, '..', 'renderers', 'compare.cjs');
const TIMEOUT_MS = 60_000;
/** Node's own default would cut an answer with very many boxes. */
const ANSWER_BYTES = 4 * 1024 * 1024;

/** Whether a picture differs in a place from the one behind it; `unread` where that cannot be told, in words. */
export interface PlaceTold {
  differs: boolean;
  unread?: string;
}

/** Compares each of `paths` with the one behind it, in `region` alone. Null stands for a picture that is gone. */
export async function askCompare(paths: readonly (string | null)[], region: Rect): Promise<PlaceTold[]> {
  const { x, y, width, height } = region;
  const there = paths.filter((path) => path !== null);
  const report = await ask(['--region', [x, y, width, height].join(','), '--', ...there]);
  const pictures = Array.isArray(report['pictures']) ? report['pictures'] : [];
  const byPath = new Map(there.map((path, at) => [path, isObject(pictures[at]) ? pictures[at] : {}]));
  const unreadOf = (path: string | null): string | undefined => {
    if (path === null) return 'the picture is gone';
    const reason = byPath.get(path)?.['unread'];
    return typeof reason === 'string' ? `${path}: ${reason}` : undefined;
  };
  return paths.slice(0, -1).map((path, at) => {
    const other = paths[at + 1]!;
    const unread = unreadOf(path) ?? unreadOf(other);
    if (unread !== undefined) return { differs: true, unread };
    return { differs: byPath.get(path!)?.['place'] !== byPath.get(other)?.['place'] };
  });
}

/** What comparing two pictures gave, or why one of them could not be read. */
export type Compared =
  | {
      count: number;
      ratio: number;
      boxes: Box[];
      padded: boolean;
      before: { width: number; height: number };
      after: { width: number; height: number };
    }
  | { unread: Partial<Record<'before' | 'after', string>> };

/** Compares two pictures whole. */
export async function comparePictures(
  before: string,
  after: string,
  threshold: number | undefined,
): Promise<Compared> {
  const limit = threshold === undefined ? [] : [`--threshold=${threshold}`];
  return (await ask([`--before=${before}`, `--after=${after}`, ...limit])) as unknown as Compared;
}

function ask(args: string[]): Promise<JsonObject> {
  const env = { ...process.env };
  // It needs no certificates, whose parsing would double its start.
  delete env['NODE_EXTRA_CA_CERTS'];
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: ANSWER_BYTES, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      const failed = (why: string) =>
        reject(
          new PreviewError(
            'renderer_failed',
            `the pictures could not be compared: ${why}`,
            'without --pixels (or with --no-pixels) tiles are compared, and nothing is decoded',
          ),
        );
      if (error) {
        failed(
          error.killed ? `it took longer than ${TIMEOUT_MS / 1000} s` : lastLine(stderr) || error.message,
        );
        return;
      }
      const report = parsed(stdout);
      if (report === null) failed('its answer was cut off');
      else resolve(report);
    });
  });
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    // SyntaxError: cut off.
    return null;
  }
}
