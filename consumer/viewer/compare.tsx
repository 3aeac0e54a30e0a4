// Two steps compared: which two, in which way, and what differs in words. The pictures themselves: comparepictures.tsx.
import { useEffect, useState } from 'preact/hooks';
import { compareFacts, isChanged } from '../../src/compare/facts.js';
import type { ShownDetail, ShownStep } from '../../src/stream.js';
import { ComparePictures } from './comparepictures.js';
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
  const other = useOther(state, step);
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
  const [before, after] = [other && urlOf(state, other), urlOf(state, step)];
  return (
    <div class="compare">
      <div class="compare-bar">
        <label>
          with step{' '}
          <input
            type="number"
            min={state.first.value}
            max={state.total.value}
            value={other?.index ?? ''}
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
            state.versus.value = state.versus.value === null ? (other?.index ?? null) : null;
          }}
        >
          pinned
        </button>
        <span class="spread" />
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
      </div>
      {other === undefined ? (
        <p class="empty">Loading …</p>
      ) : other === null ? (
        <p class="empty">There is no step before this one that has a picture.</p>
      ) : before && after ? (
        <ComparePictures
          key={`${other.index} ${step.index}`}
          state={state}
          before={{ url: before, step: other }}
          after={{ url: after, step }}
          mode={mode}
          accent={theme.theme.value}
        />
      ) : (
        <p class="empty">
          {[other, step]
            .filter((each) => !urlOf(state, each))
            .map((each) => `Step ${each.index} has no picture.`)
            .join(' ')}
        </p>
      )}
      {other ? <FactChanges state={state} other={other} detail={detail} /> : null}
    </div>
  );
}

/** The picture of a step, where it is one that can be compared. */
function urlOf(state: State, { hero }: ShownStep): string | null {
  return hero && shownAs(hero) === 'image' ? state.source.url(hero) : null;
}

/** The step that is compared with: `undefined` while it is loaded, null where there is none. */
function useOther(state: State, step: ShownStep): ShownStep | null | undefined {
  const versus = state.versus.value;
  const [other, setOther] = useState<{ to: number; versus: number | null; step: ShownStep | null }>();
  useEffect(() => {
    let gone = false;
    const find = async () => {
      if (versus !== null) return state.steps.wait(versus);
      for (let index = step.index - 1; index >= Math.max(state.first.peek(), step.index - BACK); index--) {
        const found = await state.steps.wait(index);
        if (found && urlOf(state, found)) return found;
      }
      return null;
    };
    find().then(
      (found) => {
        if (!gone) setOther({ to: step.index, versus, step: found });
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [step.index, versus]);
  return other && other.to === step.index && other.versus === versus ? other.step : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const factsOf = (detail: ShownDetail | null): Record<string, unknown> =>
  isRecord(detail?.summary?.['facts']) ? detail.summary['facts'] : {};

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
