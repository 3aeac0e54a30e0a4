// The page's parts put together.
import { Filmstrip } from './filmstrip.js';
import { Help } from './help.js';
import { Side } from './side.js';
import { Stage } from './stage.js';
import type { State } from './state.js';
import { StepList } from './steplist.js';
import type { Theme } from './theme.js';
import { TopBar } from './topbar.js';
import { visible } from './words.js';

const PANES = [
  ['steps', 'Steps'],
  ['stage', 'Picture'],
  ['facts', 'Facts'],
] as const;

export function App({ state, theme }: { state: State; theme: Theme }) {
  const left = state.source.leftOut;
  const session = state.session.value;
  const link = state.link.value;
  const notices = [
    ...(left.length > 0 ? [`Left out of this page: ${left.join('; ')}.`] : []),
    ...(state.notice.value === null ? [] : [visible(state.notice.value)]),
    ...(link.state === 'offline' ? [link.detail] : []),
    ...(session
      ? session.problems.slice(0, 3).map((problem) => `The session has a problem: ${visible(problem)}`)
      : []),
  ];
  return (
    <div class="app" data-pane={state.pane.value}>
      <TopBar state={state} theme={theme} />
      <div>
        {notices.map((words) => (
          <p key={words} class="notice">
            {words}
          </p>
        ))}
      </div>
      <div class="body">
        <StepList state={state} />
        <Stage state={state} theme={theme} />
        <Side state={state} />
      </div>
      <Filmstrip state={state} />
      <div class="panes" role="group" aria-label="What is shown">
        {PANES.map(([pane, name]) => (
          <button
            key={pane}
            type="button"
            aria-pressed={state.pane.value === pane}
            onClick={() => {
              state.pane.value = pane;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="hidden" role="status" aria-live="polite">
        {state.said.value}
      </div>
      {state.panel.value === 'help' ? <Help state={state} /> : null}
    </div>
  );
}
