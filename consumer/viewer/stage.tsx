// The middle of the page: tabs, and what the selected step shows in each.
import type { ShownDetail, ShownStep } from '../../src/stream.js';
import { Compare } from './compare.js';
import { type Item, itemsOf } from './items.js';
import { copy } from './keys.js';
import { Show } from './show.js';
import { shownAs } from './shownas.js';
import { type State, TABS, type Tab } from './state.js';
import type { Theme } from './theme.js';
import { bytes, counted, titleOf, visible } from './words.js';

const NAMES: Record<Tab, string> = {
  preview: 'Preview',
  compare: 'Compare',
  terminal: 'Terminal',
  changes: 'Changes',
  files: 'Files',
  raw: 'Raw',
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

interface ViewProps {
  state: State;
  step: ShownStep;
  detail: ShownDetail | null;
  theme: Theme;
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

function ChangesView({ state, step, detail, theme }: ViewProps) {
  const patch = itemsOf(detail, step.bundle).find(({ role }) => role === 'patch');
  if (detail === null) return <Waiting state={state} />;
  if (patch)
    return <Show source={state.source} file={patch} theme={theme.theme.value} label="Patch" small={null} />;
  const context = detail.manifest?.['context'];
  const changed =
    isRecord(context) && Array.isArray(context['changed'])
      ? context['changed'].filter((path) => typeof path === 'string')
      : [];
  const source = detail.manifest?.['source'];
  const files = isRecord(source) && Array.isArray(source['files']) ? source['files'].filter(isRecord) : [];
  return (
    <div class="scroll">
      {changed.length > 0 ? <h3>{counted(changed.length, 'source')} new or changed</h3> : null}
      {changed.map((path) => (
        <p key={path} class="mono">
          {visible(path as string)}
        </p>
      ))}
      <h3>Sources of this step</h3>
      {files.length === 0 ? <p class="dim">None were recorded.</p> : null}
      <table class="table">
        <tbody>
          {files.slice(0, 500).map((file) => (
            <tr key={String(file['path'])}>
              <td class="mono">{visible(String(file['path']))}</td>
              <td class="number">{bytes(Number(file['bytes']) || 0)}</td>
              <td class="mono dim">{String(file['sha256'] ?? '').slice(7, 19)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FilesView({ state, step, detail }: ViewProps) {
  if (detail === null) return <Waiting state={state} />;
  const items = itemsOf(detail, step.bundle);
  if (items.length === 0) return <p class="empty">This step has no files.</p>;
  return (
    <div class="scroll">
      <table class="table">
        <thead>
          <tr>
            <th>File</th>
            <th>Role</th>
            <th class="number">Size</th>
            <th>SHA-256</th>
            <th>
              <span class="hidden">Download</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <FileRow key={item.path} item={item} state={state} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FileRow({ item, state }: { item: Item; state: State }) {
  const url = state.source.url(item);
  const short = item.sha256?.slice(7, 19) ?? '–';
  return (
    <tr>
      <td>
        <button
          type="button"
          class="plain mono"
          onClick={() => {
            state.artifact.value = item.path;
            state.tab.value = 'preview';
          }}
        >
          {visible(item.path)}
        </button>
        {item.label && item.label !== item.path ? <span class="dim"> {visible(item.label)}</span> : null}
      </td>
      <td>{visible(item.role)}</td>
      <td class="number">
        {bytes(item.bytes)}
        {item.width && item.height ? <span class="dim"> {`${item.width} × ${item.height}`}</span> : null}
      </td>
      <td>
        <button
          type="button"
          class="plain mono dim"
          title="copy the whole hash"
          onClick={() => copy(item.sha256 ?? '', state, 'hash copied')}
        >
          {short}
        </button>
      </td>
      <td>
        {url ? (
          <a href={url} download={item.path.split('/').at(-1)}>
            download
          </a>
        ) : (
          <span class="dim">left out</span>
        )}
      </td>
    </tr>
  );
}

function RawView({ detail, state }: ViewProps) {
  if (detail === null) return <Waiting state={state} />;
  const { step, manifest, summary } = detail;
  return (
    <div class="scroll raw">
      {(
        [
          ['step', step],
          ['summary', summary],
          ['manifest', manifest],
        ] as const
      ).map(([name, value]) => (
        <details key={name} open={name !== 'manifest'}>
          <summary>{name}</summary>
          <pre>{visible(JSON.stringify(value, null, 2), true)}</pre>
        </details>
      ))}
    </div>
  );
}

function Waiting({ state }: { state: State }) {
  return <p class="empty">{state.detailProblem.value ?? 'Loading …'}</p>;
}
