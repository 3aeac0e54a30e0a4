// The recording that an exported page holds: `#recording` says what there is, pieces of steps and files lie beside it as
// text and are unpacked when they are shown.

import { blameBack, type Looked } from '../../src/compare/blameback.js';
import { tiledOf } from '../../src/compare/tiles.js';
import { isObject } from '../../src/object.js';
import { gatherHits, gatherSeries, matches, searchedText } from '../../src/search.js';
import {
  type Exported,
  type ExportedPiece,
  type Hits,
  type Query,
  type ShownDetail,
  type ShownFile,
  type ShownStep,
  type ShownVerdict,
  STREAM_LIMITS,
  STREAM_PROTOCOL,
} from '../../src/stream.js';
import { shownAs } from './shownas.js';
import type { Listener, Source } from './source.js';

/** Unpacked pieces that are kept. */
const KEPT = 8;

/** @throws where the page holds no recording that it can read. */
export function exportedSource(): Source {
  const head = JSON.parse(document.getElementById('recording')!.textContent!) as Exported;
  if (head.protocol !== STREAM_PROTOCOL)
    throw new Error('this page and its recording do not belong together');
  const texts = (name: string) =>
    [...document.querySelectorAll<HTMLScriptElement>(`script[data-${name}]`)].map(
      (script) => [Number(script.dataset[name]), script] as const,
    );
  const pieceTexts = new Map(texts('piece'));
  const fileTexts = new Map(texts('file'));
  const pieces = new Map<number, Promise<ExportedPiece>>();
  const urls = new Map<string, string>();

  const piece = (at: number): Promise<ExportedPiece> => {
    const known = pieces.get(at);
    if (known) {
      pieces.delete(at);
      pieces.set(at, known);
      return known;
    }
    const unpacked = unpack(pieceTexts.get(at)?.textContent ?? '');
    pieces.set(at, unpacked);
    if (pieces.size > KEPT) pieces.delete(pieces.keys().next().value!);
    return unpacked;
  };
  const pieceAt = (index: number) => Math.floor((index - head.first) / STREAM_LIMITS.window);
  const stepsBetween = async (from: number, to: number) => {
    const found: { step: ShownStep; recorded: Record<string, unknown> | null }[] = [];
    const last = Math.min(to, head.last);
    for (let index = Math.max(from, head.first); index <= last; index++) {
      const { steps, recorded } = await piece(pieceAt(index));
      const at = (index - head.first) % STREAM_LIMITS.window;
      found.push({ step: steps[at]!, recorded: recorded[at] ?? null });
    }
    return found;
  };
  const bundleOf = async (key: string | null) => {
    const at = key === null || !Object.hasOwn(head.bundles, key) ? undefined : head.bundles[key];
    return at === undefined ? null : ((await piece(at)).bundles[key!] ?? null);
  };
  const factsOf = async ({ bundle }: ShownStep): Promise<Record<string, unknown>> => {
    const facts = (await bundleOf(bundle))?.summary?.['facts'];
    return isObject(facts) ? facts : {};
  };

  const detail = async (index: number): Promise<ShownDetail | null> => {
    const [found] = await stepsBetween(index, index);
    if (!found) return null;
    const bundle = await bundleOf(found.step.bundle);
    let before: ShownDetail['before'] = null;
    for (const { step } of (await stepsBetween(index - STREAM_LIMITS.factsBack, index - 1)).reverse()) {
      if (step.recipe !== found.step.recipe) continue;
      const facts = await factsOf(step);
      if (Object.keys(facts).length === 0) continue;
      before = { index: step.index, facts };
      break;
    }
    return {
      index,
      step: found.recorded ?? {},
      manifest: bundle?.manifest ?? null,
      summary: bundle?.summary ?? null,
      before,
      problems: bundle?.problems ?? [],
    };
  };

  /** All steps in order, a piece at a time. */
  async function* allSteps(): AsyncGenerator<ShownStep> {
    for (let at = 0; at <= pieceAt(head.last); at++) yield* (await piece(at)).steps;
  }

  const search = async (query: Query): Promise<Hits> => {
    const { hits, add } = gatherHits(STREAM_LIMITS.hits);
    for await (const step of allSteps()) {
      const bundle = query.words.trim() ? await bundleOf(step.bundle) : null;
      if (matches(step, query, searchedText(bundle?.manifest ?? null, bundle?.summary ?? null)))
        add(step.index);
    }
    return hits;
  };

  async function* lookingBack(index: number): AsyncGenerator<Looked[]> {
    let last: { key: string | null; manifest: Record<string, unknown> | null } = {
      key: null,
      manifest: null,
    };
    for (let at = Math.min(index, head.last); at >= head.first; at--) {
      const [{ step } = { step: undefined }] = await stepsBetween(at, at);
      if (!step) continue;
      const { bundle: key, recipe, reason, lost } = step;
      if (key !== null && last.key !== key) last = { key, manifest: (await bundleOf(key))?.manifest ?? null };
      const manifest = key === null || lost ? null : last.manifest;
      const isDiff = !lost && key !== null && (reason === 'diff' || manifest?.['bundle_kind'] === 'diff');
      const tiled = manifest === null || isDiff ? null : tiledOf(manifest['metrics']);
      const without = manifest?.['status'] === 'error' ? 'failed' : 'nothing';
      const state = isDiff ? 'diff' : manifest === null ? 'lost' : tiled === null ? without : 'shown';
      yield [{ index: at, recipe: lost ? null : recipe, state, tiled }];
    }
  }

  const numberOf = ({ bundle, path }: ShownFile): number | null => {
    const name = `${bundle}/${path}`;
    return Object.hasOwn(head.files, name) ? head.files[name]! : null;
  };
  const contentOf = (file: ShownFile): Uint8Array<ArrayBuffer> | null => {
    const at = numberOf(file);
    const text = at === null ? undefined : fileTexts.get(at)?.textContent;
    return text == null ? null : fromBase64(text);
  };

  return {
    kind: 'exported',
    leftOut: head.left_out,
    open(_session, listener: Listener) {
      const from = Math.max(head.first, head.last - STREAM_LIMITS.window + 1);
      stepsBetween(from, head.last).then(
        (found) => {
          const session = { ...head.session, first_step: head.first, step_count: head.last };
          listener.onSnapshot({
            session,
            sessions: [session],
            steps: found.map(({ step }) => step),
          });
          listener.onLink('exported', `a copy of ${new Date(head.exported_at).toLocaleString()}`);
        },
        (error: Error) => listener.onLink('offline', `this page is damaged: ${error.message}`),
      );
    },
    choose: () => {},
    steps: async (from, to) => (await stepsBetween(from, to)).map(({ step }) => step),
    detail,
    search,
    outline: async () => head.outline,
    async series(fact) {
      const { points, add } = gatherSeries(head.last, STREAM_LIMITS.points);
      for await (const step of allSteps()) {
        const facts = await factsOf(step);
        if (Object.hasOwn(facts, fact)) add(step.index, facts[fact]);
      }
      return points;
    },
    async blame(index, place) {
      const answer = await blameBack(lookingBack(index), place);
      if ('problem' in answer) throw new Error(answer.problem);
      return answer;
    },
    async verify(index): Promise<ShownVerdict> {
      const [found] = await stepsBetween(index, index);
      const bundle = await bundleOf(found?.step.bundle ?? null);
      const missing = { kind: 'bundle_missing', where: `step ${index}`, detail: 'it is not in this page' };
      return bundle?.verdict ?? { ok: false, at: head.exported_at, problems: [missing], notes: [] };
    },
    url(file) {
      const at = numberOf(file);
      if (at === null) return null;
      const beside = head.places[at];
      if (beside) return beside;
      const known = urls.get(`${at}`);
      if (known) return known;
      const content = contentOf(file);
      if (!content) return null;
      // A page of the recording's must not run in this page's origin, not even when it is opened by itself.
      const type = shownAs(file) === 'frame' ? 'application/octet-stream' : file.media_type;
      const url = URL.createObjectURL(new Blob([content], { type }));
      urls.set(`${at}`, url);
      return url;
    },
    async bytes(file) {
      const content = contentOf(file);
      if (content) return content.buffer;
      throw new Error(numberOf(file) === null ? 'it was left out of this page' : 'it lies beside this page');
    },
    close() {
      for (const url of urls.values()) URL.revokeObjectURL(url);
    },
  };
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

async function unpack(text: string): Promise<ExportedPiece> {
  const packed = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(packed).text()) as ExportedPiece;
}
