// What the tabs Changes, Files and Raw show of a step.
import { useEffect, useState } from 'preact/hooks';
import { compareFiles, type NamedFile } from '../../src/compare/facts.js';
import { isObject } from '../../src/object.js';
import type { ShownDetail, ShownStep } from '../../src/stream.js';
import { type Item, itemsOf } from './items.js';
import { copy } from './keys.js';
import { Show } from './show.js';
import type { State } from './state.js';
import type { Theme } from './theme.js';
import { bytes, visible } from './words.js';

export interface ViewProps {
  state: State;
  step: ShownStep;
  detail: ShownDetail | null;
  theme: Theme;
}

export function ChangesView({ state, step, detail, theme }: ViewProps) {
  const patch = itemsOf(detail, step.bundle).find(({ role }) => role === 'patch');
  const [before, setBefore] = useState<Record<string, unknown>[] | null>(null);
  useEffect(() => {
    let gone = false;
    setBefore(null);
    if (step.index > state.first.peek())
      state.source.detail(step.index - 1).then(
        (found) => {
          if (!gone && found) setBefore(sourcesOf(found));
        },
        () => {},
      );
    return () => {
      gone = true;
    };
  }, [step.index]);
  if (detail === null) return <Waiting state={state} />;
  if (patch)
    return <Show source={state.source} file={patch} theme={theme.theme.value} label="Patch" small={null} />;
  const files = sourcesOf(detail);
  const changes = before && compareFiles(before.map(named), files.map(named));
  return (
    <div class="scroll">
      {changes
        ? (['added', 'changed', 'removed'] as const).map((kind) =>
            changes[kind].length === 0 ? null : (
              <div key={kind}>
                <h3>
                  {kind} since step {step.index - 1}
                </h3>
                {changes[kind].slice(0, 200).map((path) => (
                  <p key={path} class="mono">
                    {visible(path)}
                  </p>
                ))}
              </div>
            ),
          )
        : null}
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

/** The sources that a step's manifest lists; a long list is in a file of its own. */
function sourcesOf(detail: ShownDetail): Record<string, unknown>[] {
  const source = detail.manifest?.['source'];
  return isObject(source) && Array.isArray(source['files']) ? source['files'].filter(isObject) : [];
}

const named = (file: Record<string, unknown>): NamedFile => ({
  path: String(file['path']),
  role: '',
  sha256: String(file['sha256']),
});

export function FilesView({ state, step, detail }: ViewProps) {
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

export function RawView({ detail, state }: ViewProps) {
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

/** Said while a step's detail is loaded, or where it cannot be. */
export function Waiting({ state }: { state: State }) {
  return <p class="empty">{state.detailProblem.value ?? 'Loading …'}</p>;
}
