// Two steps compared: which two, in which way, and what differs in words. What is compared itself: pair.tsx.

import { useEffect, useState } from 'preact/hooks';
import { compareFacts, isChanged } from '../../src/compare/facts.js';
import { isObject } from '../../src/object.js';
import type { ShownDetail, ShownFile, ShownStep } from '../../src/stream.js';
import { itemsOf } from './items.js';
import { ComparePair } from './pair.js';
import { shownAs } from './shownas.js';
import { MODES, type Mode, type State } from './state.js';
import type { Theme } from './theme.js';
import { factText, titleOf, visible } from './words.js';

const NAMES: Record<Mode, string> = {
  side: 'Side by side',
  swipe: 'Swipe',
  onion: 'Onion skin',
  difference: 'Difference',
  blink: 'Blink',
};

/** So far back a step with something to compare is looked for, where none is named. */
const BACK = 50;

interface Props {
  state: State;
  step: ShownStep;
  detail: ShownDetail | null;
  theme: Theme;
}

export function Compare({ state, step, detail, theme }: Props) {
  const path = state.artifact.value;
  const other = useOther(state, step, path);
  const now = fileOf(step, path === null ? null : detail, path);
  const isPicture =
    now !== null && shownAs(now) === 'image' && other?.file != null && shownAs(other.file) === 'image';
  const mode = state.mode.value;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      const chosen = MODES[Number(event.key) - 1];
      if (!chosen) return;
      event.preventDefault();
      state.mode.value = chosen;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <div class="compare">
      <div class="compare-bar">
        <label>
          with step{' '}
          <input
            type="number"
            min={state.first.value}
            max={state.total.value}
            value={other?.step.index ?? ''}
            onChange={({ currentTarget }) => {
              const index = Number(currentTarget.value);
              if (index >= state.first.value && index <= state.total.value) state.versus.value = index;
            }}
          />
        </label>
        <button
          type="button"
          class="plain"
          aria-pressed={state.versus.value === null}
          onClick={() => {
            state.versus.value = null;
          }}
        >
          the one before
        </button>
        <button
          type="button"
          class="plain"
          aria-pressed={state.versus.value !== null}
          title="stay with that step while others are selected"
          onClick={() => {
            state.versus.value = state.versus.value === null ? (other?.step.index ?? null) : null;
          }}
        >
          pinned
        </button>
        <span class="spread" />
        {path === null ? null : (
          <button
            type="button"
            class="plain mono"
            title="compare what the steps show first instead"
            onClick={() => {
              state.artifact.value = null;
            }}
          >
            {visible(path)} ×
          </button>
        )}
        {isPicture ? (
          <div class="modes" role="radiogroup" aria-label="How to compare">
            {MODES.map((name, at) => (
              <button
                key={name}
                type="button"
                role="radio"
                aria-checked={name === mode}
                title={`key ${at + 1}`}
                onClick={() => {
                  state.mode.value = name;
                }}
              >
                {NAMES[name]}
              </button>
            ))}
          </div>
        ) : null}
      </div>
      {other === undefined ? (
        <p class="empty">Loading …</p>
      ) : other === null ? (
        <p class="empty">
          There is no step before this one that has {path === null ? 'a picture' : visible(path)}.
        </p>
      ) : other.file && now ? (
        <ComparePair
          key={`${keyOf(other.file)} ${keyOf(now)} ${step.index}`}
          state={state}
          before={{ step: other.step, file: other.file }}
          after={{ step, file: now }}
          mode={mode}
          theme={theme.theme.value}
        />
      ) : path !== null && detail === null ? (
        <p class="empty">{state.detailProblem.value ?? 'Loading …'}</p>
      ) : (
        <p class="empty">
          {[other, { step, file: now, gone: detail !== null && detail.manifest === null }]
            .filter(({ file }) => file === null)
            .map((side) => lacks(side, path))
            .join(' ')}
        </p>
      )}
      {other ? <FactChanges state={state} other={other.step} detail={detail} /> : null}
    </div>
  );
}

const keyOf = ({ bundle, path }: ShownFile) => `${bundle}/${path}`;

/** Why there is nothing to compare. */
function lacks({ step, gone }: Other, path: string | null): string {
  if (step.lost || gone) return `Nothing of what was recorded of step ${step.index} is left.`;
  if (path !== null) return `Step ${step.index} has no ${visible(path)}.`;
  return step.status === 'error'
    ? `The render of step ${step.index} failed, so it has no picture.`
    : `Step ${step.index} has no picture.`;
}

/** What of a step is compared: the file of this path, or what it shows first. */
function fileOf(step: ShownStep, detail: ShownDetail | null, path: string | null): ShownFile | null {
  if (path === null) return step.hero;
  return itemsOf(detail, step.bundle).find((item) => item.path === path) ?? null;
}

interface Other {
  step: ShownStep;
  file: ShownFile | null;
  /** Its bundle cannot be read. */
  gone: boolean;
}

/** The step that is compared with: `undefined` while it is loaded, null where there is none. */
function useOther(state: State, step: ShownStep, path: string | null): Other | null | undefined {
  const versus = state.versus.value;
  const wanted = `${step.index} ${versus} ${path}`;
  const [other, setOther] = useState<{ wanted: string; found: Other | null }>();
  useEffect(() => {
    let gone = false;
    const look = async (index: number): Promise<Other | null> => {
      const found = await state.steps.wait(index);
      if (!found) return null;
      const isAsked = path !== null || (versus !== null && found.hero === null);
      const known = isAsked ? await state.source.detail(index) : null;
      return { step: found, file: fileOf(found, known, path), gone: isAsked && known?.manifest == null };
    };
    const find = async () => {
      if (versus !== null) return look(versus);
      const kind = path === null && step.hero ? shownAs(step.hero) : null;
      let any: Other | null = null;
      for (let index = step.index - 1; index >= Math.max(state.first.peek(), step.index - BACK); index--) {
        const found = await look(index);
        if (gone) return null;
        if (!found?.file) continue;
        // One of the same kind, where there is any: a model is compared with a model.
        if (kind === null || shownAs(found.file) === kind) return found;
        any ??= found;
      }
      return any;
    };
    find().then(
      (found) => {
        if (!gone) setOther({ wanted, found });
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [wanted]);
  return other?.wanted === wanted ? other.found : undefined;
}

const factsOf = (detail: ShownDetail | null): Record<string, unknown> =>
  isObject(detail?.summary?.['facts']) ? detail.summary['facts'] : {};

/** The facts that differ, as a small table; nothing where none does. */
function FactChanges({
  state,
  other,
  detail,
}: {
  state: State;
  other: ShownStep;
  detail: ShownDetail | null;
}) {
  const [before, setBefore] = useState<ShownDetail | null>(null);
  useEffect(() => {
    setBefore(null);
    let gone = false;
    state.source.detail(other.index).then(
      (found) => {
        if (!gone) setBefore(found);
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [other.index]);
  if (!before || !detail) return null;
  const changes = compareFacts(factsOf(before), factsOf(detail)).filter(isChanged);
  if (changes.length === 0) return null;
  return (
    <div class="fact-changes">
      <table class="table">
        <caption class="hidden">Facts that differ between {titleOf(other)} and the selected step</caption>
        <tbody>
          {changes.map(({ name, before: old, after }) => (
            <tr key={name}>
              <td class="dim">{visible(name)}</td>
              <td class="mono number">{old === null ? '–' : factText(old)}</td>
              <td class="dim">→</td>
              <td class="mono">{after === null ? '–' : factText(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
