// The middle of the page: tabs, and what the selected step shows in each.
import { Compare } from './compare.js';
import { type Item, itemsOf } from './items.js';
import { Show } from './show.js';
import { shownAs } from './shownas.js';
import { type State, TABS, type Tab } from './state.js';
import { ChangesView, FilesView, RawView, type ViewProps, Waiting } from './tables.js';
import type { Theme } from './theme.js';
import { titleOf, visible } from './words.js';

const NAMES: Record<Tab, string> = {
  preview: 'Preview',
  compare: 'Compare',
  terminal: 'Terminal',
  changes: 'Changes',
  files: 'Files',
  raw: 'Raw',
};

export function Stage({ state, theme }: { state: State; theme: Theme }) {
  const tab = state.tab.value;
  const step = state.current.value;
  const detail = state.detail.value?.index === state.selected.value ? state.detail.value : null;
  const onTabKey = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length]!;
    state.tab.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <main class="stage" aria-label="What the step shows">
      <div class="tabs" role="tablist" aria-label="Views of the step" data-arrows>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === tab}
            aria-controls="tab-panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => {
              state.tab.value = name;
            }}
            onKeyDown={onTabKey}
          >
            {NAMES[name]}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
        {state.total.value === 0 ? (
          <Nothing state={state} />
        ) : step === null ? (
          <p class="empty">Loading step {state.selected.value} …</p>
        ) : (
          <Views tab={tab} state={state} step={step} detail={detail} theme={theme} />
        )}
      </div>
    </main>
  );
}

function Nothing({ state }: { state: State }) {
  const session = state.session.value;
  if (session === null) return <p class="empty">{state.link.value.detail || 'Loading …'}</p>;
  return (
    <div class="empty">
      <p>No step is recorded here yet.</p>
      {session.problems.map((problem) => (
        <p key={problem} class="bad">
          {visible(problem)}
        </p>
      ))}
      <p class="dim">A capture, or a command under `preview run`, appears here by itself.</p>
    </div>
  );
}

function Views({ tab, ...props }: ViewProps & { tab: Tab }) {
  switch (tab) {
    case 'preview':
      return <PreviewView {...props} />;
    case 'compare':
      return <Compare {...props} />;
    case 'terminal':
      return <TerminalView {...props} />;
    case 'changes':
      return <ChangesView {...props} />;
    case 'files':
      return <FilesView {...props} />;
    case 'raw':
      return <RawView {...props} />;
  }
}

/** Roles that the preview's strip offers, in this order; the rest is under its own tab. */
const STRIP = [
  'hero',
  'preview-clip',
  'gallery',
  'diff',
  'before',
  'after',
  'viewport',
  'render-output',
  'diff-json',
  'pipeline-json',
];

function PreviewView({ state, step, detail, theme }: ViewProps) {
  const all = itemsOf(detail, step.bundle);
  const items = all
    .filter(
      ({ role, media_type }) =>
        STRIP.includes(role) && (role !== 'render-output' || shownAs({ media_type }) !== 'none'),
    )
    .sort((a, b) => STRIP.indexOf(a.role) - STRIP.indexOf(b.role));
  const chosen = state.artifact.value;
  const file = all.find(({ path }) => path === chosen) ?? step.hero ?? items[0] ?? null;
  if (step.lost) return <p class="empty bad">Nothing of what was recorded of this step is left.</p>;
  if (file === null)
    return (
      <div class="empty">
        <p>
          {step.status === 'error'
            ? 'The render failed, so there is no picture.'
            : 'This step has no picture.'}
        </p>
        {step.headline ? <p class="bad">{visible(step.headline)}</p> : null}
        <p class="dim">What its renderer said is under Files.</p>
      </div>
    );
  return (
    <>
      <Show
        source={state.source}
        file={file}
        theme={theme.theme.value}
        label={`step ${step.index}: ${titleOf(step)}`}
        small={step.headline && visible(step.headline)}
        of={file.path === step.hero?.path ? { state, index: step.index } : undefined}
      />
      {items.length > 1 ? (
        <div class="gallery" role="group" aria-label="Files of this step">
          {items.map((item) => (
            <Tile key={item.path} item={item} state={state} selected={item.path === file.path} />
          ))}
        </div>
      ) : null}
    </>
  );
}

function Tile({ item, state, selected }: { item: Item; state: State; selected: boolean }) {
  const url = shownAs(item) === 'image' ? state.source.url(item) : null;
  const name = visible(item.label ?? item.path);
  return (
    <button
      type="button"
      class="tile"
      aria-pressed={selected}
      title={name}
      onClick={() => {
        state.artifact.value = item.role === 'hero' ? null : item.path;
      }}
    >
      {url ? (
        <img src={url} alt="" loading="lazy" decoding="async" />
      ) : (
        <span class="tile-kind">{shownAs(item)}</span>
      )}
      <span class="tile-name">{name}</span>
    </button>
  );
}

function TerminalView({ state, step, detail, theme }: ViewProps) {
  const items = itemsOf(detail, step.bundle);
  const cast = items.find(
    ({ role, media_type }) => role === 'terminal' && shownAs({ media_type }) === 'cast',
  );
  const log = items.find(({ role }) => role === 'log');
  const file = cast ?? items.find(({ role }) => role === 'terminal') ?? log ?? null;
  if (detail === null) return <Waiting state={state} />;
  if (file === null)
    return (
      <div class="empty">
        <p>No output was recorded with this step.</p>
        <p class="dim">`preview run -- COMMAND` records what a command prints.</p>
      </div>
    );
  return <Show source={state.source} file={file} theme={theme.theme.value} label="Terminal" small={null} />;
}
