// The page begins here: where its recording comes from, then everything else.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app.js';
import { exportedSource } from './exportedsource.js';
import { listenForKeys } from './keys.js';
import { liveSource } from './livesource.js';
import { createState } from './state.js';
import { createTheme } from './theme.js';
import { nameOf } from './topbar.js';

const source = document.getElementById('recording') ? exportedSource() : liveSource();
const state = createState(source);
const theme = createTheme();
effect(() => {
  const session = state.session.value;
  const fresh = state.fresh.value;
  if (session) document.title = `${fresh > 0 ? `(${fresh}) ` : ''}${nameOf(session)}`;
});
listenForKeys(state, theme);
render(<App state={state} theme={theme} />, document.getElementById('page')!);
state.open();
