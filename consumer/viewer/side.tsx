// The right column: what is known of the selected step, in words and numbers.

import { useEffect, useState } from 'preact/hooks';
import { isObject } from '../../src/object.js';
import type { ShownDetail, ShownStep, ShownVerdict } from '../../src/stream.js';
import { copy } from './keys.js';
import { FactSeries } from './series.js';
import type { State } from './state.js';
import { duration, factChange, factText, moment, outcome, visible } from './words.js';

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))) : [];

export function Side({ state }: { state: State }) {
  const step = state.current.value;
  const index = state.selected.value;
  const detail = state.detail.value?.index === index ? state.detail.value : null;
  if (step === null) return <aside class="side" aria-label="The step" />;
  const command = typeof detail?.step['command'] === 'string' ? detail.step['command'] : step.command;
  const ended = outcome(step);
  return (
    <aside class="side" aria-label="The step">
      <h2>{step.step_id}</h2>
      {command === null ? null : (
        <div class="command">
          <pre>{visible(command, true)}</pre>
          <button type="button" class="plain" onClick={() => copy(command, state, 'command copied')}>
            copy
          </button>
        </div>
      )}
      {step.label ? <p class="label">{visible(step.label)}</p> : null}
      {step.note ? <p class="note-text">{visible(step.note, true)}</p> : null}
      {ended ? <p class={ended.tone}>{sentence(step)}</p> : null}
      {state.detailProblem.value ? <p class="bad">{state.detailProblem.value}</p> : null}
      {detail?.problems.map(({ kind, where, detail: words }) => (
        <p key={kind + where} class="bad">
          {visible(`${kind} ${where}: ${words}`)}
        </p>
      ))}
      <Facts detail={detail} state={state} />
      <h3>Run</h3>
      <Rows
        rows={[
          [
            'exit',
            step.signal ? visible(step.signal) : step.exit_code === null ? '–' : String(step.exit_code),
          ],
          ['command took', duration(step.duration_ms)],
          ['recorded', moment(step.published_at)],
          ['reason', visible(step.reason)],
          ['recipe', step.recipe ? visible(step.recipe) : '–'],
          ...(step.cached ? ([['picture', 'shown before, used again']] as [string, string][]) : []),
        ]}
      />
      <Words
        title="Warnings"
        tone="warn"
        words={textsOf(detail?.manifest?.['warnings'] ?? detail?.summary?.['warnings'])}
      />
      <Words title="Next" tone="" words={textsOf(detail?.summary?.['next_actions'])} />
      <Provenance key={`${state.session.value?.key} ${index}`} state={state} step={step} detail={detail} />
    </aside>
  );
}

function sentence(step: ShownStep): string {
  if (step.lost) return 'Nothing of what was recorded is left.';
  if (step.signal) return `The command was ended by ${visible(step.signal)}.`;
  if (step.exit_code) return `The command ended with exit code ${step.exit_code}.`;
  if (step.status === 'error') return 'The render failed; there is no picture.';
  return 'The picture shows not quite the work itself; see the warnings.';
}

function Facts({ detail, state }: { detail: ShownDetail | null; state: State }) {
  const facts = isObject(detail?.summary?.['facts']) ? detail.summary['facts'] : {};
  const headline = typeof detail?.summary?.['headline'] === 'string' ? detail.summary['headline'] : null;
  const names = Object.keys(facts);
  const before = detail?.before;
  return (
    <>
      {headline ? <p class="headline">{visible(headline)}</p> : null}
      {names.length > 0 ? <h3>Facts</h3> : null}
      <dl class="rows">
        {names.map((name) => {
          const change = before ? factChange(before.facts[name], facts[name]) : null;
          return (
            <div key={name}>
              <dt>
                {typeof facts[name] === 'number' ? (
                  <button
                    type="button"
                    class="fact"
                    aria-expanded={state.fact.value === name}
                    title="over all steps"
                    onClick={() => {
                      state.fact.value = state.fact.value === name ? null : name;
                    }}
                  >
                    {visible(name)}
                  </button>
                ) : (
                  visible(name)
                )}
              </dt>
              <dd class="mono">{factText(facts[name])}</dd>
              <dd class={`delta${change?.changed ? ' changed' : ''}`}>{change?.text ?? ''}</dd>
            </div>
          );
        })}
      </dl>
      {state.fact.value !== null && names.includes(state.fact.value) ? (
        <FactSeries state={state} fact={state.fact.value} />
      ) : null}
      {before && names.length > 0 ? (
        <p class="dim small">
          changes since{' '}
          <button type="button" class="plain" onClick={() => state.select(before.index)}>
            step {before.index}
          </button>
        </p>
      ) : null}
    </>
  );
}

function Rows({ rows }: { rows: [string, string][] }) {
  return (
    <dl class="rows">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="mono wide">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Words({ title, tone, words }: { title: string; tone: string; words: string[] }) {
  if (words.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {words.map((each) => (
        <p key={each} class={tone}>
          {visible(each)}
        </p>
      ))}
    </>
  );
}

function Provenance({ state, step, detail }: { state: State; step: ShownStep; detail: ShownDetail | null }) {
  const [verdict, setVerdict] = useState<ShownVerdict | string | null>(null);
  const verify = () => {
    setVerdict('verifying …');
    state.source.verify(step.index).then(setVerdict, (error: Error) => setVerdict(error.message));
  };
  // What an export was found to be is in it already; a server has to read every file for it, and is asked.
  useEffect(() => {
    if (state.source.kind === 'exported' && step.bundle) verify();
  }, []);
  const hashes = [
    ['source', detail?.manifest?.['source_fingerprint'] ?? detail?.step['source_fingerprint']],
    ['manifest', detail?.step['manifest_sha256']],
  ].filter((row): row is [string, string] => typeof row[1] === 'string');
  return (
    <>
      <h3>Provenance</h3>
      <dl class="rows">
        {hashes.map(([name, hash]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="wide">
              <button
                type="button"
                class="plain mono"
                title="copy the whole hash"
                onClick={() => copy(hash, state, 'hash copied')}
              >
                {visible(hash.replace(/^sha256:/, '').slice(0, 12))}…
              </button>
            </dd>
          </div>
        ))}
        {step.bundle ? (
          <div>
            <dt>bundle</dt>
            <dd class="wide mono">{visible(step.bundle)}</dd>
          </div>
        ) : null}
      </dl>
      {step.bundle === null ? null : verdict === null ? (
        <button type="button" class="button" onClick={verify}>
          Verify
        </button>
      ) : (
        <Verdict verdict={verdict} exported={state.source.kind === 'exported'} />
      )}
    </>
  );
}

function Verdict({ verdict, exported }: { verdict: ShownVerdict | string; exported: boolean }) {
  if (typeof verdict === 'string') return <p class="dim">{verdict}</p>;
  return (
    <div>
      {verdict.ok ? (
        <p class="ok" title={moment(verdict.at)}>
          ✓ Verified{exported ? ' when this page was written' : ''}
        </p>
      ) : (
        <p class="bad">✗ Not what was recorded</p>
      )}
      {verdict.problems.map(({ kind, where, detail }) => (
        <p key={kind + where} class="bad small">
          {visible(`${kind} ${where}: ${detail}`)}
        </p>
      ))}
      {verdict.notes.map((note) => (
        <p key={note} class="dim small">
          {visible(note)}
        </p>
      ))}
    </div>
  );
}
