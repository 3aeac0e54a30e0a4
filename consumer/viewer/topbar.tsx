// The top of the page: what is shown, how it stands with the server, and search.
import { isEmpty } from '../../src/search.js';
import type { Query, ShownSession } from '../../src/stream.js';
import type { Link } from './source.js';
import type { State } from './state.js';
import type { Theme } from './theme.js';
import { counted, duration, moment, visible } from './words.js';

const LINKS: Record<Link, { word: string; tone: string; mark: string }> = {
  connecting: { word: 'connecting', tone: 'dim', mark: '○' },
  live: { word: 'live', tone: 'ok', mark: '●' },
  behind: { word: 'catching up', tone: 'warn', mark: '◐' },
  offline: { word: 'offline', tone: 'bad', mark: '✗' },
  ended: { word: 'stopped', tone: 'dim', mark: '■' },
  exported: { word: 'a copy', tone: 'dim', mark: '■' },
};

export function TopBar({ state, theme }: { state: State; theme: Theme }) {
  const session = state.session.value;
  const { word, tone, mark } = LINKS[state.link.value.state];
  const span =
    session?.created_at && session.updated_at
      ? Date.parse(session.updated_at) - Date.parse(session.created_at)
      : null;
  const many = state.sessions.value.length > 1;
  return (
    <header class="top">
      <h1>
        {many ? (
          <button
            type="button"
            class="plain strong"
            aria-expanded={state.panel.value === 'sessions'}
            onClick={() => {
              state.panel.value = state.panel.value === 'sessions' ? null : 'sessions';
            }}
          >
            {session ? nameOf(session) : 'preview'} ▾
          </button>
        ) : (
          <span class="strong">{session ? nameOf(session) : 'preview'}</span>
        )}
      </h1>
      {session ? (
        <span class="dim top-recipe">
          {[session.software, session.recipe]
            .filter((each) => each !== null)
            .map((each) => visible(each))
            .join(' / ')}
        </span>
      ) : null}
      <span class={tone} title={state.link.value.detail}>
        {mark} {session && state.link.value.state === 'ended' ? visible(session.status) : word}
      </span>
      {session ? (
        <span class="top-count" title={`from ${moment(session.created_at)} to ${moment(session.updated_at)}`}>
          {counted(state.total.value, 'step')}
          {span !== null && span > 0 ? <span class="dim"> {duration(span)}</span> : null}
        </span>
      ) : null}
      <Search state={state} />
      {state.source.kind === 'live' ? (
        <button
          type="button"
          class="plain"
          aria-pressed={state.following.value}
          title="follow the newest step (f)"
          onClick={() => state.follow(!state.following.value)}
        >
          {state.following.value ? 'Following' : 'Follow'}
        </button>
      ) : null}
      <button
        type="button"
        class="plain"
        aria-label="Dark or light"
        title="dark or light (t)"
        onClick={theme.toggle}
      >
        {theme.theme.value === 'dark' ? '☾' : '☀'}
      </button>
      <button
        type="button"
        class="plain"
        aria-label="Help"
        title="keys (?)"
        onClick={() => {
          state.panel.value = 'help';
        }}
      >
        ?
      </button>
      {state.panel.value === 'sessions' ? <Sessions state={state} /> : null}
      {state.panel.value === 'filters' ? <Filters state={state} /> : null}
    </header>
  );
}

export const nameOf = (session: ShownSession): string =>
  visible(session.title ?? session.project_name ?? session.key);

function Search({ state }: { state: State }) {
  const query = state.query.value;
  const filtered = !isEmpty({ ...query, words: '' });
  return (
    <search class="search">
      <input
        id="search"
        type="search"
        placeholder="Search commands, facts, output"
        aria-label="Search commands, facts and output"
        spellcheck={false}
        value={query.words}
        onInput={({ currentTarget }) => state.search({ ...query, words: currentTarget.value })}
        onKeyDown={(event) => {
          const by = { Enter: event.shiftKey ? 1 : -1, ArrowDown: -1, ArrowUp: 1 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          state.select(state.neighbour(by as 1 | -1));
          // From here on the arrow keys go from hit to hit.
          if (event.key === 'Enter') event.currentTarget.blur();
        }}
      />
      <button
        type="button"
        class={`plain${filtered ? ' on' : ''}`}
        aria-expanded={state.panel.value === 'filters'}
        onClick={() => {
          state.panel.value = state.panel.value === 'filters' ? null : 'filters';
        }}
      >
        Filter
      </button>
    </search>
  );
}

const CHOICES = {
  status: ['ok', 'partial', 'error'],
  reason: ['start', 'mutation', 'capture', 'diff', 'rollback'],
} as const;

function Filters({ state }: { state: State }) {
  const query = state.query.value;
  const set = (more: Partial<Query>) => {
    const next: Query = { ...query, ...more };
    for (const key of ['status', 'reason', 'recipe', 'changed_only'] as const)
      if (!next[key]) delete next[key];
    state.search(next);
  };
  return (
    <div class="menu filters" role="dialog" aria-label="Filter">
      {(['status', 'reason'] as const).map((key) => (
        <label key={key}>
          {key}
          <select
            value={query[key] ?? ''}
            onChange={({ currentTarget }) => set({ [key]: currentTarget.value || undefined })}
          >
            <option value="">any</option>
            {CHOICES[key].map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label>
        recipe
        <input
          value={query.recipe ?? ''}
          placeholder="any"
          onChange={({ currentTarget }) => set({ recipe: currentTarget.value.trim() || undefined })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={query.changed_only === true}
          onChange={({ currentTarget }) => set({ changed_only: currentTarget.checked || undefined })}
        />
        only where the picture changed
      </label>
      <button type="button" class="button" onClick={() => state.search({ words: '' })}>
        Clear
      </button>
    </div>
  );
}

function Sessions({ state }: { state: State }) {
  return (
    <div class="menu" role="menu" aria-label="Sessions">
      {state.sessions.value.map((session) => (
        <button
          key={session.key}
          type="button"
          role="menuitemradio"
          aria-checked={session.key === state.session.value?.key}
          onClick={() => state.chooseSession(session.key)}
        >
          <span class="mono">{visible(session.key)}</span>
          <span>{nameOf(session)}</span>
          <span class="dim">
            {counted(session.step_count, 'step')}, {visible(session.status)}
            {session.continues ? `, continues ${visible(session.continues)}` : ''}
          </span>
        </button>
      ))}
    </div>
  );
}
